/* SPDX-License-Identifier: MIT */
/*
 * repair_relink: lost chains that go back where they came from.
 *
 * An entry that misses m clusters and a lost chain of m clusters belong together if no other entry
 * and no other chain fits; where several do, those that are neighbours on disk. A chain that runs
 * into a free or bad cluster may go on through it. A directory belongs to the entry in the
 * directory that its ".." names. A lost chain that runs back into the file that misses it was
 * skipped. What is in a row behind a break, and nobody's, comes last (repair_run.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair.h"

#define MAX_SKIPS 1000u /* gaps that each lost chain is held against */

struct gap {
	uint32_t missing;  /* clusters */
	uint32_t through;  /* a free or bad cluster that the chain leads to; 0: none */
	uint32_t prev;	   /* last cluster before the gap; 0: the entry itself */
	uint32_t parent;   /* a directory: what its ".." ought to be */
	struct fault cured; /* what is wrong now; its path is another's */
	uint64_t entry_off;
	bool is_dir;
	bool is_hole;
	bool done;
};

struct lost_ref {
	uint32_t n;
	struct lost_chain *lost;
};

struct relink {
	struct repair *repair;
	size_t n_holes; /* files whose chains run into wiped pieces of the FAT, of unknown length */
	struct fat_vec gaps; /* of struct gap */
	struct fat_vec lost; /* of struct lost_ref */
	struct fat_vec *links;
};

/* ---- gaps ---- */

static bool is_claimant(const struct fsck *fsck, uint64_t entry_off)
{
	for (size_t i = 0; i < fsck->claimants.n; i++)
		if (((const struct claimant *)fat_vec_at(&fsck->claimants, i))->entry_off ==
		    entry_off)
			return true;
	return false;
}

static uint32_t parent_of(const struct fsck *fsck, uint32_t dir)
{
	const struct dir_node *node;

	if (dir == 0 || dir == NO_DIR)
		return 0;
	node = fat_vec_at(&fsck->dirs, dir);
	return node->start;
}

static struct gap *push_gap(struct relink *relink, const struct gap *gap)
{
	struct gap *place = fat_vec_push(&relink->gaps);

	if (place)
		*place = *gap;
	return place;
}

/* A lost cluster by itself. */
static bool is_lost_single(const struct fsck *fsck, uint32_t clus)
{
	const struct lost_chain *lost = lost_find(&fsck->lost, clus);

	return lost && lost->n == 1 && !lost->is_open && !lost->is_dir;
}

/* It ends beside lost clusters that end there, too: a piece of the FAT that is all end marks. */
static bool ends_among_singles(const struct fsck *fsck, const struct fault *fault)
{
	return fault->id == F_CHAIN_SHORT && !fault->is_dir && fault->last &&
	       (is_lost_single(fsck, fault->last + 1) || is_lost_single(fsck, fault->last - 1));
}

static void gap_of_fault(struct relink *relink, const struct fault *fault)
{
	struct fsck *fsck = relink->repair->fsck;
	uint64_t need = fat_geometry_clus_for(&fsck->geometry, fault->size);
	struct gap gap = {
		.prev = fault->last,
		.parent = parent_of(fsck, fault->dir),
		.cured = *fault,
		.entry_off = fault->entry_off,
		.is_dir = fault->is_dir,
	};
	bool through = false;

	switch ((int)fault->id) {
	case F_CHAIN_FREE:
	case F_CHAIN_BAD:
		through = true;
		break;
	case F_CHAIN_SHORT:
	case F_CHAIN_RANGE:
	case F_CHAIN_LOOP:
	case F_START_MISSING:
	case F_START_RANGE:
	case F_DIR_START_MISSING:
	case F_DIR_START_RANGE:
	case F_DIR_START_SHARED:
		break;
	case F_DIR_IS_FILE:
		if (fault->size)
			return;
		gap.prev = 0;
		break;
	default:
		return;
	}
	if (fault->entry_off == 0 || (!fault->is_dir && is_claimant(fsck, fault->entry_off)))
		return;
	gap.missing = fault->is_dir ? 0 : (uint32_t)need - fault->n;
	gap.is_hole = (through && !fault->is_dir) || ends_among_singles(fsck, fault);
	relink->n_holes += gap.is_hole;
	push_gap(relink, &gap);
	if (through && gap.missing > 1) {
		gap.missing--;
		gap.through = fault->clus;
		push_gap(relink, &gap);
	}
}

