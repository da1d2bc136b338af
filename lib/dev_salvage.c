/* SPDX-License-Identifier: MIT */
/*
 * dev_salvage: reading goes on where the medium cannot be read.
 *
 * Halves a read that failed until the units are found that cannot be read; they read as zeros from
 * then on, are not tried again, and stand on a list. Invariants: the list is sorted, without
 * overlap, and bounded: a medium that is worse than that gives an error as it would without this
 * layer. What could not be read is only ever overwritten as a whole, and leaves the list when it
 * reads back. Knows nothing of FAT: what zeros mean is the caller's business, who asks
 * fat_dev_unreadable().
 */
#include "libfat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "vec.h"

#define MAX_RANGES 1024u
#define MAX_UNITS  65536u

struct dev_salvage {
	struct fat_dev dev;
	uint32_t unit_bytes;
	uint64_t n_units; /* on the list, or taken off it */
	uint64_t n_unhealed;
	struct fat_vec bad; /* of struct fat_dev_range: whole units */
};

static struct dev_salvage *as_salvage(struct fat_dev *dev)
{
	return (struct dev_salvage *)dev;
}

static struct fat_dev_range *at(const struct dev_salvage *salvage, size_t i)
{
	return fat_vec_at(&salvage->bad, i);
}

/* Index of the first range that ends behind off. */
static size_t first_behind(const struct dev_salvage *salvage, uint64_t off)
{
	size_t low = 0, high = salvage->bad.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at(salvage, middle)->off + at(salvage, middle)->len_bytes <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A sick place on the medium, not a medium that is gone. */
static bool is_local(const struct fat_error *error)
{
	return error->status == FAT_ERR_IO &&
	       (error->sys_errno == EIO || error->sys_errno == ENODATA ||
		error->sys_errno == EILSEQ || error->sys_errno == EREMOTEIO);
}

static enum fat_status too_much(struct dev_salvage *salvage)
{
	salvage->dev.error = salvage->dev.below->error;
	return FAT_ERR_IO;
}

/* Puts the unit at off on the list; it is not there yet. */
static enum fat_status put_on_list(struct dev_salvage *salvage, uint64_t off, uint64_t len_bytes)
{
	size_t i = first_behind(salvage, off);
	struct fat_dev_range *before = i > 0 ? at(salvage, i - 1) : NULL;
	struct fat_dev_range *after = i < salvage->bad.n ? at(salvage, i) : NULL;

	if (salvage->n_units == MAX_UNITS)
		return too_much(salvage);
	if (before && before->off + before->len_bytes == off) {
		before->len_bytes += len_bytes;
	} else if (after && after->off == off + len_bytes) {
		after->off = off;
		after->len_bytes += len_bytes;
	} else {
		if (!fat_vec_push(&salvage->bad))
			return too_much(salvage);
		memmove(at(salvage, i + 1), at(salvage, i),
			(salvage->bad.n - 1 - i) * sizeof(struct fat_dev_range));
		*at(salvage, i) = (struct fat_dev_range){ off, len_bytes };
	}
	salvage->n_units++;
	return FAT_OK;
}

static enum fat_status take_off_list(struct dev_salvage *salvage, uint64_t off, uint64_t len_bytes)
{
	size_t i = first_behind(salvage, off);
	struct fat_dev_range *range = at(salvage, i), rest;

	rest.off = off + len_bytes;
	rest.len_bytes = range->off + range->len_bytes - rest.off;
	if (range->off == off && rest.len_bytes > 0) {
		*range = rest;
		return FAT_OK;
	}
	range->len_bytes = off - range->off;
	if (range->len_bytes == 0)
		memmove(range, range + 1, (--salvage->bad.n - i) * sizeof *range);
	if (rest.len_bytes == 0)
		return FAT_OK;
	if (!fat_vec_push(&salvage->bad))
		return FAT_ERR_MEMORY;
	memmove(at(salvage, i + 1) + 1, at(salvage, i + 1), (salvage->bad.n - 2 - i) * sizeof rest);
	*at(salvage, i + 1) = rest;
	return FAT_OK;
}

/* ---- reading ---- */

/* A range that failed as a whole. Depth: the logarithm of its units. */
static enum fat_status halve(struct dev_salvage *salvage, uint64_t off, uint8_t *buf,
			     size_t len_bytes)
{
	uint64_t unit = salvage->unit_bytes, first = off / unit,
		 last = (off + len_bytes - 1) / unit;
	struct fat_dev *below = salvage->dev.below;
	size_t n;

	if (first == last) {
		memset(buf, 0, len_bytes);
		return put_on_list(salvage, first * unit,
				   min_u64(unit, below->size_bytes - first * unit));
	}
	n = (size_t)((first + (last - first + 1) / 2) * unit - off);
	for (unsigned part = 0; part < 2; part++) {
		enum fat_status status = fat_dev_read(below, off, buf, n);

		if (status != FAT_OK && is_local(&below->error))
			status = halve(salvage, off, buf, n);
		if (status != FAT_OK)
			return status;
		off += n;
		buf += n;
		n = len_bytes - n;
	}
	return FAT_OK;
}

static enum fat_status read_piece(struct dev_salvage *salvage, uint64_t off, uint8_t *buf,
				  size_t len_bytes)
{
	enum fat_status status = fat_dev_read(salvage->dev.below, off, buf, len_bytes);

	if (status == FAT_OK || !is_local(&salvage->dev.below->error))
		return status;
	return halve(salvage, off, buf, len_bytes);
}

/* What is known to be unreadable is left out; the rest is read in as large pieces as can be. */
static enum fat_status salvage_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	struct dev_salvage *salvage = as_salvage(dev);
	enum fat_status status = FAT_OK;
	uint8_t *to = buf;

	while (len_bytes > 0 && status == FAT_OK) {
		size_t i = first_behind(salvage, off);
		const struct fat_dev_range *bad = i < salvage->bad.n ? at(salvage, i) : NULL;
		size_t n = len_bytes;

		if (bad && bad->off <= off) {
			n = (size_t)min_u64(n, bad->off + bad->len_bytes - off);
			memset(to, 0, n);
		} else {
			if (bad)
				n = (size_t)min_u64(n, bad->off - off);
			status = read_piece(salvage, off, to, n);
		}
		off += n;
		to += n;
		len_bytes -= n;
	}
	return status;
}

