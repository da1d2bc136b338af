/* SPDX-License-Identifier: MIT */
/*
 * table: the FATs of a volume as one array of entries.
 *
 * Never holds a FAT: a scan reads all copies in step, piece by piece; single entries come from
 * windows, as many as the budget allows. Which copy an entry comes from is the caller's choice,
 * range by range, because damage seldom hits all of a copy. Knows nothing of chains.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define WINDOW_ENTRIES 8192u  /* 16 KiB of FAT16, 32 KiB of FAT32; more than all of FAT12 */
#define SCAN_ENTRIES   32768u /* small enough to stay in the processor's cache */
#define PREFETCH_BYTES (4u << 20)

#define MOST_BYTES	  (80u << 20)
#define MOST_WINDOW_BYTES (56u << 20)
#define LEAST_BYTES	  (8u << 20)

static uint64_t entries_bytes(enum fat_type type, uint32_t first, uint32_t n)
{
	return div_ceil((uint64_t)(first + (uint64_t)n) * (unsigned)type, 8) -
	       fat_entry_off(type, first);
}

static uint32_t n_entries(const struct fat_table *table)
{
	return fat_geometry_last_clus(table->geometry) + 1;
}

static uint64_t entry_off(const struct fat_table *table, uint32_t copy, uint32_t clus)
{
	return fat_geometry_fat_off(table->geometry, copy) +
	       fat_entry_off(table->geometry->type, clus);
}

enum fat_status fat_table_init(struct fat_table *table, struct fat_dev *dev,
			       const struct fat_geometry *geometry, size_t budget_bytes)
{
	*table = (struct fat_table){
		.dev = dev, .geometry = geometry, .copy = geometry->active_fat
	};
	table->window_bytes =
		(size_t)entries_bytes(geometry->type, 0, WINDOW_ENTRIES);
	table->n_windows = (size_t)div_ceil(n_entries(table), WINDOW_ENTRIES);
	table->max_loaded = (size_t)max_u64(2, budget_bytes / table->window_bytes);
	table->window = calloc(table->n_windows, sizeof *table->window);
	table->was_evicted = calloc(table->n_windows, 1);
	if (table->window && table->was_evicted)
		return FAT_OK;
	fat_table_fini(table);
	return FAT_ERR_MEMORY;
}

void fat_table_forget(struct fat_table *table)
{
	for (size_t i = 0; table->window && table->was_evicted && i < table->n_windows; i++) {
		free(table->window[i]);
		table->window[i] = NULL;
		table->was_evicted[i] = 0;
	}
	table->n_loaded = 0;
}

void fat_table_fini(struct fat_table *table)
{
	fat_table_forget(table);
	free(table->window);
	free(table->was_evicted);
	table->window = NULL;
	table->was_evicted = NULL;
}

void fat_table_set_source(struct fat_table *table, uint32_t copy,
			  const struct fat_table_range *ranges, size_t n_ranges)
{
	fat_table_forget(table);
	table->copy = copy;
	table->ranges = ranges;
	table->n_ranges = n_ranges;
}

/* The first range that ends at or behind clus. */
static size_t find_range(const struct fat_table *table, uint32_t clus)
{
	size_t low = 0, high = table->n_ranges;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table->ranges[middle].last_clus < clus)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The copy that an entry is to come from, whether it can be read there or not. */
static uint32_t wanted_copy(const struct fat_table *table, uint32_t clus)
{
	size_t i = find_range(table, clus);

	if (i < table->n_ranges && table->ranges[i].first_clus <= clus)
		return table->ranges[i].copy;
	return table->copy;
}

/* ---- what cannot be read ---- */

void fat_table_set_bad(struct fat_table *table, const struct fat_table_range *bad, size_t n_bad)
{
	fat_table_forget(table);
	table->bad = bad;
	table->n_bad = n_bad;
}

bool fat_table_is_bad(const struct fat_table *table, uint32_t copy, uint32_t clus)
{
	for (size_t i = 0; i < table->n_bad; i++)
		if (table->bad[i].copy == copy && table->bad[i].first_clus <= clus &&
		    clus <= table->bad[i].last_clus)
			return true;
	return false;
}

