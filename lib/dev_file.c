/* SPDX-License-Identifier: MIT */
/*
 * dev_file: the medium, as a regular file or a block device.
 *
 * Knows the system's calls and counts them. Continues interrupted and short transfers; a transfer
 * that ends early for good is an error, never a short result. Knows nothing of FAT.
 */
#include "libfat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"

#define DIRECT_ALIGN 4096u
#define DIRECT_BYTES (64u << 10)

/* The C libraries disagree on the type of a request, the kernel reads 32 bits of it. */
#ifdef __GLIBC__
#define DEV_FILE_GET_SIZE BLKGETSIZE64
#else
#define DEV_FILE_GET_SIZE ((int)BLKGETSIZE64)
#endif

struct dev_file {
	struct fat_dev dev;
	int fd;
	bool is_block;
	const struct fat_dev_file_calls *calls;
};

static int64_t call_pread(int fd, void *buf, size_t len_bytes, uint64_t off)
{
	return pread(fd, buf, len_bytes, (off_t)off);
}

static int64_t call_pwrite(int fd, const void *buf, size_t len_bytes, uint64_t off)
{
	return pwrite(fd, buf, len_bytes, (off_t)off);
}

static const struct fat_dev_file_calls system_calls = {
	.pread = call_pread,
	.pwrite = call_pwrite,
	.fsync = fsync,
};

static struct dev_file *as_file(struct fat_dev *dev)
{
	return (struct dev_file *)dev;
}

/*
 * The cache of a block device moves whole pages, so one sick block spoils those beside it. Past the
 * cache each block stands for itself: tries one transfer there. Returns what the call returns.
 */
static int64_t past_cache(struct dev_file *file, uint64_t off, void *buf, size_t len_bytes,
			  bool writing)
{
	uint32_t block = file->dev.block_bytes;
	uint64_t start = off / block * block;
	size_t span = (size_t)(div_ceil(off + len_bytes, block) * block - start);
	int flags = fcntl(file->fd, F_GETFL), sys_errno;
	uint8_t *room = malloc(span + DIRECT_ALIGN), *bounce = room;
	int64_t n = -1;

	if (room)
		bounce += DIRECT_ALIGN - (uintptr_t)room % DIRECT_ALIGN;
	if (room && flags >= 0 && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0) {
		if (writing)
			memcpy(bounce, buf, len_bytes);
		n = writing ? file->calls->pwrite(file->fd, bounce, span, start) :
			      file->calls->pread(file->fd, bounce, span, start);
		sys_errno = errno;
		fcntl(file->fd, F_SETFL, flags);
		errno = sys_errno;
	}
	if (n >= 0 && (uint64_t)n != span)
		n = -1;
	if (n >= 0 && !writing)
		memcpy(buf, bounce + (off - start), len_bytes);
	free(room);
	return n < 0 ? n : (int64_t)len_bytes;
}

/* Whether a transfer that failed is worth a try past the cache. */
static bool cache_may_spoil(const struct dev_file *file, uint64_t off, size_t len_bytes,
			    bool writing)
{
	uint32_t block = file->dev.block_bytes;

	return errno == EIO && file->is_block && len_bytes <= DIRECT_BYTES &&
	       (!writing || (off % block == 0 && len_bytes % block == 0));
}

static enum fat_status file_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	struct dev_file *file = as_file(dev);
	uint8_t *to = buf;
	size_t done = 0;

	while (done < len_bytes) {
		int64_t n = file->calls->pread(file->fd, to + done, len_bytes - done, off + done);

		dev->stats.n_reads++;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && cache_may_spoil(file, off + done, len_bytes - done, false))
			n = past_cache(file, off + done, to + done, len_bytes - done, false);
		if (n <= 0)
			return fat_dev_fail(dev, FAT_ERR_IO, "read", off + done, len_bytes - done,
					    n < 0 ? errno : 0);
		dev->stats.read_bytes += (uint64_t)n;
		done += (size_t)n;
	}
	return FAT_OK;
}

static enum fat_status file_write(struct fat_dev *dev, uint64_t off, const void *buf,
				  size_t len_bytes)
{
	struct dev_file *file = as_file(dev);
	const uint8_t *from = buf;
	size_t done = 0;

	while (done < len_bytes) {
		int64_t n =
			file->calls->pwrite(file->fd, from + done, len_bytes - done, off + done);

		dev->stats.n_writes++;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && cache_may_spoil(file, off + done, len_bytes - done, true))
			n = past_cache(file, off + done, (void *)(uintptr_t)(from + done),
				       len_bytes - done, true);
		if (n <= 0)
			return fat_dev_fail(dev, FAT_ERR_IO, "write", off + done, len_bytes - done,
					    n < 0 ? errno : ENOSPC);
		dev->stats.write_bytes += (uint64_t)n;
		done += (size_t)n;
	}
	return FAT_OK;
}

