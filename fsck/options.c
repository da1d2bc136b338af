/* SPDX-License-Identifier: MIT */
/*
 * options: what fsck.fat is asked to do.
 *
 * Accepts whatever callers of dosfstools' fsck.fat and of fsck(8) pass [COMPAT 1.1]. Opens nothing.
 */
#include "options.h"

#include <string.h>

enum option_code {
	OPT_VARIANT = CLI_LONG,
	OPT_OFFSET,
	OPT_STATS,
	OPT_JSON,
	OPT_FREE_LOST,
	OPT_UNDO,
	OPT_VERSION,
	OPT_HELP,
};

static const struct cli_option option_list[] = {
	{ 'a', 'a', NULL, NULL, "repair without questions, losing nothing" },
	{ 'A', 'A', NULL, NULL, "the volume is an Atari's (GEMDOS)" },
	{ 'b', 'b', NULL, NULL, "look at the boot sector only" },
	{ 'c', 'c', "codepage", "N", "code page of short names (default 850)" },
	{ 'C', 'C', NULL, "FD", "write progress to descriptor FD; 0: a bar" },
	{ 'd', 'd', NULL, "PATH", "delete this file (may be repeated)" },
	{ 'f', 'f', NULL, NULL, "save lost chains as files (always done unless --free-lost)" },
	{ 'F', 'F', NULL, "N", "believe FAT N" },
	{ 'l', 'l', NULL, NULL, "list the paths of all files" },
	{ 'n', 'n', NULL, NULL, "look only, change nothing" },
	{ 'p', 'p', NULL, NULL, "same as -a" },
	{ 'r', 'r', NULL, NULL, "ask before each repair (default)" },
	{ 'S', 'S', NULL, NULL, "no blanks within short names" },
	{ 't', 't', NULL, NULL, "read every cluster, and mark as bad what cannot be read" },
	{ 'u', 'u', NULL, "PATH", "bring this deleted file back (may be repeated)" },
	{ 'U', 'U', NULL, NULL, "no small letters in the label" },
	{ 'v', 'v', NULL, NULL, "say more" },
	{ 'V', 'V', NULL, NULL, "check once more at the end (always done after repairs)" },
	{ 'w', 'w', NULL, NULL, "accepted; changes are written in a safe order in any case" },
	{ 'y', 'y', NULL, NULL, "same as -a" },
	{ OPT_FREE_LOST, 0, "free-lost", NULL, "free lost chains instead of saving them" },
	{ OPT_OFFSET, 0, "offset", "SECTOR", "the volume starts at this 512-byte sector" },
	{ OPT_UNDO, 0, "undo", "FILE", "save what is overwritten, for fatundo" },
	{ OPT_JSON, 0, "json", NULL, "report as JSON, an object a line" },
	{ OPT_STATS, 0, "stats", NULL, "print what was read and written" },
	{ OPT_VARIANT, 0, "variant", "TYPE", "the volume is dos, or atari" },
	{ OPT_VERSION, 0, "version", NULL, "print the version" },
	{ OPT_HELP, 0, "help", NULL, "print this help" },
};

const struct cli_program fsck_program = {
	.name = "fsck.fat",
	.synopsis = "[OPTIONS] DEVICE",
	.purpose = "Checks the FAT volume on DEVICE and repairs it.",
	.options = option_list,
	.n_options = sizeof option_list / sizeof *option_list,
};

struct parse {
	struct fsck_options *options;
	bool modes[3];
	int exit_status; /* -1: go on */
};

static void usage_error(struct parse *parse, const char *what, const char *value)
{
	cli_error(&fsck_program, "%s%s%s; try --help", what, value ? ": " : "", value ? value : "");
	parse->exit_status = EXIT_USAGE;
}

static bool number(struct parse *parse, const char *value, uint64_t max, const char *what,
		   uint64_t *result)
{
	if (cli_parse_u64(value, 10, 0, max, result))
		return true;
	usage_error(parse, what, value);
	return false;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20)
			return true;
	return false;
}

static void take_path(struct parse *parse, struct fat_vec *list, const char *path)
{
	const char **place;

	if (path[0] != '/') {
		usage_error(parse, "a path inside the volume begins with /", path);
		return;
	}
	if (path[strcspn(path, "*?<>|\":")] || has_control(path)) {
		usage_error(parse, "Invalid character in name. Use \\ooo for special characters",
			    path);
		return;
	}
	place = fat_vec_push(list);
	if (place)
		*place = path;
	else
		usage_error(parse, "too many paths", NULL);
}

static void take_variant(struct parse *parse, const char *value)
{
	if (strcasecmp(value, "atari") == 0)
		parse->options->variant = VARIANT_ATARI;
	else if (strcasecmp(value, "dos") == 0 || strcasecmp(value, "standard") == 0)
		parse->options->variant = VARIANT_DOS;
	else
		usage_error(parse, "Unknown variant", value);
}

