/* SPDX-License-Identifier: MIT */
/*
 * repair_final: what is derived from the rest: mirror copies, boot sectors, FSInfo, flags.
 *
 * Runs once, when all other repairs are in the overlay. Copies that were not believed are
 * overwritten here, behind everything that was decided by believing the others.
 */
#include <string.h>

#include "bytes.h"
#include "repair.h"

#define STATE_OFF_16 37u
#define STATE_OFF_32 65u

/* ---- mirror ---- */

struct mirror {
	struct repair *repair;
	uint32_t copy;
	uint64_t done_off; /* behind the last byte copied, within a FAT */
	uint32_t n_runs;
};

#define MAX_RUN	 64u   /* entries of a run that are written one by one */
#define MAX_RUNS 64u   /* of these */

/*
 * What is free in the FAT that drivers read, or leads elsewhere than it ought to, becomes an end
 * first: in whatever order its sectors arrive then, nothing leads into a free cluster or to
 * another's.
 */
static enum fat_status hold_entry(struct repair *repair, uint32_t copy, uint32_t clus)
{
	struct fat_table *table = &repair->fsck->table;
	uint32_t value, found = 0, end = fat_entry_mask(table->geometry->type);
	enum fat_status status;

	if (copy != table->geometry->active_fat || clus < FAT_FIRST_CLUS)
		return FAT_OK;
	status = fat_table_get(table, clus, &value);
	if (status == FAT_OK)
		status = fat_table_get_in_copy(table, copy, clus, &found);
	if (status != FAT_OK || found == value ||
	    (found != 0 && !fat_geometry_has_clus(table->geometry, found)))
		return status;
	fat_txn_set_stage(repair->txn, FAT_STAGE_PREPARE);
	return fat_table_set_in_copy(table, copy, clus,
				     fat_geometry_has_clus(table->geometry, value) || value == 0 ?
					     end :
					     value);
}

static enum fat_status mirror_entry(struct repair *repair, uint32_t copy, uint32_t clus)
{
	struct fat_table *table = &repair->fsck->table;
	uint32_t value = 0;
	enum fat_status status = fat_table_get(table, clus, &value);

	fat_txn_set_stage(repair->txn, value ? FAT_STAGE_MIRROR : FAT_STAGE_SUMMARY);
	return status == FAT_OK ? fat_table_set_in_copy(table, copy, clus, value) : status;
}

/*
 * Of whole bytes, with the four bits of FAT32 that are reserved; as it is before CLEAN, which takes
 * the mark away in each copy.
 */
static enum fat_status mirror_bytes(struct repair *repair, uint32_t copy, uint32_t clus)
{
	const struct fat_table *table = &repair->fsck->table;
	enum fat_type type = table->geometry->type;
	uint64_t at = fat_entry_off(type, clus);
	uint64_t off = fat_geometry_fat_off(table->geometry, copy) + at;
	size_t n = (size_t)type / 8;
	uint8_t bytes[4], found[4] = { 0 };
	enum fat_status status;

	status = fat_txn_read_before(repair->txn, FAT_STAGE_CLEAN,
				     fat_geometry_fat_off(table->geometry,
							  fat_table_copy_of(table, clus)) + at,
				     bytes, n);
	if (status == FAT_OK)
		status = fat_dev_read(repair->txn, off, found, n);
	if (status != FAT_OK || memcmp(bytes, found, n) == 0)
		return status;
	fat_txn_set_stage(repair->txn,
			  fat_entry_get(type, bytes, 0) ? FAT_STAGE_MIRROR : FAT_STAGE_SUMMARY);
	return fat_dev_write(repair->txn, off, bytes, n);
}

static enum fat_status mirror_entries(struct repair *repair, uint32_t copy, uint32_t first,
				      uint32_t last)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint32_t n = geometry->sector_bytes / 4;
	enum fat_status status = FAT_OK;

	if (geometry->type == FAT_TYPE_32) { /* as the sectors are */
		first -= first % n;
		last = min_u32(last + n - 1 - last % n, fat_geometry_last_clus(geometry));
	}
	for (uint32_t c = first; c <= last && status == FAT_OK; c++) {
		status = hold_entry(repair, copy, c);
		if (status == FAT_OK)
			status = geometry->type == FAT_TYPE_12 ? mirror_entry(repair, copy, c) :
								 mirror_bytes(repair, copy, c);
	}
	return status;
}

