/* SPDX-License-Identifier: MIT */
/*
 * name: short names, long names, and the way between them [FATSPEC 6.1, 7].
 *
 * Pure functions. UTF-16 inside, as on the disk; UTF-8 towards people. Knows which names drivers
 * can use, but not which are taken: that is the directory's business.
 */
#include "libfat.h"

#include <string.h>

#include "bytes.h"

#define BASE_BYTES 8u
#define EXT_BYTES  3u

/* ---- UTF ---- */

static bool is_high(uint32_t c)
{
	return c >= 0xD800 && c < 0xDC00;
}

static bool is_low(uint32_t c)
{
	return c >= 0xDC00 && c < 0xE000;
}

/* Returns the bytes put, 1 to 4. */
static size_t put_utf8(uint32_t c, uint8_t out[4])
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xC0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xE0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
		out[2] = (uint8_t)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (uint8_t)(0xF0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 63));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 63));
	out[3] = (uint8_t)(0x80 | (c & 63));
	return 4;
}

size_t fat_units_to_utf8(const uint16_t *units, size_t n_units, char *text, size_t text_bytes)
{
	size_t done = 0;

	for (size_t i = 0; i < n_units; i++) {
		uint32_t c = units[i];
		uint8_t out[4];
		size_t n;

		if (is_high(c) && i + 1 < n_units && is_low(units[i + 1]))
			c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00u);
		else if (is_high(c) || is_low(c))
			c = FAT_CHAR_UNKNOWN;
		n = put_utf8(c, out);
		if (done + n >= text_bytes)
			break;
		memcpy(text + done, out, n);
		done += n;
	}
	if (text_bytes)
		text[done] = '\0';
	return done;
}

/* The code point at *text, which moves behind it; UINT32_MAX if it is not valid UTF-8. */
static uint32_t take_utf8(const char **text)
{
	static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)*text;
	unsigned more = p[0] < 0x80 ? 0 : p[0] < 0xC2 ? 4 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 :
			p[0] < 0xF5 ? 3 : 4;
	uint32_t c = more == 0 ? p[0] : p[0] & (0x3Fu >> more);

	if (more == 4)
		return UINT32_MAX;
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return UINT32_MAX;
		c = c << 6 | (p[i] & 0x3F);
	}
	if (c < smallest[more] || is_high(c) || is_low(c) || c > 0x10FFFF)
		return UINT32_MAX;
	*text += 1 + more;
	return c;
}

bool fat_units_from_utf8(const char *text, uint16_t *units, size_t max_units, size_t *n_units)
{
	size_t n = 0;

	while (*text) {
		uint32_t c = take_utf8(&text);
		size_t need = c > 0xFFFF ? 2 : 1;

		if (c == UINT32_MAX || n + need > max_units)
			return false;
		if (need == 2) {
			units[n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
			units[n++] = (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF));
		} else {
			units[n++] = (uint16_t)c;
		}
	}
	*n_units = n;
	return true;
}

uint64_t fat_units_hash(const uint16_t *units, size_t n_units)
{
	uint64_t hash = 0xCBF29CE484222325u;

	for (size_t i = 0; i < n_units; i++) {
		hash ^= fat_unit_upcase(units[i]);
		hash *= 0x100000001B3u;
		hash ^= hash >> 29;
	}
	return hash;
}

bool fat_units_same(const uint16_t *a, size_t n_a, const uint16_t *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (fat_unit_upcase(a[i]) != fat_unit_upcase(b[i]))
			return false;
	return true;
}

/* ---- short names ---- */

/*
 * What is wrong with a byte of a short name; capitals, digits and all above ASCII: nothing. What is
 * FAT_SHORT_CONTROL is forbidden in long names too.
 */
static unsigned flaw_of(uint8_t c)
{
	static const uint8_t of_mark[] = {
		['"'] = FAT_SHORT_CONTROL,  ['*'] = FAT_SHORT_CONTROL,	['/'] = FAT_SHORT_CONTROL,
		[':'] = FAT_SHORT_CONTROL,  ['<'] = FAT_SHORT_CONTROL,	['>'] = FAT_SHORT_CONTROL,
		['?'] = FAT_SHORT_CONTROL,  ['\\'] = FAT_SHORT_CONTROL, ['|'] = FAT_SHORT_CONTROL,
		['+'] = FAT_SHORT_RESERVED, [','] = FAT_SHORT_RESERVED, ['.'] = FAT_SHORT_RESERVED,
		[';'] = FAT_SHORT_RESERVED, ['='] = FAT_SHORT_RESERVED, ['['] = FAT_SHORT_RESERVED,
		[']'] = FAT_SHORT_RESERVED,  [0x7F] = FAT_SHORT_RESERVED,
	};

	if (c < 0x20)
		return FAT_SHORT_CONTROL;
	if (c >= 'a' && c <= 'z')
		return FAT_SHORT_LOWER;
	return c < sizeof of_mark ? of_mark[c] : 0;
}

