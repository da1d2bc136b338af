/* SPDX-License-Identifier: MIT */
/*
 * volume: fatlabel's view of a volume: a device that nobody else is using, its boot sector and the
 * backup of that.
 *
 * Everything that is written is staged and goes down in one commit, a flush behind each stage. Only
 * label and id of a boot sector change; the backup is left alone where it is no boot sector of this
 * volume, for that is fsck's business.
 */
#include <string.h>

#include "host.h"
#include "label.h"

#define MAX_EDIT_BYTES (1u << 20) /* a cluster and some sectors */

static bool is_in_use(const struct label_options *options)
{
	struct host_target target;
	struct host_use use;
	char text[HOST_TEXT_BYTES];

	if (host_target_init(&target, options->path) != 0 ||
	    host_mount_find(NULL, &target, &use) != HOST_YES)
		return false;
	cli_error(&label_program, "%s: is %s; unmount it first, or use --force", options->path,
		  host_use_text(&use, text, sizeof text));
	return true;
}

static bool open_device(const struct label_options *options, struct fat_dev **dev)
{
	bool writing = options->action != LABEL_SHOW;
	unsigned flags = writing ? FAT_DEV_WRITE : 0;
	struct fat_error error;
	enum fat_status status;

	if (writing && !options->force) {
		if (is_in_use(options))
			return false;
		flags |= FAT_DEV_EXCLUSIVE;
	}
	status = fat_dev_file_open(options->path, flags, dev, &error);
	if (status == FAT_ERR_BUSY)
		cli_error(&label_program,
			  "%s: another program is using it; wait for that, or use --force",
			  options->path);
	else if (status != FAT_OK)
		cli_device_error(&label_program, options->path, &error);
	return status == FAT_OK;
}

static bool read_boot(struct label_volume *volume)
{
	enum fat_status status =
		fat_dev_read(volume->dev, 0, volume->sector, sizeof volume->sector);

	if (status == FAT_ERR_RANGE)
		status = FAT_ERR_FORMAT;
	else if (status != FAT_OK)
		return label_volume_failed(volume);
	fat_boot_decode(volume->sector, &volume->boot);
	if (status == FAT_OK)
		status = fat_geometry_decode(&volume->boot, &volume->geometry);
	if (status == FAT_OK)
		return true;
	cli_error(&label_program, "%s: is not a FAT volume; run fsck.fat if it should be one",
		  volume->path);
	return false;
}

/* Puts the staging layer on top, now that the sector size is known. */
static bool stage(struct label_volume *volume)
{
	struct fat_dev *medium = volume->dev;
	uint32_t sector_bytes = volume->geometry.sector_bytes;

	if (sector_bytes < medium->block_bytes)
		sector_bytes = medium->block_bytes;
	if (fat_txn_open(medium, sector_bytes, MAX_EDIT_BYTES, &volume->dev) == FAT_OK)
		return true;
	volume->dev = medium;
	cli_error(&label_program, "%s: out of memory", volume->path);
	return false;
}

bool label_volume_open(const struct label_options *options, struct label_volume *volume)
{
	*volume = (struct label_volume){ .path = options->path };
	if (!open_device(options, &volume->dev))
		return false;
	if (read_boot(volume) && stage(volume))
		return true;
	label_volume_close(volume);
	return false;
}

void label_volume_close(struct label_volume *volume)
{
	fat_dev_close(volume->dev);
	volume->dev = NULL;
}

bool label_volume_failed(const struct label_volume *volume)
{
	cli_device_error(&label_program, volume->path, &volume->dev->error);
	return false;
}

bool label_volume_has_id(const struct label_volume *volume)
{
	return volume->boot.ext_sig == 0x28 || volume->boot.ext_sig == 0x29;
}

bool label_volume_has_label(const struct label_volume *volume)
{
	return volume->boot.ext_sig == 0x29;
}

/* A boot sector of this volume: the fields that nothing changes are the same. */
static bool is_backup(const struct label_volume *volume, const struct fat_boot *backup)
{
	const struct fat_boot *boot = &volume->boot;

	return backup->signature == 0xAA55 && backup->sector_bytes == boot->sector_bytes &&
	       backup->cluster_sec == boot->cluster_sec &&
	       backup->reserved_sec == boot->reserved_sec && backup->n_fats == boot->n_fats &&
	       backup->fat32_sec == boot->fat32_sec && backup->root_clus == boot->root_clus &&
	       backup->total32_sec == boot->total32_sec;
}

static enum fat_status stage_backup(struct label_volume *volume)
{
	uint64_t off = (uint64_t)volume->geometry.backup_sec * volume->geometry.sector_bytes;
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot backup;
	enum fat_status status;

	if (off == 0)
		return FAT_OK;
	status = fat_dev_read(volume->dev, off, sector, sizeof sector);
	if (status != FAT_OK)
		return status;
	fat_boot_decode(sector, &backup);
	if (!is_backup(volume, &backup)) {
		cli_error(&label_program,
			  "%s: warning: sector %u is no backup of the boot sector and was left as "
			  "it is; run fsck.fat",
			  volume->path, volume->geometry.backup_sec);
		return FAT_OK;
	}
	backup.volume_id = volume->boot.volume_id;
	backup.ext_sig = volume->boot.ext_sig;
	memcpy(backup.label, volume->boot.label, sizeof backup.label);
	fat_boot_encode(&backup, sector);
	return fat_txn_write(volume->dev, FAT_STAGE_MIRROR, off, sector, sizeof sector);
}

enum fat_status label_volume_stage_boot(struct label_volume *volume)
{
	enum fat_status status;

	fat_boot_encode(&volume->boot, volume->sector);
	status = fat_txn_write(volume->dev, FAT_STAGE_ATTACH, 0, volume->sector,
			       sizeof volume->sector);
	return status == FAT_OK ? stage_backup(volume) : status;
}

bool label_volume_commit(struct label_volume *volume)
{
	enum fat_stage stage_reached;

	if (fat_txn_commit(volume->dev, NULL, &stage_reached) == FAT_OK)
		return true;
	label_volume_failed(volume);
	cli_error(&label_program,
		  "%s: boot sector and root directory may disagree now; run the same "
		  "command again, or fsck.fat",
		  volume->path);
	return false;
}
