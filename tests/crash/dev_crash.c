/* SPDX-License-Identifier: MIT */
/* dev_crash: passes everything on and keeps a log of the writes, epoch by epoch. */
#include "crash.h"

#include <stdlib.h>
#include <string.h>

struct dev_crash {
	struct fat_dev dev;
	struct crash_log *log;
};

static enum fat_status crash_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static enum fat_status crash_write(struct fat_dev *dev, uint64_t off, const void *buf,
				   size_t len_bytes)
{
	struct crash_log *log = ((struct dev_crash *)dev)->log;
	struct crash_write *write;

	GROW_ARRAY(log->write, log->n);
	write = &log->write[log->n++];
	*write = (struct crash_write){ .off = off, .len = len_bytes, .epoch = log->n_epochs - 1 };
	write->bytes = xalloc(1, len_bytes);
	memcpy(write->bytes, buf, len_bytes);
	return fat_dev_write(dev->below, off, buf, len_bytes);
}

static enum fat_status crash_flush(struct fat_dev *dev)
{
	((struct dev_crash *)dev)->log->n_epochs++;
	return fat_dev_flush(dev->below);
}

static void crash_close(struct fat_dev *dev)
{
	free(dev);
}

static const struct fat_dev_ops crash_ops = {
	.name = "crash",
	.read = crash_read,
	.write = crash_write,
	.flush = crash_flush,
	.close = crash_close,
};

struct fat_dev *dev_crash_open(struct fat_dev *below, struct crash_log *log)
{
	struct dev_crash *crash = xalloc(1, sizeof *crash);

	*log = (struct crash_log){ .n_epochs = 1 };
	crash->dev.ops = &crash_ops;
	crash->dev.below = below;
	crash->dev.size_bytes = below->size_bytes;
	crash->dev.block_bytes = below->block_bytes;
	crash->log = log;
	return &crash->dev;
}

void crash_log_free(struct crash_log *log)
{
	for (size_t i = 0; i < log->n; i++)
		free(log->write[i].bytes);
	free(log->write);
	*log = (struct crash_log){ 0 };
}