uint32_t fat_table_copy_of(const struct fat_table *table, uint32_t clus)
{
	uint32_t wanted = wanted_copy(table, clus);

	if (table->n_bad == 0 || !table->geometry->mirrored ||
	    !fat_table_is_bad(table, wanted, clus))
		return wanted;
	for (uint32_t copy = 0; copy < table->geometry->n_fats; copy++)
		if (!fat_table_is_bad(table, copy, clus))
			return copy;
	return wanted;
}

bool fat_table_is_blind(const struct fat_table *table, uint32_t clus)
{
	return table->n_bad > 0 && fat_table_is_bad(table, fat_table_copy_of(table, clus), clus);
}

/* Entries from `from` to `to` that were to come from a copy that cannot be read there. */
static enum fat_status replace_bad(struct fat_table *table, uint32_t first, uint32_t n,
				   const struct fat_table_range *bad, uint8_t *buf)
{
	enum fat_type type = table->geometry->type;
	size_t len_bytes = (size_t)entries_bytes(type, first, n);
	uint32_t from = (uint32_t)max_u64(bad->first_clus, first);
	uint64_t end = min_u64((uint64_t)bad->last_clus + 1, (uint64_t)first + n);
	uint32_t loaded = UINT32_MAX;
	enum fat_status status = FAT_OK;
	uint8_t *other = NULL;

	for (uint32_t c = from; c < end && status == FAT_OK; c++) {
		uint32_t copy = fat_table_copy_of(table, c);

		if (wanted_copy(table, c) != bad->copy)
			continue;
		if (copy == bad->copy) {
			fat_entry_set(type, buf, c - first, 0);
			continue;
		}
		if (!other && !(other = malloc(len_bytes)))
			return FAT_ERR_MEMORY;
		if (copy != loaded)
			status = fat_dev_read(table->dev, entry_off(table, copy, first), other,
					      len_bytes);
		loaded = copy;
		if (status == FAT_OK)
			fat_entry_set(type, buf, c - first, fat_entry_get(type, other, c - first));
	}
	free(other);
	return status;
}

/*
 * Puts entries first to first + n - 1 into buf, as bytes that start with entry `first` (which is
 * even), each from the copy that it is to come from.
 */
static enum fat_status read_entries(struct fat_table *table, uint32_t first, uint32_t n,
				    uint8_t *buf)
{
	enum fat_type type = table->geometry->type;
	size_t len_bytes = (size_t)entries_bytes(type, first, n);
	enum fat_status status;
	uint8_t *other;

	status = fat_dev_read(table->dev, entry_off(table, table->copy, first), buf, len_bytes);
	for (size_t i = find_range(table, first); i < table->n_ranges && status == FAT_OK; i++) {
		const struct fat_table_range *range = &table->ranges[i];
		uint32_t from = (uint32_t)max_u64(range->first_clus, first);
		uint32_t end =
			(uint32_t)min_u64((uint64_t)range->last_clus + 1, (uint64_t)first + n);

		if (range->first_clus >= first + n)
			break;
		other = malloc(len_bytes);
		if (!other)
			return FAT_ERR_MEMORY;
		status = fat_dev_read(table->dev, entry_off(table, range->copy, first), other,
				      len_bytes);
		for (uint32_t c = from; c < end && status == FAT_OK; c++)
			fat_entry_set(type, buf, c - first, fat_entry_get(type, other, c - first));
		free(other);
	}
	for (size_t i = 0; i < table->n_bad && status == FAT_OK; i++)
		status = replace_bad(table, first, n, &table->bad[i], buf);
	return status;
}

/*
 * Windows that come back again and again mean chains in no order: more room then, as long as it
 * goes together with two bits a cluster of the caller's.
 */
static void learn_from_return(struct fat_table *table)
{
	uint64_t used = n_entries(table) / 4;
	uint64_t left = used < MOST_BYTES ? MOST_BYTES - used : 0;
	size_t most = (size_t)(min_u64(max_u64(left, LEAST_BYTES), MOST_WINDOW_BYTES) /
			       table->window_bytes);

	if (++table->n_again < table->max_loaded || table->max_loaded >= most)
		return;
	table->n_again = 0;
	table->max_loaded = (size_t)min_u64(4 * table->max_loaded, most);
}

static void evict_one(struct fat_table *table)
{
	while (!table->window[table->hand])
		table->hand = (table->hand + 1) % table->n_windows;
	free(table->window[table->hand]);
	table->window[table->hand] = NULL;
	table->was_evicted[table->hand] = 1;
	table->n_loaded--;
}

