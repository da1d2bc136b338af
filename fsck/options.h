/* SPDX-License-Identifier: MIT */
/*
 * options: fsck.fat's command line.
 */
#ifndef FATWISE_FSCK_OPTIONS_H
#define FATWISE_FSCK_OPTIONS_H

#include "cli.h"
#include "fsck.h"

extern const struct cli_program fsck_program;

/* Exit status, the mask of fsck(8). */
enum fsck_exit {
	EXIT_CLEAN = 0,
	EXIT_CORRECTED = 1,
	EXIT_LEFT = 4,
	EXIT_OPERATION = 8,
	EXIT_USAGE = 16,
	EXIT_CANCELLED = 32,
};

/*
 * Reads the command line. Returns -1: go on; else the exit status to end with (after --help, or
 * after a message). options_fini() in any case.
 */
int options_parse(struct fsck_options *options, int argc, char **argv);
void options_fini(struct fsck_options *options);

#endif
