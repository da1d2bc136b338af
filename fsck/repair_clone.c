/* SPDX-License-Identifier: MIT */
/*
 * repair_clone: those who share clusters get copies of their own, so that nobody loses bytes.
 *
 * Who keeps the originals is decided by what no repair changes: a directory before a file, then who
 * wants the most of them (so that nothing is lost where there is no room for copies), then the
 * place of the entry on disk. A directory never gets a copy: it ends before what is not its own.
 * One whose end mark lies before the shared cluster has nothing in there, and leaves it to a file
 * that fits; or to a directory that goes on, before anything in there is repaired as its own.
 */
#include <stdlib.h>
#include <string.h>

#include "repair.h"

/* Clusters of the shared part that its size asks for. */
static uint32_t wants(const struct claimant *claimant)
{
	return claimant->need > claimant->k ? claimant->need - claimant->k : 0;
}

/* The join is the next cluster; or the first one. */
static bool lies_in_row(const struct claimant *claimant)
{
	return claimant->k == 0 || claimant->prev + 1 == claimant->join;
}

static int by_join(const void *a, const void *b)
{
	const struct claimant *left = a, *right = b;

	if (left->join != right->join)
		return left->join < right->join ? -1 : 1;
	if (left->has_dots != right->has_dots)
		return left->has_dots ? -1 : 1;
	if (left->is_dir != right->is_dir)
		return left->is_dir ? 1 : -1; /* it only says that it is one */
	if (left->has_ended != right->has_ended)
		return left->has_ended ? 1 : -1;
	if (left->is_dir && lies_in_row(left) != lies_in_row(right))
		return lies_in_row(left) ? -1 : 1;
	if (left->fits_parent != right->fits_parent)
		return left->fits_parent ? -1 : 1;
	if (left->other_birth != right->other_birth)
		return left->other_birth ? 1 : -1;
	if (wants(left) != wants(right))
		return wants(left) > wants(right) ? -1 : 1;
	return (left->entry_off > right->entry_off) - (left->entry_off < right->entry_off);
}

static enum fat_status cut_before(struct repair *repair, const struct claimant *claimant)
{
	uint64_t bytes = (uint64_t)claimant->k * repair->fsck->geometry.cluster_bytes;
	enum fat_status status = FAT_OK;

	if (claimant->entry_off == 0 && claimant->k == 0)
		return FAT_OK; /* the root begins there, whatever else does */
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
static enum fat_status copy_tail(struct repair *repair, struct claimant *claimant)
{
	struct fsck *fsck = repair->fsck;
	uint32_t n = claimant->need - claimant->k, from = claimant->join, prev = 0, first = 0;
	enum fat_status status = FAT_OK;
	struct walk walk;
	bool room = false;

	status = chain_peek(fsck, claimant->join, n, &walk);
	if (status == FAT_OK)
		status = has_room(repair, walk.n, &room);
	claimant->no_room = status == FAT_OK && !room;
	if (status != FAT_OK || !room)
		return status;
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
	return claimant->prev ? repair_set_entry(repair, FAT_STAGE_ATTACH, claimant->prev, first)
			      : repair_set_start(repair, FAT_STAGE_ATTACH, claimant->entry_off,
						 first, claimant->size);
}

static enum fat_status give_copy(struct repair *repair, struct claimant *claimant)
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

/* Its chain is just as long as its size asks for. */
static bool fits(const struct repair *repair, const struct claimant *claimant)
{
	return !claimant->is_dir && chain_has_just(repair->fsck, claimant->start, claimant->need);
}

/*
 * Not all of n can have a copy: those that do not fit their chains end before what is not theirs.
 * Of several that fit none is cut, they stay as they are.
 */
static enum fat_status do_without_room(struct repair *repair, struct claimant *group, size_t n)
{
	enum fat_status status = FAT_OK;
	size_t n_fit = 0;

