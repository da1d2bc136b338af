/* SPDX-License-Identifier: MIT */
/*
 * repair_dir: a directory's own slots: dots, end marks, garbage; and room for new entries.
 */
#include <string.h>

#include "repair.h"

/* Byte offset of slot `slot` (0 or 1) of a directory in clusters. */
static uint64_t first_slot_off(const struct repair *repair, uint32_t start, uint32_t slot)
{
	return fat_geometry_cluster_off(&repair->fsck->geometry, start) +
	       (uint64_t)slot * FAT_SLOT_BYTES;
}

static enum fat_status write_dot(struct repair *repair, const struct fault *fault, bool dotdot)
{
	struct fsck *fsck = repair->fsck;
	const struct dir_node *node = fat_vec_at(&fsck->dirs, fault->dir);
	uint8_t own[FAT_SLOT_BYTES], slot[FAT_SLOT_BYTES] = { 0 };
	uint64_t off = first_slot_off(repair, node->start, dotdot);
	struct fat_dirent dirent;
	enum fat_status status = repair_read_slot(repair, node->entry_off, own);

	if (status == FAT_OK)
		status = repair_read_slot(repair, off, slot);
	if (status != FAT_OK)
		return status;
	if (slot[0] != 0 && slot[0] != FAT_SLOT_DELETED_MARK)
		return FAT_OK; /* an entry is in the way: it is moved first */
	memset(slot, 0, sizeof slot);
	fat_dirent_decode(own, fsck->geometry.type, &dirent);
	memcpy(dirent.name, dotdot ? "..         " : ".          ", sizeof dirent.name);
	dirent.attr = FAT_ATTR_DIRECTORY;
	dirent.name_case = 0;
	dirent.size_bytes = 0;
	dirent.start_clus = dotdot ? dir_dotdot(fsck, fault->dir) : node->start;
	fat_dirent_encode(&dirent, fsck->geometry.type, slot);
	/* RELEASE: what stood here may have been moved, and must be in its new place by then. */
	return repair_write(repair, FAT_STAGE_RELEASE, off, slot, sizeof slot);
}

/* ---- end marks and garbage ---- */

bool repair_misses_label(const struct fsck *fsck)
{
	const uint8_t *label = fsck->boot.label;

	return !fsck->label.found && !fsck->is_atari && fsck->boot.ext_sig == 0x29 &&
	       !fat_label_is_none(label) && fat_short_check(label) == 0;
}

enum fat_status repair_clear_slot(struct repair *repair, uint32_t dir, uint64_t off)
{
	struct fsck *fsck = repair->fsck;
	uint8_t slot[FAT_SLOT_BYTES] = { 0 };
	struct fat_dirent label = { .attr = FAT_ATTR_VOLUME };

	if (dir != 0 || !repair_misses_label(fsck))
		return repair_delete_slot(repair, FAT_STAGE_DETACH, off);
	memcpy(label.name, fsck->boot.label, sizeof label.name);
	fat_dirent_encode(&label, fsck->geometry.type, slot);
	fsck->label.found = true;
	return repair_write(repair, FAT_STAGE_DETACH, off, slot, sizeof slot);
}

/* Where the last slot in use is; then every unused one before it is marked as deleted. */
static enum fat_status remove_end_marks(struct repair *repair, const struct fault *fault)
{
	const struct dir_node *node = fat_vec_at(&repair->fsck->dirs, fault->dir);
	enum fat_status status = FAT_OK;
	uint64_t last_used = 0;

	for (int turn = 0; turn < 2 && status == FAT_OK; turn++) {
		struct fat_dir dir;
		uint64_t number = 0;

		status = fat_dir_open(&dir, &repair->fsck->table, node->start);
		dir.limit_clus = node->n_clus;
		while (status == FAT_OK) {
			status = fat_dir_read(&dir);
			if (status != FAT_OK || dir.len_bytes == 0)
				break;
			for (size_t at = 0; at < dir.len_bytes && status == FAT_OK;
			     at += FAT_SLOT_BYTES, number++) {
				if (turn == 0 && dir.buf[at] != 0 &&
				    dir.buf[at] != FAT_SLOT_DELETED_MARK)
					last_used = number;
				if (turn == 1 && dir.buf[at] == 0 && number < last_used)
					status = repair_clear_slot(repair, fault->dir,
								   dir.off + at);
			}
		}
		fat_dir_close(&dir);
	}
	return status;
}

