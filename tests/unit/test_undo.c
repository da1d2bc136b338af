/* SPDX-License-Identifier: MIT */
/* undo: what a run destroys comes back, bit for bit; a file that does not verify is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bytes.h"
#include "crc.h"
#include "libfat.h"

#define DEVICE_BYTES (5ull << 30) /* above 4 GiB */
#define STORE_BYTES  (64ull << 20)

struct rig {
	struct fat_dev *undo, *medium, *store;
};

static struct fat_dev *copy_of(struct fat_dev *dev)
{
	static const uint64_t places[] = { 0, 65536, 1 << 20, (1 << 20) + 65536, 5000000000 };
	struct fat_dev *copy;
	uint8_t *bytes = malloc(65536);

	assert_int_equal(fat_dev_mem_open(dev->size_bytes, &copy), FAT_OK);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		assert_int_equal(fat_dev_read(dev, places[i], bytes, 65536), FAT_OK);
		assert_int_equal(fat_dev_write(copy, places[i], bytes, 65536), FAT_OK);
	}
	free(bytes);
	return copy;
}

static void assert_same(struct fat_dev *a, struct fat_dev *b)
{
	static const uint64_t places[] = { 0, 65536, 1 << 20, (1 << 20) + 65536, 5000000000 };
	uint8_t *x = malloc(65536);
	uint8_t *y = malloc(65536);

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		assert_int_equal(fat_dev_read(a, places[i], x, 65536), FAT_OK);
		assert_int_equal(fat_dev_read(b, places[i], y, 65536), FAT_OK);
		assert_memory_equal(x, y, 65536);
	}
	free(x);
	free(y);
}

static void fill(struct fat_dev *dev, uint64_t off, size_t n, uint8_t seed)
{
	uint8_t *bytes = malloc(n);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 31 + seed);
	assert_int_equal(fat_dev_write(dev, off, bytes, n), FAT_OK);
	free(bytes);
}

static void open_rig(struct rig *rig)
{
	struct fat_undo_origin origin = { .program = "test", .created_unix = 12345 };

	assert_int_equal(fat_dev_mem_open(DEVICE_BYTES, &rig->medium), FAT_OK);
	assert_int_equal(fat_dev_mem_open(STORE_BYTES, &rig->store), FAT_OK);
	fill(rig->medium, 0, 65536, 1);
	fill(rig->medium, 5000000000, 1000, 2);
	assert_int_equal(fat_undo_create(rig->medium, rig->store, &origin, &rig->undo), FAT_OK);
}

static void some_run(struct fat_dev *dev)
{
	fill(dev, 1000, 500, 3);
	fill(dev, 1200, 50, 4);		/* inside */
	fill(dev, 900, 1000, 5);	/* around */
	fill(dev, 1900, 10, 6);		/* touching */
	fill(dev, 1 << 20, 70000, 7);	/* zeros before */
	fill(dev, 5000000500, 2000, 8);
	assert_int_equal(fat_dev_zero(dev, 2000, 40000), FAT_OK);
	assert_int_equal(fat_dev_discard(dev, 0, 512), FAT_ERR_KIND);
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
}

static enum fat_undo_verdict verdict_on(struct fat_dev *store, struct fat_dev *dev)
{
	enum fat_undo_verdict verdict;

	assert_int_equal(fat_undo_match(store, dev, &verdict), FAT_OK);
	return verdict;
}

static void a_run_is_undone(void **state)
{
	struct rig rig;
	struct fat_dev *before;
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;

	(void)state;
	for (int finished = 0; finished < 2; finished++) {
		open_rig(&rig);
		before = copy_of(rig.medium);
		some_run(rig.undo);
		if (finished)
			assert_int_equal(fat_undo_finish(rig.undo), FAT_OK);
		assert_int_equal(fat_undo_verify(rig.store, &info, &verdict), FAT_OK);
		assert_int_equal(verdict, FAT_UNDO_SOUND);
		assert_true(info.device_bytes == DEVICE_BYTES && info.origin.created_unix == 12345);
		assert_string_equal(info.origin.program, "test");
		assert_int_equal(info.finished, finished);
		assert_true(info.saved_bytes >= 1010 + 70000 + 2000 + 40000);
		assert_int_equal(verdict_on(rig.store, rig.medium), FAT_UNDO_SOUND);
		assert_int_equal(fat_undo_rollback(rig.store, rig.medium), FAT_OK);
		assert_same(rig.medium, before);
		assert_int_equal(verdict_on(rig.store, rig.medium), FAT_UNDO_SOUND);
		assert_int_equal(fat_undo_rollback(rig.store, rig.medium), FAT_OK);
		assert_same(rig.medium, before);
		fat_dev_close(before);
		fat_dev_close(rig.undo);
	}
}

