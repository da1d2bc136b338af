/* SPDX-License-Identifier: MIT */
/*
 * format: writes a planned volume to a device.
 *
 * Keeps one invariant: wherever the work is cut off, the device holds either what it held before
 * or no file system at all, until the last flush makes it the new volume. So the boot sector is
 * the first thing to go and the last to come. Knows no clock and no randomness.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "format_table.h"

#define SIGNATURE_BYTES (1ull << 20) /* where file systems have their first signatures */
#define TABLE_OFF	440u
#define JUMP_TARGET_16	0x3Cu
#define JUMP_TARGET_32	0x58u

static const uint8_t no_label[11] = { 'N', 'O', ' ', 'N', 'A', 'M', 'E', ' ', ' ', ' ', ' ' };

/* ---- boot sector ---- */

static const char *type_text(enum fat_type type)
{
	return type == FAT_TYPE_12 ? "FAT12   " : type == FAT_TYPE_16 ? "FAT16   " : "FAT32   ";
}

static struct fat_boot boot_fields(const struct fat_layout *layout,
				   const struct fat_format_options *options)
{
	const struct fat_geometry *geometry = &layout->geometry;
	bool is_32 = geometry->type == FAT_TYPE_32;
	bool is_short = geometry->total_sec <= UINT16_MAX;
	struct fat_boot boot = {
		.jump = { 0xEB, is_32 ? JUMP_TARGET_32 : JUMP_TARGET_16, 0x90 },
		.oem = { 'm', 'k', 'f', 's', '.', 'f', 'a', 't' },
		.sector_bytes = (uint16_t)geometry->sector_bytes,
		.cluster_sec = (uint8_t)geometry->cluster_sec,
		.reserved_sec = (uint16_t)geometry->reserved_sec,
		.n_fats = (uint8_t)geometry->n_fats,
		.root_entries = (uint16_t)geometry->root_entries,
		.total16_sec = is_short ? (uint16_t)geometry->total_sec : 0,
		.media = geometry->media,
		.fat16_sec = is_32 ? 0 : (uint16_t)geometry->fat_sec,
		.track_sec = (uint16_t)layout->track_sec,
		.heads = (uint16_t)layout->heads,
		.hidden_sec = layout->hidden_sec,
		.total32_sec = is_short ? 0 : geometry->total_sec,
		.fat32_sec = is_32 ? geometry->fat_sec : 0,
		.root_clus = geometry->root_clus,
		.fsinfo_sec = (uint16_t)geometry->fsinfo_sec,
		.backup_sec = (uint16_t)geometry->backup_sec,
		.drive = layout->drive,
		.ext_sig = 0x29,
		.volume_id = options->volume_id,
		.signature = 0xAA55,
	};

	memcpy(boot.label, options->has_label ? options->label : no_label, sizeof boot.label);
	memcpy(boot.fs_type, type_text(geometry->type), sizeof boot.fs_type);
	return boot;
}

/* GEMDOS has a 24-bit serial number behind six letters, and nothing that a BIOS would look for. */
static void make_atari(struct fat_boot *boot, uint32_t volume_id)
{
	memcpy(boot->jump, (const uint8_t[3]){ 0x60, 0x1C, 'm' }, 3);
	memcpy(boot->oem, "kdosf", 5);
	boot->oem[5] = (uint8_t)volume_id;
	boot->oem[6] = (uint8_t)(volume_id >> 8);
	boot->oem[7] = (uint8_t)(volume_id >> 16);
	boot->ext_sig = 0;
	boot->volume_id = 0;
	memset(boot->label, 0, sizeof boot->label);
	memset(boot->fs_type, 0, sizeof boot->fs_type);
	boot->signature = 0;
}

/* Cylinder, head and sector of an address as partition tables have it; out of range: FE FF FF. */
static void put_chs(const struct fat_layout *layout, uint32_t lba, uint8_t chs[3])
{
	uint32_t track_sec = layout->track_sec, heads = layout->heads;
	uint64_t cylinder = lba / ((uint64_t)track_sec * heads);

	if (cylinder > 1023 || heads > 254 || track_sec > 63) {
		memcpy(chs, (const uint8_t[3]){ 0xFE, 0xFF, 0xFF }, 3);
		return;
	}
	chs[0] = (uint8_t)(lba / track_sec % heads);
	chs[1] = (uint8_t)((lba % track_sec + 1) | (cylinder >> 8) << 6);
	chs[2] = (uint8_t)cylinder;
}

static uint8_t partition_type(const struct fat_layout *layout, const uint8_t last_chs[3])
{
	const struct fat_geometry *geometry = &layout->geometry;

	if (geometry->type == FAT_TYPE_32)
		return 0x0C;
	if (geometry->total_sec <= UINT16_MAX)
		return geometry->type == FAT_TYPE_12 ? 0x01 : 0x04;
	return last_chs[0] == 0xFE ? 0x0E : 0x06;
}

