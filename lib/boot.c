/* SPDX-License-Identifier: MIT */
/*
 * boot: the boot sector's fields, and what may be wrong with them.
 *
 * Pure functions on bytes. Decoding judges nothing and checking changes nothing; a field that is
 * not on the disk (FAT32's on FAT16) is 0 in the struct and not encoded.
 */
#include "libfat.h"

#include <string.h>

#include "bytes.h"

enum boot_off {
	OFF_JUMP = 0,
	OFF_OEM = 3,
	OFF_SECTOR_BYTES = 11,
	OFF_CLUSTER_SEC = 13,
	OFF_RESERVED_SEC = 14,
	OFF_N_FATS = 16,
	OFF_ROOT_ENTRIES = 17,
	OFF_TOTAL16_SEC = 19,
	OFF_MEDIA = 21,
	OFF_FAT16_SEC = 22,
	OFF_TRACK_SEC = 24,
	OFF_HEADS = 26,
	OFF_HIDDEN_SEC = 28,
	OFF_TOTAL32_SEC = 32,
	OFF_FAT32_SEC = 36,
	OFF_EXT_FLAGS = 40,
	OFF_VERSION = 42,
	OFF_ROOT_CLUS = 44,
	OFF_FSINFO_SEC = 48,
	OFF_BACKUP_SEC = 50,
	OFF_TAIL_16 = 36, /* drive number and what follows it */
	OFF_TAIL_32 = 64,
	OFF_SIGNATURE = 510,
};

enum tail_off {
	TAIL_DRIVE = 0,
	TAIL_STATE = 1,
	TAIL_SIG = 2,
	TAIL_ID = 3,
	TAIL_LABEL = 7,
	TAIL_TYPE = 18,
};

bool fat_boot_is_fat32_layout(const struct fat_boot *boot)
{
	return boot->fat16_sec == 0;
}

uint32_t fat_boot_total_sec(const struct fat_boot *boot)
{
	return boot->total16_sec ? boot->total16_sec : boot->total32_sec;
}

uint32_t fat_boot_fat_sec(const struct fat_boot *boot)
{
	return boot->fat16_sec ? boot->fat16_sec : boot->fat32_sec;
}

static void decode_fat32(const uint8_t *sector, struct fat_boot *boot)
{
	boot->fat32_sec = get_le32(sector + OFF_FAT32_SEC);
	boot->ext_flags = get_le16(sector + OFF_EXT_FLAGS);
	boot->version = get_le16(sector + OFF_VERSION);
	boot->root_clus = get_le32(sector + OFF_ROOT_CLUS);
	boot->fsinfo_sec = get_le16(sector + OFF_FSINFO_SEC);
	boot->backup_sec = get_le16(sector + OFF_BACKUP_SEC);
}

void fat_boot_decode(const uint8_t sector[FAT_BOOT_BYTES], struct fat_boot *boot)
{
	const uint8_t *tail;

	memset(boot, 0, sizeof *boot);
	memcpy(boot->jump, sector + OFF_JUMP, sizeof boot->jump);
	memcpy(boot->oem, sector + OFF_OEM, sizeof boot->oem);
	boot->sector_bytes = get_le16(sector + OFF_SECTOR_BYTES);
	boot->cluster_sec = sector[OFF_CLUSTER_SEC];
	boot->reserved_sec = get_le16(sector + OFF_RESERVED_SEC);
	boot->n_fats = sector[OFF_N_FATS];
	boot->root_entries = get_le16(sector + OFF_ROOT_ENTRIES);
	boot->total16_sec = get_le16(sector + OFF_TOTAL16_SEC);
	boot->media = sector[OFF_MEDIA];
	boot->fat16_sec = get_le16(sector + OFF_FAT16_SEC);
	boot->track_sec = get_le16(sector + OFF_TRACK_SEC);
	boot->heads = get_le16(sector + OFF_HEADS);
	boot->hidden_sec = get_le32(sector + OFF_HIDDEN_SEC);
	boot->total32_sec = get_le32(sector + OFF_TOTAL32_SEC);
	if (fat_boot_is_fat32_layout(boot))
		decode_fat32(sector, boot);
	tail = sector + (fat_boot_is_fat32_layout(boot) ? OFF_TAIL_32 : OFF_TAIL_16);
	boot->drive = tail[TAIL_DRIVE];
	boot->state = tail[TAIL_STATE];
	boot->ext_sig = tail[TAIL_SIG];
	boot->volume_id = get_le32(tail + TAIL_ID);
	memcpy(boot->label, tail + TAIL_LABEL, sizeof boot->label);
	memcpy(boot->fs_type, tail + TAIL_TYPE, sizeof boot->fs_type);
	boot->signature = get_le16(sector + OFF_SIGNATURE);
}