/*
 * Gives the space back where the medium can (a loop device, thin storage, a file), for that takes
 * no writes and leaves a sparse image sparse; else zeroes it in place. Counts one successful range
 * command. FAT_ERR_KIND means: not offered, do it by writes.
 */
static enum fat_status zero_range(struct dev_file *file, uint64_t off, uint64_t len_bytes)
{
	struct fat_dev *dev = &file->dev;
	const int keep = FALLOC_FL_KEEP_SIZE;
	bool done = fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | keep, (off_t)off,
			      (off_t)len_bytes) == 0;

	if (!done && file->is_block) {
		uint64_t range[2] = { off, len_bytes };

		done = ioctl(file->fd, BLKZEROOUT, range) == 0;
	} else if (!done) {
		done = fallocate(file->fd, FALLOC_FL_ZERO_RANGE | keep, (off_t)off,
				 (off_t)len_bytes) == 0;
	}
	if (!done)
		return FAT_ERR_KIND;
	dev->stats.n_zeroes++;
	dev->stats.zero_bytes += len_bytes;
	return FAT_OK;
}

/* Holes of a file are zero already: only what lies between them is touched. */
static enum fat_status zero_between_holes(struct dev_file *file, uint64_t off, uint64_t len_bytes)
{
	uint64_t end_off = off + len_bytes;

	while (off < end_off) {
		off_t data = lseek(file->fd, (off_t)off, SEEK_DATA);
		off_t hole;
		enum fat_status status;

		if (data < 0)
			return errno == ENXIO ? FAT_OK : FAT_ERR_KIND;
		if ((uint64_t)data >= end_off)
			return FAT_OK;
		hole = lseek(file->fd, data, SEEK_HOLE);
		if (hole < 0)
			return FAT_ERR_KIND;
		off = min_u64((uint64_t)hole, end_off);
		status = zero_range(file, (uint64_t)data, off - (uint64_t)data);
		if (status != FAT_OK)
			return status;
	}
	return FAT_OK;
}

static enum fat_status file_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	struct dev_file *file = as_file(dev);

	if (off % dev->block_bytes != 0 || len_bytes % dev->block_bytes != 0)
		return FAT_ERR_KIND;
	if (file->is_block)
		return zero_range(file, off, len_bytes);
	return zero_between_holes(file, off, len_bytes);
}

static enum fat_status file_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	struct dev_file *file = as_file(dev);
	uint64_t range[2] = { off, len_bytes };

	if (!file->is_block || ioctl(file->fd, BLKDISCARD, range) != 0)
		return FAT_ERR_KIND;
	dev->stats.n_discards++;
	dev->stats.discard_bytes += len_bytes;
	return FAT_OK;
}

static void file_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	if (posix_fadvise(as_file(dev)->fd, (off_t)off, (off_t)len_bytes, POSIX_FADV_WILLNEED) !=
	    0)
		return;
	dev->stats.n_readaheads++;
	dev->stats.readahead_bytes += len_bytes;
}

static enum fat_status file_flush(struct fat_dev *dev)
{
	struct dev_file *file = as_file(dev);

	for (;;) {
		dev->stats.n_flushes++;
		if (file->calls->fsync(file->fd) == 0)
			return FAT_OK;
		if (errno != EINTR)
			return fat_dev_fail(dev, FAT_ERR_IO, "flush", 0, 0, errno);
	}
}

static enum fat_status file_resize(struct fat_dev *dev, uint64_t size_bytes)
{
	struct dev_file *file = as_file(dev);

	if (file->is_block)
		return fat_dev_fail(dev, FAT_ERR_KIND, "resize", 0, size_bytes, 0);
	if (size_bytes > INT64_MAX || ftruncate(file->fd, (off_t)size_bytes) != 0)
		return fat_dev_fail(dev, FAT_ERR_IO, "resize", 0, size_bytes,
				    size_bytes > INT64_MAX ? EFBIG : errno);
	dev->size_bytes = size_bytes;
	return FAT_OK;
}

static void file_close(struct fat_dev *dev)
{
	close(as_file(dev)->fd);
	free(dev);
}

static const struct fat_dev_ops file_ops = {
	.name = "file",
	.read = file_read,
	.write = file_write,
	.zero = file_zero,
	.discard = file_discard,
	.prefetch = file_prefetch,
	.flush = file_flush,
	.resize = file_resize,
	.close = file_close,
};

static enum fat_status fail(struct fat_error *error, enum fat_status status, const char *action,
			    int sys_errno)
{
	*error = (struct fat_error){ .status = status, .sys_errno = sys_errno, .action = action };
	return status;
}

