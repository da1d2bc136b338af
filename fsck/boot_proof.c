/* SPDX-License-Identifier: MIT */
/*
 * boot_proof: how much of what a boot sector says is really there.
 *
 * Points for each thing that is where the sector puts it: FATs that begin like FATs, a root,
 * folders that name their own cluster, a FAT as long as the clusters need. Reads; decides nothing.
 */
#include "boot_proof.h"

#include "boot_atari.h"

#include <string.h>

#include "bytes.h"

/* FAT entries 0 and 1 as they stand at the start of a copy. */
static int prove_fat(struct fsck *fsck, const struct candidate *candidate, uint32_t copy)
{
	enum fat_type type = candidate->geometry.type;
	uint32_t mask = fat_entry_mask(type), entry0;
	uint8_t bytes[8];

	if (fat_dev_read(fsck->dev, fat_geometry_fat_off(&candidate->geometry, copy), bytes,
			 sizeof bytes) != FAT_OK)
		return 0;
	if (fat_dev_unreadable(fsck->dev, fat_geometry_fat_off(&candidate->geometry, copy),
			       sizeof bytes) && get_le32(bytes) == 0)
		return 1; /* says nothing, for or against */
	entry0 = fat_entry_get(type, bytes, 0);
	if (entry0 == ((mask & ~0xFFu) | candidate->geometry.media))
		return 4;
	if ((entry0 | 0xFF) == mask && (entry0 & 0xFF) >= 0xF0)
		return 3;
	/* Entry 0 may be damaged while entry 1 is the end mark it ought to be. */
	return (fat_entry_get(type, bytes, 1) | fat_entry_clean_bit(type) |
		fat_entry_no_error_bit(type)) == mask ? 2 : 0;
}

/* Its first slots: not garbage, no dots. *empty: none was ever used. */
static bool holds_root(struct fsck *fsck, const struct fat_geometry *geometry, uint64_t off,
		       bool *empty)
{
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	struct fsck view = { .geometry = *geometry };

	*empty = false;
	if (fat_dev_read(fsck->dev, off, slots, sizeof slots) != FAT_OK)
		return true; /* nothing speaks against it */
	*empty = slots[0] == 0;
	return !slots_are_garbage(&view, slots, SLOT_GARBAGE_UNIT) &&
	       fat_slot_classify(slots) != FAT_SLOT_DOT;
}

bool candidate_root_may_be(struct fsck *fsck, const struct candidate *candidate, uint32_t clus)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	bool empty;

	return holds_root(fsck, geometry, fat_geometry_cluster_off(geometry, clus), &empty);
}

static int prove_root(struct fsck *fsck, struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	bool fat32 = geometry->type == FAT_TYPE_32;
	uint64_t off = fat_geometry_root_off(geometry);
	uint8_t bytes[4];

	candidate->root_empty = false;
	if (fat32 && !fat_geometry_has_clus(geometry, geometry->root_clus))
		return -3;
	if (fat32) {
		uint64_t entry_off = fat_geometry_fat_off(geometry, geometry->active_fat) +
				     fat_entry_off(FAT_TYPE_32, geometry->root_clus);

		if (fat_dev_read(fsck->dev, entry_off, bytes, sizeof bytes) != FAT_OK ||
		    ((get_le32(bytes) & 0x0FFFFFFF) == 0 &&
		     !fat_dev_unreadable(fsck->dev, entry_off, sizeof bytes)))
			return -2;
		off = fat_geometry_cluster_off(geometry, geometry->root_clus);
	}
	return holds_root(fsck, geometry, off, &candidate->root_empty) ? 2 : -2;
}

bool candidate_deviates(const struct candidate *candidate, enum fat_boot_deviation_id id)
{
	for (size_t i = 0; i < candidate->report.n_deviations; i++)
		if (candidate->report.deviation[i].id == id)
			return true;
	return false;
}

/* Where the FATs ought to be over there is one more, or a FAT that ought to be there is not. */
static bool fats_miscounted(struct fsck *fsck, const struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	uint8_t first[3], behind[3];

	for (uint32_t i = 1; i < geometry->n_fats; i++)
		if (prove_fat(fsck, candidate, i) == 0)
			return true;
	return fat_dev_read(fsck->dev, fat_geometry_fat_off(geometry, 0), first, sizeof first) ==
		       FAT_OK &&
	       fat_dev_read(fsck->dev, fat_geometry_fat_off(geometry, geometry->n_fats), behind,
			    sizeof behind) == FAT_OK &&
	       first[0] >= 0xF0 && memcmp(first, behind, sizeof first) == 0;
}

/* Sectors that a FAT of these clusters needs. */
static uint64_t needed_fat_sec(const struct fat_geometry *geometry)
{
	uint64_t n_entries = (uint64_t)geometry->n_clus + FAT_FIRST_CLUS;
	uint64_t bytes = geometry->type == FAT_TYPE_32 ? n_entries * 4 :
			 geometry->type == FAT_TYPE_16 ? n_entries * 2 :
							 (n_entries * 3 + 1) / 2;

	return (bytes + geometry->sector_bytes - 1) / geometry->sector_bytes;
}

