/* SPDX-License-Identifier: MIT */
/* layout: the planner's numbers, reasons and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libfat.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

/* What dosfstools 4.2 makes of a plain file by default; it rounds down to whole tracks. */
static const struct row {
	uint64_t kib;
	uint32_t type, cluster_sec, reserved_sec, fat_sec, root_entries, n_clus, total_sec, media;
	uint32_t heads, track_sec, drive;
} rows[] = {
	{ 160, 12, 4, 1, 1, 512, 71, 320u, 0xF8, 2, 16, 0x80 },
	{ 180, 12, 4, 1, 1, 512, 79, 352u, 0xF8, 2, 16, 0x80 },
	{ 320, 12, 4, 1, 1, 512, 151, 640u, 0xF8, 2, 16, 0x80 },
	{ 360, 12, 2, 1, 2, 112, 354, 720u, 0xFD, 2, 9, 0x00 },
	{ 720, 12, 2, 1, 3, 112, 713, 1440u, 0xF9, 2, 9, 0x00 },
	{ 1200, 12, 1, 1, 7, 224, 2371, 2400u, 0xF9, 2, 15, 0x00 },
	{ 1440, 12, 1, 1, 9, 224, 2847, 2880u, 0xF0, 2, 18, 0x00 },
	{ 2880, 12, 2, 1, 9, 224, 2863, 5760u, 0xF0, 2, 36, 0x00 },
	{ 1024, 12, 4, 1, 2, 512, 502, 2048u, 0xF8, 2, 16, 0x80 },
	{ 2048, 12, 4, 1, 3, 512, 1014, 4096u, 0xF8, 2, 16, 0x80 },
	{ 4096, 12, 4, 1, 6, 512, 2036, 8192u, 0xF8, 2, 32, 0x80 },
	{ 4097, 12, 4, 1, 6, 512, 2036, 8192u, 0xF8, 2, 32, 0x80 },
	{ 8192, 12, 4, 4, 12, 512, 4081, 16384u, 0xF8, 2, 32, 0x80 },
	{ 16384, 16, 4, 4, 32, 512, 8167, 32768u, 0xF8, 2, 32, 0x80 },
	{ 17408, 16, 4, 4, 36, 512, 8677, 34816u, 0xF8, 4, 32, 0x80 },
	{ 32768, 16, 4, 4, 64, 512, 16343, 65536u, 0xF8, 4, 32, 0x80 },
	{ 65536, 16, 4, 4, 128, 512, 32695, 131072u, 0xF8, 8, 32, 0x80 },
	{ 131072, 16, 4, 4, 256, 512, 65399, 262144u, 0xF8, 8, 32, 0x80 },
	{ 132096, 16, 8, 8, 136, 512, 32985, 264192u, 0xF8, 16, 32, 0x80 },
	{ 262144, 16, 8, 8, 256, 512, 65467, 524288u, 0xF8, 16, 32, 0x80 },
	{ 266240, 16, 16, 16, 144, 512, 33258, 532476u, 0xF8, 16, 63, 0x80 },
	{ 523264, 16, 16, 16, 256, 512, 65370, 1046493u, 0xF8, 32, 63, 0x80 },
	{ 524288, 32, 8, 32, 1024, 0, 130811, 1048572u, 0xF8, 32, 63, 0x80 },
	{ 1048576, 32, 8, 32, 2048, 0, 261627, 2097144u, 0xF8, 64, 63, 0x80 },
	{ 2097152, 32, 8, 32, 4088, 0, 523260, 4194288u, 0xF8, 128, 63, 0x80 },
	{ 4194304, 32, 8, 32, 8176, 0, 1046524, 8388576u, 0xF8, 255, 63, 0x80 },
	{ 8388608, 32, 8, 32, 16360, 0, 2093057, 16777215u, 0xF8, 255, 63, 0x80 },
	{ 8389632, 32, 16, 32, 8192, 0, 1047675, 16779231u, 0xF8, 255, 63, 0x80 },
	{ 16778240, 32, 32, 32, 8192, 0, 1048125, 33556446u, 0xF8, 255, 63, 0x80 },
	{ 33554432, 32, 32, 32, 16384, 0, 2096126, 67108860u, 0xF8, 255, 63, 0x80 },
	{ 33555456, 32, 64, 64, 8192, 0, 1048350, 67110876u, 0xF8, 255, 63, 0x80 },
	{ 67108864, 32, 64, 64, 16384, 0, 2096638, 134217720u, 0xF8, 255, 63, 0x80 },
	{ 268435456, 32, 64, 64, 65536, 0, 8386558, 536870880u, 0xF8, 255, 63, 0x80 },
	{ 1073741824, 32, 64, 64, 262144, 0, 33546238, 2147483646u, 0xF8, 255, 63, 0x80 },
	{ 2147483648, 32, 64, 64, 524224, 0, 67092480, 4294967292u, 0xF8, 255, 63, 0x80 },
	{ 4294967296, 32, 64, 64, 524224, 0, 67092480, 4294967292u, 0xF8, 255, 63, 0x80 },
};

