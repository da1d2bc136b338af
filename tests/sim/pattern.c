/* SPDX-License-Identifier: MIT */
/*
 * pattern: see pattern.h.
 */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"

struct dev_pattern {
	struct fat_dev dev;
	uint64_t n_differences;
};

/* Each word of 8 bytes is a number made of its place. */
static void word_at(uint64_t off, uint8_t word[8])
{
	put_le64(word, (off / 8 + 1) * 0x9E3779B97F4A7C15u);
}

static enum fat_status pattern_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	uint8_t *to = buf;

	if (off % dev->block_bytes != 0 || len_bytes % dev->block_bytes != 0)
		((struct dev_pattern *)dev)->n_differences++; /* a real one would refuse that */
	for (size_t i = 0; i + 8 <= len_bytes; i += 8)
		word_at(off + i, to + i);
	return FAT_OK;
}

static enum fat_status pattern_write(struct fat_dev *dev, uint64_t off, const void *buf,
				     size_t len_bytes)
{
	const uint8_t *from = buf;

	for (size_t i = 0; i + 8 <= len_bytes; i += 8) {
		uint8_t word[8];

		word_at(off + i, word);
		if (memcmp(word, from + i, 8) == 0)
			continue;
		((struct dev_pattern *)dev)->n_differences++;
		break;
	}
	return FAT_OK;
}

static enum fat_status pattern_flush(struct fat_dev *dev)
{
	(void)dev;
	return FAT_OK;
}

static void pattern_close(struct fat_dev *dev)
{
	free(dev);
}

static const struct fat_dev_ops pattern_ops = {
	.name = "pattern",
	.read = pattern_read,
	.write = pattern_write,
	.flush = pattern_flush,
	.close = pattern_close,
};

struct fat_dev *pattern_open(uint64_t size_bytes)
{
	struct dev_pattern *pattern = calloc(1, sizeof *pattern);

	if (!pattern)
		return NULL;
	pattern->dev = (struct fat_dev){ .ops = &pattern_ops,
					 .size_bytes = size_bytes,
					 .block_bytes = 512 };
	return &pattern->dev;
}

uint64_t pattern_differences(const struct fat_dev *dev)
{
	return ((const struct dev_pattern *)dev)->n_differences;
}
