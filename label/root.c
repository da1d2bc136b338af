/* SPDX-License-Identifier: MIT */
/*
 * root: the label's entry in the root directory.
 *
 * Reads no more than it takes to find the entry, or a place for one: slots in pieces of 4 KiB up to
 * the end mark. The FAT is looked at only where the root is longer than a cluster, and searched
 * only where the root has to grow.
 */
#include <string.h>

#include "label.h"

#define PIECE_BYTES 4096u
#define TABLE_BYTES (64u << 10)

/* ---- slots, one after the other ---- */

struct cursor {
	struct label_volume *volume;
	struct fat_table *table; /* NULL: opened when needed */
	struct fat_table table_room;
	uint32_t clus;    /* FAT32: of the slots at hand */
	uint32_t n_left;  /* clusters that may still come: a circle ends here */
	uint64_t off;     /* of the next slot */
	uint64_t end_off; /* of the cluster, or of the root area */
	uint64_t piece_off;
	uint64_t piece_end;
	bool is_broken;
	uint8_t piece[PIECE_BYTES];
};

static void cursor_enter(struct cursor *cursor, uint32_t clus)
{
	const struct fat_geometry *geometry = &cursor->volume->geometry;

	cursor->clus = clus;
	cursor->off = fat_geometry_cluster_off(geometry, clus);
	cursor->end_off = cursor->off + geometry->cluster_bytes;
}

static void cursor_open(struct cursor *cursor, struct label_volume *volume)
{
	const struct fat_geometry *geometry = &volume->geometry;

	*cursor = (struct cursor){ .volume = volume };
	cursor->n_left = FAT_MAX_DIR_SLOTS * FAT_SLOT_BYTES / geometry->cluster_bytes + 1;
	if (geometry->type != FAT_TYPE_32) {
		cursor->off = fat_geometry_root_off(geometry);
		cursor->end_off = cursor->off + fat_geometry_root_bytes(geometry);
	} else if (fat_geometry_has_clus(geometry, geometry->root_clus)) {
		cursor_enter(cursor, geometry->root_clus);
	} else {
		cursor->is_broken = true;
	}
}

static void cursor_close(struct cursor *cursor)
{
	if (cursor->table)
		fat_table_fini(cursor->table);
	cursor->table = NULL;
}

static enum fat_status cursor_need_table(struct cursor *cursor)
{
	struct label_volume *volume = cursor->volume;
	enum fat_status status;

	if (cursor->table)
		return FAT_OK;
	status = fat_table_init(&cursor->table_room, volume->dev, &volume->geometry, TABLE_BYTES);
	if (status == FAT_OK)
		cursor->table = &cursor->table_room;
	return status;
}

/* To the next cluster; *is_end where the chain has none. */
static enum fat_status cursor_next_clus(struct cursor *cursor, bool *is_end)
{
	const struct fat_geometry *geometry = &cursor->volume->geometry;
	enum fat_status status = cursor_need_table(cursor);
	enum fat_entry_kind kind;
	uint32_t value;

	*is_end = true;
	if (status == FAT_OK)
		status = fat_table_get(cursor->table, cursor->clus, &value);
	if (status != FAT_OK)
		return status;
	kind = fat_entry_classify(geometry->type, value, fat_geometry_last_clus(geometry));
	*is_end = kind != FAT_ENTRY_NEXT || cursor->n_left == 0;
	cursor->is_broken = *is_end && kind != FAT_ENTRY_END;
	if (!*is_end) {
		cursor->n_left--;
		cursor_enter(cursor, value);
	}
	return FAT_OK;
}

/* The next slot and where it is; *slot is NULL behind the last one. */
static enum fat_status cursor_next(struct cursor *cursor, const uint8_t **slot, uint64_t *off)
{
	enum fat_status status = FAT_OK;
	bool is_end = cursor->volume->geometry.type != FAT_TYPE_32 || cursor->is_broken;

	*slot = NULL;
	if (cursor->off == cursor->end_off && !is_end)
		status = cursor_next_clus(cursor, &is_end);
	if (status != FAT_OK || (cursor->off == cursor->end_off && is_end))
		return status;
	if (cursor->off < cursor->piece_off || cursor->off >= cursor->piece_end) {
		uint64_t n = cursor->end_off - cursor->off;

		n = n < PIECE_BYTES ? n : PIECE_BYTES;
		cursor->piece_off = cursor->off;
		cursor->piece_end = cursor->off + n;
		status = fat_dev_read(cursor->volume->dev, cursor->off, cursor->piece, (size_t)n);
	}
	if (status != FAT_OK)
		return status;
	*off = cursor->off;
	*slot = cursor->piece + (cursor->off - cursor->piece_off);
	cursor->off += FAT_SLOT_BYTES;
	return FAT_OK;
}

/* ---- looking ---- */

