/* SPDX-License-Identifier: MIT */
/*
 * options: fatadvise's command line. The table is the only list of its options.
 */
#include "options.h"

#include <string.h>

#define MIB       (1ull << 20)
#define SECOND_NS 1000000000ull

enum {
	OPT_JSON = CLI_LONG,
	OPT_QUICK,
	OPT_THOROUGH,
	OPT_MAX_BYTES,
	OPT_TIME,
	OPT_FILES,
	OPT_SIMULATE,
	OPT_STATS,
};

static const struct cli_option table[] = {
	{ 'q', 'q', "quiet", NULL, "print nothing but the options for mkfs.fat" },
	{ OPT_JSON, 0, "json", NULL, "report as JSON" },
	{ OPT_QUICK, 0, "quick", NULL, "at most 10 s and 16 MiB written" },
	{ OPT_THOROUGH, 0, "thorough", NULL, "at most 120 s and 512 MiB written" },
	{ OPT_TIME, 0, "time", "SECONDS", "at most so long (default 30)" },
	{ OPT_MAX_BYTES, 0, "max-bytes", "SIZE", "write at most so much (default 64M)" },
	{ OPT_FILES, 0, "files", "N", "files expected: bounds what clusters may waste" },
	{ OPT_SIMULATE, 0, "simulate", "MODEL", "a simulated device; \"list\" names them" },
	{ OPT_STATS, 0, "stats", NULL, "print what the device was asked" },
	{ 'h', 'h', "help", NULL, "print this and end" },
	{ 'V', 'V', "version", NULL, "print the version and end" },
};

const struct cli_program advise_program = {
	.name = "fatadvise",
	.synopsis = "[OPTIONS] DEVICE",
	.purpose =
		"Measures DEVICE (disk, partition or image) and says how to format it with FAT.\n"
		"What it holds stays as it is: only bytes just read are written back.",
	.options = table,
	.n_options = sizeof table / sizeof *table,
};

static enum advise_parsed wrong(const char *what, const char *value)
{
	cli_error(&advise_program, "%s: '%s' (--help lists the options)", what, value);
	return ADVISE_WRONG;
}

static enum advise_parsed list_models(void)
{
	for (size_t i = 0; sim_model(i); i++)
		printf("%-12s %s\n", sim_model(i)->name, sim_model(i)->text);
	return ADVISE_DONE;
}

static enum advise_parsed take_model(const char *name, struct advise_options *options)
{
	if (strcmp(name, "list") == 0)
		return list_models();
	options->model = sim_model_by_name(name);
	return options->model ? ADVISE_RUN : wrong("no such model (try --simulate list)", name);
}

static enum advise_parsed take_number(int code, const char *value, struct advise_options *options)
{
	uint64_t n;

	switch (code) {
	case OPT_TIME:
		if (!cli_parse_u64(value, 10, 1, 86400, &n))
			return wrong("not a number of seconds from 1 to 86400", value);
		options->budget.max_ns = n * SECOND_NS;
		return ADVISE_RUN;
	case OPT_MAX_BYTES:
		if (!cli_parse_size(value, &options->budget.max_bytes))
			return wrong("not a size such as 64M", value);
		return ADVISE_RUN;
	default:
		if (!cli_parse_u64(value, 10, 0, UINT32_MAX, &options->n_files))
			return wrong("not a number of files", value);
		return ADVISE_RUN;
	}
}

static enum advise_parsed take(int code, const char *value, struct advise_options *options)
{
	switch (code) {
	case 'q':
		options->format = ADVISE_OPTIONS_ONLY;
		return ADVISE_RUN;
	case OPT_JSON:
		options->format = ADVISE_JSON;
		return ADVISE_RUN;
	case OPT_QUICK:
		options->budget = (struct advise_budget){ 10 * SECOND_NS, 16 * MIB };
		return ADVISE_RUN;
	case OPT_THOROUGH:
		options->budget = (struct advise_budget){ 120 * SECOND_NS, 512 * MIB };
		return ADVISE_RUN;
	case OPT_STATS:
		options->stats = true;
		return ADVISE_RUN;
	case OPT_SIMULATE:
		return take_model(value, options);
	case 'h':
		cli_usage(&advise_program, stdout);
		return ADVISE_DONE;
	case 'V':
		cli_banner(&advise_program, stdout);
		return ADVISE_DONE;
	case '?':
		return ADVISE_WRONG;
	default:
		return take_number(code, value, options);
	}
}

static enum advise_parsed take_operands(const struct cli_args *args, struct advise_options *options)
{
	int n = args->argc - args->first_operand;

	if (options->model && n == 0)
		return ADVISE_RUN;
	if (n == 1 && !options->model) {
		options->path = args->argv[args->first_operand];
		return ADVISE_RUN;
	}
	cli_error(&advise_program, n == 0           ? "no device given (--help shows how)"
				   : options->model ? "--simulate takes no device"
						    : "one device at a time");
	return ADVISE_WRONG;
}

enum advise_parsed advise_options_parse(int argc, char **argv, struct advise_options *options)
{
	struct cli_args args = { .argc = argc, .argv = argv };
	int code;

	*options = (struct advise_options){ .budget = { 30 * SECOND_NS, 64 * MIB } };
	while ((code = cli_next(&advise_program, &args)) != -1) {
		enum advise_parsed parsed = take(code, args.value, options);

		if (parsed != ADVISE_RUN)
			return parsed;
	}
	return take_operands(&args, options);
}