/*
 * fault->a: the end mark; every slot behind it becomes one that was never used. It may be content
 * of a file that gets a copy of its own: that comes first.
 */
static enum fat_status delete_remains(struct repair *repair, const struct fault *fault)
{
	static const uint8_t unused = 0;
	const struct dir_node *node = fat_vec_at(&repair->fsck->dirs, fault->dir);
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &repair->fsck->table, node->start);
	bool behind = false;

	dir.limit_clus = node->n_clus;
	while (status == FAT_OK) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes && status == FAT_OK; at += FAT_SLOT_BYTES) {
			behind = behind || dir.off + at == fault->a;
			if (behind && dir.buf[at] != 0)
				status = repair_write(repair, FAT_STAGE_RELEASE, dir.off + at,
						      &unused, 1);
		}
	}
	fat_dir_close(&dir);
	return status;
}

/* fault->a: the unit, fault->b: a bit a slot. */
static enum fat_status delete_garbage(struct repair *repair, const struct fault *fault)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < SLOT_GARBAGE_UNIT && status == FAT_OK; i++)
		if (fault->b >> i & 1)
			status = repair_clear_slot(repair, fault->dir,
						   fault->a + (uint64_t)i * FAT_SLOT_BYTES);
	return status;
}

/* ---- room ---- */

/* Keeps a run of free slots while it goes through a directory. */
struct room {
	uint32_t n_wanted, n;
	uint64_t *off;
};

static void take_room(struct room *room, const struct fat_dir *dir, bool not_first)
{
	for (size_t at = 0; at < dir->len_bytes && room->n < room->n_wanted; at += FAT_SLOT_BYTES) {
		bool used = (dir->buf[at] != 0 && dir->buf[at] != FAT_SLOT_DELETED_MARK) ||
			    fat_dev_unreadable(dir->table->dev, dir->off + at, FAT_SLOT_BYTES);

		if (used || (not_first && at < (size_t)2 * FAT_SLOT_BYTES))
			room->n = 0;
		else
			room->off[room->n++] = dir->off + at;
	}
}

/* One slot after the other: what lies before the last one that was found is in use. */
static enum fat_status look_for_room(struct repair *repair, uint32_t start, struct room *room,
				     uint32_t *last_clus)
{
	struct fsck *fsck = repair->fsck;
	struct fat_dir dir;
	bool goes_on = room->n_wanted == 1 && repair->room_clus && repair->room_dir == start;
	enum fat_status status =
		fat_dir_open(&dir, &fsck->table, goes_on ? repair->room_clus : start);
	bool is_root = start == 0 || (fsck->geometry.type == FAT_TYPE_32 &&
				      start == fsck->geometry.root_clus);
	bool first = !is_root && (!goes_on || repair->room_clus == start);

	*last_clus = 0;
	while (status == FAT_OK && room->n < room->n_wanted) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		take_room(room, &dir, first);
		first = false;
		*last_clus = fat_geometry_clus_at(&fsck->geometry, dir.off + dir.len_bytes - 1);
	}
	fat_dir_close(&dir);
	return status;
}

/* Another cluster of zeros at the end of a directory; the slots go on there. */
static enum fat_status grow(struct repair *repair, uint32_t last_clus, struct room *room)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	enum fat_status status;
	uint64_t off;
	uint32_t clus;

	status = repair_allocate(repair, &clus);
	if (status != FAT_OK || clus == 0)
		return status;
	off = fat_geometry_cluster_off(geometry, clus);
	status = repair_zero_cluster(repair, clus);
	if (status == FAT_OK)
		status = repair_set_entry(repair, FAT_STAGE_ATTACH, last_clus, clus);
	for (uint32_t at = 0; at < geometry->cluster_bytes && room->n < room->n_wanted;
	     at += FAT_SLOT_BYTES)
		room->off[room->n++] = off + at;
	return status;
}