/* The order on both media, seen from the store's flushes. */
static uint64_t flushes_at_first_write;
static struct fat_dev *watched_store;

static enum fat_status watching_write(struct fat_dev *dev, uint64_t off, const void *buf, size_t n)
{
	if (!flushes_at_first_write)
		flushes_at_first_write = watched_store->stats.n_flushes;
	return fat_dev_write(dev->below, off, buf, n);
}

static enum fat_status plain_read(struct fat_dev *dev, uint64_t off, void *buf, size_t n)
{
	return fat_dev_read(dev->below, off, buf, n);
}

static void plain_close(struct fat_dev *dev)
{
	free(dev);
}

static void the_store_is_flushed_before_the_write(void **state)
{
	static const struct fat_dev_ops ops = {
		.read = plain_read, .write = watching_write, .close = plain_close
	};
	struct fat_undo_origin origin = { .program = "test" };
	struct fat_dev *watch = calloc(1, sizeof *watch);
	struct fat_dev *undo;

	(void)state;
	watch->ops = &ops;
	assert_int_equal(fat_dev_mem_open(1 << 20, &watch->below), FAT_OK);
	watch->size_bytes = 1 << 20;
	assert_int_equal(fat_dev_mem_open(STORE_BYTES, &watched_store), FAT_OK);
	assert_int_equal(fat_undo_create(watch, watched_store, &origin, &undo), FAT_OK);
	assert_int_equal(fat_undo_save(undo, 0, 100), FAT_OK);
	assert_int_equal(fat_undo_save(undo, 4096, 100), FAT_OK);
	assert_int_equal(watched_store->stats.n_flushes, 0);
	fill(undo, 0, 100, 1);
	assert_int_equal(flushes_at_first_write, 1);
	fill(undo, 4096, 100, 1); /* saved already: no flush more */
	assert_int_equal(watched_store->stats.n_flushes, 1);
	fat_dev_close(undo);
}

static void a_store_that_fails_stops_the_write(void **state)
{
	struct fat_undo_origin origin = { .program = "test" };
	struct fat_dev *medium, *store, *undo;
	uint8_t bytes[512];

	(void)state;
	assert_int_equal(fat_dev_mem_open(1 << 20, &medium), FAT_OK);
	assert_int_equal(fat_dev_mem_open(1024, &store), FAT_OK); /* room for nothing */
	fill(medium, 0, 4096, 1);
	assert_int_equal(fat_undo_create(medium, store, &origin, &undo), FAT_OK);
	memset(bytes, 9, sizeof bytes);
	assert_int_not_equal(fat_dev_write(undo, 0, bytes, sizeof bytes), FAT_OK);
	assert_int_not_equal(undo->error.status, FAT_OK);
	assert_int_equal(fat_dev_read(medium, 0, bytes, sizeof bytes), FAT_OK);
	assert_int_equal(bytes[1], 31 + 1);
	fat_dev_close(undo);
}