static struct gap gap_of_claimant(const struct claimant *claimant)
{
	return (struct gap){
		.missing = claimant->need - claimant->k,
		.prev = claimant->prev,
		.cured = {
			.id = F_CHAIN_SHARED,
			.dir = claimant->dir,
			.entry_off = claimant->entry_off,
			.start = claimant->start,
			.clus = claimant->join,
			.last = claimant->prev,
			.n = claimant->k,
			.need = claimant->need,
			.size = claimant->size,
			.path = claimant->path,
		},
		.entry_off = claimant->entry_off,
	};
}

/* With a chain of its length, shared or not, it misses nothing, as far as that goes. */
static bool is_complete(struct fsck *fsck, const struct claimant *claimant)
{
	return chain_has_just(fsck, claimant->start, claimant->need);
}

static void collect_gaps(struct relink *relink)
{
	struct fsck *fsck = relink->repair->fsck;

	for (size_t i = 0; i < fsck->faults.n; i++)
		gap_of_fault(relink, fat_vec_at(&fsck->faults, i));
	for (size_t i = 0; i < fsck->claimants.n; i++) {
		const struct claimant *claimant = fat_vec_at(&fsck->claimants, i);
		struct gap gap = gap_of_claimant(claimant);

		if (!claimant->is_dir && claimant->k < claimant->need &&
		    !is_complete(fsck, claimant))
			push_gap(relink, &gap);
	}
}

/* ---- links ---- */

static enum fat_status push_link(struct relink *relink, struct gap *gap,
				 const struct repair_link *what, uint32_t n, uint32_t first)
{
	struct repair_link *link = fat_vec_push(relink->links);
	char text[80];

	if (!link)
		return FAT_ERR_MEMORY;
	*link = *what;
	link->fault = gap->cured;
	snprintf(text, sizeof text,
		 "%" PRIu32 " lost clusters from %" PRIu32 " on given back to it", n, first);
	link->fault.path = strdup(gap->cured.path ? gap->cured.path : "?");
	link->fault.text = strdup(text);
	link->fault.long_off = NULL;
	link->fault.n_long = 0;
	for (size_t i = 0; i < relink->gaps.n; i++) {
		struct gap *other = fat_vec_at(&relink->gaps, i);

		other->done = other->done || (gap->entry_off && other->entry_off == gap->entry_off);
	}
	return FAT_OK;
}

static enum fat_status link_gap(struct relink *relink, struct gap *gap, struct lost_chain *lost)
{
	const struct repair_link link = {
		.head = lost->head,
		.last = lost->last,
		.n = lost->n,
		.from = gap->through ? gap->through : gap->prev,
		.is_open = lost->is_open,
	};
	enum fat_status status = push_link(relink, gap, &link, lost->n, lost->head);

	lost->n = 0;
	return status;
}

/* So far, as far as that is known: then the rest most likely does, too. */
static bool lies_in_a_row(const struct gap *gap, uint32_t next)
{
	const struct fault *fault = &gap->cured;

	return gap->prev == 0 ? fault->id == F_CHAIN_FREE :
				next == gap->prev + 1 && gap->prev - fault->start == fault->n - 1;
}

/* The cluster of the chain from `clus` on, of n, that leads to `next`; 0: none. */
static enum fat_status find_previous(struct fsck *fsck, uint32_t clus, uint32_t n, uint32_t next,
				     uint32_t *previous)
{
	enum fat_status status = FAT_OK;
	uint32_t value;

	*previous = 0;
	for (; n > 0 && status == FAT_OK && *previous == 0; n--) {
		status = fat_table_get(&fsck->table, clus, &value);
		if (status == FAT_OK && value == next)
			*previous = clus;
		clus = value;
	}
	return status;
}