int boot_prove_length(const struct fat_geometry *geometry)
{
	uint64_t need_sec = needed_fat_sec(geometry);

	if (geometry->fat_sec < need_sec)
		return -3;
	if (geometry->fat_sec - need_sec <= 2 + need_sec / 16)
		return 1;
	return geometry->fat_sec - need_sec > 8 + need_sec / 2 ? -2 : 0;
}

/*
 * So few sectors that the FAT is many times too long for them, and the type is not the one that the
 * sector names: the sector count is wrong, and with it the type.
 */
static bool is_shrunken(const struct candidate *candidate)
{
	return candidate_deviates(candidate, FAT_BOOT_FS_TYPE) &&
	       candidate->geometry.fat_sec / 4 > needed_fat_sec(&candidate->geometry);
}

/*
 * Entries 0 and 1 of each FAT are a FAT's, zeros or ones: not another thing where a FAT ought to
 * be.
 */
static bool fats_are_wiped(struct fsck *fsck, const struct candidate *candidate)
{
	uint8_t bytes[3];

	for (uint32_t i = 0; i < candidate->geometry.n_fats; i++) {
		uint64_t off = fat_geometry_fat_off(&candidate->geometry, i);

		if (prove_fat(fsck, candidate, i) > 0)
			continue;
		if (fat_dev_read(fsck->dev, off, bytes, sizeof bytes) != FAT_OK)
			return false;
		for (size_t k = 0; k < sizeof bytes; k++)
			if (bytes[k] != bytes[0] || (bytes[0] != 0 && bytes[0] != 0xFF))
				return false;
	}
	return true;
}

/* More than one, and all begin alike: copies, whatever their entries 0 and 1 have become. */
static bool fats_agree(struct fsck *fsck, const struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	uint8_t first[FAT_BOOT_BYTES], other[FAT_BOOT_BYTES];

	if (fat_dev_read(fsck->dev, fat_geometry_fat_off(geometry, 0), first, sizeof first) !=
	    FAT_OK)
		return false;
	for (uint32_t i = 1; i < geometry->n_fats; i++)
		if (fat_dev_read(fsck->dev, fat_geometry_fat_off(geometry, i), other,
				 sizeof other) != FAT_OK ||
		    memcmp(first, other, sizeof first) != 0)
			return false;
	return geometry->n_fats > 1;
}

/* By that copy of the FAT, a cluster of the first ones is in use, other than FAT32's root. */
static bool uses_clusters_in(struct fsck *fsck, const struct candidate *candidate, uint32_t copy)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	enum fat_type type = geometry->type;
	uint8_t bytes[FAT_BOOT_BYTES + 4];

	if (fat_dev_read(fsck->dev, fat_geometry_fat_off(geometry, copy), bytes, sizeof bytes) !=
	    FAT_OK)
		return false;
	for (uint32_t c = FAT_FIRST_CLUS; fat_entry_off(type, c) + 4 <= sizeof bytes; c++) {
		uint32_t value = fat_entry_get(type, bytes, c);

		if (value && value != fat_entry_bad(type) && c != geometry->root_clus)
			return true;
	}
	return false;
}

static bool uses_clusters(struct fsck *fsck, const struct candidate *candidate)
{
	for (uint32_t i = 0; i < candidate->geometry.n_fats; i++)
		if (uses_clusters_in(fsck, candidate, i))
			return true;
	return false;
}

/* Where the root ought to be nothing begins, or another thing: there may be folders elsewhere. */
static bool root_is_doubtful(struct fsck *fsck, const struct candidate *candidate)
{
	return candidate->root < 0 || (candidate->root_empty && uses_clusters(fsck, candidate));
}

/*
 * FAT12/16: the root's last slot is in use, and what lies behind it goes on as a root does: there
 * are more entries than the sector says.
 */
static bool root_runs_on(struct fsck *fsck, const struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	uint64_t end = fat_geometry_root_off(geometry) + fat_geometry_root_bytes(geometry);
	uint8_t last;
	bool empty;

	return geometry->root_entries > 0 &&
	       fat_dev_read(fsck->dev, end - FAT_SLOT_BYTES, &last, sizeof last) == FAT_OK &&
	       last && holds_root(fsck, geometry, end, &empty) && !empty;
}

/*
 * FAT12/16: other things than entries are in the root, and the FAT is not as long as the clusters
 * need or the device ends too early: two sizes that are wrong at once put the root among the files.
 */
static bool root_is_strange(struct fsck *fsck, const struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	struct fsck view = { .geometry = *geometry };
	uint64_t off = fat_geometry_root_off(geometry);
	uint64_t end = off + fat_geometry_root_bytes(geometry);

	if (end > fsck->dev->size_bytes)
		return true;
	if (candidate->length > 0 && !candidate_deviates(candidate, FAT_BOOT_TOTAL_LARGE))
		return false;
	for (; off + sizeof slots <= end; off += sizeof slots)
		if (fat_dev_read(fsck->dev, off, slots, sizeof slots) != FAT_OK ||
		    slots_are_garbage(&view, slots, SLOT_GARBAGE_UNIT))
			return true;
	return false;
}

