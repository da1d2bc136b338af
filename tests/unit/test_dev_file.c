/* SPDX-License-Identifier: MIT */
/*
 * dev_file: transfers that are cut short, interrupted or fail at the n-th call; holes; offsets
 * above 4 GiB; what may be opened how.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfat.h"

static char dir[TEMP_PATH_BYTES];

static int set_up(void **state)
{
	(void)state;
	temp_make(dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	temp_remove(dir);
	return 0;
}

/* A sparse file of that size. */
static const char *make_file(const char *name, uint64_t size_bytes)
{
	const char *path = temp_path(dir, name);
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size_bytes), 0);
	close(fd);
	return path;
}

static struct fat_dev *open_file(const char *path, unsigned flags)
{
	struct fat_error error;
	struct fat_dev *dev;

	assert_int_equal(fat_dev_file_open(path, flags, &dev, &error), FAT_OK);
	assert_non_null(dev);
	return dev;
}

static uint64_t allocated_bytes(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* ---- calls that misbehave ------------------------------------------------------------------ */

static struct {
	size_t most_bytes;       /* a transfer is cut to that; 0: not */
	unsigned n_calls;        /* so far */
	unsigned interrupt_each; /* every n-th call is interrupted; 0: none */
	unsigned fail_at;        /* this call fails; 0: none */
	unsigned stop_at;        /* from this call on 0 is returned */
	int with_errno;
} bad;

/* What a call is to do: 0 go on, else what it returns. */
static int64_t misbehave(size_t *len_bytes)
{
	bad.n_calls++;
	if (bad.fail_at && bad.n_calls == bad.fail_at) {
		errno = bad.with_errno;
		return -1;
	}
	if (bad.interrupt_each && bad.n_calls % bad.interrupt_each == 0) {
		errno = EINTR;
		return -1;
	}
	if (bad.most_bytes && *len_bytes > bad.most_bytes)
		*len_bytes = bad.most_bytes;
	return 0;
}

static int64_t bad_pread(int fd, void *buf, size_t len_bytes, uint64_t off)
{
	int64_t n = misbehave(&len_bytes);

	if (n != 0 || (bad.stop_at && bad.n_calls >= bad.stop_at))
		return n;
	return pread(fd, buf, len_bytes, (off_t)off);
}

static int64_t bad_pwrite(int fd, const void *buf, size_t len_bytes, uint64_t off)
{
	int64_t n = misbehave(&len_bytes);

	if (n != 0 || (bad.stop_at && bad.n_calls >= bad.stop_at))
		return n;
	return pwrite(fd, buf, len_bytes, (off_t)off);
}

static int bad_fsync(int fd)
{
	size_t none = 0;

	(void)fd;
	return misbehave(&none) ? -1 : 0;
}

static const struct fat_dev_file_calls bad_calls = { bad_pread, bad_pwrite, bad_fsync };

static struct fat_dev *open_bad(const char *name)
{
	struct fat_dev *dev = open_file(make_file(name, 65536), FAT_DEV_WRITE);

	memset(&bad, 0, sizeof bad);
	fat_dev_file_set_calls(dev, &bad_calls);
	return dev;
}

static void short_and_interrupted_transfers_are_continued(void **state)
{
	struct fat_dev *dev = open_bad("short");
	uint8_t in[1000], out[1000];

	(void)state;
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)(i ^ i >> 3);
	bad.most_bytes = 7;
	bad.interrupt_each = 3;
	assert_int_equal(fat_dev_write(dev, 123, in, sizeof in), FAT_OK);
	assert_int_equal(fat_dev_read(dev, 123, out, sizeof out), FAT_OK);
	assert_memory_equal(in, out, sizeof in);
	assert_int_equal(dev->stats.write_bytes, sizeof in);
	assert_int_equal(dev->stats.read_bytes, sizeof in);
	assert_int_equal(dev->stats.n_reads + dev->stats.n_writes, bad.n_calls);
	assert_int_equal(dev->stats.n_errors, 0);
	fat_dev_close(dev);
}

static void an_interrupted_flush_is_done_again(void **state)
{
	struct fat_dev *dev = open_bad("flush");

	(void)state;
	bad.fail_at = 1;
	bad.with_errno = EINTR;
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
	assert_int_equal(bad.n_calls, 2);
	fat_dev_close(dev);
}

