/* SPDX-License-Identifier: MIT */
/*
 * options: fatlabel's command line.
 */
#include <string.h>

#include "label.h"

enum option_code { OPT_STATS = CLI_LONG, OPT_JSON };

static const struct cli_option option_list[] = {
	{ 'i', 'i', "volume-id", NULL, "work on the volume id instead of the label" },
	{ 'r', 'r', "reset", NULL, "remove the label, or make a new volume id" },
	{ 'c', 'c', "codepage", "N", "code page of the label (437 and 850 always; default 850)" },
	{ 'f', 'f', "force", NULL, "change a volume although it is mounted or in use" },
	{ OPT_JSON, 0, "json", NULL, "print label, volume id and type as JSON" },
	{ OPT_STATS, 0, "stats", NULL, "print on standard error what was read and written" },
	{ 'V', 'V', "version", NULL, "print the version" },
	{ 'h', 'h', "help", NULL, "print this help" },
};

const struct cli_program label_program = {
	.name = "fatlabel",
	.synopsis = "[OPTIONS] DEVICE [NEW]",
	.purpose =
		"Prints the label or volume id of the FAT volume on DEVICE, or changes it to NEW.",
	.options = option_list,
	.n_options = sizeof option_list / sizeof *option_list,
};

static bool fail(int *exit_status, const char *why)
{
	cli_error(&label_program, "%s; see fatlabel --help", why);
	*exit_status = LABEL_FAILED;
	return false;
}

static bool usage_failed(int *exit_status)
{
	cli_usage(&label_program, stderr);
	*exit_status = LABEL_FAILED;
	return false;
}

/* Help and version end the program. true: go on. */
static bool take_option(struct label_options *options, int code, const char *value,
			int *exit_status)
{
	uint64_t number;

	switch (code) {
	case 'i':
		options->volume_id = true;
		return true;
	case 'r':
		options->action = LABEL_RESET;
		return true;
	case 'c':
		if (!cli_parse_u64(value, 10, 1, 65535, &number))
			return fail(exit_status, "a code page is a number from 1 to 65535");
		options->codepage = (unsigned)number;
		return true;
	case 'f':
		options->force = true;
		return true;
	case OPT_JSON:
		options->json = true;
		return true;
	case OPT_STATS:
		options->stats = true;
		return true;
	case 'V':
		cli_banner(&label_program, stdout);
		*exit_status = cli_close_stdout(&label_program, LABEL_DONE, LABEL_FAILED);
		return false;
	case 'h':
		cli_usage(&label_program, stdout);
		*exit_status = cli_close_stdout(&label_program, LABEL_DONE, LABEL_FAILED);
		return false;
	default:
		return usage_failed(exit_status);
	}
}

static bool take_operands(struct label_options *options, int n, char **operands, int *exit_status)
{
	if (n < 1 || n > 2)
		return usage_failed(exit_status);
	options->path = operands[0];
	if (n == 1)
		return true;
	if (options->action == LABEL_RESET)
		return fail(exit_status, "giving new value with --reset not allowed");
	options->action = LABEL_SET;
	options->value = operands[1];
	if (!options->volume_id && options->value[0] == '\0')
		options->action = LABEL_RESET; /* the empty label is none */
	return true;
}

bool label_options_read(int argc, char **argv, struct label_options *options, int *exit_status)
{
	struct cli_args args = { .argc = argc, .argv = argv };
	int code;

	*options = (struct label_options){ .codepage = FAT_CODEPAGE_DEFAULT };
	while ((code = cli_next(&label_program, &args)) != -1)
		if (!take_option(options, code, args.value, exit_status))
			return false;
	if (!take_operands(options, argc - args.first_operand, argv + args.first_operand,
			   exit_status))
		return false;
	if (options->json && options->action != LABEL_SHOW)
		return fail(exit_status, "--json goes with printing only");
	return true;
}
