/* SPDX-License-Identifier: MIT */
/*
 * dev_window: a part of a device as a device of its own (a volume behind --offset).
 *
 * Adds the start to every offset and knows nothing else.
 */
#include "libfat.h"

#include <stdlib.h>

struct dev_window {
	struct fat_dev dev;
	uint64_t start_off;
};

static uint64_t start_of(const struct fat_dev *dev)
{
	return ((const struct dev_window *)dev)->start_off;
}

static enum fat_status window_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, start_of(dev) + off, buf, len_bytes);
}

static enum fat_status window_write(struct fat_dev *dev, uint64_t off, const void *buf,
				    size_t len_bytes)
{
	return fat_dev_write(dev->below, start_of(dev) + off, buf, len_bytes);
}

static enum fat_status window_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return fat_dev_zero(dev->below, start_of(dev) + off, len_bytes);
}

static enum fat_status window_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return fat_dev_discard(dev->below, start_of(dev) + off, len_bytes);
}

static void window_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	fat_dev_prefetch(dev->below, start_of(dev) + off, len_bytes);
}

static enum fat_status window_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void window_close(struct fat_dev *dev)
{
	free(dev);
}

static const struct fat_dev_ops window_ops = {
	.name = "window",
	.read = window_read,
	.write = window_write,
	.zero = window_zero,
	.discard = window_discard,
	.prefetch = window_prefetch,
	.flush = window_flush,
	.close = window_close,
};

enum fat_status fat_dev_window_open(struct fat_dev *below, uint64_t start_off, uint64_t len_bytes,
				    struct fat_dev **dev)
{
	struct dev_window *window;

	*dev = NULL;
	if (start_off >= below->size_bytes || len_bytes > below->size_bytes - start_off)
		return FAT_ERR_RANGE;
	window = (struct dev_window *)fat_dev_new(sizeof *window, &window_ops, below);
	if (!window)
		return FAT_ERR_MEMORY;
	window->dev.size_bytes = len_bytes ? len_bytes : below->size_bytes - start_off;
	window->start_off = start_off;
	*dev = &window->dev;
	return FAT_OK;
}
