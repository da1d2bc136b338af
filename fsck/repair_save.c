/* SPDX-License-Identifier: MIT */
/*
 * repair_save: lost chains become files, lost directories come back with their tree.
 *
 * They go to the root directory as FSCKnnnn.REC while it has room as it is [COMPAT 2]; if not, to
 * one new folder FOUND.nnn; if that cannot be made, to any directory with room.
 */
#include <stdio.h>
#include <string.h>

#include "repair.h"

#define MAX_NUMBER 999999u

static uint32_t root_start(const struct fsck *fsck)
{
	return fsck->geometry.type == FAT_TYPE_32 ? fsck->geometry.root_clus : 0;
}

/* FSCK0000 to FSCK9999, then FSC10000, FS100000. */
static void make_name(uint8_t name[FAT_SHORT_BYTES], uint32_t number, const char *ext)
{
	char digits[12], text[24];
	int n = snprintf(digits, sizeof digits, "%04u", (unsigned)number);

	snprintf(text, sizeof text, "%.*s%s%-3s", 8 - n, "FSCK", digits, ext);
	memcpy(name, text, FAT_SHORT_BYTES);
}

/* Free slots that the root has without growing, at most `most`. */
static enum fat_status count_free_slots(struct repair *repair, uint32_t start, uint32_t most,
					uint32_t *n)
{
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &repair->fsck->table, start);

	*n = 0;
	while (status == FAT_OK && *n < most) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes; at += FAT_SLOT_BYTES)
			*n += (dir.buf[at] == 0 || dir.buf[at] == FAT_SLOT_DELETED_MARK) &&
			      !fat_dev_unreadable(repair->txn, dir.off + at, FAT_SLOT_BYTES);
	}
	fat_dir_close(&dir);
	return status;
}

static uint32_t count_lost(const struct fsck *fsck)
{
	uint32_t n = 0;

	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		n += fault->id == F_LOST_CHAIN || fault->id == F_LOST_DIR;
	}
	return n;
}

static enum fat_status write_entry(struct repair *repair, uint64_t off, const struct fat_dirent *d)
{
	uint8_t slot[FAT_SLOT_BYTES] = { 0 };

	fat_dirent_encode(d, repair->fsck->geometry.type, slot);
	return repair_write(repair, FAT_STAGE_ATTACH, off, slot, sizeof slot);
}

/* ---- FOUND.nnn ---- */

static enum fat_status fill_folder(struct repair *repair, uint32_t clus)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint64_t off = fat_geometry_cluster_off(geometry, clus);
	uint8_t slots[2 * FAT_SLOT_BYTES] = { 0 };
	struct fat_dirent dot = { .attr = FAT_ATTR_DIRECTORY, .start_clus = clus };
	enum fat_status status;

	memcpy(dot.name, ".          ", sizeof dot.name);
	fat_dirent_encode(&dot, geometry->type, slots);
	dot.name[1] = '.';
	dot.start_clus = 0;
	fat_dirent_encode(&dot, geometry->type, slots + FAT_SLOT_BYTES);
	status = repair_zero_cluster(repair, clus);
	if (status == FAT_OK)
		status = repair_write(repair, FAT_STAGE_PREPARE, off, slots, sizeof slots);
	return status;
}

static enum fat_status make_folder(struct repair *repair)
{
	struct fat_dirent dirent = { .attr = FAT_ATTR_DIRECTORY };
	uint32_t root = root_start(repair->fsck), clus;
	enum fat_status status;
	uint64_t off;
	bool found;

	status = repair_find_room(repair, root, 1, &off, &found);
	if (status != FAT_OK || !found)
		return status;
	status = repair_allocate(repair, &clus);
	if (status != FAT_OK || clus == 0)
		return status;
	memcpy(dirent.name, "FOUND   000", sizeof dirent.name);
	for (uint32_t i = 0; i < 1000 && status == FAT_OK; i++) {
		uint8_t wanted[FAT_SHORT_BYTES];
		char digits[8];

		snprintf(digits, sizeof digits, "%03u", (unsigned)i);
		memcpy(dirent.name + 8, digits, 3);
		memcpy(wanted, dirent.name, sizeof wanted);
		status = repair_unique_name(repair, root, off, wanted);
		if (memcmp(wanted, dirent.name, sizeof wanted) == 0)
			break;
	}
	dirent.start_clus = clus;
	if (status == FAT_OK)
		status = fill_folder(repair, clus);
	if (status == FAT_OK)
		status = write_entry(repair, off, &dirent);
	repair->found_start = clus;
	return status;
}

/* ---- one chain ---- */