/*
 * The root begins right behind the FATs, as that of FAT12/16 must, and with its first entry: then
 * there are as many FATs, and as long ones, as the sector says.
 */
static bool root_follows_fats(struct fsck *fsck, const struct candidate *candidate)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	bool is_elsewhere = geometry->type == FAT_TYPE_32 && geometry->root_clus != FAT_FIRST_CLUS;
	uint64_t off = fat_geometry_fat_off(geometry, geometry->n_fats);
	uint8_t before[FAT_SLOT_BYTES];
	size_t n_zero = 0;

	if (is_elsewhere || candidate->root <= 0 || candidate->root_empty ||
	    candidate->length <= 0 ||
	    fat_dev_read(fsck->dev, off - sizeof before, before, sizeof before) != FAT_OK)
		return false;
	while (n_zero < sizeof before && before[n_zero] == 0)
		n_zero++;
	return n_zero == sizeof before;
}

static void weigh_anchor(struct fsck *fsck, struct candidate *candidate)
{
	bool has_fixed_root = candidate->geometry.type != FAT_TYPE_32;
	bool misplaced = false;
	struct anchor anchor;

	if (anchor_find(fsck->dev, &candidate->geometry, &anchor) != FAT_OK)
		return;
	candidate->weak = anchor_is_weak(&anchor);
	candidate->n_files_right = anchor.n_files_wrong ? 0 : anchor.n_files_right;
	if (!anchor_holds(&anchor))
		candidate->rootless = root_is_doubtful(fsck, candidate);
	if (!anchor_holds(&anchor) && has_fixed_root)
		misplaced = root_runs_on(fsck, candidate) || root_is_strange(fsck, candidate);
	if ((!candidate->has_fat || candidate->rootless || misplaced ||
	     (!anchor_holds(&anchor) &&
	      (anchor_drags(&anchor) || fats_miscounted(fsck, candidate)))) &&
	    anchor_search(fsck->dev, &candidate->geometry, &anchor) != FAT_OK)
		return;
	if (anchor_holds(&anchor) && !is_shrunken(candidate)) {
		candidate->proof += 5;
		/* What lies behind the FATs proves where they are, whatever is in them. */
		if (!candidate->has_fat && candidate->length > 0 &&
		    (anchor.n_dirs_right > 0 || uses_clusters(fsck, candidate)))
			candidate->has_fat = candidate->geometry.n_fats == 1 ||
					     fats_are_wiped(fsck, candidate) ||
					     fats_agree(fsck, candidate) ||
					     anchor.n_dirs_right + anchor.first_right >
						     1 + anchor.n_dirs_wrong;
		return;
	}
	candidate->miscounted = !root_follows_fats(fsck, candidate) &&
				fats_miscounted(fsck, candidate);
	candidate->doubted = anchor.n_dirs_wrong > 0 || candidate->miscounted || misplaced ||
			     is_shrunken(candidate) ||
			     (candidate->rootless && candidate->length < 0);
	if (candidate->doubted)
		candidate->proof -= 5;
}

void candidate_judge(struct fsck *fsck, struct candidate *candidate)
{
	int n_fats;

	fat_boot_decode(candidate->sector, &candidate->boot);
	fat_boot_check(&candidate->boot, fsck->dev->size_bytes, &candidate->report);
	if (fat_boot_is_fat32_layout(&candidate->boot))
		candidate->boot.root_entries = 0; /* as it will be: else they would move the data */
	candidate->usable =
		fat_geometry_decode(&candidate->boot, &candidate->geometry) == FAT_OK;
	candidate->proof = 0;
	candidate->has_fat = candidate->doubted = false;
	candidate->miscounted = candidate->rootless = candidate->weak = false;
	if (!candidate->usable)
		return;
	candidate->is_atari = boot_is_atari(fsck->options, &candidate->boot);
	if (candidate->is_atari) {
		boot_atari_allow(&candidate->report);
		candidate->geometry.type = boot_atari_type(&candidate->geometry);
	}
	n_fats = (int)candidate->geometry.n_fats;
	for (int i = 0; i < n_fats && i < 2; i++)
		candidate->proof += prove_fat(fsck, candidate, (uint32_t)i);
	candidate->has_fat = candidate->proof > 0;
	candidate->root = prove_root(fsck, candidate);
	candidate->proof += candidate->root;
	candidate->length = boot_prove_length(&candidate->geometry);
	weigh_anchor(fsck, candidate);
	if (candidate_deviates(candidate, FAT_BOOT_TOTAL_LARGE))
		candidate->proof -= 2;
	candidate->proof += candidate->length;
	if (candidate_deviates(candidate, FAT_BOOT_SIGNATURE))
		candidate->proof -= 1;
}

enum fat_status candidate_read(struct fsck *fsck, uint64_t off, struct candidate *candidate)
{
	enum fat_status status;

	memset(candidate, 0, sizeof *candidate);
	candidate->off = off;
	status = fat_dev_read(fsck->dev, off, candidate->sector, sizeof candidate->sector);
	if (status == FAT_OK)
		candidate_judge(fsck, candidate);
	return status;
}
