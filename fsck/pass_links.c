/* SPDX-License-Identifier: MIT */
/*
 * pass_links: pass 3, who leads to each shared cluster.
 *
 * Runs only when a chain ran into a claimed cluster. Walks the directories once more; each entry's
 * chain is followed up to the first cluster that some fault named as shared. Leaves behind the
 * claimants; who keeps the cluster is not decided here.
 */
#include <stdlib.h>

#include "check_dir.h"

static bool is_shared_fault(const struct fault *fault)
{
	return fault->id == F_CHAIN_SHARED || fault->id == F_DIR_START_SHARED ||
	       (fault->id == F_CHAIN_LONG && fault->b == WALK_SHARED);
}

static enum fat_status collect_joins(struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		if (is_shared_fault(fault) && fat_geometry_has_clus(&fsck->geometry, fault->clus) &&
		    fat_bitmap_set(&fsck->joins, fault->clus) == FAT_BIT_NO_MEMORY)
			return FAT_ERR_MEMORY;
	}
	return FAT_OK;
}

/* The part of the chain before the first shared cluster; join 0: there is none. */
static enum fat_status find_join(struct fsck *fsck, struct claimant *claimant)
{
	uint32_t clus = claimant->start;
	enum fat_status status = FAT_OK;

	while (fat_geometry_has_clus(&fsck->geometry, clus) &&
	       claimant->k < fsck->geometry.n_clus) {
		if (fat_bitmap_get(&fsck->joins, clus)) {
			claimant->join = clus;
			break;
		}
		claimant->prev = clus;
		if (++claimant->k == claimant->need)
			claimant->nth = clus;
		status = fat_table_get(&fsck->table, clus, &clus);
		if (status != FAT_OK)
			break;
	}
	return status;
}

/* Its end mark lies in one of its own clusters: what is behind the join says nothing to it. */
static enum fat_status look_for_end(struct fsck *fsck, struct claimant *claimant)
{
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &fsck->table, claimant->start);

	dir.limit_clus = claimant->k;
	while (status == FAT_OK && claimant->k > 0 && !claimant->has_ended) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes && !claimant->has_ended;
		     at += FAT_SLOT_BYTES)
			claimant->has_ended = dir.buf[at] == 0;
	}
	fat_dir_close(&dir);
	return status;
}

static enum fat_status fill_dir(struct fsck *fsck, struct claimant *claimant,
				const struct fat_dirent *dirent)
{
	enum cluster_look look;
	enum fat_status status;
	uint32_t dotdot;

	status = cluster_look(fsck, claimant->start, &look, &dotdot);
	claimant->has_dots = look == LOOK_DIR;
	claimant->fits_parent = look == LOOK_DIR && dir_is_parent(fsck, claimant->dir, dotdot);
	claimant->other_birth = look == LOOK_DIR && dir_other_birth(fsck, dirent);
	return status == FAT_OK ? look_for_end(fsck, claimant) : status;
}

static void put_claimant(struct fsck *fsck, const struct claimant *claimant, const char *name)
{
	struct claimant *place = fat_vec_push(&fsck->claimants);

	if (!place)
		return;
	*place = *claimant;
	place->path = entry_path(fsck, claimant->dir, name);
}

/* The root of FAT32 has a chain, too, and no entry. */
static enum fat_status link_root(struct fsck *fsck)
{
	struct claimant root = { .start = fsck->geometry.root_clus,
				 .is_dir = true,
				 .has_dots = true };
	enum fat_status status = FAT_OK;

	if (fsck->geometry.type == FAT_TYPE_32)
		status = find_join(fsck, &root);
	if (status != FAT_OK || root.join == 0)
		return status;
	status = look_for_end(fsck, &root);
	if (status == FAT_OK)
		put_claimant(fsck, &root, "");
	return status;
}

enum fat_status links_entry(struct fsck *fsck, uint32_t dir, uint64_t entry_off,
			    const struct fat_dirent *dirent, const char *name)
{
	struct claimant claimant = {
		.dir = dir,
		.entry_off = entry_off,
		.start = dirent->start_clus,
		.size = dirent->size_bytes,
		.is_dir = dirent->attr & FAT_ATTR_DIRECTORY,
		.need = (uint32_t)fat_geometry_clus_for(&fsck->geometry, dirent->size_bytes),
	};
	enum fat_status status = find_join(fsck, &claimant);

	if (status != FAT_OK || claimant.join == 0)
		return status;
	if (claimant.is_dir)
		status = fill_dir(fsck, &claimant, dirent);
	put_claimant(fsck, &claimant, name);
	return status;
}

enum fat_status pass_links(struct fsck *fsck)
{
	enum fat_status status = FAT_OK;

	if (!fat_bitmap_init(&fsck->joins, (uint64_t)fat_geometry_last_clus(&fsck->geometry) + 1))
		return FAT_ERR_MEMORY;
	status = collect_joins(fsck);
	if (status != FAT_OK || fsck->joins.n_set == 0)
		return status;
	fsck->sweep = SWEEP_LINKS;
	status = link_root(fsck);
	for (uint32_t i = 0; i < fsck->dirs.n && status == FAT_OK; i++)
		status = check_dir(fsck, i);
	fsck->sweep = SWEEP_CHECK;
	return status;
}