/* Size and block of what the descriptor stands for. */
static enum fat_status find_size(struct dev_file *file, bool may_be_empty, struct fat_error *error)
{
	struct fat_dev *dev = &file->dev;
	struct stat st;

	if (fstat(file->fd, &st) != 0)
		return fail(error, FAT_ERR_OPEN, "open", errno);
	if (S_ISREG(st.st_mode)) {
		dev->size_bytes = (uint64_t)st.st_size;
	} else if (S_ISBLK(st.st_mode)) {
		int block = 0;

		file->is_block = true;
		if (ioctl(file->fd, DEV_FILE_GET_SIZE, &dev->size_bytes) != 0)
			return fail(error, FAT_ERR_SIZE, "find the size", errno);
		if (ioctl(file->fd, BLKSSZGET, &block) == 0 && block > 0)
			dev->block_bytes = (uint32_t)block;
	} else {
		return fail(error, FAT_ERR_KIND, "open", 0);
	}
	if (dev->size_bytes == 0 && !may_be_empty)
		return fail(error, FAT_ERR_SIZE, "find the size", 0);
	return FAT_OK;
}

/* Two of our own tools on one image file must not meet. */
static enum fat_status lock_file(const struct dev_file *file, unsigned flags,
				 struct fat_error *error)
{
	int kind = flags & FAT_DEV_WRITE ? LOCK_EX : LOCK_SH;

	if (!(flags & FAT_DEV_EXCLUSIVE) || file->is_block)
		return FAT_OK;
	if (flock(file->fd, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return fail(error, FAT_ERR_BUSY, "lock", errno);
	return FAT_OK;
}

/*
 * Callers close stdout to have a tool quiet [COMPAT 1.2]. The next file opened then is descriptor
 * 1, and the program's words would go into the volume: no device keeps the number of a standard
 * stream.
 */
static enum fat_status leave_standard_streams(struct dev_file *file, struct fat_error *error)
{
	int fd = file->fd;

	if (fd > STDERR_FILENO)
		return FAT_OK;
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (file->fd < 0)
		return fail(error, FAT_ERR_OPEN, "open", errno);
	close(fd);
	return FAT_OK;
}

enum fat_status fat_dev_file_from_fd(int fd, unsigned flags, struct fat_dev **dev,
				     struct fat_error *error)
{
	struct dev_file *file = as_file(fat_dev_new(sizeof *file, &file_ops, NULL));
	enum fat_status status;

	*dev = NULL;
	if (!file)
		return fail(error, FAT_ERR_MEMORY, "open", 0);
	file->dev.read_only = !(flags & FAT_DEV_WRITE);
	file->fd = fd;
	file->calls = &system_calls;
	status = find_size(file, flags & FAT_DEV_CREATE, error);
	if (status == FAT_OK)
		status = lock_file(file, flags, error);
	if (status == FAT_OK)
		status = leave_standard_streams(file, error);
	if (status != FAT_OK) {
		free(file);
		return status;
	}
	*dev = &file->dev;
	return FAT_OK;
}

/* O_EXCL without O_CREAT means "nobody else" to a block device, and nothing elsewhere. */
static int open_flags(const char *path, unsigned flags)
{
	int mode = (flags & FAT_DEV_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
	struct stat st;

	if (flags & FAT_DEV_CREATE)
		return mode | O_CREAT | O_EXCL;
	if (flags & FAT_DEV_DIRECT)
		mode |= O_DIRECT;
	if (flags & FAT_DEV_EXCLUSIVE && stat(path, &st) == 0 && S_ISBLK(st.st_mode))
		mode |= O_EXCL;
	return mode;
}

enum fat_status fat_dev_file_open(const char *path, unsigned flags, struct fat_dev **dev,
				  struct fat_error *error)
{
	enum fat_status status;
	int fd = open(path, open_flags(path, flags), 0666);

	*dev = NULL;
	if (fd < 0)
		return fail(error, errno == EBUSY ? FAT_ERR_BUSY : FAT_ERR_OPEN, "open", errno);
	status = fat_dev_file_from_fd(fd, flags, dev, error);
	if (status == FAT_OK)
		return FAT_OK;
	close(fd);
	if (flags & FAT_DEV_CREATE)
		unlink(path);
	return status;
}

int fat_dev_file_fd(const struct fat_dev *dev)
{
	return dev->ops == &file_ops ? ((const struct dev_file *)dev)->fd : -1;
}

void fat_dev_file_set_calls(struct fat_dev *dev, const struct fat_dev_file_calls *calls)
{
	as_file(dev)->calls = calls;
}
