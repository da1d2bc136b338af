/* SPDX-License-Identifier: MIT */
/*
 * boot_root: where FAT32's root directory is, when the boot sector does not know.
 *
 * The root's folders have 0 in "..", and only they: a cluster of entries that has such a folder is
 * the root's. Looks at clusters in use only, at a bounded number of them.
 */
#include "boot_proof.h"

#include <string.h>

#define MAX_CLUSTERS 200000u
#define MAX_CHAIN    10000u
#define NEAR_CLUSTERS 4096u /* of a root that is there but empty: the right one is not far */

/* A folder that names itself, and no parent. */
static bool is_top_folder(struct fsck *view, const uint8_t *slot)
{
	struct fat_dirent dirent;
	enum cluster_look look;
	uint32_t dotdot;

	fat_dirent_decode(slot, FAT_TYPE_32, &dirent);
	return fat_slot_classify(slot) == FAT_SLOT_DIRECTORY &&
	       fat_geometry_has_clus(&view->geometry, dirent.start_clus) &&
	       cluster_look(view, dirent.start_clus, &look, &dotdot) == FAT_OK &&
	       look == LOOK_DIR && dotdot == 0;
}

/* Slots without dots, one of them a top folder. Only of what begins like slots more is read. */
static bool holds_top_folder(struct fsck *view, uint32_t clus)
{
	uint8_t slots[SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES];
	uint64_t off = fat_geometry_cluster_off(&view->geometry, clus);

	for (uint32_t done = 0; done < view->geometry.cluster_bytes; done += sizeof slots) {
		if (fat_dev_read(view->dev, off + done, slots, sizeof slots) != FAT_OK ||
		    (done == 0 && fat_slot_classify(slots) == FAT_SLOT_DOT) ||
		    slots_are_garbage(view, slots, SLOT_GARBAGE_UNIT))
			return false;
		for (size_t at = 0; at < sizeof slots; at += FAT_SLOT_BYTES) {
			if (slots[at] == 0)
				return false;
			if (is_top_folder(view, slots + at))
				return true;
		}
	}
	return false;
}

static uint32_t find_part(struct fsck *view, uint32_t n_looked_at)
{
	uint32_t last = fat_geometry_last_clus(&view->geometry), n = 0;

	if (last - FAT_FIRST_CLUS > n_looked_at)
		last = FAT_FIRST_CLUS + n_looked_at;
	for (uint32_t c = FAT_FIRST_CLUS; c <= last && n < MAX_CLUSTERS; c++) {
		uint32_t value;

		if (fat_table_get(&view->table, c, &value) != FAT_OK)
			return 0;
		if (value == 0 || value == fat_entry_bad(FAT_TYPE_32))
			continue;
		n++;
		if (holds_top_folder(view, c))
			return c;
	}
	return 0;
}

struct before {
	uint32_t clus, found;
};

static enum fat_status note_before(void *context, uint32_t first, uint32_t n,
				   const uint32_t *values)
{
	struct before *before = context;

	for (uint32_t i = 0; values && i < n; i++)
		if (values[i] == before->clus && first + i >= FAT_FIRST_CLUS)
			before->found = first + i;
	return FAT_OK;
}

/* The first cluster of the chain that this one is in. */
static uint32_t head_of(struct fsck *view, uint32_t clus)
{
	for (uint32_t n = 0; n < MAX_CHAIN; n++) {
		struct before before = { .clus = clus };
		struct fat_table_visitor visitor = { .context = &before, .entries = note_before };

		if (fat_table_scan(&view->table, &visitor) != FAT_OK || before.found == 0)
			break;
		clus = before.found;
	}
	return clus;
}

bool boot_root_is_folder(struct fsck *fsck, const struct candidate *candidate)
{
	struct fsck view = { .dev = fsck->dev, .geometry = candidate->geometry };
	enum cluster_look look;
	uint32_t dotdot;

	return fat_geometry_has_clus(&view.geometry, view.geometry.root_clus) &&
	       cluster_look(&view, view.geometry.root_clus, &look, &dotdot) == FAT_OK &&
	       look == LOOK_DIR;
}

enum fat_status boot_find_root(struct fsck *fsck, const struct candidate *candidate, uint32_t *clus)
{
	struct fsck view = { .dev = fsck->dev, .geometry = candidate->geometry };
	enum fat_status status = fat_table_init(&view.table, view.dev, &view.geometry, 1u << 20);

	*clus = 0;
	if (status != FAT_OK)
		return status;
	*clus = find_part(&view, candidate->root < 0 ? UINT32_MAX : NEAR_CLUSTERS);
	if (*clus)
		*clus = head_of(&view, *clus);
	fat_table_fini(&view.table);
	return FAT_OK;
}
