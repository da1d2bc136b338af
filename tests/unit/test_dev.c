/* SPDX-License-Identifier: MIT */
/*
 * dev: bounds, read-only, what a layer's failure looks like from above; dev_mem; dev_window.
 */
#include "unit.h"

#include "libfat.h"

#define TIB (1ull << 40)

static struct fat_dev *open_mem(uint64_t size_bytes)
{
	struct fat_dev *dev = NULL;

	assert_int_equal(fat_dev_mem_open(size_bytes, &dev), FAT_OK);
	assert_non_null(dev);
	return dev;
}

static void bounds_are_checked_without_overflow(void **state)
{
	static const struct {
		uint64_t off;
		size_t len_bytes;
		enum fat_status want;
	} cases[] = {
		{ 0, 0, FAT_OK },
		{ 0, 16, FAT_OK },
		{ 999, 1, FAT_OK },
		{ 1000, 0, FAT_OK },
		{ 1000, 1, FAT_ERR_RANGE },
		{ 999, 2, FAT_ERR_RANGE },
		{ 1001, 0, FAT_ERR_RANGE },
		{ UINT64_MAX, 1, FAT_ERR_RANGE },
		{ UINT64_MAX, 2, FAT_ERR_RANGE },
		{ UINT64_MAX - 7, 16, FAT_ERR_RANGE },
		{ 8, SIZE_MAX - 3, FAT_ERR_RANGE },
	};
	uint8_t buf[16] = { 0 };
	struct fat_dev *dev = open_mem(1000);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t off = cases[i].off;
		size_t n = cases[i].len_bytes;

		assert_int_equal(fat_dev_read(dev, off, buf, n), cases[i].want);
		assert_int_equal(dev->error.status, cases[i].want);
		assert_int_equal(fat_dev_write(dev, off, buf, n), cases[i].want);
		assert_int_equal(fat_dev_zero(dev, off, n), cases[i].want);
		if (cases[i].want != FAT_OK) {
			assert_true(dev->error.off == off && dev->error.len_bytes == n);
			assert_string_equal(dev->error.action, "zero");
			assert_int_equal(dev->error.sys_errno, 0);
		}
	}
	assert_int_equal(dev->stats.n_reads, 2); /* nothing was asked where nothing was to do */
	fat_dev_close(dev);
}

static void mem_reads_back_what_was_written(void **state)
{
	static uint8_t in[10000], out[10000];
	struct fat_dev *dev = open_mem(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(fat_dev_write(dev, 4000, in, sizeof in), FAT_OK);
	assert_int_equal(fat_dev_read(dev, 4000, out, sizeof out), FAT_OK);
	assert_memory_equal(in, out, sizeof in);
	assert_int_equal(fat_dev_zero(dev, 5000, 6000), FAT_OK);
	memset(in + 1000, 0, 6000);
	assert_int_equal(fat_dev_read(dev, 4000, out, sizeof out), FAT_OK);
	assert_memory_equal(in, out, sizeof in);
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
	assert_int_equal(dev->stats.n_writes, 1);
	assert_int_equal(dev->stats.write_bytes, sizeof in);
	assert_int_equal(dev->stats.n_zeroes, 1);
	assert_int_equal(dev->stats.zero_bytes, 6000);
	assert_int_equal(dev->stats.n_flushes, 1);
	fat_dev_close(dev);
}

static void mem_is_sparse_far_beyond_4_tib(void **state)
{
	static const uint64_t offs[] = { 0, 4 * TIB - 1, 4 * TIB, 7 * TIB + 4095, 8 * TIB - 3 };
	struct fat_dev *dev = open_mem(8 * TIB);
	uint8_t byte;

	(void)state;
	for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
		byte = (uint8_t)(i + 1);
		assert_int_equal(fat_dev_write(dev, offs[i], &byte, 1), FAT_OK);
	}
	for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
		assert_int_equal(fat_dev_read(dev, offs[i], &byte, 1), FAT_OK);
		assert_int_equal(byte, i + 1);
	}
	assert_int_equal(fat_dev_read(dev, 5 * TIB, &byte, 1), FAT_OK);
	assert_int_equal(byte, 0);
	assert_true(fat_dev_mem_used(dev) < 1 << 20);
	fat_dev_close(dev);
}

