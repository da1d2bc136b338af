/* SPDX-License-Identifier: MIT */
/* mkfs: bad clusters, from lists of blocks and from a device that cannot be read in places. */
#include "unit.h"

#include "libfat.h"
#include "mkfs/badblocks.h"

#define MIB (1ull << 20)

static struct fat_layout plan_of(struct fat_layout_request ask)
{
	struct fat_layout plan;

	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	return plan;
}

/* A device in memory with two unreadable ranges. */
struct faulty_dev {
	struct fat_dev dev;
	uint64_t bad_off[2], bad_end[2];
};

static enum fat_status faulty_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	struct faulty_dev *faulty = (struct faulty_dev *)dev;

	for (size_t i = 0; i < 2; i++)
		if (off < faulty->bad_end[i] && off + len_bytes > faulty->bad_off[i])
			return fat_dev_fail(dev, FAT_ERR_IO, "read", off, len_bytes, 5);
	memset(buf, 0, len_bytes);
	dev->stats.n_reads++;
	return FAT_OK;
}

static const struct fat_dev_ops faulty_ops = { .name = "faulty", .read = faulty_read };

static void scan_finds_what_cannot_be_read(void **state)
{
	struct fat_layout plan = plan_of((struct fat_layout_request){ .size_bytes = 40 * MIB });
	const struct fat_geometry *g = &plan.geometry;
	uint64_t data_off = fat_geometry_data_off(g);
	uint64_t end_off = data_off + (uint64_t)g->n_clus * g->cluster_bytes;
	struct faulty_dev faulty = {
		.dev = { .ops = &faulty_ops, .size_bytes = 40 * MIB, .block_bytes = 512 },
		.bad_off = { data_off + 10 * 2048 + 512, end_off - 1 },
		.bad_end = { data_off + 13 * 2048, end_off },
	};
	struct mkfs_bad bad = { .n = 0 };
	struct fat_run *runs;
	size_t n_runs;

	(void)state;
	assert_true(mkfs_bad_scan("faulty", &faulty.dev, g, &bad));
	assert_int_equal(bad.n, 4);
	assert_int_equal(bad.clus[0], 12);
	assert_int_equal(bad.clus[3], g->n_clus + 1);
	assert_true(faulty.dev.stats.n_reads < 40 + 2 * 64 + 4 * 16);
	runs = mkfs_bad_runs(&bad, &n_runs);
	assert_int_equal(n_runs, 2);
	assert_int_equal(runs[0].n_clus, 3);
	assert_true(runs[0].is_bad);
	free(runs);
	mkfs_bad_free(&bad);
	faulty.bad_off[0] = 1024;
	faulty.bad_end[0] = 2048;
	assert_false(mkfs_bad_scan("faulty", &faulty.dev, g, &bad));
	mkfs_bad_free(&bad);
}

/* A block of 1 KiB can touch two clusters, or a part of one. */
static void blocks_become_clusters(void **state)
{
	struct fat_layout plan = plan_of((struct fat_layout_request){
		.size_bytes = 40 * MIB, .type = 32, .cluster_sec = 1, .reserved_sec = 33 });
	const struct fat_geometry *g = &plan.geometry;
	uint64_t first = fat_geometry_data_off(g) / 1024 + 1;
	struct mkfs_bad bad = { .n = 0 };

	(void)state;
	assert_int_equal(fat_geometry_data_off(g) % 1024, 512);
	assert_int_equal(mkfs_bad_add(&bad, g, first + 5), MKFS_BAD_TAKEN);
	assert_int_equal(mkfs_bad_add(&bad, g, first), MKFS_BAD_TAKEN);
	assert_int_equal(mkfs_bad_add(&bad, g, first), MKFS_BAD_TAKEN);
	assert_int_equal(mkfs_bad_add(&bad, g, first - 1), MKFS_BAD_BEFORE);
	assert_int_equal(mkfs_bad_add(&bad, g, 40 * 1024), MKFS_BAD_BEHIND);
	assert_int_equal(mkfs_bad_add(&bad, g, UINT64_MAX), MKFS_BAD_BEHIND);
	mkfs_bad_sort(&bad);
	assert_int_equal(bad.n, 4);
	assert_int_equal(bad.clus[0], 3);
	assert_int_equal(bad.clus[1], 4);
	assert_int_equal(mkfs_bad_first_good(&bad, g), 2);
	bad.clus[0] = 2;
	bad.clus[1] = 3;
	assert_int_equal(mkfs_bad_first_good(&bad, g), 4);
	mkfs_bad_free(&bad);
	assert_int_equal(mkfs_bad_first_good(&bad, g), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scan_finds_what_cannot_be_read),
		cmocka_unit_test(blocks_become_clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