/* The lost chain that runs back into the file's, and is just as long as what the file misses. */
static enum fat_status match_skip(struct relink *relink, struct gap *gap)
{
	struct fsck *fsck = relink->repair->fsck;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < fsck->lost.n && status == FAT_OK && !gap->done; i++) {
		struct lost_chain *lost = fat_vec_at(&fsck->lost, i);
		struct repair_link link = { .goes_on = true, .is_open = true };
		uint32_t next;

		if (lost->n != gap->missing || !lost->is_open || lost->is_cycle || lost->is_dir)
			continue;
		link.head = lost->head;
		link.last = lost->last;
		link.n = lost->n;
		status = fat_table_get(&fsck->table, lost->last, &next);
		if (status == FAT_OK)
			status = find_previous(fsck, gap->cured.start, gap->cured.n, next,
					       &link.from);
		/* To its first cluster: what was skipped is the beginning. */
		if (status != FAT_OK || (link.from == 0 && next != gap->cured.start))
			continue;
		lost->n = 0;
		status = push_link(relink, gap, &link, link.n, link.head);
	}
	return status;
}

static enum fat_status match_skips(struct relink *relink)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < relink->gaps.n && i < MAX_SKIPS && status == FAT_OK; i++) {
		struct gap *gap = fat_vec_at(&relink->gaps, i);

		if (!gap->done && !gap->is_dir && gap->missing > 0 &&
		    gap->cured.id == F_CHAIN_SHORT)
			status = match_skip(relink, gap);
	}
	return status;
}

/* What lies in a row behind the break, if that is just what is missing. */
static enum fat_status match_runs(struct relink *relink)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < relink->gaps.n && status == FAT_OK; i++) {
		struct gap *gap = fat_vec_at(&relink->gaps, i);
		bool is_free = gap->cured.id == F_CHAIN_FREE;
		struct repair_link link = {
			.from = gap->prev,
			.run = is_free ? gap->cured.clus : gap->prev + 1,
		};

		if (gap->done || gap->is_dir || gap->through || gap->missing == 0 ||
		    (!is_free && gap->cured.id != F_CHAIN_SHORT))
			continue;
		status = repair_find_run(relink->repair, gap->missing, is_free, &link);
		/*
		 * In pieces, it may have gone on elsewhere; unless the run meets a chain that fits.
		 */
		if (status != FAT_OK || link.n_run == 0 ||
		    (!lies_in_a_row(gap, link.run) && link.n_run + 1 >= gap->missing))
			continue;
		repair_take_run(relink->repair, &link);
		status = push_link(relink, gap, &link, gap->missing, link.run);
	}
	return status;
}

enum fat_status repair_make_link(struct repair *repair, const struct repair_link *link)
{
	const struct fault *fault = &link->fault;
	enum fat_status status = FAT_OK;

	uint32_t to = link->n_run ? link->run : link->head;

	if (link->is_open && !link->goes_on)
		status = repair_set_end(repair, FAT_STAGE_PREPARE, link->last);
	if (status == FAT_OK)
		status = repair_join_run(repair, link);
	if (status != FAT_OK || (link->n_run && fault->id == F_CHAIN_FREE))
		return status; /* it leads there already */
	if (link->from)
		return repair_set_entry(repair, FAT_STAGE_ATTACH, link->from, to);
	return repair_set_start(repair, FAT_STAGE_ATTACH, fault->entry_off, to,
				fault->is_dir ? 0 : fault->size);
}

void repair_free_links(struct fat_vec *links)
{
	for (size_t i = 0; i < links->n; i++) {
		struct repair_link *link = fat_vec_at(links, i);

		free(link->fault.path);
		free(link->fault.text);
	}
	fat_vec_fini(links);
}

