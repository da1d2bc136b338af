/* SPDX-License-Identifier: MIT */
/*
 * trial: a look at the volume under a supposition, and how much is wrong then.
 *
 * What is right fits together, what is wrong does not: of several readings of a volume the one with
 * the best score is believed. Looks only; remembers nothing.
 */
#include "fsck.h"

#define SOUND_WEIGHT 2
#define FEW_SINGLES  4 /* lost clusters by themselves: more of them are a pattern, no files */
#define MOST_IN_ROW  8 /* of those in a row: one piece of the FAT that is all end marks */
#define LONG_CHAIN   4 /* clusters: no chain so long comes about by chance, whatever its end */

/*
 * A slot is what it is, and a directory's first cluster where its entry leads: the same whatever a
 * FAT says.
 */
static bool is_no_fats_fault(const struct fsck *probe, const struct fault *fault)
{
	if (!probe->weighs_fats)
		return false;
	switch ((int)fault->id) {
	case F_ENTRY_GARBAGE:
	case F_DOT_MISSING:
	case F_DOTDOT_MISSING:
	case F_DOT_START:
	case F_DOT_ATTR:
		return true;
	case F_GARBAGE:
		return fault->start &&
		       fat_geometry_clus_at(&probe->geometry, fault->a) == fault->start;
	default:
		return false;
	}
}

static bool says_nothing(const struct fsck *probe, const struct fault *fault)
{
	return fault->id == F_COPIES_DIFFER || fault->id == F_DIRTY_FAT ||
	       fault->id == F_LOST_DIR || fault->id == F_LOST_CHAIN ||
	       fault->id == F_ENTRY_ZEROED || is_no_fats_fault(probe, fault) ||
	       fault_kind(fault->id)->severity <= SEV_MINOR;
}

bool trial_is_sound(const struct fsck *probe)
{
	if (probe->n_faults_dropped || probe->lost.n)
		return false;
	for (size_t i = 0; i < probe->faults.n; i++)
		if (!says_nothing(probe, fat_vec_at(&probe->faults, i)))
			return false;
	return true;
}

/*
 * What is lost is no great fault: an entry may be missing. A chain of several clusters with its end
 * mark does not come about by chance; one that ends nowhere, or many clusters by themselves, may.
 */
static int64_t weigh_lost(const struct fsck *probe)
{
	int64_t n_singles = 0, n_broken = 0, n_row = 0;
	uint32_t last = 0;

	for (size_t i = 0; i < probe->lost.n; i++) {
		const struct lost_chain *lost = fat_vec_at(&probe->lost, i);

		n_broken += (lost->is_open || lost->is_cycle) && lost->n < LONG_CHAIN;
		if (lost->n != 1 || lost->is_dir || lost->has_entry || lost->is_open)
			continue;
		n_row = lost->head == last + 1 ? n_row + 1 : 1;
		n_singles += n_row <= MOST_IN_ROW;
		last = lost->head;
	}
	return 2 * n_broken + (n_singles > FEW_SINGLES ? n_singles - FEW_SINGLES : 0);
}

/* What fits counts as well: where a folder cannot be seen, no fault in it can be seen either. */
int64_t trial_score(const struct fsck *probe)
{
	int64_t n_faults = (int64_t)probe->n_faults_dropped + (int64_t)probe->count.lost_misfits;

	for (size_t i = 0; i < probe->faults.n; i++)
		n_faults += !says_nothing(probe, fat_vec_at(&probe->faults, i));
	return n_faults * TRIAL_FAULT_WEIGHT + weigh_lost(probe) -
	       (int64_t)probe->count.sound * SOUND_WEIGHT;
}

enum fat_status trial_look(const struct fsck *fsck, const struct fat_boot *boot,
			   const struct fat_geometry *geometry, int64_t *score, bool *sound)
{
	struct fsck probe;
	enum fat_status status = fsck_init(&probe, fsck->options, fsck->dev);

	*score = INT64_MAX;
	probe.boot = *boot;
	probe.geometry = *geometry;
	if (status == FAT_OK)
		status = fat_table_init(&probe.table, fsck->dev, &probe.geometry, 4u << 20);
	probe.has_table = status == FAT_OK;
	if (status == FAT_OK)
		status = pass_fat(&probe);
	if (status == FAT_OK)
		status = pass_tree(&probe);
	if (status == FAT_OK)
		status = pass_lost(&probe);
	if (status == FAT_OK)
		*score = trial_score(&probe);
	*sound = status == FAT_OK && trial_is_sound(&probe);
	fsck_fini(&probe);
	return status;
}
