/* SPDX-License-Identifier: MIT */
/*
 * anchor: does a geometry hold on to what is on the volume?
 *
 * A wrong sector, cluster, FAT or root size puts every cluster in a wrong place. Then the folders
 * that the root names are not where it says (the first cluster of a folder names itself in "."),
 * and no chain is as long as its file. Looks at the root's first entries that lead to one, and at
 * chains of bounded length, only: fragments all over a large FAT cost a read each.
 */
#include "bytes.h"
#include "fsck.h"

#include <stdlib.h>

#define MAX_ENTRIES  64u
#define MAX_CHAIN    1024u
#define SEARCH_BYTES (8u << 20)
#define PIECE_BYTES  65536u
#define MAX_MISNAMED 64u

static void count(struct anchor *anchor, uint32_t clus, bool right)
{
	if (right && clus == FAT_FIRST_CLUS)
		anchor->first_right = true;
	else if (right)
		anchor->n_dirs_right++;
	else
		anchor->n_dirs_wrong++;
}

/* It begins like a folder of the root, only "." has another number: damage, or another folder. */
static bool has_wrong_dot(struct fsck *view, uint32_t clus, uint32_t *dot_clus)
{
	uint8_t slots[2 * FAT_SLOT_BYTES];
	struct fat_dirent dotdot;

	*dot_clus = 0;
	if (fat_dev_read(view->dev, fat_geometry_cluster_off(&view->geometry, clus), slots,
			 sizeof slots) != FAT_OK)
		return false;
	fat_dirent_decode(slots, view->geometry.type, &dotdot);
	*dot_clus = dotdot.start_clus;
	fat_dirent_decode(slots + FAT_SLOT_BYTES, view->geometry.type, &dotdot);
	return fat_slot_classify(slots) == FAT_SLOT_DOT &&
	       fat_slot_classify(slots + FAT_SLOT_BYTES) == FAT_SLOT_DOTDOT &&
	       dotdot.start_clus == 0;
}

/* shift: between what it calls itself and where it is. */
static void note_misnamed(struct anchor *anchor, uint32_t shift)
{
	if (anchor->n_dirs_misnamed++ == 0)
		anchor->shift = shift;
	anchor->n_dirs_shifted += anchor->shift == shift;
}

static void try_dir(struct fsck *view, const struct fat_dirent *dirent, struct anchor *anchor)
{
	enum cluster_look look;
	uint32_t dotdot, dot;

	if (cluster_look(view, dirent->start_clus, &look, &dotdot) != FAT_OK ||
	    look == LOOK_UNREADABLE)
		return;
	if (look != LOOK_DIR && has_wrong_dot(view, dirent->start_clus, &dot))
		note_misnamed(anchor, dot - dirent->start_clus);
	else
		count(anchor, dirent->start_clus, look == LOOK_DIR);
}

/*
 * Right if the chain fits by any copy of the FAT. A file of one cluster fits whatever a cluster's
 * size is; only more clusters than that speak against it.
 */
static void try_file(struct fsck *view, const struct fat_dirent *dirent, struct anchor *anchor)
{
	uint64_t need = fat_geometry_clus_for(&view->geometry, dirent->size_bytes);

	for (uint32_t i = 0; i < view->geometry.n_fats && need <= view->geometry.n_clus; i++) {
		fat_table_set_source(&view->table, i, NULL, 0);
		if (chain_has_just(view, dirent->start_clus, (uint32_t)need)) {
			anchor->n_files_right += need > 1;
			return;
		}
	}
	anchor->n_files_wrong++;
}

static void try_slot(struct fsck *view, const uint8_t *slot, struct anchor *anchor)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);
	struct fat_dirent dirent;

	fat_dirent_decode(slot, view->geometry.type, &dirent);
	if ((kind != FAT_SLOT_FILE && kind != FAT_SLOT_DIRECTORY) ||
	    !slot_is_plausible(view, slot) || dirent.start_clus == 0)
		return;
	if (kind == FAT_SLOT_DIRECTORY)
		try_dir(view, &dirent, anchor);
	else if (dirent.size_bytes > 0 &&
		 anchor->n_files_right + anchor->n_files_wrong < MAX_ENTRIES &&
		 fat_geometry_clus_for(&view->geometry, dirent.size_bytes) <= MAX_CHAIN)
		try_file(view, &dirent, anchor);
}

/* The slots of one piece of the root; false: its end mark is in there. */
static bool try_slots(struct fsck *view, const uint8_t *slots, size_t n_bytes,
		      struct anchor *anchor)
{
	for (size_t at = 0; at < n_bytes; at += FAT_SLOT_BYTES) {
		if (slots[at] == 0)
			return false;
		try_slot(view, slots + at, anchor);
	}
	return true;
}

/* Of FAT32's root the first entries; of another one all, until there is a folder. */
static void try_root(struct fsck *view, struct anchor *anchor)
{
	const struct fat_geometry *geometry = &view->geometry;
	uint8_t slots[MAX_ENTRIES * FAT_SLOT_BYTES];
	uint64_t off = fat_geometry_root_off(geometry);
	uint64_t end = off + fat_geometry_root_bytes(geometry);
	bool more = true;

	if (geometry->type == FAT_TYPE_32) {
		off = fat_geometry_cluster_off(geometry, geometry->root_clus);
		end = off + min_u64(sizeof slots, geometry->cluster_bytes);
	}
	for (uint64_t n; off < end && more; off += n) {
		n = min_u64(sizeof slots, end - off);
		more = fat_dev_read(view->dev, off, slots, (size_t)n) == FAT_OK &&
		       try_slots(view, slots, (size_t)n, anchor) &&
		       anchor->n_dirs_right + anchor->n_dirs_wrong + anchor->first_right == 0;
	}
}

