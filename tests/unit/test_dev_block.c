/* SPDX-License-Identifier: MIT */
/*
 * dev_file on a block device: a loop device over a sparse file. Skipped where there is none (it
 * takes root).
 */
#include "unit.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "libfat.h"

#define IMAGE_BYTES ((uint64_t)5 << 30)

static char dir[TEMP_PATH_BYTES], loop_path[64];
static int loop_fd = -1;

/* The first free loop device over the image, with that block size. */
static bool attach(uint32_t block_bytes)
{
	struct loop_config config = { .block_size = block_bytes };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	int image = open(temp_path(dir, "image"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	bool ok = number >= 0 && image >= 0 && ftruncate(image, (off_t)IMAGE_BYTES) == 0;

	if (control >= 0)
		close(control);
	snprintf(loop_path, sizeof loop_path, "/dev/loop%d", number);
	loop_fd = ok ? open(loop_path, O_RDWR | O_CLOEXEC) : -1;
	config.fd = (uint32_t)image;
	if (loop_fd >= 0 && ioctl(loop_fd, LOOP_CONFIGURE, &config) != 0) {
		close(loop_fd);
		loop_fd = -1;
	}
	if (image >= 0)
		close(image);
	return loop_fd >= 0;
}

static int set_up(void **state)
{
	(void)state;
	temp_make(dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (loop_fd >= 0) {
		ioctl(loop_fd, LOOP_CLR_FD, 0);
		close(loop_fd);
		loop_fd = -1;
	}
	temp_remove(dir);
	return 0;
}

static struct fat_dev *open_loop(unsigned flags)
{
	struct fat_error error;
	struct fat_dev *dev;

	assert_int_equal(fat_dev_file_open(loop_path, flags, &dev, &error), FAT_OK);
	return dev;
}

static uint64_t image_allocated_bytes(void)
{
	struct stat st;

	assert_int_equal(stat(temp_path(dir, "image"), &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void size_and_block_are_the_kernels(void **state)
{
	struct fat_dev *dev;

	(void)state;
	if (!attach(4096))
		skip();
	dev = open_loop(0);
	assert_true(dev->size_bytes == IMAGE_BYTES);
	assert_int_equal(dev->block_bytes, 4096);
	fat_dev_close(dev);
}

static void exclusive_means_the_kernels_own(void **state)
{
	struct fat_error error;
	struct fat_dev *dev, *second;

	(void)state;
	if (!attach(512))
		skip();
	dev = open_loop(FAT_DEV_EXCLUSIVE);
	assert_int_equal(fat_dev_file_open(loop_path, FAT_DEV_EXCLUSIVE | FAT_DEV_WRITE, &second,
					   &error),
			 FAT_ERR_BUSY);
	assert_null(second);
	fat_dev_close(dev);
	fat_dev_close(open_loop(FAT_DEV_EXCLUSIVE | FAT_DEV_WRITE));
}

static void zeroing_is_one_command_and_takes_no_space(void **state)
{
	static uint8_t ones[1 << 20], back[1 << 20];
	struct fat_dev *dev;

	(void)state;
	if (!attach(512))
		skip();
	dev = open_loop(FAT_DEV_WRITE);
	memset(ones, 1, sizeof ones);
	assert_int_equal(fat_dev_write(dev, (uint64_t)1 << 32, ones, sizeof ones), FAT_OK);
	assert_int_equal(fat_dev_flush(dev), FAT_OK);
	assert_true(image_allocated_bytes() >= sizeof ones);
	dev->stats = (struct fat_dev_stats){ .n_reads = 0 };
	assert_int_equal(fat_dev_zero(dev, 0, IMAGE_BYTES), FAT_OK);
	assert_int_equal(dev->stats.n_zeroes, 1);
	assert_int_equal(dev->stats.n_writes, 0);
	assert_true(image_allocated_bytes() < sizeof ones);
	assert_int_equal(fat_dev_read(dev, (uint64_t)1 << 32, back, sizeof back), FAT_OK);
	memset(ones, 0, sizeof ones);
	assert_memory_equal(ones, back, sizeof back);
	fat_dev_close(dev);
}

static void zeroing_parts_of_blocks_keeps_the_rest(void **state)
{
	uint8_t buf[4096];
	struct fat_dev *dev;

	(void)state;
	if (!attach(4096))
		skip();
	dev = open_loop(FAT_DEV_WRITE);
	memset(buf, 7, sizeof buf);
	assert_int_equal(fat_dev_write(dev, 4096, buf, sizeof buf), FAT_OK);
	assert_int_equal(fat_dev_zero(dev, 4096 + 512, 1024), FAT_OK);
	assert_int_equal(fat_dev_read(dev, 4096, buf, sizeof buf), FAT_OK);
	assert_true(buf[511] == 7 && buf[512] == 0 && buf[1535] == 0 && buf[1536] == 7);
	fat_dev_close(dev);
}

static void the_host_knows_what_lies_below(void **state)
{
	struct host_target target;
	struct host_topology topology;
	struct host_use use;

	(void)state;
	if (!attach(4096))
		skip();
	assert_int_equal(host_target_init(&target, loop_path), 0);
	assert_int_equal(target.kind, HOST_BLOCK);
	if (host_topology_read(NULL, &target, &topology) != HOST_YES)
		skip();
	assert_string_equal(topology.driver, "loop");
	assert_true(topology.size_bytes == IMAGE_BYTES);
	assert_int_equal(topology.logical_block_bytes, 4096);
	assert_string_equal(topology.backing_file, temp_path(dir, "image"));
	assert_int_equal(host_use_find(NULL, &target, &use), HOST_NO);
	assert_int_equal(host_target_init(&target, temp_path(dir, "image")), 0);
	assert_int_equal(host_use_find(NULL, &target, &use), HOST_YES);
	assert_int_equal(use.kind, HOST_USE_LOOP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(size_and_block_are_the_kernels),
		TEST(exclusive_means_the_kernels_own),
		TEST(zeroing_is_one_command_and_takes_no_space),
		TEST(zeroing_parts_of_blocks_keeps_the_rest),
		TEST(the_host_knows_what_lies_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