static bool readable(struct relink *relink, uint32_t clus)
{
	const struct fat_geometry *geometry = &relink->repair->fsck->geometry;
	uint8_t *buf = malloc(geometry->cluster_bytes);
	uint64_t off = fat_geometry_cluster_off(geometry, clus);
	bool ok = buf &&
		  fat_dev_read(relink->repair->txn, off, buf, geometry->cluster_bytes) == FAT_OK &&
		  !fat_dev_unreadable(relink->repair->txn, off, geometry->cluster_bytes);

	free(buf);
	return ok;
}

static bool are_neighbours(const struct gap *gap, const struct lost_chain *lost)
{
	return lost->head == (gap->through ? gap->through : gap->prev) + 1;
}

/*
 * Drivers write whole sectors, with zeros behind a file's end: a chain with more there in the
 * sector where the file would end is another's, and would lose it. What cannot be read denies
 * nothing.
 */
static bool ends_like(struct relink *relink, const struct gap *gap, const struct lost_chain *lost)
{
	const struct fat_geometry *geometry = &relink->repair->fsck->geometry;
	uint32_t end = gap->cured.size % geometry->cluster_bytes;
	uint32_t from = end % FAT_MIN_SECTOR_BYTES;
	uint64_t off = fat_geometry_cluster_off(geometry, lost->last) + (end - from);
	uint8_t sector[FAT_MIN_SECTOR_BYTES];

	if (from == 0 || fat_dev_read(relink->repair->txn, off, sector, sizeof sector) != FAT_OK)
		return true;
	while (from < sizeof sector && sector[from] == 0)
		from++;
	return from == sizeof sector;
}

static bool gap_fits(struct relink *relink, const struct gap *gap, const struct lost_chain *lost)
{
	return !gap->done && !gap->is_dir && lost->n > 0 && lost->n == gap->missing &&
	       !lost->is_dir && !lost->is_open && ends_like(relink, gap, lost) &&
	       (!gap->through || readable(relink, gap->through));
}

/*
 * Gaps and chains of one length: neighbours, or the only one of each. Neighbours are so whatever
 * else fits, so that a run after an interruption decides the same.
 */
static enum fat_status match_length(struct relink *relink, size_t gap_from, size_t gap_end,
				    size_t lost_from, size_t lost_end)
{
	bool alone = gap_end - gap_from == 1 && lost_end - lost_from == 1;
	enum fat_status status = FAT_OK;

	if ((gap_end - gap_from) * (lost_end - lost_from) > 100000)
		return FAT_OK;
	for (size_t i = gap_from; i < gap_end; i++) {
		struct gap *gap = fat_vec_at(&relink->gaps, i);
		/*
		 * Where others have holes, too, a length says nothing: it may be the rest of
		 * theirs.
		 */
		bool only = alone && relink->n_holes == gap->is_hole;

		for (size_t k = lost_from; k < lost_end && status == FAT_OK; k++) {
			struct lost_ref *ref = fat_vec_at(&relink->lost, k);

			if ((only || are_neighbours(gap, ref->lost)) &&
			    gap_fits(relink, gap, ref->lost))
				status = link_gap(relink, gap, ref->lost);
		}
	}
	return status;
}

static int by_missing(const void *a, const void *b)
{
	const struct gap *left = a, *right = b;

	return (left->missing > right->missing) - (left->missing < right->missing);
}

static int by_length(const void *a, const void *b)
{
	const struct lost_ref *left = a, *right = b;

	return (left->n > right->n) - (left->n < right->n);
}

static enum fat_status match_files(struct relink *relink)
{
	enum fat_status status = FAT_OK;
	size_t g = 0, l = 0;

	fat_vec_sort(&relink->gaps, by_missing);
	fat_vec_sort(&relink->lost, by_length);
	while (g < relink->gaps.n && l < relink->lost.n && status == FAT_OK) {
		uint32_t missing = ((struct gap *)fat_vec_at(&relink->gaps, g))->missing;
		uint32_t n = ((struct lost_ref *)fat_vec_at(&relink->lost, l))->n;
		size_t g_end = g, l_end = l;

		while (g_end < relink->gaps.n &&
		       ((struct gap *)fat_vec_at(&relink->gaps, g_end))->missing == missing)
			g_end++;
		while (l_end < relink->lost.n &&
		       ((struct lost_ref *)fat_vec_at(&relink->lost, l_end))->n == n)
			l_end++;
		if (missing == n && n > 0)
			status = match_length(relink, g, g_end, l, l_end);
		g = missing <= n ? g_end : g;
		l = n <= missing ? l_end : l;
	}
	return status;
}

