/* SPDX-License-Identifier: MIT */
/*
 * repair_clone: those who share clusters get copies of their own, so that nobody loses bytes.
 *
 * Who keeps the originals is decided by what no repair changes: a directory before a file, then who
 * wants the most of them (so that nothing is lost where there is no room for copies), then the place
 * of the entry on disk. A directory never gets a copy: it ends before what is not its own.
 */
#include <stdlib.h>

#include "repair.h"

/* Clusters of the shared part that its size asks for. */
static uint32_t wants(const struct claimant *claimant)
{
	return claimant->need > claimant->k ? claimant->need - claimant->k : 0;
}

static int by_join(const void *a, const void *b)
{
	const struct claimant *left = a, *right = b;

	if (left->join != right->join)
		return left->join < right->join ? -1 : 1;
	if (left->is_dir != right->is_dir)
		return left->is_dir ? -1 : 1;
	if (left->fits_parent != right->fits_parent)
		return left->fits_parent ? -1 : 1;
	if (wants(left) != wants(right))
		return wants(left) > wants(right) ? -1 : 1;
	return (left->entry_off > right->entry_off) - (left->entry_off < right->entry_off);
}

static enum fat_status cut_before(struct repair *repair, const struct claimant *claimant)
{
	uint64_t bytes = (uint64_t)claimant->k * repair->fsck->geometry.cluster_bytes;
	enum fat_status status = FAT_OK;

	if (claimant->k == 0 && claimant->is_dir)
		return repair_delete_slot(repair, FAT_STAGE_DETACH, claimant->entry_off);
	if (claimant->k > 0)
		status = repair_set_end(repair, FAT_STAGE_DETACH, claimant->prev);
	if (status == FAT_OK && !claimant->is_dir && bytes < claimant->size)
		status = repair_set_start(repair, FAT_STAGE_DETACH, claimant->entry_off,
					  claimant->k ? claimant->start : 0, (uint32_t)bytes);
	return status;
}

/* Free clusters for a copy of n; *room says whether there are as many. */
static enum fat_status has_room(struct repair *repair, uint32_t n, bool *room)
{
	uint32_t clus = repair->next_free - 1;
	enum fat_status status = FAT_OK;

	for (; n > 0 && clus != 0 && status == FAT_OK; n--)
		status = repair_next_free(repair, clus + 1, &clus);
	*room = clus != 0;
	return status;
}

/* A private copy of what follows the join, as long as the size wants it and the chain goes. */
static enum fat_status copy_tail(struct repair *repair, const struct claimant *claimant)
{
	struct fsck *fsck = repair->fsck;
	uint32_t n = claimant->need - claimant->k, from = claimant->join, prev = 0, first = 0;
	enum fat_status status = FAT_OK;
	struct walk walk;
	bool room;

	status = chain_peek(fsck, claimant->join, n, &walk);
	if (status == FAT_OK)
		status = has_room(repair, walk.n, &room);
	if (status != FAT_OK || !room)
		return status != FAT_OK ? status : cut_before(repair, claimant);
	for (uint32_t i = 0; i < walk.n && status == FAT_OK; i++) {
		uint32_t to;

		status = repair_allocate(repair, &to);
		if (status == FAT_OK && to == 0)
			return FAT_ERR_MEMORY; /* cannot be: they were counted */
		if (status == FAT_OK)
			status = repair_copy_cluster(repair, to, from);
		if (status == FAT_OK && prev)
			status = repair_set_entry(repair, FAT_STAGE_PREPARE, prev, to);
		first = first ? first : to;
		prev = to;
		if (status == FAT_OK)
			status = fat_table_get(&fsck->table, from, &from);
	}
	if (status != FAT_OK || first == 0)
		return status;
	return claimant->prev ? repair_set_entry(repair, FAT_STAGE_ATTACH, claimant->prev, first) :
				repair_set_start(repair, FAT_STAGE_ATTACH, claimant->entry_off, first,
						 claimant->size);
}

static enum fat_status give_copy(struct repair *repair, const struct claimant *claimant)
{
	if (claimant->is_dir)
		return cut_before(repair, claimant);
	if (claimant->nth)
		return repair_set_end(repair, FAT_STAGE_DETACH, claimant->nth);
	if (claimant->need <= claimant->k)
		return cut_before(repair, claimant);
	return copy_tail(repair, claimant);
}

static bool belongs_to_dir(const struct fsck *fsck, uint32_t clus)
{
	return fsck->has_dir_clusters && fat_bitmap_get(&fsck->dir_clusters, clus);
}

enum fat_status repair_clone(struct repair *repair, size_t *n)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status = FAT_OK;
	size_t i = 0;

	*n = 0;
	qsort(fsck->claimants.items, fsck->claimants.n, sizeof(struct claimant), by_join);
	while (i < fsck->claimants.n && status == FAT_OK) {
		struct claimant *first = fat_vec_at(&fsck->claimants, i);
		bool dir_keeps = belongs_to_dir(fsck, first->join) && !first->is_dir;
		size_t k = i + !dir_keeps;

		for (; k < fsck->claimants.n && status == FAT_OK; k++) {
			struct claimant *claimant = fat_vec_at(&fsck->claimants, k);

			if (claimant->join != first->join)
				break;
			status = give_copy(repair, claimant);
			++*n;
		}
		i = k;
	}
	return status;
}