/* Each call of a transfer that takes five, in turn. */
static void the_nth_call_that_fails_is_reported(void **state)
{
	uint8_t buf[500] = { 0 };

	(void)state;
	for (unsigned n = 1; n <= 5; n++) {
		for (int writing = 0; writing < 2; writing++) {
			struct fat_dev *dev = open_bad("nth");
			enum fat_status status;

			bad.most_bytes = 100;
			bad.fail_at = n;
			bad.with_errno = EIO;
			status = writing ? fat_dev_write(dev, 64, buf, sizeof buf)
					 : fat_dev_read(dev, 64, buf, sizeof buf);
			assert_int_equal(status, FAT_ERR_IO);
			assert_int_equal(dev->error.status, FAT_ERR_IO);
			assert_int_equal(dev->error.sys_errno, EIO);
			assert_string_equal(dev->error.action, writing ? "write" : "read");
			assert_int_equal(dev->error.off, 64 + 100 * (n - 1));
			assert_int_equal(dev->error.len_bytes, 500 - 100 * (n - 1));
			assert_int_equal(dev->stats.n_errors, 1);
			fat_dev_close(dev);
		}
	}
}

static void a_transfer_that_ends_early_is_an_error(void **state)
{
	struct fat_dev *dev = open_bad("early");
	uint8_t buf[500] = { 0 };

	(void)state;
	bad.most_bytes = 100;
	bad.stop_at = 3;
	assert_int_equal(fat_dev_read(dev, 0, buf, sizeof buf), FAT_ERR_IO);
	assert_int_equal(dev->error.off, 200);
	assert_int_equal(fat_dev_write(dev, 0, buf, sizeof buf), FAT_ERR_IO);
	fat_dev_close(dev);
}

static void a_failed_flush_is_reported(void **state)
{
	struct fat_dev *dev = open_bad("fsync");

	(void)state;
	bad.fail_at = 1;
	bad.with_errno = ENOSPC;
	assert_int_equal(fat_dev_flush(dev), FAT_ERR_IO);
	assert_int_equal(dev->error.sys_errno, ENOSPC);
	assert_string_equal(dev->error.action, "flush");
	assert_int_equal(dev->stats.n_errors, 1);
	fat_dev_close(dev);
}

/* A file that became shorter behind our back. */
static void reading_behind_the_real_end_is_an_error(void **state)
{
	const char *path = make_file("shrunk", 8192);
	struct fat_dev *dev = open_file(path, 0);
	uint8_t buf[4096];

	(void)state;
	assert_int_equal(truncate(path, 6000), 0);
	assert_int_equal(fat_dev_read(dev, 4096, buf, sizeof buf), FAT_ERR_IO);
	assert_int_equal(dev->error.off, 6000);
	fat_dev_close(dev);
}

/* ---- zeroes and holes ------------------------------------------------------------------------ */

static bool is_zero_at(struct fat_dev *dev, uint64_t off)
{
	uint8_t byte = 1;

	assert_int_equal(fat_dev_read(dev, off, &byte, 1), FAT_OK);
	return byte == 0;
}

static void zeroing_a_hole_allocates_nothing(void **state)
{
	const char *path = make_file("hole", 6ull << 30);
	struct fat_dev *dev = open_file(path, FAT_DEV_WRITE);

	(void)state;
	assert_int_equal(fat_dev_zero(dev, 0, 6ull << 30), FAT_OK);
	assert_int_equal(fat_dev_zero(dev, 12345, 99999), FAT_OK);
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
	assert_int_equal(allocated_bytes(path), 0);
	assert_int_equal(dev->stats.n_writes, 0);
	fat_dev_close(dev);
}