/* What a slot is to us; false: no need to look on. */
static bool note_slot(struct label_root *root, const uint8_t *slot, uint64_t off)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);

	if (kind == FAT_SLOT_LABEL) {
		root->label_off = off;
		memcpy(root->slot, slot, FAT_SLOT_BYTES);
	} else if (kind == FAT_SLOT_DELETED && !root->deleted_off) {
		root->deleted_off = off;
	} else if (kind == FAT_SLOT_END) {
		root->end_off = off;
	}
	return kind != FAT_SLOT_LABEL && kind != FAT_SLOT_END;
}

static enum fat_status find(struct cursor *cursor, struct label_root *root, bool want_place)
{
	const uint8_t *slot;
	uint64_t off;
	enum fat_status status;

	do
		status = cursor_next(cursor, &slot, &off);
	while (status == FAT_OK && slot && note_slot(root, slot, off));
	root->last_clus = cursor->clus;
	root->is_broken = cursor->is_broken;
	if (status != FAT_OK || !want_place || !root->end_off || root->deleted_off)
		return status;
	status = cursor_next(cursor, &slot, &off);
	root->behind_off = slot ? off : 0;
	return status;
}

enum fat_status label_root_find(struct label_volume *volume, struct label_root *root)
{
	struct cursor cursor;
	enum fat_status status;

	*root = (struct label_root){ 0 };
	cursor_open(&cursor, volume);
	status = find(&cursor, root, false);
	cursor_close(&cursor);
	return status;
}

/* ---- a place for a new entry ---- */

static bool refuse(const struct label_volume *volume, const char *why)
{
	cli_error(&label_program, "%s: %s", volume->path, why);
	return false;
}

/* The first free cluster from the hint on, or before it; 0: there is none. */
static enum fat_status find_free(struct fat_table *table, uint32_t hint, uint32_t *clus)
{
	uint32_t last = fat_geometry_last_clus(table->geometry);
	uint32_t at = hint >= FAT_FIRST_CLUS && hint <= last ? hint : FAT_FIRST_CLUS;

	*clus = 0;
	for (uint32_t n = table->geometry->n_clus; n > 0; n--) {
		uint32_t value;
		enum fat_status status = fat_table_get(table, at, &value);

		if (status != FAT_OK)
			return status;
		if (value == 0) {
			*clus = at;
			return FAT_OK;
		}
		at = at == last ? FAT_FIRST_CLUS : at + 1;
	}
	return FAT_OK;
}

/* An entry in each FAT that is kept up to date. */
static enum fat_status set_entry(struct label_volume *volume, struct fat_table *table,
				 enum fat_stage stage, uint32_t clus, uint32_t value)
{
	const struct fat_geometry *geometry = &volume->geometry;
	enum fat_status status = FAT_OK;

	fat_txn_set_stage(volume->dev, stage);
	for (uint32_t copy = 0; copy < geometry->n_fats && status == FAT_OK; copy++)
		if (geometry->mirrored || copy == geometry->active_fat)
			status = fat_table_set_in_copy(table, copy, clus, value);
	return status;
}

static enum fat_status read_fsinfo(struct label_volume *volume, uint8_t *sector,
				   struct fat_fsinfo *fsinfo)
{
	uint64_t off = (uint64_t)volume->geometry.fsinfo_sec * volume->geometry.sector_bytes;
	enum fat_status status = FAT_OK;

	*fsinfo = (struct fat_fsinfo){ .n_free = FAT_FSINFO_UNKNOWN };
	if (off == 0)
		return FAT_OK;
	status = fat_dev_read(volume->dev, off, sector, FAT_FSINFO_BYTES);
	if (status == FAT_OK)
		fat_fsinfo_decode(sector, fsinfo);
	return status;
}

static enum fat_status count_one_used(struct label_volume *volume, uint8_t *sector,
				      struct fat_fsinfo *fsinfo, uint32_t clus)
{
	uint64_t off = (uint64_t)volume->geometry.fsinfo_sec * volume->geometry.sector_bytes;

	if (!fsinfo->lead_ok || !fsinfo->struct_ok || fsinfo->n_free == FAT_FSINFO_UNKNOWN ||
	    fsinfo->n_free == 0)
		return FAT_OK;
	fsinfo->n_free--;
	fsinfo->next_clus = clus;
	fat_fsinfo_encode(fsinfo, sector);
	return fat_txn_write(volume->dev, FAT_STAGE_SUMMARY, off, sector, FAT_FSINFO_BYTES);
}

/* One more cluster, empty, behind FAT32's root; *off is where it begins, 0: there is none free. */
static enum fat_status grow(struct cursor *cursor, uint64_t *off)
{
	struct label_volume *volume = cursor->volume;
	enum fat_type type = volume->geometry.type;
	uint8_t sector[FAT_FSINFO_BYTES];
	struct fat_fsinfo fsinfo;
	uint32_t clus = 0;
	enum fat_status status = cursor_need_table(cursor);

