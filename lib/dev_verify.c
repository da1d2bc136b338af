/* SPDX-License-Identifier: MIT */
/*
 * dev_verify: remembers what was written, so that it can be read back.
 *
 * Keeps a sorted list of ranges that do not overlap: zeros, or bytes with their checksum. What is
 * written over drops out; a part of a checked range can't be told any more and drops out as a
 * whole. Knows no FAT.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "crc.h"

#define READ_BYTES (1u << 20)

struct written {
	uint64_t off, end_off;
	uint32_t crc;
	bool is_zero;
};

struct dev_verify {
	struct fat_dev dev;
	struct written *range;
	size_t n, cap;
};

static struct dev_verify *as_verify(struct fat_dev *dev)
{
	return (struct dev_verify *)dev;
}

/* Index of the first range that ends behind off. */
static size_t first_behind(const struct dev_verify *verify, uint64_t off)
{
	size_t low = 0, high = verify->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (verify->range[mid].end_off <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Room for two more: a range in the middle of another leaves a piece on either side. */
static bool make_room(struct dev_verify *verify)
{
	size_t cap = verify->cap ? 2 * verify->cap : 64;
	struct written *grown;

	if (verify->n + 2 <= verify->cap)
		return true;
	grown = realloc(verify->range, cap * sizeof *grown);
	if (!grown)
		return false;
	verify->range = grown;
	verify->cap = cap;
	return true;
}

/* Puts `fresh` in the place of what it overlaps; zeros on either side of it stay. */
static enum fat_status put(struct dev_verify *verify, struct written fresh)
{
	size_t first = first_behind(verify, fresh.off), last = first, n_new = 0;
	struct written piece[3];

	if (!make_room(verify))
		return fat_dev_fail(&verify->dev, FAT_ERR_MEMORY, "verify", fresh.off, 0, 0);
	while (last < verify->n && verify->range[last].off < fresh.end_off)
		last++;
	if (last > first && verify->range[first].is_zero && verify->range[first].off < fresh.off)
		piece[n_new++] = (struct written){ verify->range[first].off, fresh.off, 0, true };
	piece[n_new++] = fresh;
	if (last > first && verify->range[last - 1].is_zero &&
	    verify->range[last - 1].end_off > fresh.end_off)
		piece[n_new++] =
			(struct written){ fresh.end_off, verify->range[last - 1].end_off, 0, true };
	memmove(verify->range + first + n_new, verify->range + last,
		(verify->n - last) * sizeof *verify->range);
	memcpy(verify->range + first, piece, n_new * sizeof *piece);
	verify->n = verify->n - (last - first) + n_new;
	return FAT_OK;
}

static enum fat_status verify_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static enum fat_status verify_write(struct fat_dev *dev, uint64_t off, const void *buf,
				    size_t len_bytes)
{
	enum fat_status status = fat_dev_write(dev->below, off, buf, len_bytes);
	struct written fresh = { off, off + len_bytes, fat_crc32c(0, buf, len_bytes), false };

	return status == FAT_OK ? put(as_verify(dev), fresh) : status;
}

static enum fat_status verify_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = fat_dev_zero(dev->below, off, len_bytes);
	struct written fresh = { off, off + len_bytes, 0, true };

	return status == FAT_OK ? put(as_verify(dev), fresh) : status;
}

static enum fat_status verify_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return fat_dev_discard(dev->below, off, len_bytes);
}

static enum fat_status verify_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void verify_close(struct fat_dev *dev)
{
	free(as_verify(dev)->range);
	free(dev);
}

static const struct fat_dev_ops verify_ops = {
	.name = "verify",
	.read = verify_read,
	.write = verify_write,
	.zero = verify_zero,
	.discard = verify_discard,
	.flush = verify_flush,
	.close = verify_close,
};

enum fat_status fat_verify_open(struct fat_dev *below, struct fat_dev **dev)
{
	struct dev_verify *verify = as_verify(fat_dev_new(sizeof *verify, &verify_ops, below));

	*dev = NULL;
	if (!verify)
		return FAT_ERR_MEMORY;
	*dev = &verify->dev;
	return FAT_OK;
}

static bool is_zero(const uint8_t *bytes, size_t len_bytes)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, len_bytes - 1) == 0;
}

static enum fat_status check_range(struct dev_verify *verify, const struct written *range,
				   uint8_t *buf, bool *is_right)
{
	enum fat_status status = FAT_OK;
	uint32_t crc = 0;

	*is_right = true;
	for (uint64_t off = range->off; off < range->end_off && status == FAT_OK;
	     off += READ_BYTES) {
		size_t n = (size_t)min_u64(READ_BYTES, range->end_off - off);

		status = fat_dev_read(&verify->dev, off, buf, n);
		if (status == FAT_OK && range->is_zero)
			*is_right = *is_right && is_zero(buf, n);
		else if (status == FAT_OK)
			crc = fat_crc32c(crc, buf, n);
	}
	*is_right = *is_right && (range->is_zero || crc == range->crc);
	return status;
}

enum fat_status fat_verify_check(struct fat_dev *dev, bool *is_right, uint64_t *wrong_off)
{
	struct dev_verify *verify = as_verify(dev);
	uint8_t *buf = malloc(READ_BYTES);
	enum fat_status status = FAT_OK;

	*is_right = true;
	if (!buf)
		return fat_dev_fail(dev, FAT_ERR_MEMORY, "verify", 0, READ_BYTES, 0);
	for (size_t i = 0; i < verify->n && status == FAT_OK && *is_right; i++) {
		*wrong_off = verify->range[i].off;
		status = check_range(verify, &verify->range[i], buf, is_right);
	}
	free(buf);
	return status;
}
