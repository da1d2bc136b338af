/* SPDX-License-Identifier: MIT */
/*
 * target_dev: a real device or image file, past the page cache, with the system's clock.
 *
 * Knows O_DIRECT and what alignment it wants. Never opens anything buffered: a measurement through
 * a cache measures the cache.
 */
#include "advise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"

#define DEFAULT_MAX_BYTES (128u << 10)

static uint64_t system_clock_ns(struct advise_target *target)
{
	struct timespec now;

	(void)target;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A read of this size and alignment goes through. Nobody's content is touched. */
static bool accepts_blocks(struct fat_dev *dev, uint32_t block_bytes)
{
	void *buf = aligned_alloc(4096, 4096);
	bool ok;

	if (!buf)
		return false;
	ok = fat_dev_read(dev, block_bytes, buf, block_bytes) == FAT_OK;
	free(buf);
	return ok;
}

#ifdef STATX_DIOALIGN
static uint32_t file_block_by_statx(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) != 0 ||
	    !(stx.stx_mask & STATX_DIOALIGN))
		return 0;
	return stx.stx_dio_offset_align;
}
#else
static uint32_t file_block_by_statx(int fd)
{
	(void)fd;
	return 0;
}
#endif

/* The smallest block that direct requests may have; 0 if none works. What is too small to try it is
 * too small to be measured as well. */
static uint32_t find_block(struct advise_target *target)
{
	uint32_t said = target->is_file ? file_block_by_statx(fat_dev_file_fd(target->dev))
					: target->dev->block_bytes;

	if (target->dev->size_bytes < (uint64_t)2 * 4096)
		return 512;
	for (uint32_t block = said > 512 && is_pow2(said) ? said : 512; block <= 4096; block *= 2)
		if (accepts_blocks(target->dev, block))
			return block;
	return 0;
}

/* What the queue sends in one command, as the kernel says; needs nothing from sysfs. */
static uint32_t find_max(int fd)
{
	unsigned short sectors = 0;

	if (ioctl(fd, BLKSECTGET, &sectors) != 0 || sectors < 8)
		return DEFAULT_MAX_BYTES;
	return min_u32(sectors * 512u, 1u << 20) & ~4095u;
}

/* A second way to the same device, for reads alone. */
static enum fat_status read_buffered(struct advise_target *target, uint64_t off, void *buf,
				     size_t len_bytes)
{
	posix_fadvise(target->buffered_fd, (off_t)off, (off_t)len_bytes, POSIX_FADV_DONTNEED);
	for (size_t done = 0; done < len_bytes;) {
		ssize_t n = pread(target->buffered_fd, (uint8_t *)buf + done,
				  (size_t)min_u64(len_bytes - done, DEFAULT_MAX_BYTES),
				  (off_t)(off + done));

		if (n <= 0)
			return FAT_ERR_IO;
		done += (size_t)n;
	}
	return FAT_OK;
}

/* A path that cannot be looked at is no wrong kind: opening it will say more. */
static bool is_wrong_kind(const char *path, bool *is_file)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	*is_file = S_ISREG(st.st_mode);
	return !*is_file && !S_ISBLK(st.st_mode);
}

enum fat_status advise_target_open(const char *path, bool writable, struct advise_target *target,
				   struct fat_error *error)
{
	unsigned flags = FAT_DEV_DIRECT | FAT_DEV_EXCLUSIVE | (writable ? FAT_DEV_WRITE : 0u);
	enum fat_status status;

	*target = (struct advise_target){ .now_ns = system_clock_ns };
	if (is_wrong_kind(path, &target->is_file)) {
		*error = (struct fat_error){ .status = FAT_ERR_KIND, .action = "measure it" };
		return FAT_ERR_KIND;
	}
	status = fat_dev_file_open(path, flags, &target->dev, error);
	if (status == FAT_ERR_OPEN && error->sys_errno == EINVAL)
		error->status = status = FAT_ERR_KIND;
	if (status != FAT_OK)
		return status;
	target->block_bytes = find_block(target);
	if (target->block_bytes == 0) {
		*error = target->dev->error;
		if (error->sys_errno == EINVAL)
			error->status = FAT_ERR_KIND;
		advise_target_close(target);
		return error->status;
	}
	target->sector_bytes = target->is_file ? 512 : target->dev->block_bytes;
	target->max_bytes =
		target->is_file ? DEFAULT_MAX_BYTES : find_max(fat_dev_file_fd(target->dev));
	target->buffered_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (target->buffered_fd >= 0)
		target->read_buffered = read_buffered;
	return FAT_OK;
}

void advise_target_close(struct advise_target *target)
{
	if (target->read_buffered)
		close(target->buffered_fd);
	fat_dev_close(target->dev);
	target->dev = NULL;
}
