/* SPDX-License-Identifier: MIT */
/*
 * dev: what all devices have in common.
 *
 * Checks bounds, so that no layer has to; passes errors up, so that the top of a stack always
 * carries the detail of the failure. Knows no medium.
 */
#include "libfat.h"

#include <stdlib.h>

#include "bytes.h"

#define ZERO_CHUNK_BYTES (1u << 20)

struct fat_dev *fat_dev_new(size_t n_bytes, const struct fat_dev_ops *ops, struct fat_dev *below)
{
	struct fat_dev *dev = calloc(1, n_bytes);

	if (!dev)
		return NULL;
	dev->ops = ops;
	dev->below = below;
	dev->size_bytes = below ? below->size_bytes : 0;
	dev->block_bytes = below ? below->block_bytes : 1;
	dev->read_only = below && below->read_only;
	return dev;
}

enum fat_status fat_dev_fail(struct fat_dev *dev, enum fat_status status, const char *action,
			     uint64_t off, uint64_t len_bytes, int sys_errno)
{
	dev->error = (struct fat_error){
		.status = status,
		.sys_errno = sys_errno,
		.action = action,
		.off = off,
		.len_bytes = len_bytes,
	};
	if (!dev->below)
		dev->stats.n_errors++;
	return status;
}

static bool in_bounds(const struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return off <= dev->size_bytes && len_bytes <= dev->size_bytes - off;
}

/* A layer that only passed the call on has no detail of its own: take that of the layer below. */
static enum fat_status passed_up(struct fat_dev *dev, enum fat_status status)
{
	if (status != FAT_OK && dev->error.status == FAT_OK && dev->below)
		dev->error = dev->below->error;
	return status;
}

static enum fat_status check(struct fat_dev *dev, const char *action, uint64_t off,
			     uint64_t len_bytes, bool writing)
{
	dev->error = (struct fat_error){ .status = FAT_OK };
	if (!in_bounds(dev, off, len_bytes))
		return fat_dev_fail(dev, FAT_ERR_RANGE, action, off, len_bytes, 0);
	if (writing && dev->read_only)
		return fat_dev_fail(dev, FAT_ERR_READ_ONLY, action, off, len_bytes, 0);
	return FAT_OK;
}

enum fat_status fat_dev_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	enum fat_status status = check(dev, "read", off, len_bytes, false);

	if (status != FAT_OK || len_bytes == 0)
		return status;
	return passed_up(dev, dev->ops->read(dev, off, buf, len_bytes));
}

enum fat_status fat_dev_write(struct fat_dev *dev, uint64_t off, const void *buf, size_t len_bytes)
{
	enum fat_status status = check(dev, "write", off, len_bytes, true);

	if (status != FAT_OK || len_bytes == 0)
		return status;
	return passed_up(dev, dev->ops->write(dev, off, buf, len_bytes));
}

static enum fat_status bits_by_writing(struct fat_dev *dev, uint64_t off, const uint8_t *from,
				       const uint8_t *mask, size_t len_bytes)
{
	uint8_t bytes[FAT_BITS_BYTES];
	enum fat_status status = dev->ops->read(dev, off, bytes, len_bytes);

	if (status != FAT_OK)
		return status;
	put_bits(bytes, from, mask, len_bytes);
	return dev->ops->write(dev, off, bytes, len_bytes);
}

enum fat_status fat_dev_write_bits(struct fat_dev *dev, uint64_t off, const void *buf,
				   const void *mask, size_t len_bytes)
{
	enum fat_status status = check(dev, "write", off, len_bytes, true);

	if (status != FAT_OK || len_bytes == 0)
		return status;
	if (len_bytes > FAT_BITS_BYTES)
		return fat_dev_fail(dev, FAT_ERR_ARGUMENT, "write", off, len_bytes, 0);
	return passed_up(dev, dev->ops->write_bits ?
				      dev->ops->write_bits(dev, off, buf, mask, len_bytes) :
				      bits_by_writing(dev, off, buf, mask, len_bytes));
}

static enum fat_status zero_by_writing(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = FAT_OK;
	uint8_t *zeroes = calloc(1, (size_t)min_u64(len_bytes, ZERO_CHUNK_BYTES));

	if (!zeroes)
		return fat_dev_fail(dev, FAT_ERR_MEMORY, "zero", off, len_bytes, 0);
	while (len_bytes > 0 && status == FAT_OK) {
		size_t n = (size_t)min_u64(len_bytes, ZERO_CHUNK_BYTES);

		status = dev->ops->write(dev, off, zeroes, n);
		off += n;
		len_bytes -= n;
	}
	free(zeroes);
	return status;
}

enum fat_status fat_dev_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = check(dev, "zero", off, len_bytes, true);

	if (status != FAT_OK || len_bytes == 0)
		return status;
	if (dev->ops->zero) {
		status = dev->ops->zero(dev, off, len_bytes);
		if (status != FAT_ERR_KIND)
			return passed_up(dev, status);
		dev->error = (struct fat_error){ .status = FAT_OK };
	}
	return passed_up(dev, zero_by_writing(dev, off, len_bytes));
}

enum fat_status fat_dev_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = check(dev, "discard", off, len_bytes, true);

	if (status != FAT_OK || len_bytes == 0)
		return status;
	if (!dev->ops->discard)
		return FAT_ERR_KIND;
	return passed_up(dev, dev->ops->discard(dev, off, len_bytes));
}

void fat_dev_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	if (!dev->ops->prefetch || off >= dev->size_bytes)
		return;
	len_bytes = min_u64(len_bytes, dev->size_bytes - off);
	if (len_bytes > 0)
		dev->ops->prefetch(dev, off, len_bytes);
}

enum fat_status fat_dev_flush(struct fat_dev *dev)
{
	dev->error = (struct fat_error){ .status = FAT_OK };
	return passed_up(dev, dev->ops->flush(dev));
}

enum fat_status fat_dev_resize(struct fat_dev *dev, uint64_t size_bytes)
{
	enum fat_status status = check(dev, "resize", 0, 0, true);

	if (status != FAT_OK)
		return status;
	if (!dev->ops->resize)
		return fat_dev_fail(dev, FAT_ERR_KIND, "resize", 0, size_bytes, 0);
	return passed_up(dev, dev->ops->resize(dev, size_bytes));
}

void fat_dev_close(struct fat_dev *dev)
{
	while (dev) {
		struct fat_dev *below = dev->below;

		dev->ops->close(dev);
		dev = below;
	}
}

struct fat_dev *fat_dev_base(struct fat_dev *dev)
{
	while (dev->below)
		dev = dev->below;
	return dev;
}
