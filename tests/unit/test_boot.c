/* SPDX-License-Identifier: MIT */
/* boot, geometry, fsinfo: fields, deviations, offsets. Each field gets each kind of wrong value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libfat.h"

static struct fat_boot sound16(void)
{
	return (struct fat_boot){
		.jump = { 0xEB, 0x3C, 0x90 }, .oem = "mkfs.fat", .sector_bytes = 512,
		.cluster_sec = 4, .reserved_sec = 4, .n_fats = 2, .root_entries = 512,
		.total16_sec = 32768, .media = 0xF8, .fat16_sec = 32, .track_sec = 32, .heads = 2,
		.drive = 0x80, .ext_sig = 0x29, .volume_id = 0x12345678, .label = "NO NAME    ",
		.fs_type = "FAT16   ", .signature = 0xAA55,
	};
}

static struct fat_boot sound32(void)
{
	return (struct fat_boot){
		.jump = { 0xEB, 0x58, 0x90 }, .oem = "mkfs.fat", .sector_bytes = 512,
		.cluster_sec = 8, .reserved_sec = 32, .n_fats = 2, .total32_sec = 1048576,
		.media = 0xF8, .track_sec = 63, .heads = 32, .fat32_sec = 1024, .root_clus = 2,
		.fsinfo_sec = 1, .backup_sec = 6, .drive = 0x80, .ext_sig = 0x29,
		.label = "NO NAME    ", .fs_type = "FAT32   ", .signature = 0xAA55,
	};
}

static void fields_survive_a_round_trip(void **state)
{
	uint8_t sector[FAT_BOOT_BYTES];
	uint8_t again[FAT_BOOT_BYTES];
	struct fat_boot boot;

	(void)state;
	for (int fat32 = 0; fat32 < 2; fat32++) {
		for (size_t i = 0; i < sizeof sector; i++)
			sector[i] = (uint8_t)(i * 7 + 1);
		if (fat32)
			memset(sector + 22, 0, 2);
		memcpy(again, sector, sizeof again);
		fat_boot_decode(sector, &boot);
		assert_int_equal(fat_boot_is_fat32_layout(&boot), fat32);
		memset(again, 0xAA, 62);
		fat_boot_encode(&boot, again);
		if (fat32) { /* twelve reserved bytes belong to no field */
			memcpy(again + 52, sector + 52, 12);
			assert_memory_equal(again, sector, sizeof sector);
		} else {
			assert_memory_equal(again, sector, sizeof sector);
		}
	}
}

static void boot_code_is_kept(void **state)
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot = sound32();

	(void)state;
	memset(sector, 0x5A, sizeof sector);
	fat_boot_encode(&boot, sector);
	for (size_t i = 90; i < 510; i++)
		assert_int_equal(sector[i], 0x5A);
	for (size_t i = 52; i < 64; i++)
		assert_int_equal(sector[i], 0x5A);
}

/* Exactly one deviation, with this identity. */
static void expect_one(const struct fat_boot *boot, uint64_t device_bytes,
		       enum fat_boot_deviation_id id)
{
	struct fat_boot_report report;

	fat_boot_check(boot, device_bytes, &report);
	assert_int_equal(report.n_deviations, 1);
	assert_int_equal(report.deviation[0].id, id);
}

static void sound_ones_have_no_deviation(void **state)
{
	struct fat_boot_report report;
	struct fat_boot boots[] = { sound16(), sound32() };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		fat_boot_check(&boots[i], 512ull << 20, &report);
		assert_int_equal(report.n_deviations, 0);
		assert_false(report.fatal);
	}
}

