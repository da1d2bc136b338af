/* SPDX-License-Identifier: MIT */
/*
 * check_slot: what 32 bytes, or a cluster of them, look like by themselves.
 *
 * Decides what is an entry and what is garbage, and what holds a directory. Looks at content and
 * chains, claims nothing, puts down no fault.
 */
#include "fsck.h"

#include <stdlib.h>
#include <string.h>

/* A bent byte makes one flaw, or two: text and noise make most of them at once. */
#define MANY_FLAWS 4u

static bool start_is_plausible(const struct fsck *fsck, uint32_t start)
{
	return start == 0 || fat_geometry_has_clus(&fsck->geometry, start);
}

static bool long_is_plausible(const uint8_t *slot)
{
	struct fat_long_slot part;
	unsigned number;

	fat_long_slot_decode(slot, &part);
	number = part.order & 0x3F;
	return number >= 1 && number <= FAT_LONG_SLOTS && part.type == 0 && part.start_clus == 0 &&
	       !(part.order & 0x80) && part.attr == FAT_ATTR_LONG;
}

bool slot_is_plausible(const struct fsck *fsck, const uint8_t *slot)
{
	struct fat_dirent dirent;

	switch (fat_slot_classify(slot)) {
	case FAT_SLOT_END:
	case FAT_SLOT_DELETED:
		return true;
	case FAT_SLOT_LONG:
		return long_is_plausible(slot);
	case FAT_SLOT_LABEL:
	case FAT_SLOT_DOT:
	case FAT_SLOT_DOTDOT:
	case FAT_SLOT_FILE:
	case FAT_SLOT_DIRECTORY:
		break;
	}
	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	if (dirent.attr & ~FAT_ATTR_KNOWN || !start_is_plausible(fsck, dirent.start_clus))
		return false;
	if (fat_slot_classify(slot) == FAT_SLOT_DOT || fat_slot_classify(slot) == FAT_SLOT_DOTDOT)
		return true;
	return !(fat_short_check(dirent.name) & FAT_SHORT_CONTROL);
}

bool slots_are_garbage(const struct fsck *fsck, const uint8_t *slots, size_t n_slots)
{
	size_t n_used = 0, n_bad = 0;

	for (size_t i = 0; i < n_slots; i++) {
		const uint8_t *slot = slots + i * FAT_SLOT_BYTES;

		if (slot[0] == 0 || slot[0] == FAT_SLOT_DELETED_MARK)
			continue;
		n_used++;
		n_bad += !slot_is_plausible(fsck, slot);
	}
	return n_bad > 2 && n_bad * 2 > n_used;
}

/*
 * What the entry leads to is nobody's, and just what it says: a chain of its length, or a
 * directory.
 */
static bool chain_proves(struct fsck *fsck, const struct fat_dirent *dirent)
{
	uint64_t need = fat_geometry_clus_for(&fsck->geometry, dirent->size_bytes);
	enum cluster_look look;
	uint32_t dotdot;

	if (dirent->start_clus == 0 ||
	    !fat_geometry_has_clus(&fsck->geometry, dirent->start_clus) ||
	    fat_bitmap_get(&fsck->reached, dirent->start_clus))
		return false;
	if (dirent->attr & FAT_ATTR_DIRECTORY)
		return dirent->size_bytes == 0 &&
		       cluster_look(fsck, dirent->start_clus, &look, &dotdot) == FAT_OK &&
		       look == LOOK_DIR;
	if (need > fsck->geometry.n_clus)
		return false;
	return chain_has_just(fsck, dirent->start_clus, (uint32_t)need);
}

static bool times_are_valid(const struct fat_dirent *dirent)
{
	return (!dirent->create_date || fat_date_is_valid(dirent->create_date)) &&
	       (!dirent->access_date || fat_date_is_valid(dirent->access_date)) &&
	       (!dirent->write_date || fat_date_is_valid(dirent->write_date)) &&
	       fat_time_is_valid(dirent->create_time) && fat_time_is_valid(dirent->write_time) &&
	       dirent->create_fine <= 199;
}

/* Fields that no entry has so, each counted once; a name that nobody can address counts twice. */
static unsigned count_flaws(const struct fsck *fsck, const struct fat_dirent *dirent)
{
	unsigned name = fat_short_check(dirent->name) &
			(dirent->attr & FAT_ATTR_VOLUME ? FAT_SHORT_CONTROL : ~0u);
	bool is_dir = dirent->attr & FAT_ATTR_DIRECTORY;

	return (name & FAT_SHORT_CONTROL ? 2u : name != 0) +
	       ((dirent->attr & ~FAT_ATTR_KNOWN) != 0) +
	       !start_is_plausible(fsck, dirent->start_clus) +
	       ((dirent->name_case & ~(FAT_CASE_LOWER_BASE | FAT_CASE_LOWER_EXT)) != 0) +
	       !times_are_valid(dirent) +
	       (!is_dir && fat_geometry_clus_for(&fsck->geometry, dirent->size_bytes) >
				   fsck->geometry.n_clus);
}