#define N_ROWS (sizeof rows / sizeof *rows)

static void usual_sizes_equal_dosfstools(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];
		struct fat_layout_request ask = {
			.size_bytes = row->kib * 1024,
			.heads = row->heads,
			.track_sec = row->track_sec,
			.is_geometry_exact = true,
			.whole_tracks = true,
		};
		struct fat_layout plan;

		assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
		assert_int_equal(plan.geometry.type, row->type);
		assert_int_equal(plan.geometry.cluster_sec, row->cluster_sec);
		assert_int_equal(plan.geometry.reserved_sec, row->reserved_sec);
		assert_int_equal(plan.geometry.fat_sec, row->fat_sec);
		assert_int_equal(plan.geometry.root_entries, row->root_entries);
		assert_int_equal(plan.geometry.n_clus, row->n_clus);
		assert_int_equal(plan.geometry.total_sec, row->total_sec);
		assert_int_equal(plan.geometry.media, row->media);
		assert_int_equal(plan.drive, row->drive);
		assert_int_equal(plan.geometry.backup_sec, row->type == 32 ? 6 : 0);
	}
}

/* By itself the planner uses every sector, and the tracks divide them. */
static void all_space_is_used(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct fat_layout_request ask = { .size_bytes = rows[i].kib * 1024 };
		uint64_t n_sec = rows[i].kib * 2;
		struct fat_layout plan;

		assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
		assert_int_equal(plan.geometry.total_sec, n_sec > UINT32_MAX ? UINT32_MAX : n_sec);
		assert_int_equal(plan.is_cut, n_sec > UINT32_MAX);
		assert_int_equal(plan.geometry.total_sec % plan.track_sec, 0);
		assert_int_equal(plan.heads, rows[i].heads);
	}
}

/* What a plan says is what a boot sector with its numbers decodes to, and a sound one. */
static void fat_has_room_for_every_cluster(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		for (uint32_t n_fats = 1; n_fats <= 4; n_fats++) {
			struct fat_layout_request ask = { .size_bytes = rows[i].kib * 1024 + 7,
							  .n_fats = n_fats };
			struct fat_layout plan;
			const struct fat_geometry *g = &plan.geometry;

			assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
			assert_true(
				fat_geometry_fat_entries(g->type, g->fat_sec, g->sector_bytes) >=
				(uint64_t)g->n_clus + 2);
			assert_true(fat_geometry_data_off(g) +
					    (uint64_t)g->n_clus * g->cluster_bytes <=
				    fat_geometry_total_bytes(g));
		}
	}
}

static enum fat_layout_problem problem_of(struct fat_layout_request ask)
{
	struct fat_layout plan;

	fat_layout_plan(&ask, &plan);
	return plan.problem;
}

static void refusals(void **state)
{
	(void)state;
#define ASK(...) problem_of((struct fat_layout_request){ __VA_ARGS__ })
	assert_int_equal(ASK(.size_bytes = 0), FAT_LAYOUT_NO_FIT);
	assert_int_equal(ASK(.size_bytes = 49 * 1024), FAT_LAYOUT_TOO_FEW);
	assert_int_equal(ASK(.size_bytes = 50 * 1024), FAT_LAYOUT_OK);
	assert_int_equal(ASK(.size_bytes = MIB, .cluster_sec = 3), FAT_LAYOUT_BAD_REQUEST);
	assert_int_equal(ASK(.size_bytes = MIB, .sector_bytes = 256), FAT_LAYOUT_BAD_REQUEST);
	assert_int_equal(ASK(.size_bytes = MIB, .type = 8), FAT_LAYOUT_BAD_REQUEST);
	assert_int_equal(ASK(.size_bytes = MIB, .n_fats = 5), FAT_LAYOUT_BAD_REQUEST);
	assert_int_equal(ASK(.size_bytes = 300 * MIB, .type = 12), FAT_LAYOUT_NO_FIT);
	assert_int_equal(ASK(.size_bytes = 5 * GIB, .type = 16), FAT_LAYOUT_NO_FIT);
	assert_int_equal(ASK(.size_bytes = 2 * MIB, .type = 16), FAT_LAYOUT_NO_FIT);
	assert_int_equal(ASK(.size_bytes = 300 * MIB, .type = 16, .cluster_sec = 1),
			 FAT_LAYOUT_NO_FIT_CLUSTER);
	assert_int_equal(ASK(.size_bytes = GIB, .reserved_sec = 1), FAT_LAYOUT_RESERVED_32);
	assert_int_equal(ASK(.size_bytes = GIB, .has_backup_sec = true, .backup_sec = 1),
			 FAT_LAYOUT_BACKUP_FSINFO);
	assert_int_equal(ASK(.size_bytes = GIB, .has_backup_sec = true, .backup_sec = 32),
			 FAT_LAYOUT_BACKUP_OUTSIDE);
#undef ASK
}

