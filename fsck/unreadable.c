/* SPDX-License-Identifier: MIT */
/*
 * unreadable: what cannot be read, in terms of the volume.
 *
 * The device stack has the list of sectors (dev_salvage); here it becomes FAT entries: bad in one
 * copy, or blind, which is bad in every copy that counts. Sectors that other copies know are
 * written anew after a commit; that is the only writing here.
 */
#include <stdlib.h>

#include "engine.h"

/* The entries of copy `copy` that have a bit in the range; false: the range is elsewhere. */
static bool entries_in(const struct fat_geometry *geometry, uint32_t copy,
		       const struct fat_dev_range *range, struct fat_table_range *entries)
{
	uint64_t start = fat_geometry_fat_off(geometry, copy), end = range->off + range->len_bytes;
	uint64_t fat_bytes = fat_entry_off(geometry->type, fat_geometry_last_clus(geometry)) + 4;
	uint64_t from = range->off > start ? range->off - start : 0;
	uint64_t bits = (unsigned)geometry->type;
	uint64_t last;

	if (fat_bytes > fat_geometry_fat_bytes(geometry))
		fat_bytes = fat_geometry_fat_bytes(geometry);
	if (end <= start || from >= fat_bytes)
		return false;
	end = end - start < fat_bytes ? end - start : fat_bytes;
	last = (8 * end - 1) / bits;
	if (last > fat_geometry_last_clus(geometry))
		last = fat_geometry_last_clus(geometry);
	entries->first_clus = (uint32_t)(8 * from / bits);
	entries->last_clus = (uint32_t)last;
	entries->copy = copy;
	return entries->first_clus <= entries->last_clus;
}

static enum fat_status push(struct fat_vec *list, const struct fat_table_range *range)
{
	struct fat_table_range *place = fat_vec_push(list);

	if (!place)
		return FAT_ERR_MEMORY;
	*place = *range;
	return FAT_OK;
}

/* Keeps of `blind` what is bad in `copy` too. */
static enum fat_status keep_common(struct fsck *fsck, uint32_t copy)
{
	struct fat_vec common;
	enum fat_status status = FAT_OK;

	fat_vec_init(&common, sizeof(struct fat_table_range), fsck->blind.max);
	for (size_t i = 0; i < fsck->blind.n; i++)
		for (size_t k = 0; k < fsck->bad.n && status == FAT_OK; k++) {
			const struct fat_table_range *a = fat_vec_at(&fsck->blind, i);
			const struct fat_table_range *b = fat_vec_at(&fsck->bad, k);
			struct fat_table_range both = *a;

			if (b->copy != copy)
				continue;
			if (b->first_clus > both.first_clus)
				both.first_clus = b->first_clus;
			if (b->last_clus < both.last_clus)
				both.last_clus = b->last_clus;
			if (both.first_clus <= both.last_clus)
				status = push(&common, &both);
		}
	fat_vec_fini(&fsck->blind);
	fsck->blind = common;
	return status;
}

static enum fat_status find_blind(struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint32_t first = geometry->mirrored ? 0 : geometry->active_fat;
	enum fat_status status = FAT_OK;

	fsck->blind.n = 0;
	for (size_t i = 0; i < fsck->bad.n && status == FAT_OK; i++) {
		const struct fat_table_range *range = fat_vec_at(&fsck->bad, i);

		if (range->copy == first)
			status = push(&fsck->blind, range);
	}
	for (uint32_t i = 1; geometry->mirrored && i < geometry->n_fats && status == FAT_OK; i++)
		status = keep_common(fsck, i);
	return status;
}

enum fat_status unreadable_note(struct fsck *fsck, bool *changed)
{
	uint64_t n_units = fat_dev_unreadable_units(fsck->dev);
	const struct fat_dev_range *list;
	size_t n = fat_dev_unreadable_list(fsck->dev, &list);
	enum fat_status status = FAT_OK;

	*changed = n_units != fsck->n_units_noted;
	if (!*changed)
		return FAT_OK;
	fsck->n_units_noted = n_units;
	fsck->bad.n = 0;
	for (uint32_t copy = 0; copy < fsck->geometry.n_fats; copy++)
		for (size_t i = 0; i < n && status == FAT_OK; i++) {
			struct fat_table_range entries;

			if (entries_in(&fsck->geometry, copy, &list[i], &entries))
				status = push(&fsck->bad, &entries);
		}
	if (status == FAT_OK)
		status = find_blind(fsck);
	fat_table_set_bad(&fsck->table, fsck->bad.items, fsck->bad.n);
	return status;
}

uint32_t unreadable_count(const struct fsck *fsck)
{
	uint32_t n = 0;

	for (size_t i = 0; i < fsck->blind.n; i++) {
		const struct fat_table_range *range = fat_vec_at(&fsck->blind, i);
		uint32_t first =
			range->first_clus > FAT_FIRST_CLUS ? range->first_clus : FAT_FIRST_CLUS;

		if (first <= range->last_clus)
			n += range->last_clus - first + 1;
	}
	return n;
}