static void encode_fat32(const struct fat_boot *boot, uint8_t *sector)
{
	put_le32(sector + OFF_FAT32_SEC, boot->fat32_sec);
	put_le16(sector + OFF_EXT_FLAGS, boot->ext_flags);
	put_le16(sector + OFF_VERSION, boot->version);
	put_le32(sector + OFF_ROOT_CLUS, boot->root_clus);
	put_le16(sector + OFF_FSINFO_SEC, boot->fsinfo_sec);
	put_le16(sector + OFF_BACKUP_SEC, boot->backup_sec);
}

void fat_boot_encode(const struct fat_boot *boot, uint8_t sector[FAT_BOOT_BYTES])
{
	uint8_t *tail = sector + (fat_boot_is_fat32_layout(boot) ? OFF_TAIL_32 : OFF_TAIL_16);

	memcpy(sector + OFF_JUMP, boot->jump, sizeof boot->jump);
	memcpy(sector + OFF_OEM, boot->oem, sizeof boot->oem);
	put_le16(sector + OFF_SECTOR_BYTES, boot->sector_bytes);
	sector[OFF_CLUSTER_SEC] = boot->cluster_sec;
	put_le16(sector + OFF_RESERVED_SEC, boot->reserved_sec);
	sector[OFF_N_FATS] = boot->n_fats;
	put_le16(sector + OFF_ROOT_ENTRIES, boot->root_entries);
	put_le16(sector + OFF_TOTAL16_SEC, boot->total16_sec);
	sector[OFF_MEDIA] = boot->media;
	put_le16(sector + OFF_FAT16_SEC, boot->fat16_sec);
	put_le16(sector + OFF_TRACK_SEC, boot->track_sec);
	put_le16(sector + OFF_HEADS, boot->heads);
	put_le32(sector + OFF_HIDDEN_SEC, boot->hidden_sec);
	put_le32(sector + OFF_TOTAL32_SEC, boot->total32_sec);
	if (fat_boot_is_fat32_layout(boot))
		encode_fat32(boot, sector);
	tail[TAIL_DRIVE] = boot->drive;
	tail[TAIL_STATE] = boot->state;
	tail[TAIL_SIG] = boot->ext_sig;
	put_le32(tail + TAIL_ID, boot->volume_id);
	memcpy(tail + TAIL_LABEL, boot->label, sizeof boot->label);
	memcpy(tail + TAIL_TYPE, boot->fs_type, sizeof boot->fs_type);
	put_le16(sector + OFF_SIGNATURE, boot->signature);
}

/* ---- deviations ---- */

static const bool is_fatal[FAT_BOOT_N_DEVIATIONS] = {
#define DEVIATION_FATAL(name, fatal) [FAT_BOOT_##name] = (fatal),
	FAT_BOOT_DEVIATIONS(DEVIATION_FATAL)
#undef DEVIATION_FATAL
};