static enum fat_status load_window(struct fat_table *table, size_t i)
{
	uint32_t first = (uint32_t)i * WINDOW_ENTRIES;
	uint32_t n = (uint32_t)min_u64(WINDOW_ENTRIES, n_entries(table) - first);
	enum fat_status status;
	uint8_t *window;

	if (table->was_evicted[i])
		learn_from_return(table);
	if (table->n_loaded >= table->max_loaded)
		evict_one(table);
	window = malloc(table->window_bytes);
	if (!window)
		return FAT_ERR_MEMORY;
	status = read_entries(table, first, n, window);
	if (status != FAT_OK) {
		free(window);
		return status;
	}
	table->window[i] = window;
	table->n_loaded++;
	return FAT_OK;
}

enum fat_status fat_table_get(struct fat_table *table, uint32_t clus, uint32_t *value)
{
	size_t i = clus / WINDOW_ENTRIES;
	enum fat_status status;

	if (!table->window[i]) {
		status = load_window(table, i);
		if (status != FAT_OK)
			return status;
	}
	*value = fat_entry_get(table->geometry->type, table->window[i], clus % WINDOW_ENTRIES);
	return FAT_OK;
}

void fat_table_prefetch(const struct fat_table *table, uint32_t clus)
{
	const uint8_t *window = table->window[clus / WINDOW_ENTRIES];

	if (window)
		__builtin_prefetch(window + fat_entry_off(table->geometry->type,
							  clus % WINDOW_ENTRIES));
}

enum fat_status fat_table_get_in_copy(const struct fat_table *table, uint32_t copy, uint32_t clus,
				      uint32_t *value)
{
	enum fat_type type = table->geometry->type;
	uint32_t odd = type == FAT_TYPE_12 ? clus & 1 : 0;
	uint8_t bytes[8] = { 0 };
	enum fat_status status = fat_dev_read(table->dev, entry_off(table, copy, clus),
					      bytes + fat_entry_off(type, odd),
					      (size_t)entries_bytes(type, clus, 1));

	*value = fat_entry_get(type, bytes, odd);
	return status;
}

enum fat_status fat_table_set_in_copy(struct fat_table *table, uint32_t copy, uint32_t clus,
				      uint32_t value)
{
	enum fat_type type = table->geometry->type;
	uint32_t odd = type == FAT_TYPE_12 ? clus & 1 : 0;
	size_t len_bytes = (size_t)entries_bytes(type, clus, 1);
	uint8_t bytes[8] = { 0 }, mask[8] = { 0 };
	size_t at = (size_t)fat_entry_off(type, odd);
	enum fat_status status;

	fat_entry_set(type, bytes, odd, value);
	fat_entry_set(type, mask, odd, fat_entry_mask(type));
	status = fat_dev_write_bits(table->dev, entry_off(table, copy, clus), bytes + at, mask + at,
				    len_bytes);
	if (status == FAT_OK && copy == fat_table_copy_of(table, clus) &&
	    table->window[clus / WINDOW_ENTRIES])
		fat_entry_set(type, table->window[clus / WINDOW_ENTRIES], clus % WINDOW_ENTRIES,
			      value);
	return status;
}

enum fat_status fat_table_set(struct fat_table *table, uint32_t clus, uint32_t value)
{
	return fat_table_set_in_copy(table, fat_table_copy_of(table, clus), clus, value);
}

/* ---- scan ---- */

struct scan {
	struct fat_table *table;
	const struct fat_table_visitor *visitor;
	uint8_t *bytes; /* of the copy that is used */
	uint8_t *other;
	uint32_t *values;
	uint64_t prefetched; /* entries announced so far */
};

/* n > 0 */
static bool is_zero(const uint8_t *bytes, size_t n)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Entry first + i is another one in the copy, which can be read there. */
static bool differs(const struct scan *scan, uint32_t copy, uint32_t first, uint32_t i)
{
	enum fat_type type = scan->table->geometry->type;

	return fat_entry_get(type, scan->bytes, i) != fat_entry_get(type, scan->other, i) &&
	       !fat_table_is_bad(scan->table, copy, first + i);
}

