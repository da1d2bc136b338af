/* SPDX-License-Identifier: MIT */
/*
 * find: goes from the root down a path, or to what was deleted there.
 *
 * Reads through the overlay, changes nothing. What a driver would not find is not found here
 * either: nothing behind an end mark, no long name that does not belong to its entry.
 */
#include "find.h"

#include <stdlib.h>
#include <string.h>

struct search {
	struct fsck *fsck;
	uint16_t name[FAT_NAME_UNITS];
	size_t n_name;
	bool deleted;
	uint32_t dir_start;
	/* the long-name slots seen last, live or deleted ones */
	uint32_t n_pend;
	uint8_t pend[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	uint64_t pend_off[FAT_LONG_SLOTS];
	struct found_entry *entry;
	bool found, is_free;
};

/* ---- names ---- */

static bool is_octal(const char *text)
{
	return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' &&
	       text[2] >= '0' && text[2] <= '7';
}

/* One component of a path (n_bytes of UTF-8) into units; false: it cannot be a name. */
static bool read_component(struct search *search, const char *text, size_t n_bytes)
{
	const struct fat_codepage *page = &search->fsck->options->page;
	char plain[FAT_NAME_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		uint8_t byte;
		size_t used;

		if (n + 4 >= sizeof plain)
			return false;
		if (text[i] != '\\' || i + 4 > n_bytes || !is_octal(text + i + 1)) {
			plain[n++] = text[i];
			continue;
		}
		byte = (uint8_t)((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] -
				 '0');
		uint16_t unit = (uint16_t)fat_codepage_decode(page, &byte, 1, &used);

		n += fat_units_to_utf8(&unit, 1, plain + n, sizeof plain - n);
		i += 3;
	}
	plain[n] = '\0';
	return n > 0 && fat_units_from_utf8(plain, search->name, FAT_NAME_UNITS, &search->n_name);
}

static bool has_name(const struct search *search, const uint8_t *name, uint32_t n_parts,
		     const uint8_t (*parts)[FAT_SLOT_BYTES])
{
	struct fat_long_name longname;
	uint16_t units[13];
	unsigned flaws;
	size_t n = fat_short_to_units(name, 0, &search->fsck->options->page, units);

	if (fat_units_same(units, n, search->name, search->n_name))
		return true;
	return n_parts > 0 &&
	       fat_long_assemble(parts, n_parts, name, &longname, &flaws) == FAT_LONG_OK &&
	       fat_units_same(longname.unit, longname.n_units, search->name, search->n_name);
}

/* ---- one slot ---- */

static void take(struct search *search, const struct found_entry *entry, bool is_free)
{
	*search->entry = *entry;
	search->found = true;
	search->is_free = is_free;
}

static void fill_entry(const struct search *search, const uint8_t *slot, uint64_t off,
		       struct found_entry *entry)
{
	*entry = (struct found_entry){ .dir_start = search->dir_start, .entry_off = off };
	fat_dirent_decode(slot, search->fsck->geometry.type, &entry->dirent);
	entry->n_long = search->n_pend;
	memcpy(entry->long_off, search->pend_off, sizeof entry->long_off);
	memcpy(entry->part, search->pend, sizeof entry->part);
}

static enum fat_status try_live(struct search *search, const uint8_t *slot, uint64_t off)
{
	struct found_entry entry;

