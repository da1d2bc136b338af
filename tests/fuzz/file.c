/* SPDX-License-Identifier: MIT */
/* file: an input as a file in memory, for functions that take a path; and how a target fails. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

void fuzz_fail(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
	abort();
}

const char *fuzz_file(const uint8_t *data, size_t n_bytes)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, n_bytes, 0) == (ssize_t)n_bytes);
	return path;
}