/* One active entry from sector 0 on: the whole disk, for firmware that boots from tables only. */
static void put_table(const struct fat_layout *layout, uint32_t disk_id, uint8_t *sector)
{
	uint8_t *entry = sector + TABLE_OFF + 6;
	uint32_t total_sec = layout->geometry.total_sec;

	memset(sector + TABLE_OFF, 0, FAT_BOOT_BYTES - 2 - TABLE_OFF);
	put_le32(sector + TABLE_OFF, disk_id);
	entry[0] = 0x80;
	memcpy(entry + 1, (const uint8_t[3]){ 0, 1, 0 }, 3);
	put_chs(layout, total_sec - 1, entry + 5);
	entry[4] = partition_type(layout, entry + 5);
	put_le32(entry + 12, total_sec);
}

void fat_format_boot(const struct fat_layout *layout, const struct fat_format_options *options,
		     uint8_t sector[FAT_BOOT_BYTES])
{
	struct fat_boot boot = boot_fields(layout, options);

	memset(sector, 0, FAT_BOOT_BYTES);
	if (layout->is_atari) {
		make_atari(&boot, options->volume_id);
		fat_boot_encode(&boot, sector);
		return;
	}
	fat_boot_code_put(layout->geometry.type, options->message, options->message_bytes, sector);
	if (options->has_table)
		put_table(layout, options->disk_id, sector);
	fat_boot_encode(&boot, sector);
}

/* ---- runs ---- */

static bool run_is_sane(const struct fat_geometry *geometry, const struct fat_run *run,
			uint64_t previous_end)
{
	return run->n_clus > 0 && run->first_clus >= previous_end &&
	       (uint64_t)run->first_clus + run->n_clus <=
		       (uint64_t)geometry->n_clus + FAT_FIRST_CLUS;
}

/*
 * The caller's runs, with the root directory's among them; *runs is to be freed. Counts the
 * clusters in use.
 */
static enum fat_status gather_runs(const struct fat_layout *layout,
				   const struct fat_format_options *options, struct fat_run **runs,
				   size_t *n_runs, uint32_t *n_used)
{
	const struct fat_geometry *geometry = &layout->geometry;
	uint32_t root_clus = geometry->root_clus;
	uint32_t root_end = layout->is_atari ? fat_entry_mask(FAT_TYPE_32) :
					       fat_entry_end_min(FAT_TYPE_32);
	struct fat_run *all = malloc((options->n_runs + 1) * sizeof *all);
	uint64_t end = FAT_FIRST_CLUS;
	size_t n = 0;

	*runs = all;
	*n_used = 0;
	if (!all)
		return FAT_ERR_MEMORY;
	for (size_t i = 0; i <= options->n_runs; i++) {
		const struct fat_run *run = i < options->n_runs ? &options->runs[i] : NULL;
		uint64_t next_first = run ? run->first_clus : UINT64_MAX;

		if (root_clus >= end && root_clus < next_first) {
			all[n++] = (struct fat_run){ root_clus, 1, root_end, false };
			*n_used += 1;
			end = root_clus + 1ull;
		}
		if (!run)
			break;
		if (!run_is_sane(geometry, run, end))
			return FAT_ERR_ARGUMENT;
		all[n++] = *run;
		*n_used += run->n_clus;
		end = next_first + run->n_clus;
	}
	*n_runs = n;
	return FAT_OK;
}

/* ---- writing ---- */

/* Content, and zeros up to len_bytes. */
static enum fat_status write_padded(struct fat_dev *dev, uint64_t off, uint32_t len_bytes,
				    const uint8_t content[FAT_BOOT_BYTES])
{
	uint8_t *padded = calloc(1, len_bytes);
	enum fat_status status;

	if (!padded)
		return fat_dev_fail(dev, FAT_ERR_MEMORY, "write", off, len_bytes, 0);
	memcpy(padded, content, FAT_BOOT_BYTES);
	status = fat_dev_write(dev, off, padded, len_bytes);
	free(padded);
	return status;
}

static enum fat_status write_sector(struct fat_dev *dev, const struct fat_geometry *geometry,
				    uint32_t at_sec, const uint8_t content[FAT_BOOT_BYTES])
{
	uint32_t sector_bytes = geometry->sector_bytes;

	return write_padded(dev, (uint64_t)at_sec * sector_bytes, sector_bytes, content);
}

/*
 * The old boot sector, and no more than the medium writes at once: with a sector of 4096 bytes the
 * first of an old FAT could go and the old boot sector stay.
 */
static uint32_t wipe_first_bytes(const struct fat_dev *dev, const struct fat_geometry *geometry)
{
	uint32_t block_bytes =
		dev->block_bytes > FAT_BOOT_BYTES ? dev->block_bytes : FAT_BOOT_BYTES;

	return block_bytes < geometry->sector_bytes ? block_bytes : geometry->sector_bytes;
}

/* A hole would do for zeros, but for the boot sector: it must be gone before anything else is. */
static enum fat_status wipe(struct fat_dev *dev, const struct fat_geometry *geometry, bool discard)
{
	static const uint8_t nothing[FAT_BOOT_BYTES];
	uint32_t start_off = wipe_first_bytes(dev, geometry);
	uint64_t data_off = fat_geometry_data_off(geometry);
	uint64_t signatures_end = min_u64(data_off, SIGNATURE_BYTES);
	enum fat_status status = write_padded(dev, 0, start_off, nothing);