/* ---- writing ---- */

/* A whole unit that could not be read: most media put it elsewhere once it is written. */
static enum fat_status heal(struct dev_salvage *salvage, uint64_t off, const uint8_t *buf,
			    size_t len_bytes)
{
	struct fat_dev *below = salvage->dev.below;
	uint8_t *back = malloc(len_bytes);
	bool healed;

	if (!back)
		return FAT_ERR_MEMORY;
	healed = fat_dev_write(below, off, buf, len_bytes) == FAT_OK &&
		 fat_dev_flush(below) == FAT_OK &&
		 fat_dev_read(below, off, back, len_bytes) == FAT_OK &&
		 memcmp(buf, back, len_bytes) == 0;
	free(back);
	if (healed)
		return take_off_list(salvage, off, len_bytes);
	salvage->n_unhealed++;
	return FAT_OK;
}

static enum fat_status salvage_write(struct fat_dev *dev, uint64_t off, const void *buf,
				     size_t len_bytes)
{
	struct dev_salvage *salvage = as_salvage(dev);
	const uint8_t *from = buf;
	enum fat_status status = FAT_OK;

	while (len_bytes > 0 && status == FAT_OK) {
		size_t i = first_behind(salvage, off);
		const struct fat_dev_range *bad = i < salvage->bad.n ? at(salvage, i) : NULL;
		uint64_t unit_off = off / salvage->unit_bytes * salvage->unit_bytes;
		uint64_t unit = min_u64(salvage->unit_bytes, dev->size_bytes - unit_off);
		size_t n = len_bytes;

		if (!bad || bad->off > off) {
			if (bad)
				n = (size_t)min_u64(n, bad->off - off);
			status = fat_dev_write(dev->below, off, from, n);
		} else {
			n = (size_t)min_u64(n, unit_off + unit - off);
			if (n == unit)
				status = heal(salvage, off, from, n);
			else
				salvage->n_unhealed++;
		}
		off += n;
		from += n;
		len_bytes -= n;
	}
	return status;
}

