/* SPDX-License-Identifier: MIT */
/*
 * process: how a tool ends: stdout that could not be written, signals.
 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

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
	if (!ferror(stdout) && fflush(stdout) == 0)
		return status;
	if (errno == EBADF) /* closed by the caller to have it quiet [COMPAT 1.2, systemd] */
		return status;
	cli_error(program, "cannot write to standard output: %s", strerror(errno));
	return status ? status : fail_status;
}