	fill_entry(search, slot, off, &entry);
	if (has_name(search, entry.dirent.name, entry.n_long,
		     (const uint8_t(*)[FAT_SLOT_BYTES])entry.part))
		take(search, &entry, false);
	return FAT_OK;
}

/*
 * Of the deleted long-name slots before an entry only the last ones with one checksum are its own.
 */
static void trim_parts(struct found_entry *entry)
{
	uint8_t sum = entry->n_long ? entry->part[entry->n_long - 1][13] : 0;
	uint32_t skip = entry->n_long;

	while (skip > 0 && entry->part[skip - 1][13] == sum)
		skip--;
	entry->n_long -= skip;
	memmove(entry->part, entry->part + skip, entry->n_long * sizeof *entry->part);
	memmove(entry->long_off, entry->long_off + skip, entry->n_long * sizeof *entry->long_off);
	for (uint32_t i = 0; i < entry->n_long; i++)
		entry->part[i][0] = (uint8_t)((entry->n_long - i) | (i == 0 ? FAT_LONG_LAST : 0));
}

/* The first byte of a name with the checksum that its long name has: there is exactly one. */
static void solve_first(struct found_entry *entry)
{
	for (unsigned first = 0; first < 256; first++) {
		entry->dirent.name[0] = (uint8_t)first;
		if (fat_short_checksum(entry->dirent.name) == entry->part[0][13])
			return;
	}
}

/* The byte that makes the deleted entry's name the one looked for, if it can be. */
static bool name_fits(struct search *search, struct found_entry *entry)
{
	const struct fat_codepage *page = &search->fsck->options->page;
	char text[FAT_NAME_BYTES];
	uint8_t wanted[FAT_SHORT_BYTES];

	if (entry->n_long > 0) {
		solve_first(entry);
		if (has_name(search, entry->dirent.name, entry->n_long,
			     (const uint8_t(*)[FAT_SLOT_BYTES])entry->part))
			return true;
		entry->n_long = 0; /* they may be another one's remains */
	}
	fat_units_to_utf8(search->name, search->n_name, text, sizeof text);
	if (!fat_short_from_utf8(text, page, wanted))
		return false;
	entry->dirent.name[0] = wanted[0] == FAT_SLOT_DELETED_MARK ? 0x05 : wanted[0];
	return memcmp(entry->dirent.name + 1, wanted + 1, FAT_SHORT_BYTES - 1) == 0;
}

static enum fat_status try_deleted(struct search *search, const uint8_t *slot, uint64_t off)
{
	const struct fat_geometry *geometry = &search->fsck->geometry;
	struct found_entry entry;
	enum fat_status status;
	uint64_t need;
	bool is_free;

	fill_entry(search, slot, off, &entry);
	if (entry.dirent.attr & (FAT_ATTR_VOLUME | FAT_ATTR_DIRECTORY) ||
	    entry.dirent.attr & ~FAT_ATTR_KNOWN)
		return FAT_OK;
	trim_parts(&entry);
	if (!name_fits(search, &entry))
		return FAT_OK;
	need = fat_geometry_clus_for(geometry, entry.dirent.size_bytes);
	if (need > geometry->n_clus)
		need = geometry->n_clus;
	status = find_run_is_free(search->fsck, entry.dirent.start_clus, (uint32_t)need, &is_free);
	if (status == FAT_OK && (!search->found || (is_free && !search->is_free)))
		take(search, &entry, is_free);
	return status;
}

static void hold(struct search *search, const uint8_t *slot, uint64_t off)
{
	if (search->n_pend == FAT_LONG_SLOTS) {
		memmove(search->pend, search->pend + 1, sizeof search->pend - sizeof *search->pend);
		memmove(search->pend_off, search->pend_off + 1,
			sizeof search->pend_off - sizeof *search->pend_off);
		search->n_pend--;
	}
	memcpy(search->pend[search->n_pend], slot, FAT_SLOT_BYTES);
	search->pend_off[search->n_pend++] = off;
}

static enum fat_status try_slot(struct search *search, const uint8_t *slot, uint64_t off)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);
	bool is_deleted = kind == FAT_SLOT_DELETED;
	bool is_long =
		is_deleted ? (slot[11] & FAT_ATTR_KNOWN) == FAT_ATTR_LONG : kind == FAT_SLOT_LONG;
	enum fat_status status = FAT_OK;

	if (is_long &&
	    (search->deleted || !is_deleted)) { /* -u makes them live before their entry */
		hold(search, slot, off);
		return FAT_OK;
	}
	if (search->deleted && is_deleted)
		status = try_deleted(search, slot, off);
	else if (!search->deleted && !search->found &&
		 (kind == FAT_SLOT_FILE || kind == FAT_SLOT_DIRECTORY))
		status = try_live(search, slot, off);
	search->n_pend = 0;
	return status;
}

/* ---- directories ---- */