static void zeroing_data_between_holes(void **state)
{
	const uint64_t data_off = 5ull << 30;
	static uint8_t ones[1 << 20];
	const char *path = make_file("data", 6ull << 30);
	struct fat_dev *dev = open_file(path, FAT_DEV_WRITE);

	(void)state;
	memset(ones, 1, sizeof ones);
	assert_int_equal(fat_dev_write(dev, data_off, ones, sizeof ones), FAT_OK);
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
	/* odd edges: what lies beside them must stay */
	assert_int_equal(fat_dev_zero(dev, data_off + 1000, sizeof ones - 3000), FAT_OK);
	assert_false(is_zero_at(dev, data_off));
	assert_false(is_zero_at(dev, data_off + 999));
	assert_true(is_zero_at(dev, data_off + 1000));
	assert_true(is_zero_at(dev, data_off + 500000));
	assert_true(is_zero_at(dev, data_off + sizeof ones - 2001));
	assert_false(is_zero_at(dev, data_off + sizeof ones - 2000));
	assert_int_equal(fat_dev_zero(dev, 0, 6ull << 30), FAT_OK);
	assert_true(is_zero_at(dev, data_off) && is_zero_at(dev, data_off + sizeof ones - 1));
	assert_true(allocated_bytes(path) <= 2 * sizeof ones);
	assert_int_equal(dev->size_bytes, 6ull << 30);
	fat_dev_close(dev);
}

static void offsets_above_4_gib(void **state)
{
	const uint64_t offs[] = { 0xFFFFFFFF, 1ull << 32, (1ull << 32) + 512, (1ull << 41) + 5 };
	struct fat_dev *dev = open_file(make_file("large", (1ull << 41) + 4096), FAT_DEV_WRITE);
	uint8_t byte;

	(void)state;
	for (uint8_t i = 0; i < 4; i++) {
		byte = (uint8_t)(i + 1);
		assert_int_equal(fat_dev_write(dev, offs[i], &byte, 1), FAT_OK);
	}
	for (uint8_t i = 0; i < 4; i++) {
		assert_int_equal(pread(fat_dev_file_fd(dev), &byte, 1, (off_t)offs[i]), 1);
		assert_int_equal(byte, i + 1);
	}
	assert_true(is_zero_at(dev, 0) && is_zero_at(dev, 5));
	fat_dev_close(dev);
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum fat_status try_open(const char *path, unsigned flags, struct fat_error *error)
{
	struct fat_dev *dev = (struct fat_dev *)1;
	enum fat_status status = fat_dev_file_open(path, flags, &dev, error);

	if (status == FAT_OK)
		fat_dev_close(dev);
	else
		assert_null(dev);
	assert_int_equal(status == FAT_OK ? FAT_OK : error->status, status);
	return status;
}

static void what_is_no_medium_is_refused(void **state)
{
	struct fat_error error = { .status = FAT_OK };

	(void)state;
	assert_int_equal(try_open(temp_path(dir, "none"), 0, &error), FAT_ERR_OPEN);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(try_open("", 0, &error), FAT_ERR_OPEN);
	assert_int_equal(try_open(dir, 0, &error), FAT_ERR_KIND);
	assert_int_equal(try_open(dir, FAT_DEV_WRITE, &error), FAT_ERR_OPEN);
	assert_int_equal(error.sys_errno, EISDIR);
	assert_int_equal(try_open("/dev/null", FAT_DEV_WRITE, &error), FAT_ERR_KIND);
	assert_int_equal(try_open(make_file("empty", 0), 0, &error), FAT_ERR_SIZE);
	assert_int_equal(mkfifo(temp_path(dir, "pipe"), 0600), 0);
	assert_int_equal(try_open(temp_path(dir, "pipe"), 0, &error), FAT_ERR_KIND);
}

static void a_device_opened_for_reading_takes_no_writes(void **state)
{
	const char *path = make_file("readonly", 4096);
	struct fat_dev *dev = open_file(path, 0);

	(void)state;
	assert_int_equal(fat_dev_write(dev, 0, "x", 1), FAT_ERR_READ_ONLY);
	assert_int_equal(fat_dev_zero(dev, 0, 4096), FAT_ERR_READ_ONLY);
	assert_int_equal(allocated_bytes(path), 0);
	fat_dev_close(dev);
}

static void create_makes_new_files_only(void **state)
{
	const unsigned flags = FAT_DEV_CREATE | FAT_DEV_WRITE;
	struct fat_error error = { .status = FAT_OK };
	const char *path = temp_path(dir, "new");
	struct fat_dev *dev = open_file(path, flags);

	(void)state;
	assert_int_equal(dev->size_bytes, 0);
	assert_int_equal(fat_dev_resize(dev, 1ull << 33), FAT_OK);
	assert_int_equal(fat_dev_write(dev, (1ull << 33) - 1, "x", 1), FAT_OK);
	assert_int_equal(fat_dev_resize(dev, UINT64_MAX), FAT_ERR_IO);
	assert_int_equal(dev->error.sys_errno, EFBIG);
	assert_int_equal(dev->size_bytes, 1ull << 33);
	fat_dev_close(dev);
	assert_int_equal(try_open(path, flags, &error), FAT_ERR_OPEN);
	assert_int_equal(error.sys_errno, EEXIST);
}

static void exclusive_keeps_others_out(void **state)
{
	struct fat_error error = { .status = FAT_OK };
	const char *path = make_file("locked", 4096);
	struct fat_dev *reader = open_file(path, FAT_DEV_EXCLUSIVE);

	(void)state;
	assert_int_equal(try_open(path, FAT_DEV_EXCLUSIVE, &error), FAT_OK);
	assert_int_equal(try_open(path, FAT_DEV_EXCLUSIVE | FAT_DEV_WRITE, &error), FAT_ERR_BUSY);
	fat_dev_close(reader);
	assert_int_equal(try_open(path, FAT_DEV_EXCLUSIVE | FAT_DEV_WRITE, &error), FAT_OK);
}

static void only_a_file_has_a_descriptor(void **state)
{
	struct fat_dev *mem;

	(void)state;
	assert_int_equal(fat_dev_mem_open(10, &mem), FAT_OK);
	assert_int_equal(fat_dev_file_fd(mem), -1);
	fat_dev_close(mem);
}

static void a_refused_descriptor_stays_the_callers(void **state)
{
	struct fat_error error;
	struct fat_dev *dev;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(fat_dev_file_from_fd(fd, 0, &dev, &error), FAT_ERR_KIND);
	assert_int_equal(close(fd), 0);
}

/* What a program prints must not end up on the device because stdout was closed before it ran. */
static void no_device_takes_the_place_of_a_standard_stream(void **state)
{
	const char *path = make_file("closed", 4096);

	(void)state;
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
		int kept = dup(stream), number;
		struct fat_dev *dev;

		close(stream);
		dev = open_file(path, FAT_DEV_WRITE);
		number = fat_dev_file_fd(dev);
		assert_int_equal(write(stream, "words", 5), -1);
		assert_int_equal(dup2(kept, stream), stream);
		close(kept);
		assert_true(number > STDERR_FILENO);
		assert_true(is_zero_at(dev, 0));
		fat_dev_close(dev);
	}
}

