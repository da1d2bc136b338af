/* SPDX-License-Identifier: MIT */
/*
 * options: the command line of mkfs.fat, as [COMPAT 1.2] and [COMPAT 3] have it.
 *
 * Judges values by themselves; whether they go together is the planner's business. Touches no
 * device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advice.h"
#include "bytes.h"
#include "mkfs.h"
#include "profile.h"

enum option_code {
	OPT_HELP = CLI_LONG,
	OPT_MBR,
	OPT_CODEPAGE,
	OPT_INVARIANT,
	OPT_OFFSET,
	OPT_STATS,
	OPT_DRY_RUN,
	OPT_JSON,
	OPT_UNDO,
	OPT_VARIANT,
	OPT_SIZE_FOR,
	OPT_VERIFY,
	OPT_DISCARD,
	OPT_NODISCARD,
	OPT_ALIGN,
	OPT_PROFILE,
	OPT_ADVICE,
};

static const struct cli_option option_list[] = {
	{ 'a', 'a', NULL, NULL, "align nothing" },
	{ 'A', 'A', NULL, NULL, "Atari's variant; given twice: the usual one" },
	{ OPT_ALIGN, 0, "align", "SIZE|auto|no",
	  "put the data area on multiples of SIZE on the disk" },
	{ OPT_PROFILE, 0, "profile", "NAME", "esp, rpi-boot, sdcard, camera, dos or windows" },
	{ OPT_ADVICE, 0, "advice", "FILE",
	  "take the options that fatadvise --json recommends in FILE" },
	{ OPT_VARIANT, 0, "variant", "NAME", "standard or atari" },
	{ 'b', 'b', NULL, "SECTOR", "put FAT32's backup boot sector there; 0: none" },
	{ 'c', 'c', NULL, NULL, "read everything first and mark what is bad" },
	{ 'C', 'C', NULL, NULL, "create DEVICE, a file of BLOCKS KiB" },
	{ 'd', 'd', "rootdir", "DIR", "fill the volume with what is in the folder DIR" },
	{ 'D', 'D', NULL, "NUMBER", "BIOS drive number" },
	{ 'f', 'f', NULL, "COUNT", "FATs, 1 to 4 (2)" },
	{ 'F', 'F', NULL, "BITS", "type: 12, 16 or 32" },
	{ 'g', 'g', NULL, "HEADS/SECTORS",
	  "geometry; the volume becomes a whole number of tracks" },
	{ 'h', 'h', NULL, "COUNT", "hidden sectors: those before the volume" },
	{ 'i', 'i', NULL, "ID", "volume id: 8 hexadecimal digits" },
	{ 'I', 'I', NULL, NULL, "format although something else is on DEVICE" },
	{ 'l', 'l', NULL, "FILE",
	  "mark the blocks in FILE as bad, a number of 1 KiB blocks a line" },
	{ 'm', 'm', NULL, "FILE", "boot message; -: from standard input" },
	{ 'M', 'M', NULL, "BYTE", "media byte: 0xF0, 0xF8 to 0xFF" },
	{ OPT_MBR, 0, "mbr", "[y|n|a]",
	  "put a partition table into the boot sector (n; a means n)" },
	{ 'n', 'n', NULL, "LABEL", "volume label, up to 11 characters" },
	{ OPT_CODEPAGE, 0, "codepage", "N", "code page of the label (850)" },
	{ 'r', 'r', NULL, "COUNT", "root directory entries of FAT12/16, at least" },
	{ 'R', 'R', NULL, "COUNT", "reserved sectors, exactly" },
	{ 's', 's', NULL, "COUNT", "sectors per cluster: a power of two up to 128" },
	{ 'S', 'S', NULL, "BYTES", "sector size: a power of two, 512 to 32768" },
	{ OPT_OFFSET, 0, "offset", "SECTOR", "the volume begins there in DEVICE" },
	{ OPT_INVARIANT, 0, "invariant", NULL, "the same volume id and times each run" },
	{ OPT_DISCARD, 0, "discard", NULL, "discard the volume first, where the device offers it" },
	{ OPT_NODISCARD, 0, "nodiscard", NULL, "do not" },
	{ OPT_VERIFY, 0, "verify", NULL, "read back what was written" },
	{ OPT_DRY_RUN, 0, "dry-run", NULL,
	  "print the plan with its reasons; open nothing for writing" },
	{ OPT_JSON, 0, "json", NULL, "print the plan as JSON" },
	{ OPT_UNDO, 0, "undo", "FILE", "save in FILE what is overwritten, for fatundo(8)" },
	{ 'v', 'v', NULL, NULL, "print the volume's numbers; twice: with reasons" },
	{ 'q', 'q', NULL, NULL, "print nothing but warnings and errors" },
	{ OPT_SIZE_FOR, 0, "size-for", "DIR",
	  "print the BLOCKS that DIR needs with these options" },
	{ OPT_STATS, 0, "stats", NULL, "print what was read and written" },
	{ OPT_HELP, 0, "help", NULL, "print this help" },
};

const struct cli_program mkfs_program = {
	.name = "mkfs.fat",
	.synopsis = "[OPTIONS] DEVICE [BLOCKS]",
	.purpose = "Makes a FAT file system on DEVICE, a block device or a file, "
		   "BLOCKS KiB of it if given.",
	.options = option_list,
	.n_options = sizeof option_list / sizeof *option_list,
};

/* ---- plain numbers ---- */

