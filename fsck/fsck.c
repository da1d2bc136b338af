/* SPDX-License-Identifier: MIT */
/*
 * fsck: the working memory of a check, and its limits.
 *
 * Everything that a hostile volume can make grow is a vec with a limit or a bitmap of at most one
 * bit a cluster.
 */
#include "fsck.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS	60000u
#define MAX_DIRS	1000000u
#define MAX_NAME_BYTES	(16u << 20)
#define MAX_LOST	500000u
#define MAX_ZEROED	10000u
#define MAX_DIFFERING	20000u
#define MAX_CLAIMANTS	100000u

enum fat_status fsck_init(struct fsck *fsck, const struct fsck_options *options,
			  struct fat_dev *dev)
{
	*fsck = (struct fsck){ .options = options, .dev = dev };
	fat_vec_init(&fsck->ranges, sizeof(struct fat_table_range), MAX_DIFFERING);
	fat_vec_init(&fsck->differing, sizeof(struct fat_table_range), MAX_DIFFERING);
	fat_vec_init(&fsck->bad, sizeof(struct fat_table_range), MAX_DIFFERING);
	fat_vec_init(&fsck->blind, sizeof(struct fat_table_range), MAX_DIFFERING);
	fat_vec_init(&fsck->dirs, sizeof(struct dir_node), MAX_DIRS);
	fat_vec_init(&fsck->names, 1, MAX_NAME_BYTES);
	fat_vec_init(&fsck->doubtful, sizeof(struct fault), MAX_FAULTS);
	fat_vec_init(&fsck->zeroed, sizeof(struct zeroed_entry), MAX_ZEROED);
	fat_vec_init(&fsck->lost, sizeof(struct lost_chain), MAX_LOST);
	fat_vec_init(&fsck->claimants, sizeof(struct claimant), MAX_CLAIMANTS);
	fat_vec_init(&fsck->faults, sizeof(struct fault), MAX_FAULTS);
	return FAT_OK;
}

static void clear_claimants(struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->claimants.n; i++)
		free(((struct claimant *)fat_vec_at(&fsck->claimants, i))->path);
	fsck->claimants.n = 0;
}

void fsck_fini(struct fsck *fsck)
{
	fsck_reset(fsck);
	fat_vec_fini(&fsck->claimants);
	fat_vec_fini(&fsck->ranges);
	fat_vec_fini(&fsck->differing);
	fat_vec_fini(&fsck->bad);
	fat_vec_fini(&fsck->blind);
	fat_vec_fini(&fsck->dirs);
	fat_vec_fini(&fsck->names);
	fat_vec_fini(&fsck->doubtful);
	fat_vec_fini(&fsck->zeroed);
	fat_vec_fini(&fsck->lost);
	fat_vec_fini(&fsck->faults);
	if (fsck->has_table)
		fat_table_fini(&fsck->table);
	fsck->has_table = false;
}

void fsck_reset(struct fsck *fsck)
{
	fsck_drop_faults(fsck, 0);
	for (size_t i = 0; i < fsck->doubtful.n; i++)
		fault_clear(fat_vec_at(&fsck->doubtful, i));
	fsck->doubtful.n = 0;
	fsck->differing.n = fsck->dirs.n = fsck->names.n = fsck->zeroed.n =
		fsck->lost.n = 0;
	memset(fsck->n_differing, 0, sizeof fsck->n_differing);
	clear_claimants(fsck);
	fat_bitmap_fini(&fsck->reached);
	fat_bitmap_fini(&fsck->dir_clusters);
	fat_bitmap_fini(&fsck->joins);
	fsck->has_dir_clusters = fsck->dirs_first = false;
	fsck->ahead = (struct ahead){ .n = 0 };
	fsck->sweep = SWEEP_CHECK;
	fsck->count = (struct fsck_counts){ 0 };
	fsck->label = (struct fsck_label){ .found = false };
	if (fsck->has_table)
		fat_table_forget(&fsck->table);
}

enum fat_status fsck_tick(struct fsck *fsck, enum fsck_tick tick, uint64_t done, uint64_t max)
{
	const struct fsck_watch *watch = fsck->watch;

	if (watch && !watch->tick(watch->context, fsck->verifying ? TICK_VERIFY : tick, done, max))
		return FAT_ERR_CANCELLED;
	return FAT_OK;
}

enum fat_status fsck_error(struct fsck *fsck, enum fat_status status)
{
	if (fsck->status == FAT_OK)
		fsck->status = status;
	return status;
}

/* ---- paths ---- */

static size_t path_length(const struct fsck *fsck, uint32_t dir)
{
	size_t n = 0;

	while (dir != 0) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, dir);

		n += 1u + node->name_bytes;
		dir = node->parent;
	}
	return n;
}

char *entry_path(const struct fsck *fsck, uint32_t dir, const char *name)
{
	size_t n_dir = path_length(fsck, dir), n_name = strlen(name), at = n_dir;
	char *path = malloc(n_dir + n_name + 2);

	if (!path)
		return NULL;
	while (dir != 0) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, dir);

		at -= node->name_bytes;
		if (node->name_bytes > 0) /* the arena may be empty */
			memcpy(path + at, (const char *)fsck->names.items + node->name_at,
			       node->name_bytes);
		path[--at] = '/';
		dir = node->parent;
	}
	if (n_name > 0 || n_dir == 0)
		path[n_dir++] = '/';
	memcpy(path + n_dir, name, n_name + 1);
	return path;
}

char *dir_path(const struct fsck *fsck, uint32_t dir)
{
	return entry_path(fsck, dir, "");
}