/* Another file that shares that cluster got what is its own. */
static bool is_settled(const struct relink *relink, uint32_t join)
{
	for (size_t i = 0; i < relink->links->n; i++) {
		const struct repair_link *link = fat_vec_at(relink->links, i);

		if (link->fault.id == F_CHAIN_SHARED && link->fault.clus == join)
			return true;
	}
	return false;
}

/* The cluster follows another file in a row, and not this one: it is the other's. */
static bool is_others(const struct fsck *fsck, const struct claimant *claimant)
{
	bool others = false;

	for (size_t i = 0; i < fsck->claimants.n; i++) {
		const struct claimant *other = fat_vec_at(&fsck->claimants, i);

		others = others || (other->join == claimant->join &&
				    other->entry_off != claimant->entry_off &&
				    (other->prev == 0 || other->prev + 1 == other->join));
	}
	return others && claimant->prev + 1 != claimant->join;
}

/*
 * A file whose chain goes on in another's, which happens to be as long: its rest is what nobody
 * has, if that lies right behind it and is as long, too, and what it shares lies right behind the
 * other.
 */
static enum fat_status match_aside(struct relink *relink)
{
	struct fsck *fsck = relink->repair->fsck;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < fsck->claimants.n && i < MAX_SKIPS && status == FAT_OK; i++) {
		const struct claimant *claimant = fat_vec_at(&fsck->claimants, i);
		struct gap gap = gap_of_claimant(claimant);
		struct lost_chain *lost = lost_find(&fsck->lost, claimant->prev + 1);

		if (!claimant->is_dir && claimant->k < claimant->need && claimant->prev && lost &&
		    lost->head == claimant->prev + 1 && gap_fits(relink, &gap, lost) &&
		    is_complete(fsck, claimant) && is_others(fsck, claimant) &&
		    !is_settled(relink, claimant->join))
			status = link_gap(relink, &gap, lost);
	}
	return status;
}

/* A start of which only the upper half is wrong: the one lost chain that the lower half names. */
static struct lost_chain *named_by_half(struct relink *relink, const struct gap *gap)
{
	struct fat_vec *list = &relink->repair->fsck->lost;
	struct lost_chain *only = NULL;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct lost_chain *lost = fat_vec_at(list, i);

		if ((lost->head & 0xFFFF) == (gap->cured.start & 0xFFFF) &&
		    gap_fits(relink, gap, lost)) {
			only = lost;
			n++;
		}
	}
	return n == 1 ? only : NULL;
}

static enum fat_status match_halves(struct relink *relink)
{
	enum fat_status status = FAT_OK;

	if (relink->repair->fsck->geometry.type != FAT_TYPE_32)
		return FAT_OK;
	for (size_t i = 0; i < relink->gaps.n && i < MAX_SKIPS && status == FAT_OK; i++) {
		struct gap *gap = fat_vec_at(&relink->gaps, i);
		struct lost_chain *lost = NULL;

		if (gap->cured.id == F_START_RANGE && (gap->cured.start & 0xFFFF) != 0)
			lost = named_by_half(relink, gap);
		if (lost)
			status = link_gap(relink, gap, lost);
	}
	return status;
}

/* ---- directories ---- */

/* Slots that might go on in a directory. */
static bool looks_like_slots(struct relink *relink, uint32_t clus)
{
	struct fsck *fsck = relink->repair->fsck;
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	size_t n_used = 0;

	if (fat_dev_read(relink->repair->txn, fat_geometry_cluster_off(&fsck->geometry, clus),
			 slots, sizeof slots) != FAT_OK)
		return false;
	for (size_t i = 0; i < SLOT_GARBAGE_UNIT; i++) {
		const uint8_t *slot = slots + i * FAT_SLOT_BYTES;

		if (!slot_is_plausible(fsck, slot))
			return false;
		n_used += fat_slot_classify(slot) == FAT_SLOT_FILE ||
			  fat_slot_classify(slot) == FAT_SLOT_DIRECTORY;
	}
	return n_used > 0;
}

