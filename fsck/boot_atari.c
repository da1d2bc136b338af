/* SPDX-License-Identifier: MIT */
/*
 * boot_atari: GEMDOS volumes have no 55 AA, a 68000 jump, a serial number in the OEM name, program
 * code where others have the second sector count and the extended record; and the number of
 * clusters does not decide the width of the FAT.
 */
#include "boot_atari.h"

#define BRA_S 0x60u

bool boot_is_atari(const struct fsck_options *options, const struct fat_boot *boot)
{
	if (options->variant != VARIANT_ANY)
		return options->variant == VARIANT_ATARI;
	return boot->jump[0] == BRA_S && boot->signature != 0xAA55 &&
	       !fat_boot_is_fat32_layout(boot) && boot->total16_sec != 0;
}

static bool is_allowed(enum fat_boot_deviation_id id)
{
	return id == FAT_BOOT_SIGNATURE || id == FAT_BOOT_JUMP || id == FAT_BOOT_EXT_SIG ||
	       id == FAT_BOOT_FS_TYPE || id == FAT_BOOT_TOTAL_BOTH || id == FAT_BOOT_SECTOR_LARGE ||
	       id == FAT_BOOT_DIRTY || id == FAT_BOOT_SURFACE;
}

void boot_atari_allow(struct fat_boot_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_deviations; i++)
		if (!is_allowed(report->deviation[i].id))
			report->deviation[n++] = report->deviation[i];
	report->n_deviations = n;
}

enum fat_type boot_atari_type(const struct fat_geometry *geometry)
{
	uint64_t entries =
		fat_geometry_fat_entries(FAT_TYPE_16, geometry->fat_sec, geometry->sector_bytes);
	uint32_t total = geometry->total_sec;

	if (geometry->n_clus + FAT_FIRST_CLUS > entries || total == 720 || total == 1440 ||
	    total == 2880)
		return FAT_TYPE_12;
	return FAT_TYPE_16;
}