static const struct number_rule {
	int code;
	int base;
	uint64_t min, max;
	bool is_pow2;
	const char *what; /* as dosfstools words it */
	const char *range;
} number_rules[] = {
	{ 'b', 10, 0, 65535, false, "Bad location for backup boot sector", "0 to 65535" },
	{ 'D', 10, 0, 255, false, "Bad drive number", "0 to 255" },
	{ 'f', 10, 1, 4, false, "Bad number of FATs", "1 to 4" },
	{ 'F', 10, 12, 32, false, "Bad FAT type", "12, 16 or 32" },
	{ 'h', 10, 0, UINT32_MAX, false, "Bad number of hidden sectors", "0 to 4294967295" },
	{ 'r', 10, 16, 32768, false, "Bad number of root directory entries", "16 to 32768" },
	{ 'R', 10, 1, 65535, false, "Bad number of reserved sectors", "1 to 65535" },
	{ 's', 10, 1, 128, true, "Bad number of sectors per cluster", "1, 2, 4 ... 128" },
	{ 'S', 10, 512, 32768, true, "Bad logical sector size", "512, 1024 ... 32768" },
	{ OPT_CODEPAGE, 10, 1, 65535, false, "Invalid codepage", "a number such as 437, 850, 866" },
	{ OPT_OFFSET, 10, 0, UINT64_MAX / 32768, false, "Bad number for offset",
	  "a sector number" },
};

static const struct number_rule *rule_for(int code)
{
	for (size_t i = 0; i < sizeof number_rules / sizeof *number_rules; i++)
		if (number_rules[i].code == code)
			return &number_rules[i];
	return NULL;
}

static bool complain(const char *what, const char *value, const char *advice)
{
	cli_error(&mkfs_program, "%s : %s; give %s", what, value, advice);
	return false;
}

static bool read_number(const struct number_rule *rule, const char *text, uint64_t *value)
{
	if (!cli_parse_u64(text, rule->base, rule->min, rule->max, value) ||
	    (rule->is_pow2 && !is_pow2(*value)))
		return complain(rule->what, text, rule->range);
	return true;
}

static bool take_number(struct mkfs_options *options, const struct number_rule *rule,
			const char *text)
{
	struct fat_layout_request *ask = &options->ask;
	uint64_t value;

	if (!read_number(rule, text, &value))
		return false;
	switch (rule->code) {
	case 'b':
		ask->has_backup_sec = true;
		ask->backup_sec = (uint32_t)value;
		break;
	case 'D':
		ask->has_drive = true;
		ask->drive = (uint8_t)value;
		break;
	case 'f':
		ask->n_fats = (uint32_t)value;
		break;
	case 'F':
		if (value != 12 && value != 16 && value != 32)
			return complain(rule->what, text, rule->range);
		ask->type = (uint32_t)value;
		break;
	case 'h':
		options->has_hidden = true;
		ask->hidden_sec = (uint32_t)value;
		break;
	case 'r':
		ask->root_entries = (uint32_t)value;
		break;
	case 'R':
		ask->reserved_sec = (uint32_t)value;
		break;
	case 's':
		ask->cluster_sec = (uint32_t)value;
		break;
	case 'S':
		ask->sector_bytes = (uint32_t)value;
		break;
	case OPT_CODEPAGE:
		options->codepage = (unsigned)value;
		break;
	case OPT_OFFSET:
		options->offset_sec = value;
		break;
	}
	return true;
}

/* ---- values with a form of their own ---- */

static bool take_geometry(struct mkfs_options *options, const char *text)
{
	char heads_text[16];
	const char *slash = strchr(text, '/');
	uint64_t heads, track_sec;
	size_t n = slash ? (size_t)(slash - text) : sizeof heads_text;

	if (n < sizeof heads_text) {
		memcpy(heads_text, text, n);
		heads_text[n] = '\0';
		if (cli_parse_u64(heads_text, 10, 1, 65535, &heads) &&
		    cli_parse_u64(slash + 1, 10, 1, 65535, &track_sec)) {
			options->has_geometry = true;
			options->ask.heads = (uint32_t)heads;
			options->ask.track_sec = (uint32_t)track_sec;
			return true;
		}
	}
	return complain("Bad format of geometry", text, "heads and sectors per track: 255/63");
}