static void note(struct fat_boot_report *report, bool wrong, enum fat_boot_deviation_id id,
		 uint64_t found, uint64_t expected)
{
	if (!wrong)
		return;
	report->deviation[report->n_deviations++] =
		(struct fat_boot_deviation){ .id = id, .found = found, .expected = expected };
	report->fatal = report->fatal || is_fatal[id];
}

static void check_units(const struct fat_boot *boot, struct fat_boot_report *report)
{
	uint32_t sector = boot->sector_bytes;
	uint32_t cluster_bytes = sector * boot->cluster_sec;

	note(report,
	     !is_pow2(sector) || sector < FAT_MIN_SECTOR_BYTES || sector > FAT_MAX_SECTOR_BYTES,
	     FAT_BOOT_SECTOR_BYTES, sector, 0);
	note(report, is_pow2(sector) && sector > 4096, FAT_BOOT_SECTOR_LARGE, sector, 4096);
	note(report, !is_pow2(boot->cluster_sec), FAT_BOOT_CLUSTER_SEC, boot->cluster_sec, 0);
	note(report, cluster_bytes > 65536, FAT_BOOT_CLUSTER_LARGE, cluster_bytes, 65536);
	note(report, boot->reserved_sec == 0, FAT_BOOT_RESERVED, 0, 1);
	note(report, boot->n_fats == 0, FAT_BOOT_N_FATS_ZERO, 0, 2);
	note(report, boot->n_fats > 2, FAT_BOOT_N_FATS_MANY, boot->n_fats, 2);
}

static void check_total(const struct fat_boot *boot, uint64_t device_bytes,
			struct fat_boot_report *report)
{
	uint32_t total = fat_boot_total_sec(boot);
	uint64_t bytes = (uint64_t)total * boot->sector_bytes;

	note(report, total == 0, FAT_BOOT_TOTAL_ZERO, 0, 0);
	note(report,
	     boot->total16_sec && boot->total32_sec && boot->total16_sec != boot->total32_sec,
	     FAT_BOOT_TOTAL_BOTH, boot->total32_sec, boot->total16_sec);
	note(report, fat_boot_is_fat32_layout(boot) && boot->total16_sec, FAT_BOOT_TOTAL16_ON_32,
	     boot->total16_sec, 0);
	note(report, device_bytes && bytes > device_bytes, FAT_BOOT_TOTAL_LARGE, bytes,
	     device_bytes);
	note(report, fat_boot_fat_sec(boot) == 0, FAT_BOOT_FAT_SEC_ZERO, 0, 0);
}

static uint64_t root_sectors(const struct fat_boot *boot)
{
	return div_ceil((uint64_t)boot->root_entries * 32, boot->sector_bytes);
}

static uint64_t metadata_sectors(const struct fat_boot *boot)
{
	return boot->reserved_sec + (uint64_t)boot->n_fats * fat_boot_fat_sec(boot) +
	       root_sectors(boot);
}

/* 0 where the metadata leaves no room. Needs sane units. */
static uint64_t data_clusters(const struct fat_boot *boot)
{
	uint64_t total = fat_boot_total_sec(boot);
	uint64_t meta = metadata_sectors(boot);

	return total > meta ? (total - meta) / boot->cluster_sec : 0;
}

static enum fat_type type_of(const struct fat_boot *boot)
{
	if (fat_boot_is_fat32_layout(boot))
		return FAT_TYPE_32;
	return data_clusters(boot) <= FAT_MAX_CLUS_12 ? FAT_TYPE_12 : FAT_TYPE_16;
}

