/* SPDX-License-Identifier: MIT */
/*
 * dir: the bytes of a directory in their order, in large pieces.
 *
 * Follows the directory's chain as far as it makes sense and stops there; what is wrong with the
 * chain is the caller's business. Ends on any volume: never gives more pieces than there are
 * clusters.
 */
#include "libfat.h"

#include <stdlib.h>

#include "bytes.h"

#define PIECE_BYTES (128u << 10)

enum fat_status fat_dir_open(struct fat_dir *dir, struct fat_table *table, uint32_t start_clus)
{
	const struct fat_geometry *geometry = table->geometry;

	*dir = (struct fat_dir){ .table = table, .next_clus = start_clus };
	dir->is_fixed_root = start_clus == 0;
	dir->n_left = dir->is_fixed_root ? 1 : geometry->n_clus;
	dir->room_bytes = (size_t)max_u64(PIECE_BYTES, geometry->cluster_bytes);
	if (dir->is_fixed_root)
		dir->room_bytes = (size_t)max_u64(fat_geometry_root_bytes(geometry), 1);
	dir->buf = malloc(dir->room_bytes);
	return dir->buf ? FAT_OK : FAT_ERR_MEMORY;
}

void fat_dir_close(struct fat_dir *dir)
{
	free(dir->buf);
	dir->buf = NULL;
}

/* The run of neighbouring clusters from next_clus on that fits the buffer. */
static enum fat_status take_run(struct fat_dir *dir, uint32_t *first, uint32_t *n)
{
	const struct fat_geometry *geometry = dir->table->geometry;
	uint32_t most = (uint32_t)(dir->room_bytes / geometry->cluster_bytes);
	uint32_t clus = dir->next_clus;

	*first = clus;
	*n = 0;
	while (*n < most && dir->n_left > 0 && fat_geometry_has_clus(geometry, clus) &&
	       clus == *first + *n) {
		uint32_t value;
		enum fat_status status = fat_table_get(dir->table, clus, &value);

		if (status != FAT_OK)
			return status;
		if (dir->limit_clus == 0 &&
		    ((value == 0 && !fat_table_is_blind(dir->table, clus)) ||
		     value == fat_entry_bad(geometry->type)))
			break;
		++*n;
		dir->n_left--;
		clus = value;
		if (dir->limit_clus && --dir->limit_clus == 0)
			dir->n_left = 0;
	}
	dir->next_clus = clus;
	if (*n == 0)
		dir->n_left = 0;
	return FAT_OK;
}

enum fat_status fat_dir_read(struct fat_dir *dir)
{
	const struct fat_geometry *geometry = dir->table->geometry;
	enum fat_status status;
	uint32_t first, n;

	dir->len_bytes = 0;
	if (dir->n_left == 0)
		return FAT_OK;
	if (dir->is_fixed_root) {
		dir->n_left = 0;
		dir->off = fat_geometry_root_off(geometry);
		dir->len_bytes = (size_t)fat_geometry_root_bytes(geometry);
		return fat_dev_read(dir->table->dev, dir->off, dir->buf, dir->len_bytes);
	}
	status = take_run(dir, &first, &n);
	if (status != FAT_OK || n == 0)
		return status;
	dir->off = fat_geometry_cluster_off(geometry, first);
	dir->len_bytes = (size_t)n * geometry->cluster_bytes;
	return fat_dev_read(dir->table->dev, dir->off, dir->buf, dir->len_bytes);
}
