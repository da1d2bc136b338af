/* SPDX-License-Identifier: MIT */
/*
 * repair: single edits of entries and slots, in stages. See repair.h.
 */
#include "repair.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

void repair_init(struct repair *repair, struct fsck *fsck, struct fat_dev *txn)
{
	*repair = (struct repair){ .fsck = fsck, .txn = txn, .next_free = FAT_FIRST_CLUS };
}

void repair_fini(struct repair *repair)
{
	name_set_fini(&repair->names);
	if (repair->has_wanted)
		fat_bitmap_fini(&repair->wanted);
}

enum fat_status repair_write(struct repair *repair, enum fat_stage stage, uint64_t off,
			     const void *buf, size_t len_bytes)
{
	enum fat_status status;
	uint8_t seen[FAT_BOOT_BYTES];

	if (len_bytes < FAT_BOOT_BYTES && fat_dev_unreadable(repair->txn, off, len_bytes))
		return FAT_OK; /* the rest of the sector is not known */
	status = fat_txn_write(repair->txn, stage, off, buf, len_bytes);

	while (status == FAT_OK && len_bytes <= sizeof seen) {
		status = fat_dev_read(repair->txn, off, seen, len_bytes);
		if (status != FAT_OK || memcmp(seen, buf, len_bytes) == 0 ||
		    ++stage == FAT_N_STAGES)
			break;
		status = fat_txn_write(repair->txn, stage, off, buf, len_bytes);
	}
	return status;
}

/* Writes, and sees to it that it can be seen, as repair_write() does. */
static enum fat_status set_in_copy(struct repair *repair, enum fat_stage stage, uint32_t copy,
				   uint32_t clus, uint32_t value)
{
	struct fat_table *table = &repair->fsck->table;
	enum fat_status status = FAT_OK;
	uint32_t seen = ~value;

	for (; status == FAT_OK && seen != value && stage < FAT_N_STAGES; stage++) {
		fat_txn_set_stage(repair->txn, stage);
		status = fat_table_set_in_copy(table, copy, clus, value);
		if (status == FAT_OK)
			status = fat_table_get_in_copy(table, copy, clus, &seen);
	}
	return status;
}

/* What drivers read is never behind: where another copy is believed, theirs goes along with it. */
enum fat_status repair_set_entry(struct repair *repair, enum fat_stage stage, uint32_t clus,
				 uint32_t value)
{
	const struct fat_table *table = &repair->fsck->table;
	uint32_t copy = fat_table_copy_of(table, clus), drivers = table->geometry->active_fat;
	enum fat_status status = set_in_copy(repair, stage, copy, clus, value);

	if (status != FAT_OK || copy == drivers || fat_table_is_bad(table, drivers, clus))
		return status;
	return set_in_copy(repair, stage, drivers, clus, value);
}

enum fat_status repair_set_end(struct repair *repair, enum fat_stage stage, uint32_t clus)
{
	return repair_set_entry(repair, stage, clus, fat_entry_mask(repair->fsck->geometry.type));
}

/* Free clusters that some chain runs into: what is in them may be that file's. */
static enum fat_status collect_wanted(struct repair *repair)
{
	struct fsck *fsck = repair->fsck;

	if (repair->has_wanted)
		return FAT_OK;
	if (!fat_bitmap_init(&repair->wanted,
			     (uint64_t)fat_geometry_last_clus(&fsck->geometry) + 1))
		return FAT_ERR_MEMORY;
	repair->has_wanted = true;
	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		if ((fault->id == F_CHAIN_FREE || fault->id == F_DIR_START_FREE) &&
		    fat_geometry_has_clus(&fsck->geometry, fault->clus) &&
		    fat_bitmap_set(&repair->wanted, fault->clus) == FAT_BIT_NO_MEMORY)
			return FAT_ERR_MEMORY;
	}
	return FAT_OK;
}

bool repair_is_wanted(struct repair *repair, uint32_t clus)
{
	return collect_wanted(repair) != FAT_OK || fat_bitmap_get(&repair->wanted, clus);
}

enum fat_status repair_next_free(struct repair *repair, uint32_t from, uint32_t *clus)
{
	struct fsck *fsck = repair->fsck;
	uint32_t last = fat_geometry_last_clus(&fsck->geometry);
	enum fat_status status = collect_wanted(repair);
	uint32_t value;

	*clus = 0;
	for (uint32_t c = from; c <= last && *clus == 0 && status == FAT_OK; c++) {
		status = fat_table_get(&fsck->table, c, &value);
		if (status == FAT_OK && value == 0 && !fat_bitmap_get(&repair->wanted, c) &&
		    !fat_table_is_blind(&fsck->table, c) && !cluster_is_sick(fsck, c) &&
		    cluster_is_present(fsck, c))
			*clus = c;
	}
	return status;
}

enum fat_status repair_allocate(struct repair *repair, uint32_t *clus)
{
	enum fat_status status = repair_next_free(repair, repair->next_free, clus);

	if (status != FAT_OK)
		return status;
	if (*clus == 0) {
		repair->next_free = UINT32_MAX;
		return FAT_OK;
	}
	repair->next_free = *clus + 1;
	return repair_set_end(repair, FAT_STAGE_PREPARE, *clus);
}

/* ---- content of clusters ---- */

/* Byte by byte, where ranges would be in each other's way. */
static enum fat_status fill_by_bytes(struct repair *repair, uint32_t to, uint32_t from)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint8_t *content = calloc(1, geometry->cluster_bytes);
	enum fat_status status = content ? FAT_OK : FAT_ERR_MEMORY;

	if (status == FAT_OK && from)
		status = fat_dev_read(repair->txn, fat_geometry_cluster_off(geometry, from),
				      content, geometry->cluster_bytes);
	if (status == FAT_OK)
		status = fat_txn_write(repair->txn, FAT_STAGE_CONTENT,
				       fat_geometry_cluster_off(geometry, to), content,
				       geometry->cluster_bytes);
	free(content);
	return status;
}

enum fat_status repair_copy_cluster(struct repair *repair, uint32_t to, uint32_t from)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	enum fat_status status =
		fat_txn_copy(repair->txn, FAT_STAGE_CONTENT, fat_geometry_cluster_off(geometry, to),
			     fat_geometry_cluster_off(geometry, from), geometry->cluster_bytes);

	return status == FAT_ERR_ARGUMENT ? fill_by_bytes(repair, to, from) : status;
}

enum fat_status repair_zero_cluster(struct repair *repair, uint32_t clus)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	enum fat_status status =
		fat_txn_fill(repair->txn, FAT_STAGE_CONTENT, 0,
			     fat_geometry_cluster_off(geometry, clus), geometry->cluster_bytes);

	return status == FAT_ERR_ARGUMENT ? fill_by_bytes(repair, clus, 0) : status;
}

/* ---- slots ---- */

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
	if (type != FAT_TYPE_32)
		put_le16(slot + SLOT_START_HIGH_AT,
			 0); /* no start's upper half; as wrong as the rest was */
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