static void cluster_size_decides_type(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 600 * MIB, .cluster_sec = 64 };
	struct fat_layout plan;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.type, FAT_TYPE_16);
	assert_int_equal(plan.why[FAT_LAYOUT_TYPE], FAT_LAYOUT_BY_CLUSTER_DECIDES);
	ask = (struct fat_layout_request){ .size_bytes = 300 * MIB, .cluster_sec = 1 };
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.type, FAT_TYPE_32);
	ask = (struct fat_layout_request){ .size_bytes = 16 * MIB, .target_bytes = GIB };
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.type, FAT_TYPE_16);
	assert_int_equal(plan.why[FAT_LAYOUT_TYPE], FAT_LAYOUT_BY_SMALL_VOLUME);
}

/* The smallest volume that firmware takes for FAT32 is one, and one sector less is none. */
static void small_fat32_is_noted(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 16 * MIB, .type = 32 };
	struct fat_layout plan, exact;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_true(plan.is_small_32);
	ask.size_bytes = plan.firmware_bytes;
	assert_int_equal(fat_layout_plan(&ask, &exact), FAT_OK);
	assert_false(exact.is_small_32);
	assert_int_equal(exact.geometry.n_clus, 65525);
	ask.size_bytes -= 512;
	assert_int_equal(fat_layout_plan(&ask, &exact), FAT_OK);
	assert_true(exact.is_small_32);
	/* On a large device the usual cluster is 4 KiB; the volume is small. */
	ask = (struct fat_layout_request){ .size_bytes = 100 * MIB,
					   .target_bytes = GIB,
					   .type = 32 };
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.cluster_sec, 2);
	assert_int_equal(plan.why[FAT_LAYOUT_CLUSTER_SEC], FAT_LAYOUT_BY_FIRMWARE);
}

static void reserved_and_backup(void **state)
{
	static const uint32_t backup_for[] = { 0, 0, 0, 2, 2, 3, 4, 6, 6 };

	(void)state;
	for (uint32_t r = 2; r < 9; r++) {
		struct fat_layout_request ask = { .size_bytes = GIB, .reserved_sec = r };
		struct fat_layout plan;

		assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
		assert_int_equal(plan.geometry.reserved_sec, r);
		assert_int_equal(plan.geometry.backup_sec, backup_for[r]);
	}
}

static uint64_t data_on_disk(const struct fat_layout *plan)
{
	return plan->start_off + fat_geometry_data_off(&plan->geometry);
}

static void alignment_counts_from_the_disk(void **state)
{
	static const uint64_t boundaries[] = { 4 * MIB, 6 * MIB, 3 * MIB, 1536 * 1024, 65536 };
	static const uint32_t types[] = { 12, 16, 32 };
	static const uint64_t sizes[] = { 30 * MIB, 200 * MIB, 4 * GIB };

	(void)state;
	for (size_t i = 0; i < 5 * 3; i++) {
		struct fat_layout_request ask = {
			.size_bytes = sizes[i % 3],
			.type = types[i % 3],
			.start_off = 63 * 512,
			.align = FAT_ALIGN_BOUNDARY,
			.align_bytes = boundaries[i / 3],
			.align_phase_bytes = 4096,
		};
		struct fat_layout plan;
		const struct fat_geometry *g = &plan.geometry;

		for (int padding = 0; padding < 2; padding++) {
			ask.padding = padding ? FAT_PAD_FATS : FAT_PAD_RESERVED;
			assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
			assert_int_equal(data_on_disk(&plan) % ask.align_bytes, 4096);
			assert_true(fat_geometry_fat_entries(g->type, g->fat_sec, 512) >=
				    (uint64_t)g->n_clus + 2);
		}
		ask.align = FAT_ALIGN_PHASE;
		ask.padding = FAT_PAD_RESERVED;
		ask.cluster_sec = 64;
		if (ask.type == 12)
			continue;
		assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
		assert_int_equal((data_on_disk(&plan) - 4096) % 32768, 0);
	}
}

static void clusters_are_aligned_on_the_disk(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 4 * GIB, .start_off = 63 * 512 };
	struct fat_layout plan;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(data_on_disk(&plan) % plan.geometry.cluster_bytes, 0);
	assert_int_equal(plan.geometry.reserved_sec, 33);
}