/* Reports runs of entries whose value bits differ between the table and a copy. */
static enum fat_status report_differences(struct scan *scan, uint32_t copy, uint32_t first,
					  uint32_t n)
{
	enum fat_status status = FAT_OK;
	uint32_t i = 0;

	while (i < n && status == FAT_OK) {
		uint32_t start = i;

		while (i < n && differs(scan, copy, first, i))
			i++;
		if (i > start)
			status = scan->visitor->differ(scan->visitor->context, copy, first + start,
						       first + i - 1);
		else
			i++;
	}
	return status;
}

static enum fat_status compare_copies(struct scan *scan, uint32_t first, uint32_t n)
{
	struct fat_table *table = scan->table;
	size_t len_bytes = (size_t)entries_bytes(table->geometry->type, first, n);
	enum fat_status status = FAT_OK;

	if (!scan->visitor->differ || !table->geometry->mirrored)
		return FAT_OK;
	for (uint32_t copy = 0; copy < table->geometry->n_fats && status == FAT_OK; copy++) {
		if (copy == table->copy && table->n_ranges == 0)
			continue;
		status = fat_dev_read(table->dev, entry_off(table, copy, first), scan->other,
				      len_bytes);
		if (status == FAT_OK && memcmp(scan->bytes, scan->other, len_bytes) != 0)
			status = report_differences(scan, copy, first, n);
	}
	return status;
}

static void announce(struct scan *scan, uint32_t first)
{
	const struct fat_table *table = scan->table;
	uint64_t left = n_entries(table) - (uint64_t)first;
	uint64_t n = min_u64(left, PREFETCH_BYTES / 4);

	if (first < scan->prefetched)
		return;
	for (uint32_t copy = 0; copy < table->geometry->n_fats; copy++)
		if (copy == table->copy || (scan->visitor->differ && table->geometry->mirrored))
			fat_dev_prefetch(table->dev, entry_off(table, copy, first),
					 entries_bytes(table->geometry->type, first, (uint32_t)n));
	scan->prefetched = first + n;
}

static void decode(enum fat_type type, const uint8_t *bytes, uint32_t n, uint32_t *values)
{
	switch (type) {
	case FAT_TYPE_32:
		for (uint32_t i = 0; i < n; i++)
			values[i] = get_le32(bytes + (size_t)4 * i) & 0x0FFFFFFF;
		break;
	case FAT_TYPE_16:
		for (uint32_t i = 0; i < n; i++)
			values[i] = get_le16(bytes + (size_t)2 * i);
		break;
	case FAT_TYPE_12:
		for (uint32_t i = 0; i < n; i++)
			values[i] = fat_entry_get(type, bytes, i);
		break;
	}
}

static enum fat_status scan_piece(struct scan *scan, uint32_t first, uint32_t n)
{
	struct fat_table *table = scan->table;
	enum fat_type type = table->geometry->type;
	size_t len_bytes = (size_t)entries_bytes(type, first, n);
	const struct fat_table_visitor *visitor = scan->visitor;
	enum fat_status status;

	announce(scan, first);
	status = read_entries(table, first, n, scan->bytes);
	if (status == FAT_OK)
		status = compare_copies(scan, first, n);
	if (status != FAT_OK || !visitor->entries)
		return status;
	if (is_zero(scan->bytes, len_bytes))
		return visitor->entries(visitor->context, first, n, NULL);
	decode(type, scan->bytes, n, scan->values);
	return visitor->entries(visitor->context, first, n, scan->values);
}

enum fat_status fat_table_scan(struct fat_table *table, const struct fat_table_visitor *visitor)
{
	struct scan scan = { .table = table, .visitor = visitor };
	size_t len_bytes = (size_t)entries_bytes(table->geometry->type, 0, SCAN_ENTRIES);
	enum fat_status status = FAT_OK;
	uint32_t end = n_entries(table), n;

	scan.bytes = malloc(len_bytes);
	scan.other = malloc(len_bytes);
	scan.values = malloc(SCAN_ENTRIES * sizeof *scan.values);
	if (!scan.bytes || !scan.other || !scan.values)
		status = FAT_ERR_MEMORY;
	for (uint32_t first = 0; first < end && status == FAT_OK; first += n) {
		n = (uint32_t)min_u64(SCAN_ENTRIES, end - first);
		status = scan_piece(&scan, first, n);
	}
	free(scan.bytes);
	free(scan.other);
	free(scan.values);
	return status;
}
