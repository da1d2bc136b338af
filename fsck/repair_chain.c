/* SPDX-License-Identifier: MIT */
/*
 * repair_chain: a chain cut where it is too long, an entry made to fit a chain that is too short.
 *
 * What is cut off becomes lost, and is found and saved in a later round. A size is given up last,
 * when no lost chain fits what is missing.
 */
#include <stdlib.h>

#include "repair.h"

#define MAX_WEIGHED 1000u /* lost chains: of more, hardly one alone fits */

/* The size that fits n clusters; never more than the entry said. */
static uint32_t size_of(const struct repair *repair, const struct fault *fault, uint32_t n)
{
	uint64_t bytes = (uint64_t)n * repair->fsck->geometry.cluster_bytes;

	return bytes < fault->size ? (uint32_t)bytes : fault->size;
}

/*
 * When to give up what an entry misses. With one lost chain that fits, a run after an interruption
 * must not find one entry alone for it: the chain is saved first.
 */
static enum fat_stage give_up_stage(const struct repair *repair, const struct fault *fault)
{
	const struct fsck *fsck = repair->fsck;
	uint64_t missing = fat_geometry_clus_for(&fsck->geometry, fault->size) - fault->n;
	size_t n_fits = 0, n = fsck->lost.n <= MAX_WEIGHED ? fsck->lost.n : 0;

	for (size_t i = 0; i < n && n_fits < 2; i++) {
		const struct lost_chain *lost = fat_vec_at(&fsck->lost, i);

		n_fits += lost->n == missing || lost->n + (uint64_t)1 == missing;
	}
	return n_fits == 1 ? FAT_STAGE_RELEASE : FAT_STAGE_DETACH;
}

static enum fat_status empty_entry(struct repair *repair, const struct fault *fault)
{
	return repair_set_start(repair, give_up_stage(repair, fault), fault->entry_off, 0, 0);
}

/* The cluster that it runs into is nobody's: content and place are the entry's last word on it. */
static enum fat_status keep_free_cluster(struct repair *repair, const struct fault *fault)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status;
	uint32_t value;

	status = fat_table_get(&fsck->table, fault->clus, &value);
	if (status != FAT_OK || value != 0)
		return status; /* another repair took it: the next look tells */
	status = repair_set_end(repair, FAT_STAGE_DETACH, fault->clus);
	if (status == FAT_OK && !fault->is_dir)
		status = repair_set_start(repair, FAT_STAGE_DETACH, fault->entry_off, fault->start,
					  size_of(repair, fault, fault->n + 1));
	return status;
}

/* A directory's next cluster must look like one to be kept. */
static enum fat_status free_cluster_is_dir(struct repair *repair, const struct fault *fault,
					   bool *is)
{
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	enum fat_status status;

	status = fat_dev_read(repair->txn,
			      fat_geometry_cluster_off(&repair->fsck->geometry, fault->clus), slots,
			      sizeof slots);
	*is = status == FAT_OK && !slots_are_garbage(repair->fsck, slots, SLOT_GARBAGE_UNIT);
	return status;
}

static enum fat_status end_here(struct repair *repair, const struct fault *fault)
{
	enum fat_status status;

	if (fault->n == 0 && fault->is_dir)
		return fault->entry_off ? repair_delete_entry(repair, fault) : FAT_OK;
	if (fault->n == 0)
		return empty_entry(repair, fault);
	status = repair_set_end(repair, FAT_STAGE_DETACH, fault->last);
	if (status == FAT_OK && !fault->is_dir)
		status = repair_set_start(repair, give_up_stage(repair, fault), fault->entry_off,
					  fault->start, size_of(repair, fault, fault->n));
	return status;
}

static enum fat_status end_at_free(struct repair *repair, const struct fault *fault)
{
	bool keep = true;
	enum fat_status status = FAT_OK;

	if (fault->is_dir)
		status = free_cluster_is_dir(repair, fault, &keep);
	if (status != FAT_OK)
		return status;
	return keep ? keep_free_cluster(repair, fault) : end_here(repair, fault);
}

/*
 * A bad mark on the very last cluster that the size needs, which can be read: it is the end mark.
 */
static enum fat_status end_at_bad(struct repair *repair, const struct fault *fault)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint8_t *content;
	bool good;

	if (fault->is_dir || fault->n + 1 != fault->need)
		return end_here(repair, fault);
	content = malloc(geometry->cluster_bytes);
	good = content && fat_dev_read(repair->txn, fat_geometry_cluster_off(geometry, fault->clus),
				       content, geometry->cluster_bytes) == FAT_OK &&
	       !fat_dev_unreadable(repair->txn, fat_geometry_cluster_off(geometry, fault->clus),
				   geometry->cluster_bytes);
	free(content);
	return good ? repair_set_end(repair, FAT_STAGE_DETACH, fault->clus)
		    : end_here(repair, fault);
}

/* Too long: cut, or what it runs into was another's that now lacks it. */
static enum fat_status cut(struct repair *repair, const struct fault *fault)
{
	bool done = false;
	enum fat_status status = FAT_OK;

	if (fault->b == WALK_END && !fault->is_dir) {
		status = repair_uncross(repair, fault, &done);
		if (status == FAT_OK && !done)
			status = repair_take_size(repair, fault, &done);
	}
	return status == FAT_OK && !done ?
		       repair_set_end(repair, FAT_STAGE_DETACH, fault->last) :
		       status;
}

enum fat_status repair_chain(struct repair *repair, struct fault *fault)
{
	switch ((int)fault->id) {
	case F_SIZE_ZERO:
	case F_START_RANGE:
	case F_START_MISSING:
		return empty_entry(repair, fault);
	case F_CHAIN_LONG:
		return cut(repair, fault);
	case F_DIR_TAIL:
		return repair_set_end(repair, FAT_STAGE_DETACH, fault->last);
	case F_DIR_START_MISSING:
	case F_DIR_START_RANGE:
	case F_DIR_START_SHARED:
		return repair_delete_entry(repair, fault);
	case F_CHAIN_FREE:
		return end_at_free(repair, fault);
	case F_SICK_FILE:
		return repair_sick_file(repair, fault);
	case F_CHAIN_BAD:
		return end_at_bad(repair, fault);
	default: /* CHAIN_SHORT, _BAD, _RANGE, _LOOP, _SHARED */
		return end_here(repair, fault);
	}
}