unsigned fat_short_check(const uint8_t name[FAT_SHORT_BYTES])
{
	unsigned flaws = name[0] == ' ' ? FAT_SHORT_CONTROL : 0;

	for (size_t i = name[0] == 0x05; i < FAT_SHORT_BYTES; i++)
		flaws |= flaw_of(name[i]);
	return flaws;
}

static size_t without_blanks(const uint8_t *bytes, size_t n)
{
	while (n > 0 && bytes[n - 1] == ' ')
		n--;
	return n;
}

static uint32_t lower(uint32_t c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static size_t part_to_units(const uint8_t *bytes, size_t n_bytes, bool in_lower,
			    const struct fat_codepage *page, uint16_t *units)
{
	size_t n = 0, used;

	for (size_t i = 0; i < n_bytes; i += used) {
		uint32_t c = fat_codepage_decode(page, bytes + i, n_bytes - i, &used);

		units[n++] = (uint16_t)(c > 0xFFFF ? FAT_CHAR_UNKNOWN : in_lower ? lower(c) : c);
	}
	return n;
}

size_t fat_short_to_units(const uint8_t name[FAT_SHORT_BYTES], uint8_t name_case,
			  const struct fat_codepage *page, uint16_t units[13])
{
	uint8_t bytes[FAT_SHORT_BYTES];
	size_t n_base, n_ext, n;

	memcpy(bytes, name, sizeof bytes);
	if (bytes[0] == 0x05)
		bytes[0] = FAT_SLOT_DELETED_MARK;
	n_base = without_blanks(bytes, BASE_BYTES);
	n_ext = without_blanks(bytes + BASE_BYTES, EXT_BYTES);
	n = part_to_units(bytes, n_base, name_case & FAT_CASE_LOWER_BASE, page, units);
	if (n_ext > 0) {
		units[n++] = '.';
		n += part_to_units(bytes + BASE_BYTES, n_ext, name_case & FAT_CASE_LOWER_EXT, page,
				   units + n);
	}
	return n;
}

void fat_short_to_utf8(const uint8_t name[FAT_SHORT_BYTES], uint8_t name_case,
		       const struct fat_codepage *page, char *text, size_t text_bytes)
{
	uint16_t units[13];
	size_t n = fat_short_to_units(name, name_case, page, units);

	fat_units_to_utf8(units, n, text, text_bytes);
}

/* Capital of a character that may be beyond the basic plane. */
static uint32_t upcase(uint32_t c)
{
	return c <= 0xFFFF ? fat_unit_upcase((uint16_t)c) : c;
}

bool fat_short_from_utf8(const char *text, const struct fat_codepage *page,
			 uint8_t name[FAT_SHORT_BYTES])
{
	size_t at = 0, end = BASE_BYTES;

	memset(name, ' ', FAT_SHORT_BYTES);
	while (*text) {
		uint32_t c = take_utf8(&text);
		uint8_t bytes[2];
		size_t n;

		if (c == UINT32_MAX)
			return false;
		if (c == '.' && end == BASE_BYTES && at > 0) {
			at = BASE_BYTES;
			end = FAT_SHORT_BYTES;
			continue;
		}
		n = fat_codepage_encode(page, upcase(c), bytes);
		if (n == 0 || at + n > end)
			return false;
		memcpy(name + at, bytes, n);
		at += n;
	}
	if (name[0] == FAT_SLOT_DELETED_MARK)
		name[0] = 0x05;
	return fat_short_check(name) == 0;
}

uint8_t fat_short_checksum(const uint8_t name[FAT_SHORT_BYTES])
{
	uint8_t sum = 0;

	for (size_t i = 0; i < FAT_SHORT_BYTES; i++)
		sum = (uint8_t)((sum << 7 | sum >> 1) + name[i]);
	return sum;
}

/* ---- long names ---- */

static enum fat_long_verdict judge_order(const struct fat_long_slot *part, size_t n_slots)
{
	for (size_t i = 0; i < n_slots; i++) {
		uint8_t want = (uint8_t)((n_slots - i) | (i == 0 ? FAT_LONG_LAST : 0));

		if ((part[i].order & 0x7F) != want)
			return FAT_LONG_ORDER;
	}
	return FAT_LONG_OK;
}

/* Cuts the name at its end mark; returns whether it is padded as it should be. */
static bool cut_at_end(struct fat_long_name *longname, size_t n_all)
{
	bool padded = true;

	longname->n_units = n_all;
	for (size_t i = 0; i < n_all; i++) {
		if (longname->n_units == n_all && longname->unit[i] == 0)
			longname->n_units = i;
		else if (longname->n_units < n_all)
			padded = padded && longname->unit[i] == 0xFFFF;
	}
	return padded && longname->n_units + FAT_LONG_SLOT_UNITS > n_all;
}

static enum fat_long_verdict judge_chars(const struct fat_long_name *longname, unsigned *flaws)
{
	size_t n = longname->n_units;

	if (n == 0 || n > FAT_NAME_UNITS)
		return FAT_LONG_LENGTH;
	for (size_t i = 0; i < n; i++) {
		if (longname->unit[i] < 0x20 || longname->unit[i] == '/')
			return FAT_LONG_CHARS;
		if (longname->unit[i] == 0xFFFF ||
		    (longname->unit[i] < 0x80 &&
		     flaw_of((uint8_t)longname->unit[i]) == FAT_SHORT_CONTROL))
			*flaws |= FAT_LONG_FORBIDDEN;
	}
	if (longname->unit[n - 1] == '.' || longname->unit[n - 1] == ' ')
		*flaws |= FAT_LONG_TRAILING;
	return FAT_LONG_OK;
}

enum fat_long_verdict fat_long_assemble(const uint8_t (*slots)[FAT_SLOT_BYTES], size_t n_slots,
					const uint8_t name[FAT_SHORT_BYTES],
					struct fat_long_name *longname, unsigned *flaws)
{
	struct fat_long_slot part[FAT_LONG_SLOTS];
	uint8_t checksum = fat_short_checksum(name);
	enum fat_long_verdict order, chars;
	bool ours = true;

	*flaws = 0;
	longname->n_units = 0;
	if (n_slots == 0 || n_slots > FAT_LONG_SLOTS)
		return FAT_LONG_ORDER;
	for (size_t i = 0; i < n_slots; i++) {
		fat_long_slot_decode(slots[i], &part[i]);
		memcpy(longname->unit + (n_slots - 1 - i) * FAT_LONG_SLOT_UNITS, part[i].unit,
		       sizeof part[i].unit);
		ours = ours && part[i].checksum == checksum;
		if (part[i].type || part[i].start_clus || part[i].attr != FAT_ATTR_LONG)
			*flaws |= FAT_LONG_TYPE;
	}
	if (!cut_at_end(longname, n_slots * FAT_LONG_SLOT_UNITS))
		*flaws |= FAT_LONG_PADDING;
	order = judge_order(part, n_slots);
	chars = judge_chars(longname, flaws);
	return order != FAT_LONG_OK ? order : !ours ? FAT_LONG_CHECKSUM : chars;
}

size_t fat_long_split(const uint16_t *units, size_t n_units, const uint8_t name[FAT_SHORT_BYTES],
		      uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES])
{
	size_t n_slots = (size_t)div_ceil(n_units, FAT_LONG_SLOT_UNITS);

	for (size_t i = 0; i < n_slots; i++) {
		size_t number = n_slots - i;
		struct fat_long_slot part = {
			.order = (uint8_t)(number | (i == 0 ? FAT_LONG_LAST : 0)),
			.attr = FAT_ATTR_LONG,
			.checksum = fat_short_checksum(name),
		};

		for (size_t k = 0; k < FAT_LONG_SLOT_UNITS; k++) {
			size_t at = (number - 1) * FAT_LONG_SLOT_UNITS + k;

			part.unit[k] = at < n_units ? units[at] : at == n_units ? 0 : 0xFFFF;
		}
		fat_long_slot_encode(&part, slots[i]);
	}
	return n_slots;
}