/*
 * Whole sectors, held as entries are; FFh is the end mark of every width. The first has the marks
 * of the volume in it: entry by entry.
 */
static enum fat_status mirror_sectors(struct mirror *mirror, uint32_t copy, uint32_t first,
				      uint32_t last)
{
	struct repair *repair = mirror->repair;
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	uint64_t sector = geometry->sector_bytes, off = fat_geometry_fat_off(geometry, copy);
	uint64_t from = fat_entry_off(geometry->type, first) / sector * sector;
	uint64_t end = (fat_entry_off(geometry->type, last) + 4 + sector - 1) / sector * sector;
	enum fat_status status = FAT_OK;

	if (mirror->copy != copy || first == 0) {
		mirror->copy = copy;
		mirror->done_off = 0;
	}
	if (from == 0) {
		status = mirror_entries(repair, copy, first,
					(uint32_t)(sector * 8 / (unsigned)geometry->type) - 1);
		from = sector;
	}
	end = min_u64(end, fat_geometry_fat_bytes(geometry));
	from = max_u64(from, mirror->done_off);
	if (status != FAT_OK || from >= end)
		return status;
	mirror->done_off = end;
	if (copy == geometry->active_fat)
		status = fat_txn_fill(repair->txn, FAT_STAGE_PREPARE, 0xFF, off + from, end - from);
	if (status != FAT_OK)
		return status;
	return fat_txn_copy(repair->txn, FAT_STAGE_MIRROR, off + from,
			    fat_geometry_fat_off(geometry, repair->fsck->table.copy) + from,
			    end - from);
}

/* Entries become free after those that led to them have changed; all wrong: in whole sectors. */
static enum fat_status mirror_run(void *context, uint32_t copy, uint32_t first, uint32_t last)
{
	struct mirror *mirror = context;
	const struct fat_table *table = &mirror->repair->fsck->table;

	if (table->n_ranges > 0 || table->n_bad > 0 || table->geometry->type == FAT_TYPE_12 ||
	    (last - first < MAX_RUN && mirror->n_runs++ < MAX_RUNS))
		return mirror_entries(mirror->repair, copy, first, last);
	return mirror_sectors(mirror, copy, first, last);
}

/* One copy at a time, so that its ranges come in their order. */
static enum fat_status mirror_fats(struct repair *repair)
{
	struct mirror mirror = { .repair = repair, .copy = UINT32_MAX };
	struct fat_table_visitor visitor = { .context = &mirror, .differ = mirror_run };

	return fat_table_scan(&repair->fsck->table, &visitor);
}

/* ---- boot sectors ---- */

static uint32_t state_off(const struct fsck *fsck)
{
	return fat_boot_is_fat32_layout(&fsck->boot) ? STATE_OFF_32 : STATE_OFF_16;
}

/* A driver takes the byte for the state whatever the signature says. */
static bool has_state(const struct fsck *fsck)
{
	uint8_t flags = FAT_STATE_DIRTY | FAT_STATE_SURFACE;

	if (fsck->is_atari)
		return false;
	return fsck->boot.ext_sig == 0x28 || fsck->boot.ext_sig == 0x29 || fsck->boot.state & flags;
}

static enum fat_status write_if_different(struct repair *repair, enum fat_stage stage, uint64_t off,
					  const uint8_t *wanted)
{
	uint8_t found[FAT_BOOT_BYTES];
	enum fat_status status = fat_dev_read(repair->txn, off, found, sizeof found);

	if (status != FAT_OK || memcmp(found, wanted, sizeof found) == 0)
		return status;
	return repair_write(repair, stage, off, wanted, FAT_BOOT_BYTES);
}

/* The root's label is what drivers show; a boot sector without one stays so. */
static void copy_label(struct fsck *fsck)
{
	if (fsck->options->upper_label && fsck->boot.ext_sig == 0x29 && !fsck->is_atari)
		label_upcase(fsck->boot.label);
	if (!fsck->label_differs)
		return;
	memcpy(fsck->boot.label, fsck->label.name, sizeof fsck->boot.label);
	if (fsck->boot.label[0] == 0x05)
		fsck->boot.label[0] = FAT_SLOT_DELETED_MARK;
}

