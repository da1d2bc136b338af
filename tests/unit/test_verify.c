/* SPDX-License-Identifier: MIT */
/* dev_verify: what was written is read back, whatever overlapped; what changed since is found. */
#include "unit.h"

#include "libfat.h"

#define MIB (1ull << 20)

static struct fat_dev *open_pair(struct fat_dev **below)
{
	struct fat_dev *dev;

	assert_int_equal(fat_dev_mem_open(64 * MIB, below), FAT_OK);
	assert_int_equal(fat_verify_open(*below, &dev), FAT_OK);
	return dev;
}

static bool is_right(struct fat_dev *dev, uint64_t *wrong_off)
{
	bool right;

	assert_int_equal(fat_verify_check(dev, &right, wrong_off), FAT_OK);
	return right;
}

static void put(struct fat_dev *dev, uint64_t off, char c, size_t n)
{
	static uint8_t buf[MIB];

	memset(buf, c, n);
	assert_int_equal(fat_dev_write(dev, off, buf, n), FAT_OK);
}

static void changes_are_found(void **state)
{
	struct fat_dev *below, *dev = open_pair(&below);
	uint64_t wrong_off;

	(void)state;
	assert_true(is_right(dev, &wrong_off));
	assert_int_equal(fat_dev_zero(dev, 0, 32 * MIB), FAT_OK);
	put(dev, 512, 'a', 4096);
	put(dev, 40 * MIB, 'b', MIB);
	assert_true(is_right(dev, &wrong_off));
	put(below, 50 * MIB, 'x', 1); /* never written through the layer */
	assert_true(is_right(dev, &wrong_off));
	put(below, 40 * MIB + 77, 'x', 1);
	assert_false(is_right(dev, &wrong_off));
	assert_int_equal(wrong_off, 40 * MIB);
	put(below, 20 * MIB + 5, 'x', 1);
	assert_false(is_right(dev, &wrong_off));
	assert_int_equal(wrong_off, 512 + 4096);
	put(below, 600, 'x', 1);
	assert_false(is_right(dev, &wrong_off));
	assert_int_equal(wrong_off, 512);
	fat_dev_close(dev);
}

/* Any order of writes and zeros: the layer never finds fault with a sound device. */
static void overlaps_do_no_harm(void **state)
{
	struct fat_dev *below, *dev = open_pair(&below);
	uint64_t random = 42, wrong_off;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint64_t off, n;

		random = random * 6364136223846793005u + 1442695040888963407u;
		off = (random >> 33) % 200 * 512;
		n = ((random >> 45) % 20 + 1) * 512;
		if (random >> 62)
			put(dev, off, (char)i, (size_t)n);
		else
			assert_int_equal(fat_dev_zero(dev, off, n), FAT_OK);
		if (i % 50 == 0)
			assert_true(is_right(dev, &wrong_off));
	}
	assert_true(is_right(dev, &wrong_off));
	fat_dev_close(dev);
}

static void a_whole_format_is_verified(void **state)
{
	struct fat_layout_request ask = { .size_bytes = 64 * MIB, .type = 32 };
	struct fat_format_options options = { .volume_id = 1, .has_label = true };
	struct fat_dev *below, *dev = open_pair(&below);
	struct fat_layout plan;
	uint64_t wrong_off;

	(void)state;
	put(below, 0, 'o', MIB);
	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	assert_int_equal(fat_format(dev, &plan, &options), FAT_OK);
	assert_true(is_right(dev, &wrong_off));
	put(below, fat_geometry_fat_off(&plan.geometry, 1) + 100000, 'x', 1);
	assert_false(is_right(dev, &wrong_off));
	fat_dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_found),
		cmocka_unit_test(overlaps_do_no_harm),
		cmocka_unit_test(a_whole_format_is_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
