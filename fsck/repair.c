/* SPDX-License-Identifier: MIT */
/*
 * repair: single edits of entries and slots, in stages. See repair.h.
 */
#include "repair.h"

#include <string.h>

void repair_init(struct repair *repair, struct fsck *fsck, struct fat_dev *txn)
{
	*repair = (struct repair){ .fsck = fsck, .txn = txn, .next_free = FAT_FIRST_CLUS };
}

void repair_fini(struct repair *repair)
{
	name_set_fini(&repair->names);
}

enum fat_status repair_write(struct repair *repair, enum fat_stage stage, uint64_t off,
			     const void *buf, size_t len_bytes)
{
	enum fat_status status = fat_txn_write(repair->txn, stage, off, buf, len_bytes);
	uint8_t seen[FAT_BOOT_BYTES];

	while (status == FAT_OK && len_bytes <= sizeof seen) {
		status = fat_dev_read(repair->txn, off, seen, len_bytes);
		if (status != FAT_OK || memcmp(seen, buf, len_bytes) == 0 ||
		    ++stage == FAT_N_STAGES)
			break;
		status = fat_txn_write(repair->txn, stage, off, buf, len_bytes);
	}
	return status;
}

/* An entry as it reads through the overlay, past the table's windows. */
static enum fat_status entry_now(struct repair *repair, uint32_t clus, uint32_t *value)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint32_t copy = fat_table_copy_of(&repair->fsck->table, clus);
	uint64_t off = fat_geometry_fat_off(geometry, copy) + fat_entry_off(geometry->type, clus);
	size_t len_bytes = geometry->type == FAT_TYPE_32 ? 4 : 2;
	uint8_t bytes[4];
	enum fat_status status = fat_dev_read(repair->txn, off, bytes, len_bytes);

	if (status != FAT_OK)
		return status;
	if (geometry->type == FAT_TYPE_12) /* an odd one begins in the middle of a byte */
		*value = clus & 1 ? (uint32_t)(bytes[0] | bytes[1] << 8) >> 4 :
				    (uint32_t)(bytes[0] | bytes[1] << 8) & 0xFFF;
	else
		*value = fat_entry_get(geometry->type, bytes, 0);
	return FAT_OK;
}

enum fat_status repair_set_entry(struct repair *repair, enum fat_stage stage, uint32_t clus,
				 uint32_t value)
{
	enum fat_status status = FAT_OK;
	uint32_t seen = ~value;

	for (; status == FAT_OK && seen != value && stage < FAT_N_STAGES; stage++) {
		fat_txn_set_stage(repair->txn, stage);
		status = fat_table_set(&repair->fsck->table, clus, value);
		if (status == FAT_OK)
			status = entry_now(repair, clus, &seen);
	}
	return status;
}

enum fat_status repair_set_end(struct repair *repair, enum fat_stage stage, uint32_t clus)
{
	return repair_set_entry(repair, stage, clus, fat_entry_mask(repair->fsck->geometry.type));
}

enum fat_status repair_allocate(struct repair *repair, uint32_t *clus)
{
	struct fsck *fsck = repair->fsck;
	uint32_t last = fat_geometry_last_clus(&fsck->geometry);

	*clus = 0;
	for (uint32_t c = repair->next_free; c <= last; c++) {
		uint32_t value;
		enum fat_status status = fat_table_get(&fsck->table, c, &value);

		if (status != FAT_OK)
			return status;
		repair->next_free = c + 1;
		if (value == 0) {
			*clus = c;
			return repair_set_end(repair, FAT_STAGE_PREPARE, c);
		}
	}
	return FAT_OK;
}

enum fat_status repair_read_slot(struct repair *repair, uint64_t off, uint8_t slot[FAT_SLOT_BYTES])
{
	return fat_dev_read(repair->txn, off, slot, FAT_SLOT_BYTES);
}

enum fat_status repair_delete_slot(struct repair *repair, enum fat_stage stage, uint64_t off)
{
	static const uint8_t mark = FAT_SLOT_DELETED_MARK;

	return repair_write(repair, stage, off, &mark, 1);
}

enum fat_status repair_delete_entry(struct repair *repair, const struct fault *fault)
{
	enum fat_status status = repair_delete_slot(repair, FAT_STAGE_DETACH, fault->entry_off);

	for (uint32_t i = 0; i < fault->n_long && status == FAT_OK; i++)
		status = repair_delete_slot(repair, FAT_STAGE_RELEASE, fault->long_off[i]);
	return status;
}

enum fat_status repair_set_start(struct repair *repair, enum fat_stage stage, uint64_t entry_off,
				 uint32_t start, uint32_t size)
{
	enum fat_type type = repair->fsck->geometry.type;
	uint8_t slot[FAT_SLOT_BYTES];
	struct fat_dirent dirent;
	enum fat_status status = repair_read_slot(repair, entry_off, slot);

	if (status != FAT_OK)
		return status;
	fat_dirent_decode(slot, type, &dirent);
	dirent.start_clus = start;
	dirent.size_bytes = size;
	fat_dirent_encode(&dirent, type, slot);
	return repair_write(repair, stage, entry_off, slot, sizeof slot);
}

enum fat_status repair_free(struct repair *repair, const struct fault *fault)
{
	uint32_t clus = fault->start;
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < fault->n && status == FAT_OK; i++) {
		uint32_t next;

		status = fat_table_get(&repair->fsck->table, clus, &next);
		if (status == FAT_OK)
			status = repair_set_entry(repair, FAT_STAGE_RELEASE, clus, 0);
		clus = next;
	}
	return status;
}