static bool take_media(struct mkfs_options *options, const char *text)
{
	uint64_t media;

	if (!cli_parse_u64(text, 10, 0, UINT64_MAX, &media))
		return complain("Bad number for media descriptor", text, "0xF8 for a fixed disk");
	if (media != 0xF0 && (media < 0xF8 || media > 0xFF))
		return complain("FAT Media byte must either be between 0xF8 and 0xFF or be 0xF0",
				text, "0xF8 for a fixed disk, 0xF0 for a floppy disk");
	options->ask.media = (uint8_t)media;
	return true;
}

/* 1234ABCD, 0x1234ABCD, 1234-ABCD. */
static bool take_volume_id(struct mkfs_options *options, const char *text)
{
	char digits[16];
	uint64_t id;

	if (strlen(text) == 9 && text[4] == '-') {
		memcpy(digits, text, 4);
		memcpy(digits + 4, text + 5, 5);
		text = digits;
	}
	if (!cli_parse_u64(text, 16, 0, UINT64_MAX, &id)) {
		cli_error(&mkfs_program, "Volume ID must be a hexadecimal number; give 8 digits, "
					 "such as 1234ABCD");
		return false;
	}
	if (id > UINT32_MAX) {
		cli_error(&mkfs_program, "Volume ID does not fit in 32 bit; give 8 hexadecimal "
					 "digits, such as 1234ABCD");
		return false;
	}
	options->has_volume_id = true;
	options->volume_id = (uint32_t)id;
	return true;
}

static bool is_word(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(text)) == 0;
}

/* y, yes, n, no, a, auto; nothing means yes. */
static bool take_table(struct mkfs_options *options, const char *text)
{
	if (!text || (*text && is_word(text, "yes"))) {
		options->table = MKFS_TABLE_YES;
	} else if (*text && (is_word(text, "no") || is_word(text, "auto"))) {
		options->table = MKFS_TABLE_NO;
	} else {
		cli_error(&mkfs_program, "Unknown option for --mbr: '%s'; give yes, no or auto",
			  text);
		return false;
	}
	return true;
}

/* One word behind the size: where the padding goes, or that it is just enough to be in phase. */
static bool take_align_word(struct fat_layout_request *ask, const char *word)
{
	if (strcmp(word, "fats") == 0)
		ask->padding = FAT_PAD_FATS;
	else if (strcmp(word, "beside") == 0)
		ask->align = FAT_ALIGN_PHASE;
	else
		return false;
	return true;
}

/* auto, no, SIZE[+PHASE][,beside][,fats] */
static bool take_align(struct mkfs_options *options, const char *text)
{
	struct fat_layout_request *ask = &options->ask;
	char copy[64], *rest = NULL, *phase, *word;
	bool is_right = strlen(text) < sizeof copy;

	options->align = strcmp(text, "auto") == 0 ? MKFS_ALIGN_AUTO :
			 strcmp(text, "no") == 0   ? MKFS_ALIGN_NO :
						     MKFS_ALIGN_GIVEN;
	if (options->align != MKFS_ALIGN_GIVEN)
		return true;
	snprintf(copy, sizeof copy, "%s", text);
	word = strtok_r(copy, ",", &rest);
	phase = word ? strchr(word, '+') : NULL;
	if (phase)
		*phase++ = '\0';
	ask->align = FAT_ALIGN_BOUNDARY;
	is_right = is_right && word && cli_parse_size(word, &ask->align_bytes) &&
		   ask->align_bytes > 0 && ask->align_bytes <= 1ull << 40 &&
		   (!phase || cli_parse_size(phase, &ask->align_phase_bytes));
	while (is_right && (word = strtok_r(NULL, ",", &rest)))
		is_right = take_align_word(ask, word);
	return is_right ||
	       complain("Bad alignment", text,
			"auto, no, or a size such as 4M, 6M+1536K, 4M,beside or 4M,fats");
}

static bool take_profile(struct mkfs_options *options, const char *text)
{
	options->profile = mkfs_profile_find(text);
	return options->profile || complain("Unknown profile", text, mkfs_profile_names());
}

static bool take_variant(struct mkfs_options *options, const char *text)
{
	bool is_atari = strcasecmp(text, "atari") == 0;

	if (!is_atari && strcasecmp(text, "standard") != 0) {
		cli_error(&mkfs_program, "Unknown variant: %s; give standard or atari", text);
		return false;
	}
	options->ask.atari = is_atari;
	return true;
}

