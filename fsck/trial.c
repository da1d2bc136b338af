/* SPDX-License-Identifier: MIT */
/*
 * trial: a look at the volume under a supposition, and how much is wrong then.
 *
 * What is right fits together, what is wrong does not: of several readings of a volume the one with
 * the fewest faults is believed. Looks only; remembers nothing.
 */
#include "fsck.h"

static uint64_t weight(const struct fault *fault)
{
	switch (fault_kind(fault->id)->severity) {
	case SEV_COSMETIC:
	case SEV_MINOR:
		return 0;
	case SEV_DAMAGE:
		return fault->id == F_LOST_CHAIN || fault->id == F_LOST_DIR ? fault->n : 2;
	case SEV_DANGER:
	case SEV_FATAL:
		break;
	}
	return 3;
}

uint64_t trial_weight(const struct fsck *probe)
{
	uint64_t sum = probe->n_faults_dropped;

	for (size_t i = 0; i < probe->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&probe->faults, i);

		if (fault->id != F_COPIES_DIFFER && fault->id != F_DIRTY_FAT)
			sum += weight(fault);
	}
	return sum;
}

enum fat_status trial_look(const struct fsck *fsck, const struct fat_boot *boot,
			   const struct fat_geometry *geometry, uint64_t *weight)
{
	struct fsck probe;
	enum fat_status status = fsck_init(&probe, fsck->options, fsck->dev);

	*weight = UINT64_MAX;
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
		*weight = trial_weight(&probe);
	fsck_fini(&probe);
	return status;
}