/* It stays marked as dirty, or becomes so: only CLEAN takes the mark away. */
static enum fat_status write_boot(struct repair *repair, const uint8_t *wanted)
{
	uint8_t sector[FAT_BOOT_BYTES];
	enum fat_status status = fat_dev_read(repair->txn, 0, sector, sizeof sector);

	if (status != FAT_OK || memcmp(sector, wanted, sizeof sector) == 0)
		return status;
	memcpy(sector, wanted, sizeof sector);
	if (has_state(repair->fsck))
		sector[state_off(repair->fsck)] |= FAT_STATE_DIRTY;
	return repair_write(repair, FAT_STAGE_MIRROR, 0, sector, sizeof sector);
}

static enum fat_status write_boots(struct repair *repair)
{
	struct fsck *fsck = repair->fsck;
	const struct fat_geometry *geometry = &fsck->geometry;
	uint8_t sector[FAT_BOOT_BYTES];
	enum fat_status status;
	bool changed;

	copy_label(fsck);
	memcpy(sector, fsck->sector, sizeof sector);
	fat_boot_encode(&fsck->boot, sector);
	changed = memcmp(sector, fsck->sector, sizeof sector) != 0;
	status = write_boot(repair, sector);
	if (status != FAT_OK || !(fsck->write_backup || changed) || geometry->type != FAT_TYPE_32 ||
	    geometry->backup_sec == 0)
		return status;
	if (has_state(fsck))
		sector[state_off(fsck)] &= (uint8_t)~(FAT_STATE_DIRTY | FAT_STATE_SURFACE);
	return write_if_different(repair, FAT_STAGE_MIRROR,
				  (uint64_t)geometry->backup_sec * geometry->sector_bytes, sector);
}

/* ---- FSInfo ---- */

static enum fat_status write_fsinfo(struct repair *repair)
{
	struct fsck *fsck = repair->fsck;
	const struct fat_geometry *geometry = &fsck->geometry;
	uint64_t off = (uint64_t)geometry->fsinfo_sec * geometry->sector_bytes;
	uint8_t sector[FAT_FSINFO_BYTES];
	struct fat_fsinfo info;
	enum fat_status status;
	bool whole;

	if (geometry->type != FAT_TYPE_32 || geometry->fsinfo_sec == 0)
		return FAT_OK;
	status = fat_dev_read(repair->txn, off, sector, sizeof sector);
	if (status != FAT_OK)
		return status;
	fat_fsinfo_decode(sector, &info);
	whole = info.lead_ok && info.struct_ok && info.trail_ok;
	if (fsck->count.blind)
		info.n_free = whole ? info.n_free : FAT_FSINFO_UNKNOWN;
	else if (!whole || info.n_free != FAT_FSINFO_UNKNOWN)
		info.n_free = fsck->count.free;
	if (!whole || !fat_geometry_has_clus(geometry, info.next_clus))
		info.next_clus = FAT_FSINFO_UNKNOWN;
	fat_fsinfo_encode(&info, sector);
	return write_if_different(repair, FAT_STAGE_SUMMARY, off, sector);
}

/* ---- flags ---- */

static enum fat_status write_state(struct repair *repair, enum fat_stage stage, uint8_t state)
{
	struct fsck *fsck = repair->fsck;
	uint8_t sector[FAT_BOOT_BYTES];
	enum fat_status status = FAT_OK;

	if (!has_state(fsck) ||
	    (!fsck->boot_replaced && fat_dev_unreadable(repair->txn, 0, FAT_BOOT_BYTES)))
		return status;
	status = fat_dev_read(repair->txn, 0, sector, sizeof sector);
	if (status != FAT_OK || sector[state_off(fsck)] == state)
		return status;
	return fat_txn_write(repair->txn, stage, state_off(fsck), &state, 1);
}