static bool take_flag(struct mkfs_options *options, int code)
{
	switch (code) {
	case 'a':
		options->no_align = true;
		break;
	case 'A':
		options->ask.atari = !options->ask.atari;
		break;
	case 'c':
		options->scan = true;
		break;
	case 'C':
		options->create = true;
		break;
	case 'I':
		options->ignore_checks = true;
		break;
	case 'v':
		options->verbosity++;
		break;
	case 'q':
		options->quiet = true;
		break;
	case OPT_INVARIANT:
		options->invariant = true;
		break;
	case OPT_STATS:
		options->stats = true;
		break;
	case OPT_DRY_RUN:
		options->dry_run = true;
		break;
	case OPT_JSON:
		options->json = true;
		break;
	case OPT_VERIFY:
		options->verify = true;
		break;
	case OPT_DISCARD:
		options->discard = MKFS_DISCARD_YES;
		break;
	case OPT_NODISCARD:
		options->discard = MKFS_DISCARD_NO;
		break;
	default:
		return false;
	}
	return true;
}

static bool take(struct mkfs_options *options, int code, const char *value);

static bool take_named(struct mkfs_options *options, const char *name, const char *value)
{
	return take(options, strcmp(name, "--align") == 0 ? OPT_ALIGN : name[1], value);
}

static bool take_path(struct mkfs_options *options, int code, const char *value)
{
	switch (code) {
	case 'l':
		options->bad_path = value;
		return true;
	case 'm':
		options->message_path = value;
		return true;
	case OPT_UNDO:
		options->undo_path = value;
		return true;
	case OPT_ADVICE:
		return mkfs_advice_read(value, options, take_named);
	}
	return false;
}

static bool take(struct mkfs_options *options, int code, const char *value)
{
	const struct number_rule *rule = rule_for(code);

	if (rule)
		return take_number(options, rule, value);
	switch (code) {
	case 'g':
		return take_geometry(options, value);
	case 'i':
		return take_volume_id(options, value);
	case 'd':
	case OPT_SIZE_FOR:
		options->tree_path = value;
		options->size_for = options->size_for || code == OPT_SIZE_FOR;
		return true;
	case 'M':
		return take_media(options, value);
	case 'n':
		options->label = value;
		return true;
	case OPT_MBR:
		return take_table(options, value);
	case OPT_VARIANT:
		return take_variant(options, value);
	case OPT_ALIGN:
		return take_align(options, value);
	case OPT_PROFILE:
		return take_profile(options, value);
	}
	return take_flag(options, code) || take_path(options, code, value);
}

static bool take_operands(struct mkfs_options *options, char **operands, int n)
{
	if (n == 0 && options->size_for)
		return true;
	if (n == 0) {
		cli_error(&mkfs_program, "No device specified.");
		cli_usage(&mkfs_program, stderr);
		return false;
	}
	if (n > 2) {
		cli_error(&mkfs_program, "Excess arguments on command line: %s; "
					 "see mkfs.fat --help", operands[2]);
		return false;
	}
	options->path = operands[0];
	if (n == 2) {
		options->has_blocks = true;
		if (!cli_parse_u64(operands[1], 10, 1, UINT64_MAX / 1024, &options->n_blocks))
			return complain("Bad block count", operands[1], "a number of KiB");
	}
	if (options->scan && options->bad_path) {
		cli_error(&mkfs_program, "-c and -l are incompatible; leave out one of them");
		return false;
	}
	if (options->create && !options->has_blocks && !options->tree_path) {
		cli_error(&mkfs_program, "%s: Need intended size with -C; give it in KiB behind "
					 "the file's name, or a folder with -d", options->path);
		return false;
	}
	return true;
}

/*
 * What the planner is told of these stands in several options. -a is dosfstools' word for --align
 * no, and also keeps the volume off whole tracks.
 */
static void ask_for_alignment(struct mkfs_options *options)
{
	if (options->align == MKFS_ALIGN_NO ||
	    (options->no_align && options->align != MKFS_ALIGN_GIVEN))
		options->ask.align = FAT_ALIGN_NONE;
	options->ask.is_geometry_exact = options->has_geometry;
	options->ask.whole_tracks = options->has_geometry && !options->no_align;
}

bool mkfs_options_read(int argc, char **argv, struct mkfs_options *options, int *exit_status)
{
	struct cli_args args = { .argc = argc, .argv = argv };
	int code;

	*options = (struct mkfs_options){ .codepage = FAT_CODEPAGE_DEFAULT };
	*exit_status = MKFS_FAILED;
	while ((code = cli_next(&mkfs_program, &args)) != -1) {
		if (code == OPT_HELP) {
			cli_banner(&mkfs_program, stdout);
			cli_usage(&mkfs_program, stdout);
			*exit_status = cli_close_stdout(&mkfs_program, MKFS_DONE, MKFS_FAILED);
			return false;
		}
		if (code == '?') {
			cli_usage(&mkfs_program, stderr);
			return false;
		}
		if (!take(options, code, args.value))
			return false;
	}
	ask_for_alignment(options);
	return take_operands(options, argv + args.first_operand, argc - args.first_operand);
}
