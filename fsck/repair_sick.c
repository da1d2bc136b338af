/* SPDX-License-Identifier: MIT */
/*
 * repair_sick: clusters that the read test could not read.
 *
 * A free one is marked bad. One of a file gets a substitute: what can be read of it is copied,
 * sectors that cannot are zeros there, so that all else of the file stays in its place.
 */
#include "repair.h"

static enum fat_status mark_bad(void *context, uint32_t clus)
{
	struct repair *repair = context;

	return repair_set_entry(repair, FAT_STAGE_RELEASE, clus,
				fat_entry_bad(repair->fsck->geometry.type));
}

enum fat_status repair_sick_free(struct repair *repair)
{
	return sick_free_clusters(repair->fsck, repair, mark_bad);
}

/* The cluster `clus`, which goes on at `next`; prev 0: the entry leads to it. *copy 0: no room. */
static enum fat_status substitute(struct repair *repair, const struct fault *fault, uint32_t prev,
				  uint32_t clus, uint32_t next, uint32_t *copy)
{
	enum fat_status status = repair_allocate(repair, copy);

	if (status != FAT_OK || *copy == 0)
		return status;
	status = repair_copy_cluster(repair, *copy, clus);
	if (status == FAT_OK)
		status = repair_set_entry(repair, FAT_STAGE_PREPARE, *copy, next);
	if (status == FAT_OK)
		status = prev ? repair_set_entry(repair, FAT_STAGE_DETACH, prev, *copy)
			      : repair_set_start(repair, FAT_STAGE_DETACH, fault->entry_off, *copy,
						 fault->size);
	return status == FAT_OK ? mark_bad(repair, clus) : status;
}

enum fat_status repair_sick_file(struct repair *repair, const struct fault *fault)
{
	struct fsck *fsck = repair->fsck;
	uint32_t prev = 0, clus = fault->start, next, copy;
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < fsck->geometry.n_clus && status == FAT_OK; i++) {
		if (!fat_geometry_has_clus(&fsck->geometry, clus))
			break;
		status = fat_table_get(&fsck->table, clus, &next);
		copy = clus;
		if (status == FAT_OK && cluster_is_sick(fsck, clus))
			status = substitute(repair, fault, prev, clus, next, &copy);
		if (copy == 0)
			break;
		prev = copy;
		clus = next;
	}
	return status;
}
