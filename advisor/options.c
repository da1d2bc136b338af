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
	OPT_FOR,
	OPT_READ_ONLY,
	OPT_FORMAT,
	OPT_SVG,
	OPT_RECORD,
	OPT_REPLAY,
	OPT_HWDB,
};

static const struct cli_option table[] = {
	{ 'q', 'q', "quiet", NULL, "print nothing but the options for mkfs.fat" },
	{ OPT_JSON, 0, "json", NULL, "report as JSON" },
	{ OPT_SVG, 0, "svg", "FILE", "draw a chart into FILE as well" },
	{ OPT_HWDB, 0, "hwdb", NULL, "print an entry for udev's hardware database" },
	{ OPT_FORMAT, 0, "format", NULL, "run mkfs.fat by the advice, after a question" },
	{ OPT_FOR, 0, "for", "PURPOSE", "what the volume is for; \"list\" names them" },
	{ OPT_READ_ONLY, 0, "read-only", NULL, "write nothing: finds pages and erase blocks only" },
	{ OPT_RECORD, 0, "record", "FILE", "keep the raw measurements in FILE" },
	{ OPT_REPLAY, 0, "replay", "FILE", "advise by such a file instead of a device" },
	{ OPT_QUICK, 0, "quick", NULL, "at most 10 s and 16 MiB written" },
	{ OPT_THOROUGH, 0, "thorough", NULL, "at most 120 s and 512 MiB written" },
	{ OPT_TIME, 0, "time", "SECONDS", "at most so long (default 30)" },
	{ OPT_MAX_BYTES, 0, "max-bytes", "SIZE", "write at most so much (default 64M)" },
	{ 'S', 'S', NULL, "SECTOR", "logical sectors: 1024, 2048, 4096 allow larger clusters" },
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

static enum advise_parsed take_purpose(const char *name, struct advise_options *options)
{
	bool list = strcmp(name, "list") == 0;

	for (size_t i = 0; advise_purpose(i); i++) {
		if (list)
			printf("%-9s %s\n", advise_purpose(i)->name, advise_purpose(i)->text);
		else if (strcmp(advise_purpose(i)->name, name) == 0)
			options->purpose = advise_purpose(i);
	}
	if (list)
		return ADVISE_DONE;
	return strcmp(options->purpose->name, name) == 0
		       ? ADVISE_RUN
		       : wrong("no such purpose (try --for list)", name);
}

/* Options that name a file or a way. */
static enum advise_parsed take_more(int code, const char *value, struct advise_options *options)
{
	switch (code) {
	case OPT_SVG:
		options->svg_path = value;
		return ADVISE_RUN;
	case OPT_RECORD:
		options->record_path = value;
		return ADVISE_RUN;
	case OPT_REPLAY:
		options->replay_path = value;
		return ADVISE_RUN;
	case OPT_READ_ONLY:
		options->read_only = true;
		return ADVISE_RUN;
	case OPT_FORMAT:
		options->format_it = true;
		return ADVISE_RUN;
	case OPT_HWDB:
		options->format = ADVISE_HWDB;
		return ADVISE_RUN;
	default:
		return take_purpose(value, options);
	}
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
	case 'S':
		if (!cli_parse_u64(value, 10, 512, 4096, &n) || (n & (n - 1)) != 0)
			return wrong("not a sector size: 512, 1024, 2048 or 4096", value);
		options->sector_bytes = (uint32_t)n;
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
	case 'S':
	case OPT_TIME:
	case OPT_MAX_BYTES:
	case OPT_FILES:
		return take_number(code, value, options);
	default:
		return take_more(code, value, options);
	}
}

static enum advise_parsed take_operands(const struct cli_args *args, struct advise_options *options)
{
	int n = args->argc - args->first_operand;
	bool needs_none = options->model || options->replay_path;

	if (options->model && options->replay_path) {
		cli_error(&advise_program, "--simulate and --replay exclude each other");
		return ADVISE_WRONG;
	}
	if (options->format_it && (needs_none || options->read_only)) {
		cli_error(&advise_program, "--format needs a device that is measured");
		return ADVISE_WRONG;
	}
	if (needs_none && n == 0)
		return ADVISE_RUN;
	if (n == 1 && !needs_none) {
		options->path = args->argv[args->first_operand];
		return ADVISE_RUN;
	}
	cli_error(&advise_program, n == 0       ? "no device given (--help shows how)"
				   : needs_none ? "--simulate and --replay take no device"
						: "one device at a time");
	return ADVISE_WRONG;
}

enum advise_parsed advise_options_parse(int argc, char **argv, struct advise_options *options)
{
	struct cli_args args = { .argc = argc, .argv = argv };
	int code;

	*options = (struct advise_options){ .budget = { 30 * SECOND_NS, 64 * MIB },
					    .purpose = advise_purpose(0) };
	while ((code = cli_next(&advise_program, &args)) != -1) {
		enum advise_parsed parsed = take(code, args.value, options);

		if (parsed != ADVISE_RUN)
			return parsed;
	}
	return take_operands(&args, options);
}