	*off = 0;
	if (status == FAT_OK)
		status = read_fsinfo(volume, sector, &fsinfo);
	if (status == FAT_OK)
		status = find_free(cursor->table, fsinfo.next_clus, &clus);
	if (status != FAT_OK || clus == 0)
		return status;
	*off = fat_geometry_cluster_off(&volume->geometry, clus);
	status = fat_txn_fill(volume->dev, FAT_STAGE_PREPARE, 0, *off,
			      volume->geometry.cluster_bytes);
	if (status == FAT_OK)
		status = set_entry(volume, cursor->table, FAT_STAGE_PREPARE, clus,
				   fat_entry_mask(type));
	if (status == FAT_OK)
		status = set_entry(volume, cursor->table, FAT_STAGE_ATTACH, cursor->clus, clus);
	if (status == FAT_OK)
		status = count_one_used(volume, sector, &fsinfo, clus);
	return status;
}

/* Where the entry goes. false: told why there is no place, or what failed. */
static bool find_place(struct cursor *cursor, const struct label_root *root, uint64_t *off)
{
	struct label_volume *volume = cursor->volume;
	static const uint8_t end_mark;

	*off = root->deleted_off ? root->deleted_off : root->end_off;
	if (*off) {
		/* What lies behind the end mark must not come to life. */
		if (*off == root->end_off && root->behind_off &&
		    fat_txn_write(volume->dev, FAT_STAGE_PREPARE, root->behind_off, &end_mark, 1) !=
			    FAT_OK)
			return label_volume_failed(volume);
		return true;
	}
	if (root->is_broken)
		return refuse(volume, "the root directory is damaged; run fsck.fat first");
	if (volume->geometry.type != FAT_TYPE_32)
		return refuse(volume, "the root directory has no room for a label; move a file "
				      "into a folder");
	if (grow(cursor, off) != FAT_OK)
		return label_volume_failed(volume);
	return *off ? true
		    : refuse(volume, "the root directory has no room for a label, and no cluster "
				     "is free; remove a file");
}

/* ---- changing ---- */

static void make_slot(const struct label_root *root, enum fat_type type,
		      const uint8_t label[FAT_SHORT_BYTES], const struct fat_datetime *now,
		      uint8_t slot[FAT_SLOT_BYTES])
{
	struct fat_dirent entry = { .attr = FAT_ATTR_VOLUME };
	uint16_t date, time;
	uint8_t fine;

	memset(slot, 0, FAT_SLOT_BYTES);
	if (!fat_datetime_encode(now, &date, &time, &fine))
		date = time = fine = 0;
	if (root->label_off) {
		memcpy(slot, root->slot, FAT_SLOT_BYTES);
		fat_dirent_decode(slot, type, &entry);
	} else {
		entry.create_date = date;
		entry.create_time = time;
		entry.create_fine = fine;
	}
	memcpy(entry.name, label, sizeof entry.name);
	if (entry.name[0] == FAT_SLOT_DELETED_MARK)
		entry.name[0] = 0x05;
	entry.write_date = entry.access_date = date;
	entry.write_time = time;
	fat_dirent_encode(&entry, type, slot);
}

bool label_root_set(struct label_volume *volume, const uint8_t label[FAT_SHORT_BYTES],
		    const struct fat_datetime *now)
{
	struct label_root root = { 0 };
	struct cursor cursor;
	uint8_t slot[FAT_SLOT_BYTES];
	uint64_t off;
	bool done;

	cursor_open(&cursor, volume);
	done = find(&cursor, &root, true) == FAT_OK || label_volume_failed(volume);
	off = root.label_off;
	if (done && !off)
		done = find_place(&cursor, &root, &off);
	cursor_close(&cursor);
	if (!done)
		return false;
	make_slot(&root, volume->geometry.type, label, now, slot);
	return fat_txn_write(volume->dev, FAT_STAGE_ATTACH, off, slot, sizeof slot) == FAT_OK ||
	       label_volume_failed(volume);
}

/* As dosfstools marks them: deleted, and no label any more to whoever looks at attributes only. */
static enum fat_status remove_slot(struct label_volume *volume, const uint8_t *slot, uint64_t off)
{
	uint8_t changed[FAT_SLOT_BYTES];
	struct fat_dirent entry;

	memcpy(changed, slot, sizeof changed);
	fat_dirent_decode(changed, volume->geometry.type, &entry);
	entry.name[0] = FAT_SLOT_DELETED_MARK;
	entry.attr = 0;
	fat_dirent_encode(&entry, volume->geometry.type, changed);
	return fat_txn_write(volume->dev, FAT_STAGE_ATTACH, off, changed, sizeof changed);
}

bool label_root_remove(struct label_volume *volume)
{
	struct cursor cursor;
	const uint8_t *slot;
	uint64_t off;
	enum fat_status status;

	cursor_open(&cursor, volume);
	for (;;) {
		status = cursor_next(&cursor, &slot, &off);
		if (status != FAT_OK || !slot || fat_slot_classify(slot) == FAT_SLOT_END)
			break;
		if (fat_slot_classify(slot) == FAT_SLOT_LABEL)
			status = remove_slot(volume, slot, off);
		if (status != FAT_OK)
			break;
	}
	cursor_close(&cursor);
	return status == FAT_OK || label_volume_failed(volume);
}