	for (size_t i = 0; i < n; i++) {
		group[i].no_room = group[i].no_room || (i == 0 && !group[i].is_dir);
		n_fit += group[i].no_room && fits(repair, &group[i]);
	}
	for (size_t i = 0; i < n && status == FAT_OK; i++) {
		bool keeps = fits(repair, &group[i]) || (n_fit == 0 && i == 0);

		if (!group[i].no_room || (keeps && n_fit < 2))
			group[i].no_room = false;
		else if (!keeps)
			status = cut_before(repair, &group[i]);
		if (!keeps)
			group[i].no_room = false;
	}
	return status;
}

static enum fat_status are_twins(struct repair *repair, const struct claimant *a,
				 const struct claimant *b, bool *twins)
{
	uint8_t left[FAT_SLOT_BYTES], right[FAT_SLOT_BYTES] = { 0 };
	enum fat_status status = repair_read_slot(repair, a->entry_off, left);

	if (status == FAT_OK)
		status = repair_read_slot(repair, b->entry_off, right);
	*twins = status == FAT_OK && memcmp(left, right, sizeof left) == 0;
	return status;
}

/*
 * An entry that is bit by bit another one, for which there is no room: a move that was cut off, or
 * a slot that came twice. The other one has all of its content.
 */
static enum fat_status drop_twins(struct repair *repair, struct claimant *group, size_t n,
				  size_t *n_dropped)
{
	enum fat_status status = FAT_OK;

	*n_dropped = 0;
	for (size_t i = 1; i < n && status == FAT_OK; i++) {
		bool twins = false;

		for (size_t k = 0; k < i && group[i].no_room && !twins && status == FAT_OK; k++)
			if (!group[k].is_dropped)
				status = are_twins(repair, &group[k], &group[i], &twins);
		if (status != FAT_OK || !twins)
			continue;
		group[i].is_dropped = true;
		group[i].no_room = false;
		++*n_dropped;
		status = repair_delete_slot(repair, FAT_STAGE_DETACH, group[i].entry_off);
	}
	return status;
}

/*
 * The directories of a group that end before the join, where a file of it fits; *cut: there was
 * one.
 */
static enum fat_status cut_ended_dirs(struct repair *repair, const struct claimant *group, size_t n,
				      bool *cut)
{
	enum fat_status status = FAT_OK;
	bool any_fits = false;

	*cut = false;
	for (size_t i = 0; i < n && !any_fits; i++)
		any_fits = fits(repair, &group[i]);
	for (size_t i = 0; i < n && any_fits && status == FAT_OK; i++) {
		if (!group[i].has_ended)
			continue;
		*cut = true;
		status = cut_before(repair, &group[i]);
	}
	return status;
}

/* Those who share one cluster; *n_done: how many of them are settled. */
static enum fat_status settle(struct repair *repair, struct claimant *group, size_t n,
			      size_t *n_done)
{
	size_t i = belongs_to_dir(repair->fsck, group->join) && !group->is_dir ? 0 : 1;
	size_t n_left = 0, n_dropped = 0;
	bool room = true, cut;
	enum fat_status status = cut_ended_dirs(repair, group, n, &cut);

	*n_done = n;
	if (status != FAT_OK || cut)
		return status;
	for (; i < n && status == FAT_OK; i++) {
		status = give_copy(repair, &group[i]);
		room = room && !group[i].no_room;
	}
	if (status == FAT_OK && !room)
		status = drop_twins(repair, group, n, &n_dropped);
	if (status == FAT_OK && !room && n_dropped == 0)
		status = do_without_room(repair, group, n);
	for (i = 0; i < n; i++) {
		group[i].no_room = group[i].no_room && n_dropped == 0; /* not yet */
		n_left += group[i].no_room;
	}
	*n_done = n_left ? 0 : n;
	return status;
}

enum fat_status repair_clone(struct repair *repair, size_t *n)
{
	struct fat_vec *claimants = &repair->fsck->claimants;
	enum fat_status status = FAT_OK;

	*n = 0;
	fat_vec_sort(claimants, by_join);
	for (size_t i = 0, end; i < claimants->n && status == FAT_OK; i = end) {
		struct claimant *first = fat_vec_at(claimants, i);
		size_t n_done;

		for (end = i + 1; end < claimants->n; end++)
			if (((struct claimant *)fat_vec_at(claimants, end))->join != first->join)
				break;
		status = settle(repair, first, end - i, &n_done);
		*n += n_done;
	}
	return status;
}

/* All who share it are directories: one has ended before, one goes on in it. */
bool repair_folders_part(const struct fsck *fsck, uint32_t join)
{
	size_t n_ended = 0, n_going_on = 0;

	for (size_t i = 0; i < fsck->claimants.n; i++) {
		const struct claimant *claimant = fat_vec_at(&fsck->claimants, i);

		if (claimant->join != join)
			continue;
		if (!claimant->has_dots || claimant->k == 0)
			return false;
		n_ended += claimant->has_ended;
		n_going_on += !claimant->has_ended;
	}
	return n_ended > 0 && n_going_on == 1;
}

enum fat_status repair_part_folders(struct repair *repair, uint32_t join)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < repair->fsck->claimants.n && status == FAT_OK; i++) {
		const struct claimant *claimant = fat_vec_at(&repair->fsck->claimants, i);

		if (claimant->join == join && claimant->has_ended)
			status = cut_before(repair, claimant);
	}
	return status;
}
