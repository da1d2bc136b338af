/* SPDX-License-Identifier: MIT */
/*
 * pass_tree: pass 2, all directories, level by level, each level in disk order.
 *
 * Leaves behind the clusters that entries lead to (reached), the directories, and the root's label.
 */
#include "fsck.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct dir_node *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static enum fat_status push_root(struct fsck *fsck)
{
	struct dir_node *root = fat_vec_push(&fsck->dirs);
	uint32_t clus = fsck->geometry.root_clus;
	enum fat_status status;
	struct walk walk;

	if (!root)
		return FAT_ERR_MEMORY;
	if (fsck->geometry.type != FAT_TYPE_32)
		return FAT_OK;
	root->start = clus;
	status = chain_claim(fsck, clus, 0, &walk);
	if (status != FAT_OK)
		return status;
	root->n_clus = walk.n;
	if (walk.end != WALK_END) {
		struct fault fault = {
			.id = walk.end == WALK_FREE  ? F_CHAIN_FREE :
			      walk.end == WALK_BAD   ? F_CHAIN_BAD :
			      walk.end == WALK_RANGE ? F_CHAIN_RANGE :
						       F_CHAIN_LOOP,
			.dir = 0,
			.start = clus,
			.clus = walk.stop,
			.last = walk.last,
			.n = walk.n,
			.is_dir = true,
			.path = dir_path(fsck, 0),
		};

		fsck_fault(fsck, &fault);
	}
	return FAT_OK;
}

/* The first clusters of the directories of a level are announced before they are read. */
#define PREFETCH_DIRS 256u

static void announce(struct fsck *fsck, size_t from, size_t end)
{
	for (size_t i = from; i < end && i < from + PREFETCH_DIRS; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

		if (node->start)
			fat_dev_prefetch(fsck->dev,
					 fat_geometry_cluster_off(&fsck->geometry, node->start),
					 fsck->geometry.cluster_bytes);
	}
}

enum fat_status pass_tree(struct fsck *fsck)
{
	enum fat_status status = FAT_OK;
	size_t level = 0;

	if (!fat_bitmap_init(&fsck->reached, (uint64_t)fat_geometry_last_clus(&fsck->geometry) + 1))
		return FAT_ERR_MEMORY;
	status = push_root(fsck);
	while (status == FAT_OK && level < fsck->dirs.n) {
		size_t end = fsck->dirs.n;

		qsort(fat_vec_at(&fsck->dirs, level), end - level, sizeof(struct dir_node),
		      by_start);
		for (size_t i = level; i < end && status == FAT_OK; i++) {
			const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

			if ((i - level) % PREFETCH_DIRS == 0 && end - level > 1)
				announce(fsck, i, end);
			if (i > 0 || node->n_clus > 0 || fsck->geometry.type != FAT_TYPE_32)
				status = check_dir(fsck, (uint32_t)i);
		}
		level = end;
	}
	fsck->count.n_dirs = fsck->dirs.n;
	return status;
}