/* Bytes that no name has, in an entry without any other flaw. */
static bool only_name_is_bad(const struct fsck *fsck, const struct fat_dirent *dirent)
{
	return fat_short_check(dirent->name) & FAT_SHORT_CONTROL && count_flaws(fsck, dirent) == 2;
}

static bool is_empty_file(const struct fat_dirent *dirent)
{
	return !(dirent->attr & (FAT_ATTR_DIRECTORY | FAT_ATTR_VOLUME)) &&
	       dirent->start_clus == 0 && dirent->size_bytes == 0 && dirent->write_date != 0;
}

bool slot_is_proven(struct fsck *fsck, const uint8_t *slot)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);
	struct fat_dirent dirent;

	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	if (kind != FAT_SLOT_FILE && kind != FAT_SLOT_DIRECTORY && kind != FAT_SLOT_LABEL)
		return false;
	if (only_name_is_bad(fsck, &dirent))
		return chain_proves(fsck, &dirent) || is_empty_file(&dirent);
	return slot_is_plausible(fsck, slot) && chain_proves(fsck, &dirent);
}

bool slot_is_garbage(struct fsck *fsck, const uint8_t *slot)
{
	struct fat_dirent dirent;

	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	return count_flaws(fsck, &dirent) >= MANY_FLAWS && !chain_proves(fsck, &dirent);
}

bool slot_is_flawless(const struct fsck *fsck, const uint8_t *slot)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);
	struct fat_dirent dirent;

	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	return (kind == FAT_SLOT_FILE || kind == FAT_SLOT_DIRECTORY) && dirent.write_date != 0 &&
	       count_flaws(fsck, &dirent) == 0;
}

bool slots_are_noise(struct fsck *fsck, const uint8_t *slots, size_t n_slots)
{
	if (!slots_are_garbage(fsck, slots, n_slots))
		return false;
	for (size_t i = 0; i < n_slots; i++)
		if (slot_is_flawless(fsck, slots + i * FAT_SLOT_BYTES) ||
		    slot_is_proven(fsck, slots + i * FAT_SLOT_BYTES))
			return false;
	return true;
}

/* "." that points to its own cluster, with ".." behind it. */
static bool has_dots(const struct fsck *fsck, uint32_t clus, const uint8_t *slots, uint32_t *dotdot)
{
	struct fat_dirent dot, dots;

	fat_dirent_decode(slots, fsck->geometry.type, &dot);
	fat_dirent_decode(slots + FAT_SLOT_BYTES, fsck->geometry.type, &dots);
	*dotdot = dots.start_clus;
	return fat_slot_classify(slots) == FAT_SLOT_DOT && dot.attr & FAT_ATTR_DIRECTORY &&
	       dot.start_clus == clus &&
	       fat_slot_classify(slots + FAT_SLOT_BYTES) == FAT_SLOT_DOTDOT;
}

enum fat_status cluster_look(struct fsck *fsck, uint32_t clus, enum cluster_look *look,
			     uint32_t *dotdot)
{
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	enum fat_status status;

	*look = LOOK_PERHAPS;
	*dotdot = 0;
	status = fat_dev_read(fsck->dev, fat_geometry_cluster_off(&fsck->geometry, clus), slots,
			      sizeof slots);
	if (status != FAT_OK)
		return status;
	if (fat_dev_unreadable(fsck->dev, fat_geometry_cluster_off(&fsck->geometry, clus),
			       sizeof slots))
		*look = LOOK_UNREADABLE;
	else if (has_dots(fsck, clus, slots, dotdot))
		*look = LOOK_DIR;
	else if (slots_are_garbage(fsck, slots, SLOT_GARBAGE_UNIT))
		*look = LOOK_NOT_DIR;
	return FAT_OK;
}

bool dir_is_parent(const struct fsck *fsck, uint32_t dir, uint32_t dotdot)
{
	const struct dir_node *node = fat_vec_at(&fsck->dirs, dir);

	if (dir != 0)
		return dotdot == node->start;
	return dotdot == 0 ||
	       (fsck->geometry.type == FAT_TYPE_32 && dotdot == fsck->geometry.root_clus);
}

uint32_t dir_dotdot(const struct fsck *fsck, uint32_t dir)
{
	const struct dir_node *node = fat_vec_at(&fsck->dirs, dir);
	const struct dir_node *parent = fat_vec_at(&fsck->dirs, node->parent);

	return node->parent == 0 ? 0 : parent->start;
}

bool dir_other_birth(struct fsck *fsck, const struct fat_dirent *entry)
{
	uint8_t slot[FAT_SLOT_BYTES];
	struct fat_dirent dot;

	if (fat_dev_read(fsck->dev, fat_geometry_cluster_off(&fsck->geometry, entry->start_clus),
			 slot, sizeof slot) != FAT_OK)
		return false;
	fat_dirent_decode(slot, fsck->geometry.type, &dot);
	return entry->create_date != 0 && dot.create_date != 0 &&
	       (dot.create_date != entry->create_date || dot.create_time != entry->create_time ||
		dot.create_fine != entry->create_fine);
}
