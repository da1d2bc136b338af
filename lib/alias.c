/* SPDX-License-Identifier: MIT */
/*
 * alias: the 8.3 name that stands beside a long one [FATSPEC 7, LINUX].
 *
 * Knows the rules by which Windows and the Linux driver shorten names, and a set of the short names
 * of one folder. Knows no directory entries and no device. The same names in the same order always
 * give the same aliases: where the drivers take a clock or a hidden hash, this takes a hash of the
 * name.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#define BASE_BYTES  8u
#define EXT_BYTES   3u
#define PLAIN_TAILS 4u /* ~1 to ~4, then a hash of the name */
#define HASH_TAILS  9u /* ~1 to ~9 behind each hash */

/* ---- the short form of a name ---- */

struct part {
	uint8_t byte[BASE_BYTES];
	bool is_trail[BASE_BYTES]; /* second byte of a pair, in double-byte pages */
	uint8_t n_bytes;
	uint8_t max_bytes;
	bool has_lower, has_upper; /* letters of ASCII */
	bool beyond_ascii;
	bool lossy; /* the name cannot be told from the alias */
};

/* A character of one byte or two, if it still has room; once one had none, no other has. */
static void put_bytes(struct part *part, const uint8_t *bytes, size_t n)
{
	if (part->n_bytes + n > part->max_bytes) {
		part->lossy = true;
		part->max_bytes = part->n_bytes;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		part->is_trail[part->n_bytes] = i > 0;
		part->byte[part->n_bytes++] = bytes[i];
	}
}

/* In place of what has no short form. */
static void put_substitute(struct part *part)
{
	part->lossy = true;
	put_bytes(part, (const uint8_t *)"_", 1);
}

static bool is_skipped(uint16_t unit)
{
	return unit == '.' || unit == ' ';
}

/* Legal in long names only, or in none: those of damaged volumes come here too. */
static bool is_replaced(uint16_t unit)
{
	return unit < 0x20 || (unit < 0x80 && strchr("+,;=[]\"*/:<>?\\|", unit));
}

static void put_ascii(struct part *part, uint8_t c)
{
	bool lower = c >= 'a' && c <= 'z';

	part->has_lower = part->has_lower || lower;
	part->has_upper = part->has_upper || (c >= 'A' && c <= 'Z');
	if (lower)
		c = (uint8_t)(c - 'a' + 'A');
	put_bytes(part, &c, 1);
}

