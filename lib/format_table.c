/* SPDX-License-Identifier: MIT */
/*
 * format_table: writes the FATs of a new volume, from runs of clusters.
 *
 * Goes over the FAT in windows of 64 KiB, so that memory does not grow with the volume; windows
 * without an entry in use are not written: they are zeros already.
 */
#include "format_table.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define WINDOW_BYTES 65536u

struct window {
	const struct fat_geometry *geometry;
	uint64_t n_entries; /* that a window holds; FAT12 and FAT16 fit into one, or two */
	uint64_t first;	    /* entry at its start */
	uint64_t low, high; /* entries that were set: low <= entry < high */
	uint8_t *bytes;
};

static void set(struct window *window, uint64_t entry, uint32_t value)
{
	fat_entry_set(window->geometry->type, window->bytes, (uint32_t)(entry - window->first),
		      value);
	window->low = min_u64(window->low, entry);
	window->high = max_u64(window->high, entry + 1);
}

static uint32_t value_in(const struct window *window, const struct fat_run *run, uint64_t entry)
{
	if (run->is_bad)
		return fat_entry_bad(window->geometry->type);
	if (entry + 1 < (uint64_t)run->first_clus + run->n_clus)
		return (uint32_t)entry + 1;
	return run->next;
}

static void set_run(struct window *window, const struct fat_run *run)
{
	uint64_t end = min_u64((uint64_t)run->first_clus + run->n_clus,
			       window->first + window->n_entries);

	for (uint64_t entry = max_u64(run->first_clus, window->first); entry < end; entry++)
		set(window, entry, value_in(window, run, entry));
}

static void set_head(struct window *window)
{
	uint32_t mask = fat_entry_mask(window->geometry->type);

	if (window->first != 0)
		return;
	set(window, 0, (mask & ~0xFFu) | window->geometry->media);
	set(window, 1, mask);
}

/* Whole sectors around what was set, to every copy. */
static enum fat_status write_window(struct fat_dev *dev, const struct window *window)
{
	const struct fat_geometry *geometry = window->geometry;
	uint64_t sector_bytes = geometry->sector_bytes;
	uint64_t start = window->first * geometry->type / 8;
	uint64_t from = fat_entry_off(geometry->type, (uint32_t)(window->low - window->first));
	uint64_t to = div_ceil((window->high - window->first) * geometry->type, 8);
	enum fat_status status = FAT_OK;

	from -= from % sector_bytes;
	to = round_up(to, sector_bytes);
	for (uint32_t copy = 0; copy < geometry->n_fats && status == FAT_OK; copy++)
		status = fat_dev_write(dev, fat_geometry_fat_off(geometry, copy) + start + from,
				       window->bytes + from, (size_t)(to - from));
	return status;
}

static uint64_t end_of(const struct fat_run *run)
{
	return (uint64_t)run->first_clus + run->n_clus;
}

/* Fills the window that starts at `first` and writes it; *i becomes the run that goes on behind. */
static enum fat_status do_window(struct fat_dev *dev, struct window *window, uint64_t first,
				 const struct fat_run *runs, size_t n_runs, size_t *i)
{
	uint64_t end = first + window->n_entries;

	window->first = first;
	window->low = UINT64_MAX;
	window->high = 0;
	memset(window->bytes, 0, WINDOW_BYTES);
	set_head(window);
	for (; *i < n_runs && runs[*i].first_clus < end; (*i)++) {
		set_run(window, &runs[*i]);
		if (end_of(&runs[*i]) > end)
			break;
	}
	return write_window(dev, window);
}

enum fat_status fat_format_table(struct fat_dev *dev, const struct fat_geometry *geometry,
				 const struct fat_run *runs, size_t n_runs)
{
	/* FAT12 entries are 1.5 bytes: a window starts at an even one. */
	struct window window = {
		.geometry = geometry,
		.n_entries =
			WINDOW_BYTES * 8ull / (geometry->type == FAT_TYPE_12 ? 16 : geometry->type),
		.bytes = malloc(WINDOW_BYTES),
	};
	enum fat_status status;
	uint64_t first = 0;
	size_t i = 0;

	if (!window.bytes)
		return fat_dev_fail(dev, FAT_ERR_MEMORY, "format", 0, WINDOW_BYTES, 0);
	status = do_window(dev, &window, first, runs, n_runs, &i);
	while (status == FAT_OK && i < n_runs) {
		first += window.n_entries;
		if (runs[i].first_clus > first)
			first = runs[i].first_clus - runs[i].first_clus % window.n_entries;
		status = do_window(dev, &window, first, runs, n_runs, &i);
	}
	free(window.bytes);
	return status;
}
