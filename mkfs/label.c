/* SPDX-License-Identifier: MIT */
/*
 * label: a volume label from the command line to the 11 bytes on the disk.
 */
#include <string.h>

#include "mkfs.h"

#define LABEL_BYTES 11u

static bool refuse(const char *why, const char *advice)
{
	cli_error(&mkfs_program, "%s; %s", why, advice);
	return false;
}

static bool check_units(const uint16_t *units, size_t n_units)
{
	bool has_lower = false;

	for (size_t i = 0; i < n_units; i++) {
		if (units[i] < 0x20 || units[i] == 0x7F)
			return refuse("Labels with characters below 0x20 are not allowed",
				      "leave out control characters");
		if (units[i] < 0x80 && strchr("*?.,;:/\\|+=<>[]\"", units[i]))
			return refuse("Labels with characters *?.,;:/\\|+=<>[]\" are not allowed",
				      "leave them out");
		has_lower = has_lower || fat_unit_upcase(units[i]) != units[i];
	}
	if (n_units > 0 && units[0] == ' ')
		return refuse("Label can't start with a space character", "leave out the blank");
	if (has_lower)
		cli_error(&mkfs_program,
			  "warning: lowercase labels might not work properly on some systems");
	return true;
}

static bool encode(const uint16_t *units, size_t n_units, const struct fat_codepage *page,
		   uint8_t label[11])
{
	size_t n = 0;

	memset(label, ' ', LABEL_BYTES);
	for (size_t i = 0; i < n_units; i++) {
		uint8_t bytes[2];
		size_t used = fat_codepage_encode(page, units[i], bytes);

		if (used == 0)
			return refuse("The label has a character that its code page lacks",
				      "choose another with --codepage");
		if (n + used > LABEL_BYTES)
			return refuse("Label can be no longer than 11 characters", "shorten it");
		memcpy(label + n, bytes, used);
		n += used;
	}
	return true;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " ")] == '\0';
}

bool mkfs_label_encode(const char *text, unsigned codepage, uint8_t label[11], bool *has_label)
{
	struct fat_codepage page;
	uint16_t units[64];
	size_t n_units;

	*has_label = false;
	if (fat_codepage_init(&page, codepage) != FAT_OK) {
		cli_error(&mkfs_program, "Invalid codepage : %u; give one that iconv knows, or 437, "
					 "or 850", codepage);
		return false;
	}
	if (!text)
		return true;
	if (strlen(text) > sizeof units)
		return refuse("Label can be no longer than 11 characters", "shorten it");
	if (!fat_units_from_utf8(text, units, sizeof units / sizeof *units, &n_units))
		return refuse("The label is not valid UTF-8", "give it in UTF-8");
	if (is_blank(text) && n_units <= LABEL_BYTES)
		return true;
	if (n_units > LABEL_BYTES)
		return refuse("Label can be no longer than 11 characters", "shorten it");
	if (!check_units(units, n_units) || !encode(units, n_units, &page, label))
		return false;
	*has_label = memcmp(label, "NO NAME    ", LABEL_BYTES) != 0;
	return true;
}