static void mem_gives_back_what_is_zeroed(void **state)
{
	static const uint8_t ones[8192] = { [0 ... 8191] = 1 };
	struct fat_dev *dev = open_mem(1ull << 32);
	uint64_t before;

	(void)state;
	assert_int_equal(fat_dev_write(dev, 4096, ones, sizeof ones), FAT_OK);
	before = fat_dev_mem_used(dev);
	assert_int_equal(fat_dev_zero(dev, 0, 1ull << 32), FAT_OK);
	assert_int_equal(before - fat_dev_mem_used(dev), sizeof ones);
	fat_dev_close(dev);
}

static void mem_without_size_is_refused(void **state)
{
	struct fat_dev *dev = (struct fat_dev *)1;

	(void)state;
	assert_int_equal(fat_dev_mem_open(0, &dev), FAT_ERR_SIZE);
	assert_null(dev);
}

static void read_only_is_kept(void **state)
{
	struct fat_dev *dev = open_mem(4096);
	uint8_t byte = 1;

	(void)state;
	dev->read_only = true;
	assert_int_equal(fat_dev_write(dev, 0, &byte, 1), FAT_ERR_READ_ONLY);
	assert_int_equal(fat_dev_zero(dev, 0, 1), FAT_ERR_READ_ONLY);
	assert_int_equal(fat_dev_discard(dev, 0, 1), FAT_ERR_READ_ONLY);
	assert_int_equal(fat_dev_read(dev, 0, &byte, 1), FAT_OK);
	assert_int_equal(byte, 0);
	assert_int_equal(dev->error.status, FAT_OK);
	assert_int_equal(dev->stats.n_errors, 3);
	fat_dev_close(dev);
}

/* A base that has read and write only, and counts and can fail. */
struct plain {
	struct fat_dev dev;
	uint64_t fail_at_write; /* the n-th; 0: none */
	uint64_t largest_bytes;
};

static enum fat_status plain_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	(void)dev;
	(void)off;
	memset(buf, 0, len_bytes);
	return FAT_OK;
}

static enum fat_status plain_write(struct fat_dev *dev, uint64_t off, const void *buf,
				   size_t len_bytes)
{
	struct plain *plain = (struct plain *)dev;

	(void)buf;
	if (++dev->stats.n_writes == plain->fail_at_write)
		return fat_dev_fail(dev, FAT_ERR_IO, "write", off, len_bytes, 5);
	if (len_bytes > plain->largest_bytes)
		plain->largest_bytes = len_bytes;
	dev->stats.write_bytes += len_bytes;
	return FAT_OK;
}

static enum fat_status plain_flush(struct fat_dev *dev)
{
	dev->stats.n_flushes++;
	return FAT_OK;
}

static void plain_close(struct fat_dev *dev)
{
	(void)dev;
}

static const struct fat_dev_ops plain_ops = {
	.name = "plain",
	.read = plain_read,
	.write = plain_write,
	.flush = plain_flush,
	.close = plain_close,
};

static void zeroing_by_writes_is_done_in_large_ones(void **state)
{
	struct plain plain = { .dev = { .ops = &plain_ops, .size_bytes = 1ull << 30 } };

	(void)state;
	assert_int_equal(fat_dev_zero(&plain.dev, 512, (5u << 20) + 7), FAT_OK);
	assert_int_equal(plain.dev.stats.write_bytes, (5u << 20) + 7);
	assert_int_equal(plain.dev.stats.n_writes, 6);
	assert_int_equal(plain.largest_bytes, 1u << 20);
	assert_int_equal(fat_dev_discard(&plain.dev, 0, 512), FAT_ERR_KIND);
	fat_dev_prefetch(&plain.dev, 0, 512); /* not offered: nothing happens */
}

static void a_failed_write_ends_zeroing_with_its_place(void **state)
{
	struct plain plain = { .dev = { .ops = &plain_ops, .size_bytes = 1ull << 30 },
			       .fail_at_write = 3 };

	(void)state;
	assert_int_equal(fat_dev_zero(&plain.dev, 512, 5u << 20), FAT_ERR_IO);
	assert_int_equal(plain.dev.stats.n_writes, 3);
	assert_int_equal(plain.dev.error.off, 512 + (2u << 20));
	assert_int_equal(plain.dev.error.sys_errno, 5);
}