static void take_number_option(struct parse *parse, int code, const char *value)
{
	struct fsck_options *options = parse->options;
	uint64_t n;

	if (code == 'c' && number(parse, value, 65535, "Invalid codepage", &n) &&
	    fat_codepage_init(&options->page, (unsigned)n) != FAT_OK)
		usage_error(parse, "Invalid codepage", value);
	if (code == 'C' && number(parse, value, INT32_MAX, "Bad file descriptor for -C", &n))
		options->progress_fd = (int)n;
	if (code == 'F' && number(parse, value, 255, "Bad FAT number", &n))
		options->fat_number = (unsigned)n;
	if (code == OPT_OFFSET && number(parse, value, UINT32_MAX, "Bad number for offset", &n))
		options->offset_sec = (uint32_t)n;
}

static void take_flag(struct parse *parse, int code)
{
	struct fsck_options *options = parse->options;

	switch (code) {
	case 'A':
		options->variant = VARIANT_ATARI;
		break;
	case 'b':
		options->boot_only = true;
		break;
	case 'l':
		options->list = true;
		break;
	case 'S':
		options->no_spaces = true;
		break;
	case 't':
		options->read_test = true;
		break;
	case 'U':
		options->upper_label = true;
		break;
	case 'v':
		options->verbose = true;
		break;
	case OPT_FREE_LOST:
		options->free_lost = true;
		break;
	case OPT_STATS:
		options->stats = true;
		break;
	case OPT_JSON:
		options->json = true;
		break;
	case 'w':
		options->write_now = true;
		break;
	case 'V':
		options->verify_again = true;
		break;
	default: /* -f: done in any case */
		break;
	}
}

static void take(struct parse *parse, int code, const char *value)
{
	struct fsck_options *options = parse->options;

	switch (code) {
	case 'a':
	case 'p':
	case 'y':
		parse->modes[MODE_AUTO] = true;
		break;
	case 'n':
		parse->modes[MODE_LOOK] = true;
		break;
	case 'r':
		parse->modes[MODE_ASK] = true;
		break;
	case 'c':
	case 'C':
	case 'F':
	case OPT_OFFSET:
		take_number_option(parse, code, value);
		break;
	case 'd':
	case 'u':
		take_path(parse, code == 'd' ? &options->drop : &options->undelete, value);
		break;
	case OPT_VARIANT:
		take_variant(parse, value);
		break;
	case OPT_UNDO:
		options->undo_path = value;
		break;
	case OPT_HELP:
		cli_usage(&fsck_program, stdout);
		parse->exit_status = EXIT_CLEAN;
		break;
	case OPT_VERSION:
		cli_banner(&fsck_program, stdout);
		parse->exit_status = EXIT_CLEAN;
		break;
	case '?':
		fprintf(stderr, "Usage: fsck.fat %s (--help tells more)\n", fsck_program.synopsis);
		parse->exit_status = EXIT_USAGE;
		break;
	default:
		take_flag(parse, code);
		break;
	}
}

/* Empty arguments are ignored: scripts pass "$OPTIONS" when there are none. */
static void take_operands(struct parse *parse, const struct cli_args *args)
{
	for (int i = args->first_operand; i < args->argc; i++) {
		if (args->argv[i][0] == '\0')
			continue;
		if (parse->options->device) {
			usage_error(parse, "more than one device", args->argv[i]);
			return;
		}
		parse->options->device = args->argv[i];
	}
	if (!parse->options->device)
		usage_error(parse, "no device given", NULL);
}

static void combine(struct parse *parse)
{
	struct fsck_options *options = parse->options;

	options->mode = parse->modes[MODE_LOOK] || options->boot_only ? MODE_LOOK :
			parse->modes[MODE_AUTO]			      ? MODE_AUTO :
									MODE_ASK;
	if (options->json && options->mode == MODE_ASK)
		usage_error(parse, "--json asks no questions: it goes with -a or -n", NULL);
	if (!parse->modes[MODE_LOOK])
		return;
	if (options->read_test || options->write_now)
		usage_error(parse, "-t and -w cannot be combined with -n", NULL);
	else if (options->drop.n || options->undelete.n)
		usage_error(parse, "-d and -u cannot be combined with -n", NULL);
}

int options_parse(struct fsck_options *options, int argc, char **argv)
{
	struct parse parse = { .options = options, .exit_status = -1 };
	struct cli_args args = { .argc = argc, .argv = argv };
	int code;

	*options = (struct fsck_options){ .progress_fd = -1 };
	fat_vec_init(&options->drop, sizeof(const char *), 1000);
	fat_vec_init(&options->undelete, sizeof(const char *), 1000);
	fat_codepage_init(&options->page, FAT_CODEPAGE_DEFAULT);
	while (parse.exit_status < 0 && (code = cli_next(&fsck_program, &args)) != -1)
		take(&parse, code, args.value);
	if (parse.exit_status < 0)
		take_operands(&parse, &args);
	if (parse.exit_status < 0)
		combine(&parse);
	return parse.exit_status;
}

void options_fini(struct fsck_options *options)
{
	fat_vec_fini(&options->drop);
	fat_vec_fini(&options->undelete);
}
