/* SPDX-License-Identifier: MIT */
/*
 * pass_fat: pass 1, all FAT copies in step.
 *
 * Checks entries 0 and 1 and whether the copies agree. Leaves behind the counts of clusters by
 * kind, and where the copies differ. Does not follow chains.
 */
#include <string.h>

#include "fsck.h"

struct counter {
	struct fsck *fsck;
	uint32_t last_clus, bad, end_min;
};

static enum fat_status count_entries(void *context, uint32_t first, uint32_t n,
				     const uint32_t *values)
{
	struct counter *counter = context;
	struct fsck_counts *count = &counter->fsck->count;
	uint32_t skip = first == 0 ? FAT_FIRST_CLUS : 0;
	uint32_t n_free = 0, n_bad = 0, n_invalid = 0;

	if (!values) {
		count->free += n - skip;
		return fsck_tick(counter->fsck, TICK_FAT, (uint64_t)first + n,
				 counter->last_clus + 1);
	}
	for (uint32_t i = skip; i < n; i++) {
		uint32_t value = values[i];

		n_free += value == 0;
		n_bad += value == counter->bad;
		n_invalid += (value == 1) |
			     ((value > counter->last_clus) & (value < counter->end_min) &
			      (value != counter->bad));
	}
	count->free += n_free;
	count->bad += n_bad;
	count->invalid += n_invalid;
	count->used += n - skip - n_free - n_bad;
	return fsck_tick(counter->fsck, TICK_FAT, (uint64_t)first + n, counter->last_clus + 1);
}

/* Keeps the runs; what does not fit any more only grows the last one. */
static enum fat_status note_difference(void *context, uint32_t copy, uint32_t first, uint32_t last)
{
	struct counter *counter = context;
	struct fsck *fsck = counter->fsck;
	struct fat_table_range *range;

	if (fsck->n_differing[copy & 255] == 0 || !fat_vec_is_full(&fsck->differing)) {
		range = fat_vec_push(&fsck->differing);
		if (!range && !fat_vec_is_full(&fsck->differing))
			return FAT_ERR_MEMORY;
		if (range)
			*range = (struct fat_table_range){ first, last, copy };
	}
	fsck->n_differing[copy & 255] += last - first + 1;
	return FAT_OK;
}

static void flat_fault(struct fsck *fsck, enum fault_id id, uint32_t a, uint32_t b)
{
	struct fault fault = { .id = id, .dir = NO_DIR, .a = a, .b = b };

	fsck_fault(fsck, &fault);
}

static void check_entry0(struct fsck *fsck, uint32_t value)
{
	uint32_t expected = (fat_entry_mask(fsck->geometry.type) & ~0xFFu) | fsck->geometry.media;

	if ((value & 0xFF) != fsck->geometry.media)
		flat_fault(fsck, F_ENTRY0_MEDIA, value, expected);
	else if (value != expected)
		flat_fault(fsck, F_ENTRY0_BITS, value, expected);
}

static void check_entry1(struct fsck *fsck, uint32_t value)
{
	enum fat_type type = fsck->geometry.type;
	uint32_t flags = fat_entry_clean_bit(type) | fat_entry_no_error_bit(type);

	if ((value | flags) < fat_entry_end_min(type)) {
		flat_fault(fsck, F_ENTRY1_BITS, value, 0);
		return;
	}
	if (fat_entry_clean_bit(type) && !(value & fat_entry_clean_bit(type)))
		flat_fault(fsck, F_DIRTY_FAT, value, 0);
	if (fat_entry_no_error_bit(type) && !(value & fat_entry_no_error_bit(type)))
		flat_fault(fsck, F_HARD_ERROR, value, 0);
}

static enum fat_status check_reserved(struct fsck *fsck)
{
	enum fat_status status;
	uint32_t value;

	status = fat_table_get(&fsck->table, 0, &value);
	if (status == FAT_OK && !fat_table_is_blind(&fsck->table, 0))
		check_entry0(fsck, value);
	if (status == FAT_OK)
		status = fat_table_get(&fsck->table, 1, &value);
	if (status == FAT_OK && !fat_table_is_blind(&fsck->table, 1))
		check_entry1(fsck, value);
	return status;
}

/* One fault a copy that differs, with its first difference. */
static void report_copies(struct fsck *fsck)
{
	uint64_t reported[4] = { 0 };

	for (size_t i = 0; i < fsck->differing.n; i++) {
		const struct fat_table_range *range = fat_vec_at(&fsck->differing, i);
		uint64_t bit = (uint64_t)1 << range->copy % 64;
		struct fault fault = {
			.id = F_COPIES_DIFFER,
			.dir = NO_DIR,
			.n = range->copy + 1,
			.clus = range->first_clus,
			.a = fsck->n_differing[range->copy & 255],
			.b = fat_table_copy_of(&fsck->table, range->first_clus) + 1,
		};

		if (reported[range->copy / 64 % 4] & bit)
			continue;
		reported[range->copy / 64 % 4] |= bit;
		fsck_fault(fsck, &fault);
	}
}

/* A scan that came upon sectors that cannot be read is made again, with what other copies have. */
static void forget_scan(struct fsck *fsck)
{
	fsck->count = (struct fsck_counts){ 0 };
	fsck->differing.n = 0;
	memset(fsck->n_differing, 0, sizeof fsck->n_differing);
}

enum fat_status pass_fat(struct fsck *fsck)
{
	struct counter counter = {
		.fsck = fsck,
		.last_clus = fat_geometry_last_clus(&fsck->geometry),
		.bad = fat_entry_bad(fsck->geometry.type),
		.end_min = fat_entry_end_min(fsck->geometry.type),
	};
	struct fat_table_visitor visitor = {
		.context = &counter,
		.entries = count_entries,
		.differ = note_difference,
	};
	enum fat_status status;
	bool changed;

	status = unreadable_note(fsck, &changed);
	do {
		forget_scan(fsck);
		if (status == FAT_OK)
			status = fat_table_scan(&fsck->table, &visitor);
		if (status == FAT_OK)
			status = unreadable_note(fsck, &changed);
	} while (status == FAT_OK && changed); /* ends: the list of such sectors is bounded */
	fsck->count.blind = unreadable_count(fsck);
	fsck->count.free -= fsck->count.blind; /* they read as 0 */
	if (status == FAT_OK)
		status = check_reserved(fsck);
	report_copies(fsck);
	unreadable_report(fsck);
	if (status == FAT_OK && fsck->read_tested)
		status = sick_report(fsck);
	return status;
}
