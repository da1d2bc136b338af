/* SPDX-License-Identifier: MIT */
/*
 * survey_tree: reads every folder once, breadth first, and judges each slot.
 *
 * A cluster belongs to the first that comes to it; a second is a problem and its chain ends there,
 * so no input can make the walk go round.
 */
#include "survey_tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/bytes.h"
#include "names.h"

#define ATTR_DIR   0x10u
#define ATTR_LABEL 0x08u
#define ATTR_LFN   0x0Fu
#define MAX_SLOTS  65536u
#define MAX_PATH   4096u

/* A long name as it is gathered from slot to slot. */
struct long_name {
	unsigned expect; /* the sequence number that must come next; 0: complete or none */
	unsigned n;
	uint8_t checksum;
	bool broken;
	uint16_t units[MAX_LFN_SLOTS * LFN_UNITS_A_SLOT];
};

struct walk {
	struct survey *survey;
	size_t dir; /* index of the folder being read */
	struct long_name lfn;
	bool ended;
	size_t first_child;
};

static void problem(struct walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void problem(struct walk *walk, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		die("out of memory");
	va_end(args);
	notes_add(&walk->survey->problems, "%s: %s", walk->survey->found[walk->dir].path, text);
	free(text);
}

/* ---- chains -------------------------------------------------------------------------------- */

static void follow(struct walk *walk, size_t index, uint32_t start)
{
	struct survey *survey = walk->survey;
	struct found *found = &survey->found[index];
	uint32_t c = start;

	while (c < shape_end_min(&survey->shape)) {
		if (c < 2 || c > survey->shape.n_clus + 1) {
			problem(walk, "%s: runs to cluster %u", found->path, c);
			return;
		}
		if (survey->fat[c] == 0 || survey->fat[c] == shape_bad(&survey->shape)) {
			problem(walk, "%s: runs into a %s cluster %u", found->path,
				survey->fat[c] ? "bad" : "free", c);
			return;
		}
		if (survey->owner[c]) {
			problem(walk, "%s: cluster %u belongs to %s too", found->path, c,
				survey->found[survey->owner[c] - 1].path);
			return;
		}
		survey->owner[c] = (uint32_t)index + 1;
		GROW_ARRAY(found->chain, found->n_chain);
		found->chain[found->n_chain++] = c;
		c = survey->fat[c];
	}
}

static uint32_t start_of(const struct survey *survey, const uint8_t *slot)
{
	uint32_t high = survey->shape.bits == 32 ? get_le16(slot + 20) : 0;

	return high << 16 | get_le16(slot + 26);
}

/* ---- slots --------------------------------------------------------------------------------- */

static bool is_date(uint16_t v)
{
	return v == 0 || ((v >> 5 & 15) >= 1 && (v >> 5 & 15) <= 12 && (v & 31) >= 1);
}

static bool is_time(uint16_t v)
{
	return v >> 11 < 24 && (v >> 5 & 63) < 60 && (v & 31) < 30;
}

static void check_stamps(struct walk *walk, const char *path, const uint8_t *slot)
{
	if (!is_date(get_le16(slot + 16)) || !is_date(get_le16(slot + 18)) ||
	    !is_date(get_le16(slot + 24)) || !is_time(get_le16(slot + 14)) ||
	    !is_time(get_le16(slot + 22)) || slot[13] > 199)
		problem(walk, "%s: impossible date or time", path);
}

static void drop_long(struct walk *walk)
{
	if (walk->lfn.n)
		problem(walk, "part of a long name without an owner");
	walk->lfn = (struct long_name){ 0 };
}

static void take_long_slot(struct walk *walk, const uint8_t *slot)
{
	struct long_name *lfn = &walk->lfn;
	unsigned seq = slot[0] & 0x3Fu;

	if (slot[0] & 0x40) {
		drop_long(walk);
		lfn->n = lfn->expect = seq;
		lfn->checksum = slot[13];
	}
	if (seq == 0 || seq > MAX_LFN_SLOTS || seq != lfn->expect || slot[13] != lfn->checksum ||
	    slot[12] != 0 || get_le16(slot + 26) != 0) {
		problem(walk, "a long name's slot is out of order (%02X)", slot[0]);
		*lfn = (struct long_name){ 0 };
		return;
	}
	for (size_t i = 0; i < LFN_UNITS_A_SLOT; i++)
		lfn->units[(seq - 1) * LFN_UNITS_A_SLOT + i] = get_le16(slot + name_unit_off(i));
	lfn->expect--;
}

static bool is_long_char(uint16_t c)
{
	return c >= 0x20 && c != 0xFFFF && (c > 0x7E || !strchr("\"*/:<>?\\|", (int)c)) &&
	       c != 0x7F;
}

/* The gathered name in UTF-8; false if there is none, or none that may be used. */
static bool long_name_of(struct walk *walk, const uint8_t *slot, char *to)
{
	struct long_name *lfn = &walk->lfn;
	size_t room = lfn->n * LFN_UNITS_A_SLOT, n = 0;
	bool ok = lfn->n > 0 && lfn->expect == 0 && lfn->checksum == name_checksum(slot);

	if (lfn->n == 0)
		return false;
	while (n < room && lfn->units[n] != 0)
		n++;
	for (size_t i = n + 1; i < room; i++)
		ok = ok && lfn->units[i] == 0xFFFF;
	for (size_t i = 0; i < n; i++)
		ok = ok && is_long_char(lfn->units[i]);
	ok = ok && n > 0 && n <= LFN_MAX_UNITS && n + LFN_UNITS_A_SLOT > room;
	ok = ok && lfn->units[n - 1] != ' ' && lfn->units[n - 1] != '.';
	if (ok)
		name_from_units(lfn->units, n, to);
	else
		problem(walk, "the long name of %.11s is broken", (const char *)slot);
	*lfn = (struct long_name){ 0 };
	return ok;
}

static void check_dot(struct walk *walk, const uint8_t *slot, uint32_t index)
{
	const struct survey *survey = walk->survey;
	const struct found *dir = &survey->found[walk->dir];
	uint32_t want = dir->n_chain ? dir->chain[0] : 0;

	if (index == 1)
		want = dir->parent ? survey->found[dir->parent].chain[0] : 0;
	if (memcmp(slot, index ? "..         " : ".          ", 11) != 0)
		problem(walk, "slot %u is no dot entry", index);
	else if (!(slot[11] & ATTR_DIR) || start_of(survey, slot) != want ||
		 get_le32(slot + 28) != 0)
		problem(walk, "dot entry %u: attributes %02X, start %u (not %u), size %u", index,
			slot[11], start_of(survey, slot), want, get_le32(slot + 28));
}

static void take_label(struct walk *walk, const uint8_t *slot)
{
	drop_long(walk);
	if (walk->dir != 0 || walk->survey->has_root_label)
		problem(walk, "a volume label too many");
	for (size_t i = 0; i < 11; i++)
		if (slot[i] < 0x20 || strchr("\"*+,./:;<=>?[\\]|", slot[i]))
			problem(walk, "the label has a byte %02X", slot[i]);
	if (slot[0] == ' ' || start_of(walk->survey, slot) != 0 || get_le32(slot + 28) != 0)
		problem(walk, "the label begins with a blank, or has a cluster or a size");
	walk->survey->has_root_label = true;
	memcpy(walk->survey->root_label, slot, 11);
}

static void check_sizes(struct walk *walk, const struct found *found, uint32_t start)
{
	uint64_t need = div_ceil(found->size, walk->survey->shape.cluster_bytes);

	if (found->is_dir && found->size != 0)
		problem(walk, "%s: a folder with size %u", found->path, found->size);
	if (found->is_dir && found->n_chain == 0)
		problem(walk, "%s: a folder without clusters", found->path);
	if (!found->is_dir && found->n_chain != need)
		problem(walk, "%s: size %u needs %llu clusters, has %zu", found->path, found->size,
			(unsigned long long)need, found->n_chain);
	if (!found->is_dir && found->size == 0 && start != 0)
		problem(walk, "%s: empty, but starts at %u", found->path, start);
}

static void take_entry(struct walk *walk, const uint8_t *slot, uint64_t off)
{
	struct survey *survey = walk->survey;
	size_t index = survey->n_found;
	char name[MAX_LFN_SLOTS * LFN_UNITS_A_SLOT * 3 + 64];
	size_t n_lfn = walk->lfn.n;
	struct found *found;

	if (!long_name_of(walk, slot, name)) {
		n_lfn = 0;
		name_from_short(slot, slot[12], name);
	}
	GROW_ARRAY(survey->found, survey->n_found);
	found = &survey->found[survey->n_found++];
	*found = (struct found){
		.path = xformat("%s/%s", walk->dir ? survey->found[walk->dir].path : "", name),
		.parent = walk->dir,
		.is_dir = slot[11] & ATTR_DIR,
		.size = get_le32(slot + 28),
		.entry_off = off,
		.n_lfn = n_lfn,
	};
	memcpy(found->entry, slot, DIRENT_BYTES);
	if (!name_short_is_valid(slot))
		problem(walk, "'%.11s' is no short name", (const char *)slot);
	if (slot[11] & 0xC0)
		problem(walk, "%s: attributes %02X", name, slot[11]);
	check_stamps(walk, name, slot);
	if (start_of(survey, slot) != 0)
		follow(walk, index, start_of(survey, slot));
	check_sizes(walk, &survey->found[index], start_of(survey, slot));
}

static void take_slot(struct walk *walk, const uint8_t *slot, uint64_t off, uint32_t index)
{
	if (walk->ended) {
		if (slot[0] != 0 && slot[0] != 0xE5)
			problem(walk, "slot %u is behind the end mark", index);
		return;
	}
	if (walk->dir != 0 && index < 2) {
		check_dot(walk, slot, index);
		return;
	}
	if (slot[0] == 0 || slot[0] == 0xE5) {
		drop_long(walk);
		walk->ended = slot[0] == 0;
	} else if ((slot[11] & 0x3F) == ATTR_LFN) {
		take_long_slot(walk, slot);
	} else if (slot[11] & ATTR_LABEL) {
		take_label(walk, slot);
	} else {
		take_entry(walk, slot, off);
	}
}

/* ---- folders ------------------------------------------------------------------------------- */

static void take_slots(struct walk *walk, uint64_t off, uint32_t bytes, uint32_t *index)
{
	uint8_t *raw = xalloc(bytes, 1);

	get_bytes(walk->survey->dev, off, raw, bytes);
	for (uint32_t at = 0; at < bytes && *index < MAX_SLOTS; at += DIRENT_BYTES)
		take_slot(walk, raw + at, off + at, (*index)++);
	free(raw);
}

static int by_name(const void *a, const void *b)
{
	const struct found *const *x = a, *const *y = b;

	return strcasecmp((*x)->path, (*y)->path);
}

static int by_short(const void *a, const void *b)
{
	const struct found *const *x = a, *const *y = b;

	return memcmp((*x)->entry, (*y)->entry, 11);
}

static void check_unique(struct walk *walk)
{
	struct survey *survey = walk->survey;
	size_t n = survey->n_found - walk->first_child;
	const struct found **list = xalloc(n, sizeof *list);

	for (size_t i = 0; i < n; i++)
		list[i] = &survey->found[walk->first_child + i];
	qsort(list, n, sizeof *list, by_name);
	for (size_t i = 1; i < n; i++)
		if (strcasecmp(list[i - 1]->path, list[i]->path) == 0)
			problem(walk, "two entries are named %s", list[i]->path);
	qsort(list, n, sizeof *list, by_short);
	for (size_t i = 1; i < n; i++)
		if (memcmp(list[i - 1]->entry, list[i]->entry, 11) == 0)
			problem(walk, "two short names are %.11s", (const char *)list[i]->entry);
	free(list);
}

static void read_folder(struct survey *survey, size_t dir)
{
	struct walk walk = { .survey = survey, .dir = dir, .first_child = survey->n_found };
	const struct shape *shape = &survey->shape;
	uint32_t index = 0;

	if (strlen(survey->found[dir].path) > MAX_PATH) {
		problem(&walk, "nested too deep");
		return;
	}
	if (dir == 0 && shape->bits != 32)
		take_slots(&walk, shape_root_off(shape), shape->root_entries * DIRENT_BYTES,
			   &index);
	for (size_t i = 0; i < survey->found[dir].n_chain; i++)
		take_slots(&walk, shape_cluster_off(shape, survey->found[dir].chain[i]),
			   shape->cluster_bytes, &index);
	drop_long(&walk);
	check_unique(&walk);
}

void survey_walk(struct survey *survey)
{
	struct walk walk = { .survey = survey };

	survey->found = xalloc(1, sizeof *survey->found);
	survey->n_found = 1;
	survey->found[0] = (struct found){ .path = xstrdup("/"), .is_dir = true };
	if (survey->shape.bits == 32)
		follow(&walk, 0, survey->shape.root_clus);
	for (size_t i = 0; i < survey->n_found; i++)
		if (survey->found[i].is_dir)
			read_folder(survey, i);
}