/* A bit of entry 1 of one FAT; its neighbours are another stage's. */
static enum fat_status write_fat_flag(struct repair *repair, enum fat_stage stage, uint32_t copy,
				      uint32_t flag, bool on)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	size_t len_bytes = (size_t)fat_entry_off(geometry->type, 1);
	uint64_t off = fat_geometry_fat_off(geometry, copy) + len_bytes;
	uint8_t bytes[4] = { 0 }, mask[4] = { 0 }, found[4];
	enum fat_status status;

	fat_entry_set(geometry->type, mask, 0, flag);
	fat_entry_set(geometry->type, bytes, 0, on ? flag : 0);
	status = fat_dev_read(repair->txn, off, found, len_bytes);
	if (status != FAT_OK || (fat_entry_get(geometry->type, found, 0) & flag) == (on ? flag : 0))
		return status;
	return fat_txn_write_bits(repair->txn, stage, off, bytes, mask, len_bytes);
}

static enum fat_status set_fat_flag(struct repair *repair, enum fat_stage stage, uint32_t flag)
{
	const struct fat_geometry *geometry = &repair->fsck->geometry;
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; flag != 0 && i < geometry->n_fats && status == FAT_OK; i++)
		if ((geometry->mirrored || i == geometry->active_fat) &&
		    !fat_table_is_bad(&repair->fsck->table, i, 1))
			status = write_fat_flag(repair, stage, i, flag, true);
	return status;
}

/* Where there is no boot sector to mark, the FAT is marked. */
static enum fat_status mark(struct repair *repair)
{
	static const uint8_t dirty = FAT_STATE_DIRTY;
	struct fsck *fsck = repair->fsck;
	uint32_t flag = fat_entry_clean_bit(fsck->geometry.type), believed;
	enum fat_status status = FAT_OK;

	if (has_state(fsck) && !fsck->boot_replaced &&
	    !fat_dev_unreadable(repair->txn, 0, FAT_BOOT_BYTES))
		return fsck->boot.state & dirty ? FAT_OK :
						  fat_txn_write_bits(repair->txn, FAT_STAGE_MARK,
								     state_off(fsck), &dirty,
								     &dirty, 1);
	believed = fat_table_copy_of(&fsck->table, 1);
	for (uint32_t i = 0; flag != 0 && i < fsck->geometry.n_fats && status == FAT_OK; i++)
		if (i == believed || fsck->geometry.mirrored)
			status = write_fat_flag(repair,
						i == believed ? FAT_STAGE_MARK : FAT_STAGE_MIRROR,
						i, flag, false);
	return status;
}

/*
 * Dirty from the first write to the last, if there is more to write than the mark itself. With
 * everything fixed the marks that were there before go, too.
 */
static enum fat_status write_flags(struct repair *repair, bool everything_fixed)
{
	struct fsck *fsck = repair->fsck;
	enum fat_type type = fsck->geometry.type;
	uint8_t flags = FAT_STATE_DIRTY | FAT_STATE_SURFACE, state = fsck->boot.state;
	enum fat_status status = FAT_OK;
	uint32_t value = 0;

	if (everything_fixed)
		status = set_fat_flag(repair, FAT_STAGE_MIRROR, fat_entry_no_error_bit(type));
	if (status == FAT_OK)
		status = fat_table_get(&fsck->table, 1, &value);
	if (status == FAT_OK && fat_txn_has_edits(repair->txn, FAT_N_STAGES))
		status = mark(repair);
	if (status == FAT_OK)
		status = write_state(repair, FAT_STAGE_CLEAN,
				     everything_fixed ? (uint8_t)(state & ~flags) : state);
	if (status == FAT_OK && (everything_fixed || value & fat_entry_clean_bit(type)))
		status = set_fat_flag(repair, FAT_STAGE_CLEAN, fat_entry_clean_bit(type));
	return status;
}

enum fat_status repair_final(struct repair *repair, bool everything_fixed)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status = FAT_OK;

	if (fsck->geometry.mirrored)
		status = mirror_fats(repair);
	if (status == FAT_OK)
		status = write_boots(repair);
	if (status == FAT_OK)
		status = write_fsinfo(repair);
	if (fsck->has_table)
		fat_table_forget(&fsck->table);
	if (status == FAT_OK)
		status = write_flags(repair, everything_fixed);
	return status;
}