static void a_window_adds_its_start(void **state)
{
	struct fat_dev *mem = open_mem(6 * TIB), *window = NULL;
	uint8_t byte = 77;

	(void)state;
	assert_int_equal(fat_dev_window_open(mem, 5 * TIB, 1000, &window), FAT_OK);
	assert_true(window->size_bytes == 1000 && fat_dev_base(window) == mem);
	assert_int_equal(fat_dev_write(window, 999, &byte, 1), FAT_OK);
	byte = 0;
	assert_int_equal(fat_dev_read(mem, 5 * TIB + 999, &byte, 1), FAT_OK);
	assert_int_equal(byte, 77);
	assert_int_equal(fat_dev_zero(window, 0, 1000), FAT_OK);
	assert_int_equal(fat_dev_read(mem, 5 * TIB + 999, &byte, 1), FAT_OK);
	assert_int_equal(byte, 0);
	assert_int_equal(fat_dev_write(window, 999, "ab", 2), FAT_ERR_RANGE);
	assert_int_equal(fat_dev_flush(window), FAT_OK);
	assert_int_equal(mem->stats.n_flushes, 1);
	fat_dev_close(window); /* the device below too: valgrind and asan notice */
}

static void a_window_must_lie_inside(void **state)
{
	struct fat_dev *mem = open_mem(1000), *window = NULL;

	(void)state;
	assert_int_equal(fat_dev_window_open(mem, 1000, 0, &window), FAT_ERR_RANGE);
	assert_null(window);
	assert_int_equal(fat_dev_window_open(mem, 10, 991, &window), FAT_ERR_RANGE);
	assert_int_equal(fat_dev_window_open(mem, 10, UINT64_MAX, &window), FAT_ERR_RANGE);
	assert_int_equal(fat_dev_window_open(mem, UINT64_MAX, 2, &window), FAT_ERR_RANGE);
	assert_int_equal(fat_dev_window_open(mem, 10, 0, &window), FAT_OK);
	assert_int_equal(window->size_bytes, 990);
	fat_dev_close(window);
}

static void a_failure_below_is_seen_from_above(void **state)
{
	struct plain plain = { .dev = { .ops = &plain_ops, .size_bytes = 4096 },
			       .fail_at_write = 1 };
	struct fat_dev *window = NULL;

	(void)state;
	assert_int_equal(fat_dev_window_open(&plain.dev, 1024, 0, &window), FAT_OK);
	assert_int_equal(fat_dev_write(window, 8, "x", 1), FAT_ERR_IO);
	assert_int_equal(window->error.status, FAT_ERR_IO);
	assert_int_equal(window->error.off, 1032); /* from the start of the device */
	assert_int_equal(window->error.sys_errno, 5);
	assert_int_equal(plain.dev.stats.n_errors, 1);
	assert_int_equal(fat_dev_write(window, 8, "x", 1), FAT_OK);
	assert_int_equal(window->error.status, FAT_OK);
	fat_dev_close(window);
}

static void closing_nothing_is_allowed(void **state)
{
	(void)state;
	fat_dev_close(NULL);
}

static void each_status_has_its_own_words(void **state)
{
	(void)state;
	for (int a = FAT_OK; a <= FAT_ERR_CANCELLED; a++) {
		assert_string_not_equal(fat_status_text((enum fat_status)a), "unknown status");
		for (int b = FAT_OK; b < a; b++)
			assert_string_not_equal(fat_status_text((enum fat_status)a),
						fat_status_text((enum fat_status)b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_checked_without_overflow),
		cmocka_unit_test(mem_reads_back_what_was_written),
		cmocka_unit_test(mem_is_sparse_far_beyond_4_tib),
		cmocka_unit_test(mem_gives_back_what_is_zeroed),
		cmocka_unit_test(mem_without_size_is_refused),
		cmocka_unit_test(read_only_is_kept),
		cmocka_unit_test(zeroing_by_writes_is_done_in_large_ones),
		cmocka_unit_test(a_failed_write_ends_zeroing_with_its_place),
		cmocka_unit_test(a_window_adds_its_start),
		cmocka_unit_test(a_window_must_lie_inside),
		cmocka_unit_test(a_failure_below_is_seen_from_above),
		cmocka_unit_test(closing_nothing_is_allowed),
		cmocka_unit_test(each_status_has_its_own_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
