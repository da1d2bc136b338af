/* SPDX-License-Identifier: MIT */
/*
 * value: the new label or volume id from the command line, and the time; before any device is open.
 */
#include <string.h>

#include "label.h"

static bool refuse_label(enum fat_label_flaw flaw)
{
	const char *advice = flaw == FAT_LABEL_BLANK      ? "; '' or --reset removes the label"
			     : flaw == FAT_LABEL_CODEPAGE ? "; choose another with --codepage"
							  : "";

	cli_error(&label_program, "labels %s%s", fat_label_flaw_text(flaw), advice);
	return false;
}

static bool take_label(const char *text, struct label_change *change)
{
	enum fat_label_flaw flaw = fat_label_encode(text, &change->codepage, change->label);

	if (flaw != FAT_LABEL_OK)
		return refuse_label(flaw);
	if (fat_label_has_lower(change->label, &change->codepage))
		cli_error(&label_program,
			  "warning - lowercase labels might not work properly on some systems");
	return true;
}

/* Hexadecimal, with 0x or a dash in the middle or without. */
static bool take_id(const char *text, struct label_change *change)
{
	char digits[9];
	const char *dash = strchr(text, '-');
	uint64_t number;

	if (dash && dash - text == 4 && strlen(dash) == 5) {
		memcpy(digits, text, 4);
		memcpy(digits + 4, dash + 1, 5);
		text = digits;
	}
	if (!cli_parse_u64(text, 16, 0, UINT64_MAX, &number)) {
		cli_error(&label_program, "volume ID must be a hexadecimal number");
		return false;
	}
	if (number > UINT32_MAX) {
		cli_error(&label_program, "given volume ID does not fit in 32 bit");
		return false;
	}
	change->volume_id = (uint32_t)number;
	return true;
}

bool label_change_read(const struct label_options *options, struct label_change *change)
{
	struct cli_clock clock;

	*change = (struct label_change){ 0 };
	fat_label_set_none(change->label);
	if (fat_codepage_init(&change->codepage, options->codepage) != FAT_OK) {
		cli_error(&label_program, "code page %u is not known here; 437 and 850 always are",
			  options->codepage);
		return false;
	}
	if (!cli_clock_read(&label_program, &clock))
		return false;
	change->volume_id = clock.volume_id;
	cli_clock_datetime(&clock, clock.seconds, 0, &change->now);
	if (options->action != LABEL_SET)
		return true;
	return options->volume_id ? take_id(options->value, change)
				  : take_label(options->value, change);
}
