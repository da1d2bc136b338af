/* SPDX-License-Identifier: MIT */
/*
 * label: the eleven bytes of a volume label <-> text.
 *
 * Pure. Knows what a label may hold [FATSPEC 6.1, COMPAT 3]: what short names may, and blanks;
 * small letters are let pass. Does not know where labels stand.
 */
#include "libfat.h"

#include <string.h>

static const uint8_t no_name[FAT_SHORT_BYTES] = { 'N', 'O', ' ', 'N', 'A', 'M',
						  'E', ' ', ' ', ' ', ' ' };

bool fat_label_is_none(const uint8_t label[FAT_SHORT_BYTES])
{
	static const uint8_t blank[FAT_SHORT_BYTES] = { ' ', ' ', ' ', ' ', ' ', ' ',
							' ', ' ', ' ', ' ', ' ' };

	return memcmp(label, no_name, FAT_SHORT_BYTES) == 0 ||
	       memcmp(label, blank, FAT_SHORT_BYTES) == 0;
}

void fat_label_set_none(uint8_t label[FAT_SHORT_BYTES])
{
	memcpy(label, no_name, FAT_SHORT_BYTES);
}

static enum fat_label_flaw check_unit(uint16_t unit)
{
	if (unit < 0x20 || unit == 0x7F)
		return FAT_LABEL_CONTROL;
	if (unit < 0x80 && strchr("*?.,;:/\\|+=<>[]\"", unit))
		return FAT_LABEL_RESERVED;
	return FAT_LABEL_OK;
}

static enum fat_label_flaw check(const uint16_t *units, size_t n_units)
{
	size_t n_blank = 0;

	for (size_t i = 0; i < n_units; i++) {
		enum fat_label_flaw flaw = check_unit(units[i]);

		if (flaw != FAT_LABEL_OK)
			return flaw;
		n_blank += units[i] == ' ';
	}
	if (n_blank == n_units)
		return FAT_LABEL_BLANK;
	return units[0] == ' ' ? FAT_LABEL_LEADING_BLANK : FAT_LABEL_OK;
}

static enum fat_label_flaw put_units(const uint16_t *units, size_t n_units,
				     const struct fat_codepage *codepage,
				     uint8_t label[FAT_SHORT_BYTES])
{
	size_t n = 0;

	memset(label, ' ', FAT_SHORT_BYTES);
	for (size_t i = 0; i < n_units; i++) {
		uint8_t bytes[2];
		size_t n_bytes = fat_codepage_encode(codepage, units[i], bytes);

		if (n_bytes == 0)
			return FAT_LABEL_CODEPAGE;
		if (n + n_bytes > FAT_SHORT_BYTES)
			return FAT_LABEL_LONG;
		memcpy(label + n, bytes, n_bytes);
		n += n_bytes;
	}
	return FAT_LABEL_OK;
}

enum fat_label_flaw fat_label_encode(const char *text, const struct fat_codepage *codepage,
				     uint8_t label[FAT_SHORT_BYTES])
{
	uint16_t units[256]; /* more than enough to tell what is wrong, too */
	size_t n_units;
	enum fat_label_flaw flaw;

	if (strlen(text) >= sizeof units / sizeof *units)
		return FAT_LABEL_LONG;
	if (!fat_units_from_utf8(text, units, sizeof units / sizeof *units, &n_units))
		return FAT_LABEL_UTF8;
	flaw = check(units, n_units);
	if (flaw == FAT_LABEL_OK && n_units > FAT_SHORT_BYTES)
		flaw = FAT_LABEL_LONG;
	return flaw == FAT_LABEL_OK ? put_units(units, n_units, codepage, label) : flaw;
}

bool fat_label_has_lower(const uint8_t label[FAT_SHORT_BYTES], const struct fat_codepage *codepage)
{
	size_t used;

	for (size_t i = 0; i < FAT_SHORT_BYTES; i += used) {
		uint32_t c = fat_codepage_decode(codepage, label + i, FAT_SHORT_BYTES - i, &used);

		if (c <= 0xFFFF && fat_unit_upcase((uint16_t)c) != c)
			return true;
	}
	return false;
}

void fat_label_decode(const uint8_t label[FAT_SHORT_BYTES], const struct fat_codepage *codepage,
		      char text[FAT_LABEL_TEXT_BYTES])
{
	uint16_t units[FAT_SHORT_BYTES];
	size_t n_bytes = FAT_SHORT_BYTES, n_units = 0, used;

	while (n_bytes > 0 && label[n_bytes - 1] == ' ')
		n_bytes--;
	for (size_t i = 0; i < n_bytes; i += used) {
		uint32_t c = fat_codepage_decode(codepage, label + i, n_bytes - i, &used);

		units[n_units++] = c <= 0xFFFF ? (uint16_t)c : FAT_CHAR_UNKNOWN;
	}
	fat_units_to_utf8(units, n_units, text, FAT_LABEL_TEXT_BYTES);
}

const char *fat_label_flaw_text(enum fat_label_flaw flaw)
{
	static const char *const text[] = {
#define FLAW_TEXT(name, words) [FAT_LABEL_##name] = (words),
		FAT_LABEL_FLAWS(FLAW_TEXT)
#undef FLAW_TEXT
	};

	return text[flaw];
}