static bool is_low_surrogate(uint16_t unit)
{
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

static void put_beyond_ascii(struct part *part, const struct fat_codepage *codepage, uint16_t unit)
{
	uint8_t bytes[2];
	size_t n = fat_codepage_encode(codepage, fat_unit_upcase(unit), bytes);

	part->beyond_ascii = true;
	if (n > 0)
		put_bytes(part, bytes, n);
	else
		put_substitute(part);
}

static void put_unit(struct part *part, const struct fat_codepage *codepage, uint16_t unit)
{
	if (is_skipped(unit) || is_low_surrogate(unit)) /* a pair has one substitute */
		part->lossy = true;
	else if (is_replaced(unit))
		put_substitute(part);
	else if (unit < 0x80)
		put_ascii(part, (uint8_t)unit);
	else
		put_beyond_ascii(part, codepage, unit);
}

/*
 * Where the extension's dot is; n: there is none. A name that has nothing but dots and blanks
 * before its last dot (".profile") is all base.
 */
static size_t find_dot(const uint16_t *name, size_t n)
{
	size_t dot = n;

	while (dot > 0 && name[dot - 1] != '.')
		dot--;
	if (dot == 0 || dot == n)
		return n;
	for (size_t i = 0; i < dot - 1; i++)
		if (!is_skipped(name[i]))
			return dot - 1;
	return n;
}

static void put_part(struct part *part, const struct fat_codepage *codepage, const uint16_t *from,
		     const uint16_t *end)
{
	for (; from < end; from++)
		put_unit(part, codepage, *from);
}

static void store(uint8_t name[FAT_SHORT_BYTES], const struct part *base, const struct part *ext)
{
	memset(name, ' ', FAT_SHORT_BYTES);
	memcpy(name, base->byte, base->n_bytes);
	memcpy(name + BASE_BYTES, ext->byte, ext->n_bytes);
	if (name[0] == 0xE5)
		name[0] = 0x05;
}

static uint8_t case_flags(const struct part *base, const struct part *ext)
{
	return (uint8_t)((base->has_lower ? FAT_CASE_LOWER_BASE : 0) |
			 (ext->has_lower ? FAT_CASE_LOWER_EXT : 0));
}

static bool says_all(const struct part *part)
{
	return !part->beyond_ascii && !(part->has_lower && part->has_upper);
}

static void split(const struct fat_codepage *codepage, const uint16_t *name, size_t n_units,
		  struct part *base, struct part *ext)
{
	size_t dot = find_dot(name, n_units);

	*base = (struct part){ .max_bytes = BASE_BYTES };
	*ext = (struct part){ .max_bytes = EXT_BYTES };
	put_part(base, codepage, name, name + dot);
	if (dot < n_units)
		put_part(ext, codepage, name + dot + 1, name + n_units);
}

enum fat_alias_kind fat_alias_make(const struct fat_codepage *codepage, const uint16_t *name,
				   size_t n_units, struct fat_alias *alias)
{
	struct part base, ext;

	split(codepage, name, n_units, &base, &ext);
	store(alias->name, &base, &ext);
	alias->case_flags = 0;
	if (base.lossy || ext.lossy)
		return FAT_ALIAS_LOSSY;
	if (!says_all(&base) || !says_all(&ext))
		return FAT_ALIAS_UPPER;
	alias->case_flags = case_flags(&base, &ext);
	return FAT_ALIAS_WHOLE;
}

/* ---- tails ---- */

/* Any hash will do that differs between names which begin alike; it must never change. FNV-1a. */
static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t n_bytes)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ p[i]) * 16777619u;
	return hash;
}

static uint16_t hash_name(const uint16_t *name, size_t n_units)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n_units; i++) {
		uint8_t unit[2] = { (uint8_t)name[i], (uint8_t)(name[i] >> 8) };

		hash = hash_bytes(hash, unit, sizeof unit);
	}
	return (uint16_t)(hash ^ hash >> 16);
}

/* Bytes of the base that max bytes hold, without half a pair. */
static size_t clip(const struct part *base, size_t max)
{
	if (base->n_bytes <= max)
		return base->n_bytes;
	return base->is_trail[max] ? max - 1 : max;
}

static void add_tail(uint8_t name[FAT_SHORT_BYTES], const struct part *base, unsigned tail)
{
	size_t n = clip(base, BASE_BYTES - 2);

	memset(name + n, ' ', BASE_BYTES - n);
	name[n] = '~';
	name[n + 1] = (uint8_t)('0' + tail);
}

static void add_hash_tail(uint8_t name[FAT_SHORT_BYTES], const struct part *base, uint16_t hash,
			  unsigned tail)
{
	size_t n = clip(base, 2);

	memset(name + n, ' ', BASE_BYTES - n);
	for (unsigned shift = 16; shift > 0; shift -= 4)
		name[n++] = (uint8_t)"0123456789ABCDEF"[hash >> (shift - 4) & 15];
	name[n] = '~';
	name[n + 1] = (uint8_t)('0' + tail);
}

/* As many digits as it takes, in place of as much of the base. */
static void add_long_tail(uint8_t name[FAT_SHORT_BYTES], const struct part *base, uint32_t tail)
{
	uint8_t digit[BASE_BYTES];
	size_t n_digits = 0, n;

	do {
		digit[n_digits++] = (uint8_t)('0' + tail % 10);
		tail /= 10;
	} while (tail && n_digits < BASE_BYTES - 1);
	n = clip(base, BASE_BYTES - 1 - n_digits);
	memset(name + n, ' ', BASE_BYTES - n);
	name[n++] = '~';
	while (n_digits > 0)
		name[n++] = digit[--n_digits];
}