/* Where the next one goes: a slot and the directory that it is in. */
static enum fat_status find_place(struct repair *repair, uint32_t *dir_start, uint64_t *off,
				  bool *found)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status;

	*dir_start = repair->found_start ? repair->found_start : root_start(fsck);
	status = repair_find_room(repair, *dir_start, 1, off, found);
	if (status == FAT_OK && !*found && repair->found_start) {
		*dir_start = root_start(fsck);
		status = repair_find_room(repair, *dir_start, 1, off, found);
	}
	for (uint32_t i = 1; i < fsck->dirs.n && status == FAT_OK && !*found; i++) {
		const struct dir_node *node = fat_vec_at(&fsck->dirs, i);

		*dir_start = node->start;
		status = repair_find_room(repair, node->start, 1, off, found);
	}
	return status;
}

/*
 * A chain of 4 GiB is the largest file's, which leaves its last byte unused. A longer one is cut;
 * the rest is lost again, and found in the next round.
 */
static enum fat_status cut_to_size(struct repair *repair, const struct fault *fault, uint32_t *size)
{
	struct fsck *fsck = repair->fsck;
	uint64_t bytes = (uint64_t)fault->n * fsck->geometry.cluster_bytes;
	uint32_t most = FAT_MAX_FILE_BYTES / fsck->geometry.cluster_bytes;
	enum fat_status status;
	struct walk walk;

	*size = (uint32_t)(bytes > FAT_MAX_FILE_BYTES ? FAT_MAX_FILE_BYTES : bytes);
	if (bytes <= (uint64_t)FAT_MAX_FILE_BYTES + 1)
		return FAT_OK;
	*size = most * fsck->geometry.cluster_bytes;
	status = chain_peek(fsck, fault->start, most, &walk);
	return status == FAT_OK ? repair_set_end(repair, FAT_STAGE_PREPARE, walk.last) : status;
}

static enum fat_status pick_name(struct repair *repair, uint32_t dir_start, uint64_t off,
				 bool is_dir, uint8_t name[FAT_SHORT_BYTES])
{
	enum fat_status status = FAT_OK;
	uint8_t unique[FAT_SHORT_BYTES];

	do {
		make_name(name, repair->next_number++, is_dir ? "DIR" : "REC");
		memcpy(unique, name, sizeof unique);
		status = repair_unique_name(repair, dir_start, off, unique);
	} while (status == FAT_OK && memcmp(unique, name, sizeof unique) != 0 &&
		 repair->next_number <= MAX_NUMBER);
	memcpy(name, unique, sizeof unique);
	return status;
}

static void tell_name(struct repair *repair, struct fault *fault, const uint8_t *name)
{
	char text[64];

	fat_short_to_utf8(name, 0, &repair->fsck->options->page, text, sizeof text);
	fault_set_text(fault, text);
}

/* It is empty, or a lost directory says that it was in there. */
static bool root_lost_entries(const struct fsck *fsck)
{
	bool lost = fsck->count.files == 0;

	for (size_t i = 0; i < fsck->faults.n && !lost; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		lost = fault->id == F_LOST_DIR && dir_is_parent(fsck, 0, (uint32_t)fault->b);
	}
	return lost;
}

/* The label may have been among what the root lost; the boot sector may know it. */
static enum fat_status restore_label(struct repair *repair)
{
	enum fat_status status;
	uint64_t off;
	bool found;

	if (!repair_misses_label(repair->fsck) || !root_lost_entries(repair->fsck))
		return FAT_OK;
	status = repair_find_room(repair, root_start(repair->fsck), 1, &off, &found);
	return status == FAT_OK && found ? repair_clear_slot(repair, 0, off) : status;
}

/* The first one of a round looks at how many there are. */
static enum fat_status prepare_room(struct repair *repair)
{
	uint32_t n_lost, n_free;
	enum fat_status status;

	if (repair->found_start || repair->next_number)
		return FAT_OK;
	status = restore_label(repair);
	if (status != FAT_OK)
		return status;
	n_lost = count_lost(repair->fsck);
	status = count_free_slots(repair, root_start(repair->fsck), n_lost, &n_free);
	if (status == FAT_OK && n_free < n_lost && n_lost > 1)
		status = make_folder(repair);
	return status;
}

enum fat_status repair_save(struct repair *repair, struct fault *fault)
{
	struct fat_dirent dirent = { .start_clus = fault->start };
	enum fat_status status = prepare_room(repair);
	uint32_t dir_start = 0;
	uint64_t off = 0;
	bool found = false;

	if (status == FAT_OK)
		status = find_place(repair, &dir_start, &off, &found);
	if (status != FAT_OK || !found)
		return status;
	status = pick_name(repair, dir_start, off, fault->is_dir, dirent.name);
	if (status == FAT_OK && fault->a)
		status = repair_set_end(repair, FAT_STAGE_PREPARE, fault->last);
	if (fault->is_dir)
		dirent.attr = FAT_ATTR_DIRECTORY;
	else if (status == FAT_OK)
		status = cut_to_size(repair, fault, &dirent.size_bytes);
	tell_name(repair, fault, dirent.name);
	return status == FAT_OK ? write_entry(repair, off, &dirent) : status;
}