#define WRONG(base, field, value, id)                        \
	do {                                                 \
		struct fat_boot boot = base();               \
		boot.field = (value);                        \
		expect_one(&boot, 512ull << 20, FAT_BOOT_##id); \
	} while (0)

static void each_wrong_field_is_named(void **state)
{
	(void)state;
	WRONG(sound16, sector_bytes, 0, SECTOR_BYTES);
	WRONG(sound16, sector_bytes, 256, SECTOR_BYTES);
	WRONG(sound16, sector_bytes, 513, SECTOR_BYTES);
	WRONG(sound16, cluster_sec, 0, CLUSTER_SEC);
	WRONG(sound16, cluster_sec, 3, CLUSTER_SEC);
	WRONG(sound16, reserved_sec, 0, RESERVED);
	WRONG(sound16, n_fats, 0, N_FATS_ZERO);
	WRONG(sound16, n_fats, 3, N_FATS_MANY);
	WRONG(sound16, total16_sec, 0, TOTAL_ZERO);
	WRONG(sound16, total16_sec, 100, TOTAL_SMALL);
	WRONG(sound16, total32_sec, 5, TOTAL_BOTH);
	WRONG(sound16, fat16_sec, 31, FAT_SMALL);
	WRONG(sound16, root_entries, 0, ROOT_ENTRIES_ZERO);
	WRONG(sound16, root_entries, 500, ROOT_ENTRIES_ODD);
	WRONG(sound16, media, 0xF1, MEDIA);
	WRONG(sound16, signature, 0x55AA, SIGNATURE);
	WRONG(sound16, jump[0], 0, JUMP);
	WRONG(sound16, ext_sig, 0, EXT_SIG);
	WRONG(sound16, fs_type[4], '2', FS_TYPE);
	WRONG(sound16, state, FAT_STATE_DIRTY, DIRTY);
	WRONG(sound16, state, FAT_STATE_SURFACE, SURFACE);
	WRONG(sound32, fat32_sec, 0, FAT_SEC_ZERO);
	WRONG(sound32, root_entries, 512, ROOT_ENTRIES_ON_32);
	WRONG(sound32, version, 1, VERSION);
	WRONG(sound32, ext_flags, 0x82, ACTIVE_FAT);
	WRONG(sound32, root_clus, 1, ROOT_CLUS);
	WRONG(sound32, root_clus, 130814, ROOT_CLUS);
	WRONG(sound32, fsinfo_sec, 0, FSINFO_NONE);
	WRONG(sound32, fsinfo_sec, 0xFFFF, FSINFO_NONE);
	WRONG(sound32, fsinfo_sec, 32, FSINFO_SEC);
	WRONG(sound32, backup_sec, 0, BACKUP_NONE);
	WRONG(sound32, backup_sec, 32, BACKUP_SEC);
	WRONG(sound32, backup_sec, 1, BACKUP_SEC);
	WRONG(sound32, total32_sec, 65536, CLUSTERS_FEW_32);
	WRONG(sound32, fat32_sec, 1021, FAT_SMALL);
}

static void size_limits(void **state)
{
	struct fat_boot boot = sound32();

	(void)state;
	expect_one(&boot, (512ull << 20) - 512, FAT_BOOT_TOTAL_LARGE);
	boot.cluster_sec = 1;
	boot.total32_sec = 0xFFFFFFFF;
	boot.fat32_sec = 33100000;
	expect_one(&boot, 0, FAT_BOOT_CLUSTERS_MANY);
}

static void geometry_above_4_gib(void **state)
{
	struct fat_boot boot = sound32();
	struct fat_geometry g;

	(void)state;
	boot.cluster_sec = 64;
	boot.total32_sec = 0xFFFFFFFF;
	boot.fat32_sec = 524224;
	boot.reserved_sec = 64;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_OK);
	assert_int_equal(g.type, FAT_TYPE_32);
	assert_int_equal(g.n_clus, 67092480);
	assert_true(fat_geometry_fat_off(&g, 1) == (64ull + 524224) * 512);
	assert_true(fat_geometry_data_off(&g) == (64ull + 2 * 524224) * 512);
	assert_true(fat_geometry_cluster_off(&g, 67092481) ==
		    (64ull + 2 * 524224 + 67092479ull * 64) * 512);
	assert_int_equal(fat_geometry_clus_at(&g, fat_geometry_cluster_off(&g, 5) + 32767), 5);
	assert_int_equal(fat_geometry_clus_at(&g, 0), 0);
	assert_int_equal(fat_geometry_clus_at(&g, fat_geometry_cluster_off(&g, 2) - 1), 0);
	assert_int_equal(fat_geometry_clus_at(&g, fat_geometry_cluster_off(&g, 67092482)), 0);
	assert_true(fat_geometry_has_clus(&g, 67092481) && !fat_geometry_has_clus(&g, 67092482));
	assert_false(fat_geometry_has_clus(&g, 1));
}

static void type_follows_the_cluster_count(void **state)
{
	struct fat_boot boot = sound16();
	struct fat_geometry g;

	(void)state;
	boot.cluster_sec = 1;
	boot.root_entries = 16;
	boot.total16_sec = 4 + 2 * 32 + 1 + 4084;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_OK);
	assert_int_equal(g.type, FAT_TYPE_12);
	boot.total16_sec++;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_OK);
	assert_int_equal(g.type, FAT_TYPE_16);
	assert_int_equal(g.n_clus, 4085);
	assert_int_equal(fat_geometry_root_bytes(&g), 512);
	boot.cluster_sec = 5;
	g.n_clus = 7;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_ERR_FORMAT);
	assert_int_equal(g.n_clus, 7);
}

static void senseless_pointers_are_dropped(void **state)
{
	struct fat_boot boot = sound32();
	struct fat_geometry g;

	(void)state;
	boot.fsinfo_sec = 0xFFFF;
	boot.backup_sec = 40;
	boot.ext_flags = 0x81;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_OK);
	assert_int_equal(g.fsinfo_sec, 0);
	assert_int_equal(g.backup_sec, 0);
	assert_false(g.mirrored);
	assert_int_equal(g.active_fat, 1);
	boot.ext_flags = 0x85;
	assert_int_equal(fat_geometry_decode(&boot, &g), FAT_OK);
	assert_true(g.mirrored);
}

static void fsinfo_round_trip(void **state)
{
	uint8_t sector[FAT_FSINFO_BYTES];
	struct fat_fsinfo in = { .n_free = 0xDEADBEEF, .next_clus = 7 };
	struct fat_fsinfo out;

	(void)state;
	memset(sector, 0x5A, sizeof sector);
	fat_fsinfo_decode(sector, &out);
	assert_false(out.lead_ok || out.struct_ok || out.trail_ok);
	fat_fsinfo_encode(&in, sector);
	fat_fsinfo_decode(sector, &out);
	assert_true(out.lead_ok && out.struct_ok && out.trail_ok);
	assert_true(out.n_free == 0xDEADBEEF && out.next_clus == 7);
	assert_int_equal(sector[100], 0x5A);
	assert_memory_equal(sector, "RRaA", 4);
	assert_int_equal(sector[511], 0xAA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_survive_a_round_trip),
		cmocka_unit_test(boot_code_is_kept),
		cmocka_unit_test(sound_ones_have_no_deviation),
		cmocka_unit_test(each_wrong_field_is_named),
		cmocka_unit_test(size_limits),
		cmocka_unit_test(geometry_above_4_gib),
		cmocka_unit_test(type_follows_the_cluster_count),
		cmocka_unit_test(senseless_pointers_are_dropped),
		cmocka_unit_test(fsinfo_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