	if (status == FAT_OK)
		status = fat_dev_flush(dev);
	if (status == FAT_OK && discard) /* where it is not offered, nothing is lost */
		fat_dev_discard(dev, start_off, fat_geometry_total_bytes(geometry) - start_off);
	if (status == FAT_OK)
		status = fat_dev_zero(dev, start_off, signatures_end - start_off);
	if (status == FAT_OK)
		status = fat_dev_flush(dev);
	if (status == FAT_OK)
		status = fat_dev_zero(dev, signatures_end, data_off - signatures_end);
	if (status == FAT_OK && geometry->type == FAT_TYPE_32)
		status = fat_dev_zero(dev, fat_geometry_cluster_off(geometry, geometry->root_clus),
				      geometry->cluster_bytes);
	return status;
}

static enum fat_status write_reserved_32(struct fat_dev *dev, const struct fat_layout *layout,
					 const struct fat_format_options *options, uint32_t n_used)
{
	const struct fat_geometry *geometry = &layout->geometry;
	uint8_t boot[FAT_BOOT_BYTES], info[FAT_FSINFO_BYTES] = { 0 };
	struct fat_fsinfo fsinfo = {
		.n_free = geometry->n_clus - n_used,
		.next_clus = options->next_clus ? options->next_clus : geometry->root_clus,
	};
	uint32_t backup_sec = geometry->backup_sec;
	enum fat_status status;

	fat_fsinfo_encode(&fsinfo, info);
	fat_format_boot(layout, options, boot);
	status = write_sector(dev, geometry, geometry->fsinfo_sec, info);
	if (status == FAT_OK && backup_sec)
		status = write_sector(dev, geometry, backup_sec, boot);
	if (status == FAT_OK && backup_sec && backup_sec + 1 < geometry->reserved_sec &&
	    backup_sec + 1 != geometry->fsinfo_sec)
		status = write_sector(dev, geometry, backup_sec + 1, info);
	return status;
}

static enum fat_status write_label(struct fat_dev *dev, const struct fat_geometry *geometry,
				   const struct fat_format_options *options)
{
	uint64_t root_off = geometry->type == FAT_TYPE_32 ?
				    fat_geometry_cluster_off(geometry, geometry->root_clus) :
				    fat_geometry_root_off(geometry);
	uint8_t sector[FAT_BOOT_BYTES] = { 0 };
	struct fat_dirent entry = {
		.attr = FAT_ATTR_VOLUME,
		.create_time = options->time_dos,
		.create_date = options->date_dos,
		.access_date = options->date_dos,
		.write_time = options->time_dos,
		.write_date = options->date_dos,
	};

	if (!options->has_label)
		return FAT_OK;
	memcpy(entry.name, options->label, sizeof entry.name);
	if (entry.name[0] == FAT_SLOT_DELETED_MARK)
		entry.name[0] = 0x05;
	fat_dirent_encode(&entry, geometry->type, sector);
	return write_sector(dev, geometry, (uint32_t)(root_off / geometry->sector_bytes), sector);
}

enum fat_status fat_format_begin(struct fat_dev *dev, const struct fat_layout *layout,
				 const struct fat_format_options *options)
{
	const struct fat_geometry *geometry = &layout->geometry;
	struct fat_run *runs;
	size_t n_runs;
	uint32_t n_used;
	enum fat_status status;

	if (layout->problem != FAT_LAYOUT_OK ||
	    fat_geometry_total_bytes(geometry) > dev->size_bytes)
		return fat_dev_fail(dev, FAT_ERR_ARGUMENT, "format", 0, 0, 0);
	status = gather_runs(layout, options, &runs, &n_runs, &n_used);
	if (status != FAT_OK)
		fat_dev_fail(dev, status, "format", 0, 0, 0);
	if (status == FAT_OK)
		status = wipe(dev, geometry, options->discard);
	if (status == FAT_OK)
		status = fat_format_table(dev, geometry, runs, n_runs);
	if (status == FAT_OK)
		status = write_label(dev, geometry, options);
	if (status == FAT_OK && geometry->type == FAT_TYPE_32)
		status = write_reserved_32(dev, layout, options, n_used);
	free(runs);
	return status;
}

enum fat_status fat_format_finish(struct fat_dev *dev, const struct fat_layout *layout,
				  const struct fat_format_options *options)
{
	uint8_t boot[FAT_BOOT_BYTES];
	enum fat_status status = fat_dev_flush(dev);

	fat_format_boot(layout, options, boot);
	if (status == FAT_OK)
		status = write_sector(dev, &layout->geometry, 0, boot);
	if (status == FAT_OK)
		status = fat_dev_flush(dev);
	return status;
}

enum fat_status fat_format(struct fat_dev *dev, const struct fat_layout *layout,
			   const struct fat_format_options *options)
{
	enum fat_status status = fat_format_begin(dev, layout, options);

	return status == FAT_OK ? fat_format_finish(dev, layout, options) : status;
}