/* Reserved sectors reach 32 MiB; beyond that the planner says where to begin. */
static void too_far_to_pad(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 4 * GIB,
					  .start_off = 2 * MIB,
					  .align = FAT_ALIGN_BOUNDARY,
					  .align_bytes = 64 * MIB };
	struct fat_layout plan;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_ERR_ARGUMENT);
	assert_int_equal(plan.problem, FAT_LAYOUT_ALIGN_FAR);
	ask.start_off = plan.better_start_off;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(data_on_disk(&plan) % (64 * MIB), 0);
	assert_int_equal(plan.geometry.reserved_sec, 32);
}

/* An exact -R leaves only the FATs to be padded. */
static void exact_reserved_sectors_stay(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 4 * GIB,
					  .reserved_sec = 37,
					  .align = FAT_ALIGN_BOUNDARY,
					  .align_bytes = 4 * MIB };
	struct fat_layout plan;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_ERR_ARGUMENT); /* 37 + 2 n is odd */
	ask.reserved_sec = 38;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.reserved_sec, 38);
	assert_int_equal(data_on_disk(&plan) % (4 * MIB), 0);
}

static void reserved_sectors_have_a_reason(void **state)
{
	static const struct {
		struct fat_layout_request ask;
		uint32_t reserved_sec;
		enum fat_layout_reason why;
	} cases[] = {
		{ { .size_bytes = 1440 * 1024 }, 1, FAT_LAYOUT_BY_USUAL },
		{ { .size_bytes = 4 * GIB }, 32, FAT_LAYOUT_BY_USUAL },
		{ { .size_bytes = 4 * GIB, .start_off = 63 * 512 },
		  33,
		  FAT_LAYOUT_BY_CLUSTER_ALIGNED },
		{ { .size_bytes = 4 * GIB, .reserved_sec = 40 }, 40, FAT_LAYOUT_BY_GIVEN },
		{ { .size_bytes = 4 * GIB, .align = FAT_ALIGN_BOUNDARY, .align_bytes = 4 * MIB },
		  0,
		  FAT_LAYOUT_BY_BOUNDARY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fat_layout plan;

		assert_int_equal(fat_layout_plan(&cases[i].ask, &plan), FAT_OK);
		if (cases[i].reserved_sec)
			assert_int_equal(plan.geometry.reserved_sec, cases[i].reserved_sec);
		assert_int_equal(plan.why[FAT_LAYOUT_RESERVED_SEC], cases[i].why);
	}
}

static void atari_sectors_grow(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 500 * MIB, .atari = true };
	struct fat_layout plan;

	(void)state;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.sector_bytes, 8192);
	assert_int_equal(plan.geometry.cluster_sec, 2);
	assert_int_equal(plan.why[FAT_LAYOUT_SECTOR_BYTES], FAT_LAYOUT_BY_ATARI);
	ask.size_bytes = 1440 * 1024;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.type, FAT_TYPE_12);
	ask.size_bytes = 1441 * 1024;
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(plan.geometry.type, FAT_TYPE_16);
	ask.size_bytes = 1100 * MIB;
	fat_layout_plan(&ask, &plan);
	assert_int_equal(plan.problem, FAT_LAYOUT_ATARI_LARGE);
}

static void words_for_everything(void **state)
{
	(void)state;
	for (int i = 0; i < FAT_LAYOUT_N_ITEMS; i++)
		assert_true(fat_layout_item_text((enum fat_layout_item)i)[0] != 0);
	for (int i = 0; i < FAT_LAYOUT_N_REASONS; i++)
		assert_true(fat_layout_reason_text((enum fat_layout_reason)i)[0] != 0);
	for (int i = FAT_LAYOUT_BAD_REQUEST; i <= FAT_LAYOUT_ALIGN_FAR; i++)
		assert_true(fat_layout_problem_text((enum fat_layout_problem)i)[0] != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_sizes_equal_dosfstools),
		cmocka_unit_test(all_space_is_used),
		cmocka_unit_test(fat_has_room_for_every_cluster),
		cmocka_unit_test(refusals),
		cmocka_unit_test(cluster_size_decides_type),
		cmocka_unit_test(small_fat32_is_noted),
		cmocka_unit_test(reserved_and_backup),
		cmocka_unit_test(alignment_counts_from_the_disk),
		cmocka_unit_test(clusters_are_aligned_on_the_disk),
		cmocka_unit_test(too_far_to_pad),
		cmocka_unit_test(exact_reserved_sectors_stay),
		cmocka_unit_test(reserved_sectors_have_a_reason),
		cmocka_unit_test(atari_sectors_grow),
		cmocka_unit_test(words_for_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