static void check_clusters(const struct fat_boot *boot, struct fat_boot_report *report)
{
	uint64_t n_clus = data_clusters(boot);
	enum fat_type type = type_of(boot);
	uint64_t most = type == FAT_TYPE_32 ? FAT_MAX_CLUS_32 : FAT_MAX_CLUS_16;
	uint64_t entries =
		fat_geometry_fat_entries(type, fat_boot_fat_sec(boot), boot->sector_bytes);

	note(report, n_clus == 0, FAT_BOOT_TOTAL_SMALL, fat_boot_total_sec(boot),
	     metadata_sectors(boot) + boot->cluster_sec);
	note(report, n_clus + FAT_FIRST_CLUS > entries, FAT_BOOT_FAT_SMALL, entries,
	     n_clus + FAT_FIRST_CLUS);
	note(report, n_clus > most, FAT_BOOT_CLUSTERS_MANY, n_clus, most);
	note(report, type == FAT_TYPE_32 && n_clus && n_clus <= FAT_MAX_CLUS_16,
	     FAT_BOOT_CLUSTERS_FEW_32, n_clus, FAT_MAX_CLUS_16 + 1);
}

static void check_root(const struct fat_boot *boot, struct fat_boot_report *report)
{
	bool fat32 = fat_boot_is_fat32_layout(boot);

	note(report, !fat32 && boot->root_entries == 0, FAT_BOOT_ROOT_ENTRIES_ZERO, 0, 512);
	note(report, !fat32 && (uint32_t)boot->root_entries * 32 % boot->sector_bytes != 0,
	     FAT_BOOT_ROOT_ENTRIES_ODD, boot->root_entries,
	     root_sectors(boot) * boot->sector_bytes / 32);
	note(report, fat32 && boot->root_entries, FAT_BOOT_ROOT_ENTRIES_ON_32, boot->root_entries,
	     0);
}

static void check_type_text(const struct fat_boot *boot, struct fat_boot_report *report)
{
	enum fat_type type = type_of(boot);
	const char *text = type == FAT_TYPE_32 ? "FAT32   " :
			   type == FAT_TYPE_16 ? "FAT16   " :
						 "FAT12   ";

	note(report, boot->ext_sig != 0x28 && boot->ext_sig != 0x29, FAT_BOOT_EXT_SIG,
	     boot->ext_sig, 0x29);
	note(report,
	     boot->ext_sig == 0x29 && data_clusters(boot) > 0 &&
		     memcmp(boot->fs_type, text, 8) != 0,
	     FAT_BOOT_FS_TYPE, 0, (uint64_t)type);
}

static bool is_none(uint16_t sector)
{
	return sector == 0 || sector == 0xFFFF;
}

static bool fsinfo_makes_sense(const struct fat_boot *boot)
{
	return !is_none(boot->fsinfo_sec) && boot->fsinfo_sec < boot->reserved_sec;
}

static bool backup_makes_sense(const struct fat_boot *boot)
{
	return !is_none(boot->backup_sec) && boot->backup_sec < boot->reserved_sec &&
	       boot->backup_sec != boot->fsinfo_sec;
}

static bool active_fat_makes_sense(const struct fat_boot *boot)
{
	return !(boot->ext_flags & 0x80) || (boot->ext_flags & 0x0F) < boot->n_fats;
}

static void check_fat32(const struct fat_boot *boot, struct fat_boot_report *report)
{
	uint64_t last_clus = data_clusters(boot) + 1;

	note(report, boot->version != 0, FAT_BOOT_VERSION, boot->version, 0);
	note(report, !active_fat_makes_sense(boot), FAT_BOOT_ACTIVE_FAT, boot->ext_flags & 0x0F,
	     boot->n_fats);
	note(report, boot->root_clus < FAT_FIRST_CLUS || boot->root_clus > last_clus,
	     FAT_BOOT_ROOT_CLUS, boot->root_clus, FAT_FIRST_CLUS);
	note(report, is_none(boot->fsinfo_sec), FAT_BOOT_FSINFO_NONE, boot->fsinfo_sec, 1);
	note(report, !is_none(boot->fsinfo_sec) && !fsinfo_makes_sense(boot), FAT_BOOT_FSINFO_SEC,
	     boot->fsinfo_sec, 1);
	note(report, is_none(boot->backup_sec), FAT_BOOT_BACKUP_NONE, boot->backup_sec, 6);
	note(report, !is_none(boot->backup_sec) && !backup_makes_sense(boot), FAT_BOOT_BACKUP_SEC,
	     boot->backup_sec, 6);
}