enum fat_status anchor_find(struct fat_dev *dev, const struct fat_geometry *geometry,
			    struct anchor *anchor)
{
	struct fsck view = { .dev = dev, .geometry = *geometry };
	enum fat_status status;

	*anchor = (struct anchor){ 0 };
	if (geometry->type == FAT_TYPE_32 && !fat_geometry_has_clus(geometry, geometry->root_clus))
		return FAT_OK;
	status = fat_table_init(&view.table, dev, &view.geometry, 1u << 18);
	if (status != FAT_OK)
		return status;
	try_root(&view, anchor);
	fat_table_fini(&view.table);
	/* One may be damage; where all of them are off by the same, the volume is. */
	if (anchor->n_dirs_misnamed > 1 && anchor->n_dirs_misnamed == anchor->n_dirs_shifted &&
	    anchor->n_dirs_right == 0 && !anchor->first_right)
		anchor->n_dirs_wrong += anchor->n_dirs_misnamed;
	return FAT_OK;
}

/* ---- folders by themselves ---- */

/* Folders at the start of a cluster that call themselves another one. */
struct misnamed {
	uint32_t at[MAX_MISNAMED], says[MAX_MISNAMED];
	size_t n;
};

/* A sector that begins like a folder says which cluster it is: that fixes where cluster 2 is. */
static void try_sector(const struct fsck *view, const uint8_t *slots, uint64_t off,
		       struct anchor *anchor, struct misnamed *misnamed)
{
	uint32_t at = fat_geometry_clus_at(&view->geometry, off);
	struct fat_dirent dirent;
	bool right;

	if (fat_slot_classify(slots) != FAT_SLOT_DOT ||
	    fat_slot_classify(slots + FAT_SLOT_BYTES) != FAT_SLOT_DOTDOT)
		return;
	fat_dirent_decode(slots, view->geometry.type, &dirent);
	if (!fat_geometry_has_clus(&view->geometry, dirent.start_clus))
		return;
	right = fat_geometry_cluster_off(&view->geometry, dirent.start_clus) == off;
	if (!right && misnamed->n < MAX_MISNAMED && fat_geometry_has_clus(&view->geometry, at) &&
	    fat_geometry_cluster_off(&view->geometry, at) == off) {
		misnamed->at[misnamed->n] = at;
		misnamed->says[misnamed->n++] = dirent.start_clus;
	}
	count(anchor, dirent.start_clus, right);
}

/* Two that stand in each other's place were swapped: both speak for the geometry. */
static void settle_swaps(struct anchor *anchor, const struct misnamed *misnamed)
{
	for (size_t i = 0; i < misnamed->n; i++)
		for (size_t k = i + 1; k < misnamed->n; k++)
			if (misnamed->at[i] == misnamed->says[k] &&
			    misnamed->at[k] == misnamed->says[i]) {
				anchor->n_dirs_wrong -= 2;
				anchor->n_dirs_right += 2;
			}
}

enum fat_status anchor_search(struct fat_dev *dev, const struct fat_geometry *geometry,
			      struct anchor *anchor)
{
	struct fsck view = { .dev = dev, .geometry = *geometry };
	uint64_t off = (uint64_t)geometry->reserved_sec * geometry->sector_bytes;
	uint64_t end = dev->size_bytes - off > SEARCH_BYTES ? off + SEARCH_BYTES : dev->size_bytes;
	uint8_t *piece = malloc(PIECE_BYTES);
	enum fat_status status = piece ? FAT_OK : FAT_ERR_MEMORY;
	struct misnamed misnamed = { .n = 0 };

	anchor->first_right = false;
	anchor->n_dirs_right = anchor->n_dirs_wrong = 0;
	for (; off + 512 <= end && status == FAT_OK; off += PIECE_BYTES) {
		size_t n = end - off < PIECE_BYTES ? (size_t)(end - off) : PIECE_BYTES;

		status = fat_dev_read(dev, off, piece, n);
		for (size_t at = 0; at + 512 <= n && status == FAT_OK; at += 512)
			try_sector(&view, piece + at, off + at, anchor, &misnamed);
	}
	settle_swaps(anchor, &misnamed);
	free(piece);
	return status;
}

bool anchor_holds(const struct anchor *anchor)
{
	if (anchor->n_dirs_right + anchor->n_dirs_wrong > 0)
		return anchor->n_dirs_right > 0 && anchor->n_dirs_right >= anchor->n_dirs_wrong;
	return anchor->first_right && anchor->n_files_wrong <= anchor->n_files_right;
}

bool anchor_drags(const struct anchor *anchor)
{
	return !anchor_holds(anchor) &&
	       (anchor->n_dirs_wrong > 0 || anchor->n_files_wrong > anchor->n_files_right);
}

bool anchor_is_weak(const struct anchor *anchor)
{
	return anchor->n_dirs_right == 0 && anchor->n_files_right == 0 &&
	       (anchor->first_right || anchor->n_files_wrong > 1);
}