static bool dir_fits(struct relink *relink, const struct gap *gap, const struct lost_chain *lost)
{
	if (gap->done || !gap->is_dir || lost->n == 0)
		return false;
	if (gap->prev)
		return !lost->is_dir && looks_like_slots(relink, lost->head);
	return lost->is_dir && lost->dotdot == gap->parent;
}

static enum fat_status was_born_elsewhere(struct relink *relink, uint64_t entry_off,
					  bool *elsewhere)
{
	struct fsck *fsck = relink->repair->fsck;
	uint8_t slot[FAT_SLOT_BYTES];
	struct fat_dirent dirent;
	enum fat_status status = repair_read_slot(relink->repair, entry_off, slot);

	if (status != FAT_OK)
		return status;
	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	*elsewhere = dir_other_birth(fsck, &dirent);
	return FAT_OK;
}

/* The directory that has the start, if another entry of the folder leads to it just as well. */
static enum fat_status find_rival(struct relink *relink, const struct gap *gap, uint32_t *rival)
{
	struct fsck *fsck = relink->repair->fsck;
	bool own = false, other = false;
	enum fat_status status;

	*rival = NO_DIR;
	for (uint32_t i = 1; i < fsck->dirs.n; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

		if (node->start != gap->cured.start || node->parent != gap->cured.dir)
			continue;
		status = was_born_elsewhere(relink, gap->entry_off, &own);
		if (status == FAT_OK)
			status = was_born_elsewhere(relink, node->entry_off, &other);
		*rival = status == FAT_OK && own == other ? i : NO_DIR;
		return status;
	}
	return FAT_OK;
}

/*
 * Of two entries that lead to one directory either may be that of the lost one; directories mostly
 * lie in the order of their entries.
 */
static enum fat_status link_dir(struct relink *relink, struct gap *gap, struct lost_chain *lost)
{
	struct fsck *fsck = relink->repair->fsck;
	struct gap turned = *gap;
	uint32_t rival = NO_DIR;
	enum fat_status status = FAT_OK;

	if (gap->cured.id == F_DIR_START_SHARED)
		status = find_rival(relink, gap, &rival);
	if (status != FAT_OK)
		return status;
	if (rival != NO_DIR)
		turned.entry_off = ((struct dir_node *)fat_vec_at(&fsck->dirs, rival))->entry_off;
	if (rival == NO_DIR ||
	    (gap->entry_off < turned.entry_off) == (lost->head < gap->cured.start))
		return link_gap(relink, gap, lost);
	turned.cured.entry_off = turned.entry_off;
	turned.cured.path = dir_path(fsck, rival);
	status = link_gap(relink, &turned, lost);
	free(turned.cured.path);
	gap->done = true;
	return status;
}

static enum fat_status match_dirs(struct relink *relink)
{
	struct fat_vec *list = &relink->repair->fsck->lost;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < relink->gaps.n && status == FAT_OK; i++) {
		struct gap *gap = fat_vec_at(&relink->gaps, i);
		struct lost_chain *only = NULL;
		size_t n = 0, n_rivals = 0;

		for (size_t k = 0; k < list->n && gap->is_dir && !gap->done; k++) {
			struct lost_chain *lost = fat_vec_at(list, k);

			if (dir_fits(relink, gap, lost)) {
				only = lost;
				n++;
			}
		}
		for (size_t k = 0; k < relink->gaps.n && n == 1; k++) {
			struct gap *other = fat_vec_at(&relink->gaps, k);

			n_rivals += k != i && other->entry_off != gap->entry_off &&
				    dir_fits(relink, other, only);
		}
		if (n == 1 && n_rivals == 0)
			status = link_dir(relink, gap, only);
	}
	return status;
}

