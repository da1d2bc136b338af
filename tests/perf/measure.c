/* SPDX-License-Identifier: MIT */
/*
 * measure LOG COMMAND...: runs a command and appends "WALL-s CPU-s PEAK-KiB STATUS" to LOG.
 *
 * Output of the command goes where it went; its exit status becomes ours.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start = now();
	int status;
	FILE *log;
	pid_t child = argc > 2 ? fork() : -1;

	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 || !(log = fopen(argv[1], "a"))) {
		fprintf(stderr, "measure: cannot run or log\n");
		return 126;
	}
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	fprintf(log, "%.4f %.4f %ld %d\n", now() - start,
		seconds(&usage.ru_utime) + seconds(&usage.ru_stime), usage.ru_maxrss, status);
	fclose(log);
	return status;
}
