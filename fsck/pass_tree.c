/* SPDX-License-Identifier: MIT */
/*
 * pass_tree: pass 2, all directories, level by level, each level in disk order.
 *
 * Leaves behind the clusters that entries lead to (reached), the directories, and the root's label.
 */
#include "fsck.h"

#include <stdlib.h>

#define ANNOUNCED 256u /* directories at a time */

static int by_start(const void *a, const void *b)
{
	const struct dir_node *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/*
 * The root's cluster is marked free or bad: it cannot be read as a chain before that is set right.
 */
static enum fat_status root_is_marked(struct fsck *fsck, uint32_t clus, bool *marked)
{
	struct fault fault = {
		.id = F_DIR_START_FREE, .start = clus, .clus = clus, .is_dir = true
	};
	enum fat_status status;
	uint32_t value;

	*marked = false;
	if (!fat_geometry_has_clus(&fsck->geometry, clus))
		return FAT_OK;
	status = fat_table_get(&fsck->table, clus, &value);
	if (fat_table_is_blind(&fsck->table, clus))
		return status;
	*marked = status == FAT_OK && (value == 0 || value == fat_entry_bad(FAT_TYPE_32));
	if (*marked) {
		fault.path = dir_path(fsck, 0);
		fsck_fault(fsck, &fault);
	}
	return status;
}

static enum fat_status push_root(struct fsck *fsck)
{
	struct dir_node *root = fat_vec_push(&fsck->dirs);
	uint32_t clus = fsck->geometry.root_clus;
	enum fat_status status;
	struct walk walk;
	bool marked;

	if (!root)
		return FAT_ERR_MEMORY;
	if (fsck->geometry.type != FAT_TYPE_32)
		return FAT_OK;
	root->start = clus;
	status = root_is_marked(fsck, clus, &marked);
	if (status == FAT_OK && marked && fsck->weighs_fats) {
		root->n_clus = 1;
		fsck->count.used++;
		return fat_bitmap_set(&fsck->reached, clus) == FAT_BIT_NO_MEMORY ? FAT_ERR_MEMORY :
										     FAT_OK;
	}
	if (status != FAT_OK || marked)
		return status;
	status = chain_claim_dir(fsck, clus, &walk);
	if (status != FAT_OK)
		return status;
	root->n_clus = walk.n;
	if (walk.end != WALK_END) {
		struct fault fault = {
			.id = walk.end == WALK_FREE  ? F_CHAIN_FREE :
			      walk.end == WALK_BAD   ? F_CHAIN_BAD :
			      walk.end == WALK_RANGE ? F_CHAIN_RANGE :
			      walk.end == WALK_BLIND ? F_CHAIN_BLIND :
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

/* A file that leads to a directory, which is somebody else's: it leads to the wrong place. */
static void judge_file(struct fsck *fsck, struct fault *fault)
{
	fault->id = fault->size ? F_CHAIN_SHARED : F_SIZE_ZERO;
	fault->need = (uint32_t)fat_geometry_clus_for(&fsck->geometry, fault->size);
	fault->n = fault->last = 0;
	fault->clus = fault->start;
	fault->a = fault->entry_off;
	fault->b = WALK_SHARED;
	fsck_fault(fsck, fault);
}

/*
 * Entries marked as directories that lead to none: to somebody else's clusters, to a directory
 * without dots, or to a file.
 */
static enum fat_status judge_one(struct fsck *fsck, struct fault *fault)
{
	bool shared = fat_bitmap_get(&fsck->reached, fault->start);
	enum fat_status status = FAT_OK;
	struct walk walk;

	if (fault->id == F_FILE_IS_DIR && shared) {
		judge_file(fsck, fault);
		return FAT_OK;
	}
	if (fault->b && !shared) {
		if (fault->id == F_FILE_IS_DIR)
			fault_again(fsck, fault, F_FILE_IS_DIR);
		status = check_claim_dir(fsck, fault);
		fault_clear(fault);
		return status;
	}
	fault->a = 0;
	if (shared)
		fault->id = F_DIR_START_SHARED;
	else
		status = chain_claim(fsck, fault->start, 0, &walk);
	fsck_fault(fsck, fault);
	return status;
}

/* Those whose turn it is (fault->a); the later ones wait for what the others lead to. */
static enum fat_status judge_doubtful(struct fsck *fsck, uint64_t turn)
{
	enum fat_status status = FAT_OK;
	size_t n_kept = 0;

	for (size_t i = 0; i < fsck->doubtful.n; i++) {
		struct fault *fault = fat_vec_at(&fsck->doubtful, i);

		if (status == FAT_OK && fault->a <= turn)
			status = judge_one(fsck, fault);
		else
			*(struct fault *)fat_vec_at(&fsck->doubtful, n_kept++) = *fault;
	}
	fsck->doubtful.n = n_kept;
	return status;
}

static void announce(struct fsck *fsck, size_t from, size_t end)
{
	for (size_t i = from; i < end && i < from + ANNOUNCED; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

		announce_dir(fsck, node->start);
	}
}

/* The directories from index `level` on; *next: behind them. */
static enum fat_status walk_level(struct fsck *fsck, size_t level, size_t *next)
{
	enum fat_status status = FAT_OK;
	size_t end = fsck->dirs.n;

	qsort(fat_vec_at(&fsck->dirs, level), end - level, sizeof(struct dir_node), by_start);
	for (size_t i = level; i < end && status == FAT_OK; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

		if ((i - level) % ANNOUNCED == 0)
			announce(fsck, i, end);
		if (i > 0 || node->n_clus > 0 || fsck->geometry.type != FAT_TYPE_32)
			status = check_dir(fsck, (uint32_t)i);
		if (status == FAT_OK)
			status = fsck_tick(fsck, TICK_TREE, i + 1, fsck->dirs.n);
	}
	*next = end;
	return status;
}

/* All directories from the root on; the list of directories and the claims must be empty. */
static enum fat_status walk_tree(struct fsck *fsck)
{
	enum fat_status status;
	size_t level = 0;

	if (!fat_bitmap_init(&fsck->reached, (uint64_t)fat_geometry_last_clus(&fsck->geometry) + 1))
		return FAT_ERR_MEMORY;
	status = push_root(fsck);
	while (status == FAT_OK && level < fsck->dirs.n) {
		status = walk_level(fsck, level, &level);
		for (uint64_t turn = 0; turn < 3 && status == FAT_OK && level == fsck->dirs.n;
		     turn++)
			status = judge_doubtful(fsck, turn);
	}
	return status;
}

static bool something_is_shared(const struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		if (fault->id == F_CHAIN_SHARED || fault->id == F_DIR_START_SHARED)
			return true;
	}
	return false;
}

static void forget_tree(struct fsck *fsck, size_t n_faults_before)
{
	fat_bitmap_fini(&fsck->reached);
	fsck->dirs.n = fsck->names.n = fsck->zeroed.n = 0;
	fsck->count.files = fsck->count.sound = 0;
	fsck->label = (struct fsck_label){ .found = false };
	fsck_drop_faults(fsck, n_faults_before);
}

/* Directories own their clusters whatever file was met first: look at them alone, then at all. */
static enum fat_status walk_dirs_first(struct fsck *fsck, size_t n_faults_before)
{
	enum fat_status status;

	forget_tree(fsck, n_faults_before);
	fsck->sweep = SWEEP_DIRS;
	status = walk_tree(fsck);
	fsck->dir_clusters = fsck->reached;
	fsck->has_dir_clusters = true;
	fsck->reached = (struct fat_bitmap){ .n_bits = 0 };
	forget_tree(fsck, n_faults_before);
	fsck->sweep = SWEEP_CHECK;
	return status == FAT_OK ? walk_tree(fsck) : status;
}

enum fat_status pass_tree(struct fsck *fsck)
{
	size_t n_faults_before = fsck->faults.n;
	enum fat_status status = walk_tree(fsck);

	if (status == FAT_OK && fsck->sweep == SWEEP_CHECK &&
	    (fsck->dirs_first || something_is_shared(fsck)))
		status = walk_dirs_first(fsck, n_faults_before);
	fsck->count.n_dirs = fsck->dirs.n;
	return status;
}
