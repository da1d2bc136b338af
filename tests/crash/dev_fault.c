/* SPDX-License-Identifier: MIT */
/*
 * dev_fault: a device that fails where it is told to, and counts what it is asked for.
 *
 * Also the border between the code under test and the test's own layers: allocations below it are
 * not made to fail.
 */
#include <errno.h>

#include "crash.h"

#include <stdlib.h>

struct dev_fault {
	struct fat_dev dev;
	uint64_t count[N_CALL_KINDS], nth[N_CALL_KINDS];
	bool persistent[N_CALL_KINDS];
	struct bad_range *bad;
	size_t n_bad;
};

static bool fails_now(struct dev_fault *fault, enum call_kind kind)
{
	uint64_t call = ++fault->count[kind], nth = fault->nth[kind];

	return nth != 0 && (call == nth || (fault->persistent[kind] && call > nth));
}

static bool in_bad_range(const struct dev_fault *fault, uint64_t off, uint64_t len)
{
	for (size_t i = 0; i < fault->n_bad; i++)
		if (fault->bad[i].len && off < fault->bad[i].off + fault->bad[i].len &&
		    fault->bad[i].off < off + len)
			return true;
	return false;
}

static enum fat_status fault_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	struct dev_fault *fault = (struct dev_fault *)dev;
	enum fat_status status;

	if (fails_now(fault, CALL_READ) || in_bad_range(fault, off, len_bytes))
		return fat_dev_fail(dev, FAT_ERR_IO, "read", off, len_bytes, EIO);
	malloc_fail_suspend();
	status = fat_dev_read(dev->below, off, buf, len_bytes);
	malloc_fail_resume();
	return status;
}

/* A sick place that is written is read from its replacement from then on, as disks do it. */
static void put_elsewhere(struct dev_fault *fault, uint64_t off, uint64_t len)
{
	for (size_t i = 0; i < fault->n_bad; i++) {
		struct bad_range *bad = &fault->bad[i];

		if (off <= bad->off && bad->off < off + len) {
			uint64_t n = off + len - bad->off;

			n = n < bad->len ? n : bad->len;
			bad->off += n;
			bad->len -= n;
		}
	}
}

static enum fat_status fault_write(struct fat_dev *dev, uint64_t off, const void *buf,
				   size_t len_bytes)
{
	enum fat_status status;

	if (fails_now((struct dev_fault *)dev, CALL_WRITE))
		return fat_dev_fail(dev, FAT_ERR_IO, "write", off, len_bytes, EIO);
	put_elsewhere((struct dev_fault *)dev, off, len_bytes);
	malloc_fail_suspend();
	status = fat_dev_write(dev->below, off, buf, len_bytes);
	malloc_fail_resume();
	return status;
}

static enum fat_status fault_flush(struct fat_dev *dev)
{
	enum fat_status status;

	if (fails_now((struct dev_fault *)dev, CALL_FLUSH))
		return fat_dev_fail(dev, FAT_ERR_IO, "flush", 0, 0, EIO);
	malloc_fail_suspend();
	status = fat_dev_flush(dev->below);
	malloc_fail_resume();
	return status;
}

static void fault_close(struct fat_dev *dev)
{
	free(((struct dev_fault *)dev)->bad);
	free(dev);
}

static const struct fat_dev_ops fault_ops = {
	.name = "fault",
	.read = fault_read,
	.write = fault_write,
	.flush = fault_flush,
	.close = fault_close,
};

struct fat_dev *dev_fault_open(struct fat_dev *below)
{
	struct dev_fault *fault = xalloc(1, sizeof *fault);

	fault->dev.ops = &fault_ops;
	fault->dev.below = below;
	fault->dev.size_bytes = below->size_bytes;
	fault->dev.block_bytes = below->block_bytes;
	return &fault->dev;
}

void dev_fault_set(struct fat_dev *dev, enum call_kind kind, uint64_t nth, bool persistent)
{
	struct dev_fault *fault = (struct dev_fault *)dev;

	fault->nth[kind] = nth;
	fault->persistent[kind] = persistent;
}

void dev_fault_bad_range(struct fat_dev *dev, uint64_t off, uint64_t len)
{
	struct dev_fault *fault = (struct dev_fault *)dev;

	GROW_ARRAY(fault->bad, fault->n_bad);
	fault->bad[fault->n_bad++] = (struct bad_range){ off, len };
}

void dev_fault_get_bad(const struct fat_dev *dev, size_t i, uint64_t *off, uint64_t *len)
{
	const struct bad_range *bad = &((const struct dev_fault *)dev)->bad[i];

	*off = bad->off;
	*len = bad->len;
}

uint64_t dev_fault_count(const struct fat_dev *dev, enum call_kind kind)
{
	return ((const struct dev_fault *)dev)->count[kind];
}