static void read_ahead_is_clipped_and_counted(void **state)
{
	struct fat_dev *dev = open_file(make_file("ahead", 10000), 0);

	(void)state;
	fat_dev_prefetch(dev, 8000, 1 << 20);
	fat_dev_prefetch(dev, 10000, 1);
	fat_dev_prefetch(dev, UINT64_MAX, UINT64_MAX);
	assert_int_equal(dev->stats.n_readaheads, 1);
	assert_int_equal(dev->stats.readahead_bytes, 2000);
	fat_dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_interrupted_transfers_are_continued),
		cmocka_unit_test(an_interrupted_flush_is_done_again),
		cmocka_unit_test(the_nth_call_that_fails_is_reported),
		cmocka_unit_test(a_transfer_that_ends_early_is_an_error),
		cmocka_unit_test(a_failed_flush_is_reported),
		cmocka_unit_test(reading_behind_the_real_end_is_an_error),
		cmocka_unit_test(zeroing_a_hole_allocates_nothing),
		cmocka_unit_test(zeroing_data_between_holes),
		cmocka_unit_test(offsets_above_4_gib),
		cmocka_unit_test(what_is_no_medium_is_refused),
		cmocka_unit_test(a_device_opened_for_reading_takes_no_writes),
		cmocka_unit_test(create_makes_new_files_only),
		cmocka_unit_test(exclusive_keeps_others_out),
		cmocka_unit_test(only_a_file_has_a_descriptor),
		cmocka_unit_test(a_refused_descriptor_stays_the_callers),
		cmocka_unit_test(no_device_takes_the_place_of_a_standard_stream),
		cmocka_unit_test(read_ahead_is_clipped_and_counted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
