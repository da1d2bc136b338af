/* SPDX-License-Identifier: MIT */
/*
 * pass_read: the read test (-t): every cluster that is not marked bad, in disk order, in large
 * pieces.
 *
 * The device stack finds the sectors that cannot be read; here they become clusters. Free ones are
 * told at once; those of files by check_entry.c, which knows whose they are.
 */
#include <stdlib.h>

#include "fsck.h"

#define PIECE_BYTES (1u << 20)

static uint32_t last_present(const struct fsck *fsck)
{
	return fsck->present_bytes ? fsck->last_present : fat_geometry_last_clus(&fsck->geometry);
}

static enum fat_status read_clusters(struct fsck *fsck, uint8_t *buf, uint32_t first, uint32_t n)
{
	const struct fat_geometry *geometry = &fsck->geometry;

	return fat_dev_read(fsck->dev, fat_geometry_cluster_off(geometry, first), buf,
			    (size_t)n * geometry->cluster_bytes);
}

/*
 * Clusters from first on that are not marked bad, n_most at most; *skip: how many are, before them.
 */
static enum fat_status next_run(struct fsck *fsck, uint32_t first, uint32_t n_most, uint32_t *skip,
				uint32_t *n)
{
	uint32_t end = last_present(fsck) + 1;
	uint32_t bad = fat_entry_bad(fsck->geometry.type);
	enum fat_status status = FAT_OK;

	*skip = *n = 0;
	for (uint32_t c = first; c < end && *n < n_most && status == FAT_OK; c++) {
		uint32_t value;

		status = fat_table_get(&fsck->table, c, &value);
		if (status == FAT_OK && value == bad && *n > 0)
			break;
		++*(value == bad ? skip : n);
	}
	return status;
}

enum fat_status pass_read(struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint32_t cluster = geometry->cluster_bytes;
	uint32_t most = cluster < PIECE_BYTES ? PIECE_BYTES / cluster : 1;
	uint32_t last = last_present(fsck);
	uint32_t skip, n;
	uint8_t *buf = malloc((size_t)most * cluster);
	enum fat_status status = buf ? FAT_OK : FAT_ERR_MEMORY;

	for (uint32_t c = FAT_FIRST_CLUS; c <= last && status == FAT_OK; c += skip + n) {
		status = next_run(fsck, c, most, &skip, &n);
		if (status == FAT_OK && n > 0)
			status = read_clusters(fsck, buf, c + skip, n);
		if (status == FAT_OK)
			status = fsck_tick(fsck, TICK_READ, c, last);
	}
	free(buf);
	fsck->read_tested = status == FAT_OK;
	return status;
}

bool cluster_is_sick(const struct fsck *fsck, uint32_t clus)
{
	return fsck->read_tested && cluster_is_present(fsck, clus) &&
	       fat_dev_unreadable(fsck->dev, fat_geometry_cluster_off(&fsck->geometry, clus),
				  fsck->geometry.cluster_bytes);
}

/* The clusters that a range of bytes touches; false: none. */
static bool clusters_of(const struct fat_geometry *geometry, const struct fat_dev_range *range,
			uint32_t *first, uint32_t *last)
{
	uint64_t data = fat_geometry_data_off(geometry), end = range->off + range->len_bytes;
	uint64_t from = range->off > data ? range->off : data;

	if (end <= data ||
	    from >= fat_geometry_cluster_off(geometry, fat_geometry_last_clus(geometry)) +
			    geometry->cluster_bytes)
		return false;
	*first = (uint32_t)((from - data) / geometry->cluster_bytes) + FAT_FIRST_CLUS;
	*last = (uint32_t)((end - 1 - data) / geometry->cluster_bytes) + FAT_FIRST_CLUS;
	if (*last > fat_geometry_last_clus(geometry))
		*last = fat_geometry_last_clus(geometry);
	return true;
}

enum fat_status sick_free_clusters(struct fsck *fsck, void *context,
				   enum fat_status (*each)(void *context, uint32_t clus))
{
	const struct fat_dev_range *list;
	size_t n = fat_dev_unreadable_list(fsck->dev, &list);
	enum fat_status status = FAT_OK;
	uint32_t first, last, done = 0, value;

	for (size_t i = 0; i < n && fsck->read_tested; i++) {
		struct fat_dev_range range = list[i];

		if (!clusters_of(&fsck->geometry, &range, &first, &last))
			continue;
		for (uint32_t c = first > done ? first : done + 1; c <= last && status == FAT_OK;
		     c++) {
			status = fat_table_get(&fsck->table, c, &value);
			if (status == FAT_OK && value == 0 && cluster_is_present(fsck, c) &&
			    !fat_table_is_blind(&fsck->table, c))
				status = each(context, c);
		}
		done = last;
	}
	return status;
}

static enum fat_status count_one(void *context, uint32_t clus)
{
	struct fault *fault = context;

	if (fault->n++ == 0)
		fault->clus = clus;
	return FAT_OK;
}

enum fat_status sick_report(struct fsck *fsck)
{
	struct fault fault = { .id = F_SICK_FREE, .dir = NO_DIR };
	enum fat_status status = sick_free_clusters(fsck, &fault, count_one);

	if (status == FAT_OK && fault.n > 0)
		fsck_fault(fsck, &fault);
	return status;
}