bool fat_short_alias(const uint16_t *units, size_t n_units, uint32_t tail,
		     const struct fat_codepage *page, uint8_t name[FAT_SHORT_BYTES])
{
	size_t n = n_units;
	struct part base, ext;

	while (n > 0 && is_skipped(units[n - 1]))
		n--;
	split(page, units, n, &base, &ext);
	if (base.n_bytes == 0)
		put_substitute(&base);
	store(name, &base, &ext);
	if (tail)
		add_long_tail(name, &base, tail);
	return n == n_units && !base.lossy && !ext.lossy;
}

enum fat_status fat_alias_make_unique(const struct fat_codepage *codepage, const uint16_t *name,
				      size_t n_units, struct fat_alias_set *set,
				      struct fat_alias *alias)
{
	uint16_t hash = hash_name(name, n_units);
	struct part base, ext;
	bool added = false;
	enum fat_status status = FAT_OK;

	split(codepage, name, n_units, &base, &ext);
	store(alias->name, &base, &ext);
	alias->case_flags = 0;
	for (unsigned tail = 1; tail <= PLAIN_TAILS && !added && status == FAT_OK; tail++) {
		add_tail(alias->name, &base, tail);
		status = fat_alias_set_add(set, alias->name, &added);
	}
	/* A folder has fewer entries than there are hashes: this ends. [FATSPEC 6: 65536 slots] */
	for (; !added && status == FAT_OK; hash++)
		for (unsigned tail = 1; tail <= HASH_TAILS && !added && status == FAT_OK; tail++) {
			add_hash_tail(alias->name, &base, hash, tail);
			status = fat_alias_set_add(set, alias->name, &added);
		}
	return status;
}

/* ---- the set: open addressing, at most half full; a first byte of 0 is an empty place ---- */

#define SET_MIN_PLACES 64u

static uint8_t *find_place(const struct fat_alias_set *set, const uint8_t name[FAT_SHORT_BYTES])
{
	size_t mask = set->n_places - 1;
	size_t i = hash_bytes(2166136261u, name, FAT_SHORT_BYTES) & mask;

	while (set->place[i][0] != 0 && memcmp(set->place[i], name, FAT_SHORT_BYTES) != 0)
		i = (i + 1) & mask;
	return set->place[i];
}

static enum fat_status grow(struct fat_alias_set *set)
{
	struct fat_alias_set old = *set;
	size_t n_places = old.n_places ? old.n_places * 2 : SET_MIN_PLACES;

	set->place = calloc(n_places, sizeof *set->place);
	if (!set->place) {
		*set = old;
		return FAT_ERR_MEMORY;
	}
	set->n_places = n_places;
	for (size_t i = 0; i < old.n_places; i++)
		if (old.place[i][0] != 0)
			memcpy(find_place(set, old.place[i]), old.place[i], FAT_SHORT_BYTES);
	free(old.place);
	return FAT_OK;
}

void fat_alias_set_init(struct fat_alias_set *set)
{
	*set = (struct fat_alias_set){ 0 };
}

void fat_alias_set_fini(struct fat_alias_set *set)
{
	free(set->place);
	fat_alias_set_init(set);
}

enum fat_status fat_alias_set_add(struct fat_alias_set *set, const uint8_t name[FAT_SHORT_BYTES],
				  bool *added)
{
	uint8_t *place;

	*added = false;
	if (set->n_names * 2 >= set->n_places) {
		enum fat_status status = grow(set);

		if (status != FAT_OK)
			return status;
	}
	place = find_place(set, name);
	if (place[0] == 0) {
		memcpy(place, name, FAT_SHORT_BYTES);
		set->n_names++;
		*added = true;
	}
	return FAT_OK;
}