/* No other copy knows any of it. */
static bool is_all_blind(const struct fsck *fsck, const struct fat_table_range *range)
{
	for (uint32_t c = range->first_clus; c <= range->last_clus; c++)
		if (!fat_table_is_blind(&fsck->table, c))
			return false;
	return true;
}

/* Missing with the end of the device: cannot be written anew. */
static bool is_beyond(const struct fsck *fsck, const struct fat_table_range *range)
{
	return fsck->present_bytes &&
	       fat_geometry_fat_off(&fsck->geometry, range->copy) +
			       fat_entry_off(fsck->geometry.type, range->first_clus) >=
		       fsck->present_bytes / FAT_BOOT_BYTES * FAT_BOOT_BYTES;
}

void unreadable_report(struct fsck *fsck)
{
	uint32_t last_copy = UINT32_MAX;

	for (size_t i = 0; i < fsck->bad.n && fsck->geometry.mirrored; i++) {
		const struct fat_table_range *range = fat_vec_at(&fsck->bad, i);
		struct fault fault = { .id = F_COPY_UNREADABLE,
				       .dir = NO_DIR,
				       .n = range->copy + 1,
				       .clus = range->first_clus,
				       .last = range->last_clus };

		if (range->copy == last_copy || is_all_blind(fsck, range) || is_beyond(fsck, range))
			continue;
		fsck_fault(fsck, &fault);
		last_copy = range->copy;
	}
	for (size_t i = 0; i < fsck->blind.n; i++) {
		const struct fat_table_range *range = fat_vec_at(&fsck->blind, i);
		struct fault fault = { .id = F_FAT_UNREADABLE,
				       .dir = NO_DIR,
				       .clus = range->first_clus,
				       .last = range->last_clus };

		fsck_fault(fsck, &fault);
	}
}

/* ---- a device that is too short ---- */

enum fat_status unreadable_extend(struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint64_t size = fsck->dev->size_bytes, total = fat_geometry_total_bytes(geometry);
	uint64_t data = fat_geometry_data_off(geometry);

	if (total <= size)
		return FAT_OK;
	if (fat_geometry_fat_off(geometry, geometry->active_fat) +
		    fat_geometry_fat_bytes(geometry) >
	    size)
		return FAT_ERR_RANGE;
	fsck->present_bytes = size;
	fsck->last_present = FAT_FIRST_CLUS - 1;
	if (size > data)
		fsck->last_present += (uint32_t)((size - data) / geometry->cluster_bytes);
	return fat_dev_salvage_extend(fsck->dev, total);
}

bool cluster_is_present(const struct fsck *fsck, uint32_t clus)
{
	return fsck->present_bytes == 0 || clus <= fsck->last_present;
}

/* ---- writing anew ---- */

/* A copy that can be read where copy `copy` cannot: len_bytes at rel_off of a FAT. */
static bool read_elsewhere(struct fsck *fsck, struct fat_dev *dev, uint32_t copy, uint64_t rel_off,
			   uint8_t *buf, size_t len_bytes)
{
	for (uint32_t i = 0; i < fsck->geometry.n_fats; i++) {
		uint64_t off = fat_geometry_fat_off(&fsck->geometry, i) + rel_off;

		if (i != copy && !fat_dev_unreadable(dev, off, len_bytes) &&
		    fat_dev_read(dev, off, buf, len_bytes) == FAT_OK)
			return true;
	}
	return false;
}

/* The sectors of one range, one by one: its list changes with each that is healed. */
static enum fat_status heal_copy(struct fsck *fsck, struct fat_dev *dev, uint32_t copy,
				 uint8_t *buf, uint32_t unit)
{
	uint64_t start = fat_geometry_fat_off(&fsck->geometry, copy), n;
	enum fat_status status = FAT_OK;

	for (uint64_t rel = 0; rel < fat_geometry_fat_bytes(&fsck->geometry); rel += n) {
		const struct fat_dev_range *list;
		size_t n_list = fat_dev_unreadable_list(dev, &list), i = 0;

		while (i < n_list && list[i].off + list[i].len_bytes <= start + rel)
			i++;
		if (i == n_list || status != FAT_OK)
			break;
		n = unit;
		if (list[i].off > start + rel)
			n = list[i].off - start - rel;
		else if (rel + n <= fat_geometry_fat_bytes(&fsck->geometry) &&
			 read_elsewhere(fsck, dev, copy, rel, buf, unit))
			status = fat_dev_write(dev, start + rel, buf, unit);
	}
	return status;
}

enum fat_status unreadable_heal(struct fsck *fsck, struct fat_dev *dev)
{
	uint32_t unit = dev->block_bytes > fsck->geometry.sector_bytes
				? dev->block_bytes
				: fsck->geometry.sector_bytes;
	uint8_t *buf = malloc(unit);
	enum fat_status status = buf ? FAT_OK : FAT_ERR_MEMORY;

	for (uint32_t i = 0;
	     fsck->geometry.mirrored && i < fsck->geometry.n_fats && status == FAT_OK; i++)
		status = heal_copy(fsck, dev, i, buf, unit);
	free(buf);
	return status == FAT_OK ? fat_dev_flush(dev) : status;
}
