/* SPDX-License-Identifier: MIT */
/* fuzz_boot: any 512 bytes decode, encode back to the same, and give a geometry that adds up. */
#include <stdint.h>
#include <string.h>

#include "fuzz.h"
#include "libfat.h"

/* Encoding what was decoded over other bytes must restore every field. */
static void round_trip(const uint8_t *sector)
{
	uint8_t again[FAT_BOOT_BYTES];
	struct fat_boot boot, copy;

	memset(again, 0xA5, sizeof again);
	fat_boot_decode(sector, &boot);
	fat_boot_encode(&boot, again);
	fat_boot_decode(again, &copy);
	if (fat_boot_is_fat32_layout(&boot) == fat_boot_is_fat32_layout(&copy))
		must(memcmp(&boot, &copy, sizeof boot) == 0);
	memcpy(again, sector, sizeof again);
	fat_boot_encode(&boot, again);
	must(memcmp(again, sector, sizeof again) == 0);
}

static void geometry_adds_up(const struct fat_boot *boot)
{
	struct fat_geometry g;
	struct fat_boot_report report;

	fat_boot_check(boot, 0, &report);
	must(report.n_deviations <= FAT_BOOT_N_DEVIATIONS);
	for (size_t i = 1; i < report.n_deviations; i++)
		must(report.deviation[i - 1].id < report.deviation[i].id);
	if (fat_geometry_decode(boot, &g) != FAT_OK) {
		must(report.fatal);
		return;
	}
	must(!report.fatal && g.n_clus > 0);
	must(fat_geometry_fat_off(&g, g.n_fats) == fat_geometry_root_off(&g));
	must(fat_geometry_cluster_off(&g, fat_geometry_last_clus(&g)) + g.cluster_bytes <=
	     fat_geometry_total_bytes(&g));
	must(fat_geometry_clus_at(&g, fat_geometry_cluster_off(&g, 2)) == 2);
	must(g.fsinfo_sec < g.reserved_sec && g.backup_sec < g.reserved_sec);
	must(g.active_fat < g.n_fats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint8_t sector[FAT_BOOT_BYTES] = { 0 };
	struct fat_fsinfo fsinfo;
	struct fat_boot boot;

	memcpy(sector, data, n_bytes < sizeof sector ? n_bytes : sizeof sector);
	round_trip(sector);
	fat_boot_decode(sector, &boot);
	geometry_adds_up(&boot);
	fat_fsinfo_decode(sector, &fsinfo);
	return 0;
}