enum fat_status repair_find_room(struct repair *repair, uint32_t start, uint32_t n_slots,
				 uint64_t *off, bool *found)
{
	struct room room = { .n_wanted = n_slots, .off = off };
	uint32_t last_clus = 0;
	enum fat_status status = look_for_room(repair, start, &room, &last_clus);

	*found = false;
	while (status == FAT_OK && room.n < n_slots && start != 0 && last_clus != 0) {
		uint32_t before = room.n;

		status = grow(repair, last_clus, &room);
		if (room.n == before)
			break;
		last_clus = fat_geometry_clus_at(&repair->fsck->geometry, room.off[room.n - 1]);
	}
	*found = status == FAT_OK && room.n == n_slots;
	if (*found && n_slots == 1 && start != 0) {
		repair->room_dir = start;
		repair->room_clus = fat_geometry_clus_at(&repair->fsck->geometry, off[0]);
	}
	return status;
}

/* ---- an entry where a dot belongs ---- */

/*
 * In one sector, and so in one write, if there is room in it; else the new slots come first, for a
 * moment there are two of them.
 */
static enum fat_stage stage_of_move(const struct repair *repair, const uint64_t *from,
				    const uint64_t *to, uint32_t n)
{
	uint64_t sector = repair->fsck->geometry.sector_bytes;

	for (uint32_t i = 0; i < n; i++)
		if (from[i] / sector != to[i] / sector || from[i] / sector != from[0] / sector)
			return FAT_STAGE_ATTACH;
	return FAT_STAGE_RELEASE;
}

static enum fat_status move_set(struct repair *repair, uint32_t start, const uint64_t *from,
				uint32_t n)
{
	uint64_t to[FAT_LONG_SLOTS + 2];
	uint8_t slot[FAT_SLOT_BYTES];
	enum fat_status status;
	bool found;

	status = repair_find_room(repair, start, n, to, &found);
	for (uint32_t i = 0; i < n && status == FAT_OK && found; i++) {
		status = repair_read_slot(repair, from[i], slot);
		if (status == FAT_OK)
			status = repair_write(repair, stage_of_move(repair, from, to, n), to[i],
					      slot, sizeof slot);
		if (status == FAT_OK)
			status = repair_delete_slot(repair, FAT_STAGE_RELEASE, from[i]);
	}
	return status;
}

/* Slots 0 and 1 and whatever belongs to the entries in them. */
static enum fat_status free_first_slots(struct repair *repair, const struct fault *fault)
{
	const struct dir_node *node = fat_vec_at(&repair->fsck->dirs, fault->dir);
	uint64_t set[FAT_LONG_SLOTS + 2];
	uint32_t n = 0, most = repair->fsck->geometry.cluster_bytes / FAT_SLOT_BYTES;
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < most && i < FAT_LONG_SLOTS + 2 && status == FAT_OK; i++) {
		uint64_t off = first_slot_off(repair, node->start, i);
		uint8_t slot[FAT_SLOT_BYTES];
		enum fat_slot_kind kind;

		status = repair_read_slot(repair, off, slot);
		kind = fat_slot_classify(slot);
		if (status != FAT_OK || kind == FAT_SLOT_END)
			break;
		if (kind == FAT_SLOT_DELETED || kind == FAT_SLOT_DOT || kind == FAT_SLOT_DOTDOT) {
			n = 0;
			continue;
		}
		if (n == 0 && i > 1)
			break;
		set[n++] = off;
		if (kind == FAT_SLOT_LONG)
			continue;
		status = move_set(repair, node->start, set, n);
		n = 0;
	}
	return status;
}

enum fat_status repair_dir(struct repair *repair, struct fault *fault)
{
	switch ((int)fault->id) {
	case F_DOT_MISSING:
		return write_dot(repair, fault, false);
	case F_DOTDOT_MISSING:
		return write_dot(repair, fault, true);
	case F_END_EARLY:
		return remove_end_marks(repair, fault);
	case F_END_STALE:
		return delete_remains(repair, fault);
	case F_GARBAGE:
		return delete_garbage(repair, fault);
	default: /* DOT_TAKEN */
		return free_first_slots(repair, fault);
	}
}