/* Unreadable units are written one by one. */
static enum fat_status salvage_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	if (fat_dev_unreadable(dev, off, len_bytes))
		return FAT_ERR_KIND;
	return fat_dev_zero(dev->below, off, len_bytes);
}

static enum fat_status salvage_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return fat_dev_discard(dev->below, off, len_bytes);
}

static void salvage_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	fat_dev_prefetch(dev->below, off, len_bytes);
}

static enum fat_status salvage_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void salvage_close(struct fat_dev *dev)
{
	fat_vec_fini(&as_salvage(dev)->bad);
	free(dev);
}

static const struct fat_dev_ops salvage_ops = {
	.name = "salvage",
	.read = salvage_read,
	.write = salvage_write,
	.zero = salvage_zero,
	.discard = salvage_discard,
	.prefetch = salvage_prefetch,
	.flush = salvage_flush,
	.close = salvage_close,
};

enum fat_status fat_dev_salvage_open(struct fat_dev *below, uint32_t unit_bytes,
				     struct fat_dev **dev)
{
	struct dev_salvage *salvage = as_salvage(fat_dev_new(sizeof *salvage, &salvage_ops, below));

	*dev = NULL;
	if (!salvage)
		return FAT_ERR_MEMORY;
	salvage->unit_bytes = unit_bytes;
	fat_vec_init(&salvage->bad, sizeof(struct fat_dev_range), MAX_RANGES);
	*dev = &salvage->dev;
	return FAT_OK;
}

/* ---- asking, from anywhere in the stack ---- */

static const struct dev_salvage *find_layer(const struct fat_dev *dev)
{
	while (dev && dev->ops != &salvage_ops)
		dev = dev->below;
	return (const struct dev_salvage *)dev;
}

enum fat_status fat_dev_salvage_extend(struct fat_dev *dev, uint64_t size_bytes)
{
	struct fat_dev *layer = dev;
	struct dev_salvage *salvage;
	struct fat_dev_range *behind;
	uint64_t end;

	while (layer && layer->ops != &salvage_ops)
		layer = layer->below;
	if (!layer || size_bytes < layer->size_bytes)
		return FAT_ERR_ARGUMENT;
	salvage = as_salvage(layer);
	end = salvage->dev.below->size_bytes / salvage->unit_bytes * salvage->unit_bytes;
	behind = fat_vec_push(&salvage->bad);
	if (!behind)
		return FAT_ERR_MEMORY;
	*behind = (struct fat_dev_range){ end, size_bytes - end };
	salvage->n_units++;
	for (layer = dev; layer != salvage->dev.below; layer = layer->below)
		layer->size_bytes = size_bytes;
	return FAT_OK;
}

bool fat_dev_unreadable(const struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	const struct dev_salvage *salvage = find_layer(dev);
	size_t i;

	if (!salvage || salvage->bad.n == 0)
		return false;
	i = first_behind(salvage, off);
	return i < salvage->bad.n && at(salvage, i)->off < off + len_bytes;
}

size_t fat_dev_unreadable_list(const struct fat_dev *dev, const struct fat_dev_range **list)
{
	const struct dev_salvage *salvage = find_layer(dev);

	*list = salvage ? salvage->bad.items : NULL;
	return salvage ? salvage->bad.n : 0;
}

uint64_t fat_dev_unreadable_units(const struct fat_dev *dev)
{
	const struct dev_salvage *salvage = find_layer(dev);

	return salvage ? salvage->n_units : 0;
}

uint64_t fat_dev_unhealed_units(const struct fat_dev *dev)
{
	const struct dev_salvage *salvage = find_layer(dev);

	return salvage ? salvage->n_unhealed : 0;
}