static void any_flipped_bit_is_noticed(void **state)
{
	struct rig rig;
	struct fat_dev *dev;
	uint64_t end;
	unsigned n_corrupt = 0, n_not_undo = 0, n_tail = 0;

	(void)state;
	open_rig(&rig);
	some_run(rig.undo);
	assert_int_equal(fat_undo_finish(rig.undo), FAT_OK);
	dev = rig.medium;
	end = fat_undo_store_bytes(rig.undo);
	for (uint64_t off = 0; off < end; off += 37) {
		struct fat_undo_info info;
		enum fat_undo_verdict verdict;
		uint8_t byte, flipped;

		assert_int_equal(fat_dev_read(rig.store, off, &byte, 1), FAT_OK);
		flipped = byte ^ 0x10;
		assert_int_equal(fat_dev_write(rig.store, off, &flipped, 1), FAT_OK);
		assert_int_equal(fat_undo_verify(rig.store, &info, &verdict), FAT_OK);
		n_corrupt += verdict == FAT_UNDO_CORRUPT;
		n_not_undo += verdict == FAT_UNDO_NOT_UNDO || verdict == FAT_UNDO_VERSION;
		n_tail += verdict == FAT_UNDO_SOUND && !info.finished;
		assert_int_equal(fat_dev_write(rig.store, off, &byte, 1), FAT_OK);
	}
	assert_true(n_corrupt > 500 && n_not_undo == 1 && n_tail >= 1);
	assert_int_equal(verdict_on(rig.store, dev), FAT_UNDO_SOUND);
	fat_dev_close(rig.undo);
}

static void a_torn_tail_is_left_out(void **state)
{
	struct rig rig;
	struct fat_dev *before;
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;
	uint64_t end;

	(void)state;
	open_rig(&rig);
	before = copy_of(rig.medium);
	some_run(rig.undo);
	end = fat_undo_store_bytes(rig.undo);
	assert_int_equal(fat_undo_save(rig.undo, 50000, 3000), FAT_OK); /* not flushed */
	assert_int_equal(fat_dev_zero(rig.store, end + 512, 4096), FAT_OK);
	assert_int_equal(fat_undo_verify(rig.store, &info, &verdict), FAT_OK);
	assert_int_equal(verdict, FAT_UNDO_SOUND);
	assert_int_equal(fat_undo_rollback(rig.store, rig.medium), FAT_OK);
	assert_same(rig.medium, before);
	fat_dev_close(before);
	fat_dev_close(rig.undo);
}

static void another_device_is_refused(void **state)
{
	struct rig rig;
	struct fat_dev *other;

	(void)state;
	open_rig(&rig);
	some_run(rig.undo);
	assert_int_equal(fat_undo_finish(rig.undo), FAT_OK);
	assert_int_equal(fat_dev_mem_open(DEVICE_BYTES - 512, &other), FAT_OK);
	assert_int_equal(verdict_on(rig.store, other), FAT_UNDO_OTHER_SIZE);
	fat_dev_close(other);
	other = copy_of(rig.medium);
	assert_int_equal(verdict_on(rig.store, other), FAT_UNDO_SOUND);
	fill(other, 60000, 10, 99); /* used since */
	assert_int_equal(verdict_on(rig.store, other), FAT_UNDO_OTHER_DATA);
	fat_dev_close(other);
	fat_dev_close(rig.undo);
}

static void garbage_is_no_undo_file(void **state)
{
	struct fat_dev *store;
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;

	(void)state;
	assert_int_equal(fat_dev_mem_open(100, &store), FAT_OK);
	assert_int_equal(fat_undo_verify(store, &info, &verdict), FAT_OK);
	assert_int_equal(verdict, FAT_UNDO_NOT_UNDO);
	fat_dev_close(store);
	assert_int_equal(fat_dev_mem_open(100000, &store), FAT_OK);
	fill(store, 0, 100000, 3);
	assert_int_equal(fat_undo_verify(store, &info, &verdict), FAT_OK);
	assert_int_equal(verdict, FAT_UNDO_NOT_UNDO);
	assert_int_equal(fat_undo_rollback(store, store), FAT_ERR_FORMAT);
	fat_dev_close(store);
}

static void crc_is_castagnoli(void **state)
{
	(void)state;
	assert_true(fat_crc32c(0, "123456789", 9) == 0xE3069283);
	assert_true(fat_crc32c(fat_crc32c(0, "1234", 4), "56789", 5) == 0xE3069283);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_is_castagnoli),
		cmocka_unit_test(a_run_is_undone),
		cmocka_unit_test(the_store_is_flushed_before_the_write),
		cmocka_unit_test(a_store_that_fails_stops_the_write),
		cmocka_unit_test(any_flipped_bit_is_noticed),
		cmocka_unit_test(a_torn_tail_is_left_out),
		cmocka_unit_test(another_device_is_refused),
		cmocka_unit_test(garbage_is_no_undo_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
