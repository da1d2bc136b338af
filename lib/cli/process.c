/* SPDX-License-Identifier: MIT */
/*
 * process: how a tool ends: stdout that could not be written, signals.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

void cli_catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

int cli_signal(void)
{
	return caught;
}

int cli_close_stdout(const struct cli_program *program, int status, int fail_status)
{
	bool failed = ferror(stdout) != 0; /* long ago: nobody kept the reason */

	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return status; /* closed by the caller to have it quiet [COMPAT 1.2, systemd] */
	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	cli_error(program, "cannot write to standard output: %s",
		  errno ? strerror(errno) : "an earlier write failed");
	return status ? status : fail_status;
}