static enum fat_status search_dir(struct search *search, uint32_t start)
{
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &search->fsck->table, start);
	bool ended = false;

	search->dir_start = start;
	search->n_pend = 0;
	search->found = search->is_free = false;
	while (status == FAT_OK && !ended) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes && !ended && status == FAT_OK;
		     at += FAT_SLOT_BYTES) {
			ended = dir.buf[at] == 0 &&
				!fat_dev_unreadable(search->fsck->dev, dir.off + at,
						    FAT_SLOT_BYTES);
			if (!ended && dir.buf[at])
				status = try_slot(search, dir.buf + at, dir.off + at);
		}
	}
	fat_dir_close(&dir);
	return status;
}

static enum fat_status search_path(struct search *search, const char *path, bool deleted)
{
	const struct fat_geometry *geometry = &search->fsck->geometry;
	uint32_t start = geometry->type == FAT_TYPE_32 ? geometry->root_clus : 0;
	enum fat_status status = FAT_OK;

	search->found = false;
	while (*path == '/')
		path++;
	while (*path && status == FAT_OK) {
		size_t n = strcspn(path, "/");
		const char *next = path + n + strspn(path + n, "/");

		search->found = false;
		if (!read_component(search, path, n))
			return FAT_OK;
		search->deleted = deleted && !*next;
		status = search_dir(search, start);
		if (!search->found || !*next)
			break;
		start = search->entry->dirent.start_clus;
		if (!(search->entry->dirent.attr & FAT_ATTR_DIRECTORY) ||
		    !fat_geometry_has_clus(geometry, start)) {
			search->found = false;
			break;
		}
		path = next;
	}
	return status;
}

static enum fat_status find(struct fsck *fsck, const char *path, bool deleted,
			    struct found_entry *entry, bool *found)
{
	struct search *search = calloc(1, sizeof *search);
	enum fat_status status;

	*found = false;
	if (!search)
		return FAT_ERR_MEMORY;
	search->fsck = fsck;
	search->entry = entry;
	status = search_path(search, path, deleted);
	*found = status == FAT_OK && search->found;
	free(search);
	return status;
}

enum fat_status find_path(struct fsck *fsck, const char *path, struct found_entry *entry,
			  bool *found)
{
	return find(fsck, path, false, entry, found);
}

enum fat_status find_deleted(struct fsck *fsck, const char *path, struct found_entry *entry,
			     bool *found)
{
	return find(fsck, path, true, entry, found);
}

/* ---- what a deleted file had ---- */

static const struct lost_chain *lost_from(const struct fsck *fsck, uint32_t head)
{
	const struct lost_chain *lost = lost_find(&fsck->lost, head);

	return lost && !lost->is_cycle ? lost : NULL;
}

/* Whether the entry of cluster start + i is the one that a chain of n from start on has there. */
static bool is_link(const struct fsck *fsck, uint32_t start, uint32_t n, uint32_t i, uint32_t value)
{
	return i + 1 < n ? value == start + i + 1 : value >= fat_entry_end_min(fsck->geometry.type);
}

enum fat_status find_run_is_free(struct fsck *fsck, uint32_t start, uint32_t n, bool *is_free)
{
	enum fat_status status = FAT_OK;
	uint32_t lost_end = 0; /* the clusters before it are a lost chain's */

	*is_free = true;
	for (uint32_t i = 0; i < n && *is_free && status == FAT_OK; i++) {
		uint32_t value = 1;

		if (fat_geometry_has_clus(&fsck->geometry, start + i))
			status = fat_table_get(&fsck->table, start + i, &value);
		if (value != 0 && i >= lost_end) {
			const struct lost_chain *lost = lost_from(fsck, start + i);

			lost_end = lost ? i + lost->n : 0;
		}
		*is_free = (value == 0 || (i < lost_end && is_link(fsck, start, n, i, value))) &&
			   !fat_table_is_blind(&fsck->table, start + i);
	}
	return status;
}

enum fat_status find_is_empty(struct fsck *fsck, uint32_t start, bool *empty)
{
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &fsck->table, start);

	*empty = true;
	while (status == FAT_OK && *empty) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		*empty = !fat_dev_unreadable(fsck->dev, dir.off, dir.len_bytes);
		for (size_t at = 0; at < dir.len_bytes; at += FAT_SLOT_BYTES) {
			enum fat_slot_kind kind = fat_slot_classify(dir.buf + at);

			*empty = *empty && kind != FAT_SLOT_FILE && kind != FAT_SLOT_DIRECTORY;
		}
	}
	fat_dir_close(&dir);
	return status;
}