/* ---- directories that went on ---- */

static enum fat_status last_of_dir(struct relink *relink, const struct dir_node *node,
				   uint32_t *last)
{
	struct walk walk;
	enum fat_status status = chain_peek(relink->repair->fsck, node->start, node->n_clus, &walk);

	*last = walk.last;
	return status;
}

/*
 * The one directory, full to its last slot, that a chain of slots goes on; NO_DIR: none, or
 * several.
 */
static enum fat_status find_full_dir(struct relink *relink, uint32_t head, uint32_t *dir,
				     uint32_t *last)
{
	struct fsck *fsck = relink->repair->fsck;
	enum fat_status status = FAT_OK;
	size_t n = 0;

	*dir = NO_DIR;
	for (uint32_t i = 0; i < fsck->dirs.n && status == FAT_OK; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);
		uint32_t end;

		if (!node->is_full)
			continue;
		status = last_of_dir(relink, node, &end);
		if (end + 1 == head || n == 0) {
			*dir = i;
			*last = end;
		}
		if (end + 1 == head)
			return status;
		n++;
	}
	if (n != 1)
		*dir = NO_DIR;
	return status;
}

static enum fat_status match_full_dirs(struct relink *relink)
{
	struct fsck *fsck = relink->repair->fsck;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < fsck->lost.n && status == FAT_OK; i++) {
		struct lost_chain *lost = fat_vec_at(&fsck->lost, i);
		struct gap gap = { .is_dir = true };
		uint32_t dir, last;

		if (lost->n == 0 || lost->is_dir || lost->is_open ||
		    !looks_like_slots(relink, lost->head))
			continue;
		status = find_full_dir(relink, lost->head, &dir, &last);
		if (status != FAT_OK || dir == NO_DIR)
			continue;
		gap.prev = last;
		gap.cured = (struct fault){ .id = F_LOST_CHAIN, .dir = dir, .clus = lost->head,
					    .start = lost->head, .n = lost->n, .last = lost->last };
		gap.cured.path = dir_path(fsck, dir);
		status = link_gap(relink, &gap, lost);
		free(gap.cured.path);
		((struct dir_node *)fat_vec_at(&fsck->dirs, dir))->is_full = false;
	}
	return status;
}

static bool has_full_dir(const struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->dirs.n; i++)
		if (((const struct dir_node *)fat_vec_at(&fsck->dirs, i))->is_full)
			return true;
	return false;
}

enum fat_status repair_find_links(struct repair *repair, struct fat_vec *links)
{
	struct fsck *fsck = repair->fsck;
	struct relink relink = { .repair = repair, .links = links };
	enum fat_status status;

	fat_vec_init(links, sizeof(struct repair_link), 100000);
	fat_vec_init(&relink.gaps, sizeof(struct gap), 100000);
	fat_vec_init(&relink.lost, sizeof(struct lost_ref), fsck->lost.n + 1);
	collect_gaps(&relink);
	for (size_t i = 0; i < fsck->lost.n; i++) {
		struct lost_chain *lost = fat_vec_at(&fsck->lost, i);
		struct lost_ref *ref = lost->is_dir ? NULL : fat_vec_push(&relink.lost);

		if (ref)
			*ref = (struct lost_ref){ lost->n, lost };
	}
	status = match_dirs(&relink);
	if (status == FAT_OK && has_full_dir(fsck))
		status = match_full_dirs(&relink);
	/* With a directory comes its content: what is lost now may be none then. */
	if (status == FAT_OK && links->n == 0)
		status = match_skips(&relink);
	if (status == FAT_OK && links->n == 0)
		status = match_halves(&relink);
	if (status == FAT_OK && links->n == 0)
		status = match_files(&relink);
	if (status == FAT_OK && links->n == 0)
		status = match_aside(&relink);
	if (status == FAT_OK && links->n == 0)
		status = match_runs(&relink);
	fat_vec_fini(&relink.gaps);
	fat_vec_fini(&relink.lost);
	return status;
}