static void check_marks(const struct fat_boot *boot, struct fat_boot_report *report)
{
	bool jump = boot->jump[0] == 0xE9 || (boot->jump[0] == 0xEB && boot->jump[2] == 0x90);

	note(report, boot->media != 0xF0 && boot->media < 0xF8, FAT_BOOT_MEDIA, boot->media, 0xF8);
	note(report, boot->signature != 0xAA55, FAT_BOOT_SIGNATURE, boot->signature, 0xAA55);
	note(report, !jump, FAT_BOOT_JUMP, boot->jump[0], 0xEB);
	note(report, boot->state & FAT_STATE_DIRTY, FAT_BOOT_DIRTY, boot->state, 0);
	note(report, boot->state & FAT_STATE_SURFACE, FAT_BOOT_SURFACE, boot->state, 0);
}

static int by_id(const struct fat_boot_deviation *a, const struct fat_boot_deviation *b)
{
	return (int)a->id - (int)b->id;
}

static void sort(struct fat_boot_report *report)
{
	for (size_t i = 1; i < report->n_deviations; i++)
		for (size_t k = i; k > 0 && by_id(&report->deviation[k - 1],
						  &report->deviation[k]) > 0; k--) {
			struct fat_boot_deviation swap = report->deviation[k];

			report->deviation[k] = report->deviation[k - 1];
			report->deviation[k - 1] = swap;
		}
}

void fat_boot_check(const struct fat_boot *boot, uint64_t device_bytes,
		    struct fat_boot_report *report)
{
	*report = (struct fat_boot_report){ 0 };
	check_units(boot, report);
	check_total(boot, device_bytes, report);
	check_marks(boot, report);
	if (!report->fatal) {
		check_clusters(boot, report);
		check_root(boot, report);
		check_type_text(boot, report);
		if (fat_boot_is_fat32_layout(boot))
			check_fat32(boot, report);
	}
	sort(report);
}

/* ---- geometry of a boot sector ---- */

static void decode_geometry32(const struct fat_boot *boot, struct fat_geometry *geometry)
{
	geometry->root_clus = boot->root_clus;
	geometry->fsinfo_sec = fsinfo_makes_sense(boot) ? boot->fsinfo_sec : 0;
	geometry->backup_sec = backup_makes_sense(boot) ? boot->backup_sec : 0;
	geometry->mirrored = !(boot->ext_flags & 0x80) || !active_fat_makes_sense(boot);
	geometry->active_fat = geometry->mirrored ? 0 : boot->ext_flags & 0x0F;
}

enum fat_status fat_geometry_decode(const struct fat_boot *boot, struct fat_geometry *geometry)
{
	struct fat_boot_report report;

	fat_boot_check(boot, 0, &report);
	if (report.fatal)
		return FAT_ERR_FORMAT;
	*geometry = (struct fat_geometry){
		.type = type_of(boot),
		.sector_bytes = boot->sector_bytes,
		.cluster_sec = boot->cluster_sec,
		.cluster_bytes = (uint32_t)boot->sector_bytes * boot->cluster_sec,
		.reserved_sec = boot->reserved_sec,
		.n_fats = boot->n_fats,
		.fat_sec = fat_boot_fat_sec(boot),
		.root_entries = fat_boot_is_fat32_layout(boot) ? 0 : boot->root_entries,
		.root_sec = (uint32_t)root_sectors(boot),
		.total_sec = fat_boot_total_sec(boot),
		.n_clus = (uint32_t)data_clusters(boot),
		.media = boot->media,
		.mirrored = true,
	};
	if (fat_boot_is_fat32_layout(boot))
		decode_geometry32(boot, geometry);
	return FAT_OK;
}
