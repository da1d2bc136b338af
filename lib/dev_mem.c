/* SPDX-License-Identifier: MIT */
/*
 * dev_mem: a sparse device in memory.
 *
 * A two-level table of pages: terabytes cost little while they are empty. Zeroing frees pages.
 * Counts as a base does. For tests, the crash harness and fuzzers.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define PAGE_BYTES  4096u
#define LEAF_PAGES  4096u
#define LEAF_BYTES  ((uint64_t)PAGE_BYTES * LEAF_PAGES)

struct leaf {
	uint8_t *page[LEAF_PAGES];
};

struct dev_mem {
	struct fat_dev dev;
	uint64_t used_bytes;
	uint64_t n_leaves;
	struct leaf **leaf;
};

static struct dev_mem *as_mem(struct fat_dev *dev)
{
	return (struct dev_mem *)dev;
}

/* The place of a page's pointer; NULL if its leaf is not there. */
static uint8_t **page_place(struct dev_mem *mem, uint64_t off)
{
	struct leaf *leaf = mem->leaf[off / LEAF_BYTES];

	return leaf ? &leaf->page[off % LEAF_BYTES / PAGE_BYTES] : NULL;
}

static void *alloc_counted(struct dev_mem *mem, size_t n_bytes)
{
	void *memory = calloc(1, n_bytes);

	if (memory)
		mem->used_bytes += n_bytes;
	return memory;
}

/* The page for off, new if need be; NULL: no memory. */
static uint8_t *page_to_write(struct dev_mem *mem, uint64_t off)
{
	struct leaf **leaf = &mem->leaf[off / LEAF_BYTES];
	uint8_t **page;

	if (!*leaf)
		*leaf = alloc_counted(mem, sizeof **leaf);
	page = page_place(mem, off);
	if (page && !*page)
		*page = alloc_counted(mem, PAGE_BYTES);
	return page ? *page : NULL;
}

static enum fat_status mem_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	uint8_t *to = buf;

	dev->stats.n_reads++;
	dev->stats.read_bytes += len_bytes;
	while (len_bytes > 0) {
		size_t in_page = off % PAGE_BYTES;
		size_t n = (size_t)min_u64(len_bytes, PAGE_BYTES - in_page);
		uint8_t **page = page_place(as_mem(dev), off);

		if (page && *page)
			memcpy(to, *page + in_page, n);
		else
			memset(to, 0, n);
		to += n;
		off += n;
		len_bytes -= n;
	}
	return FAT_OK;
}

static enum fat_status mem_write(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes)
{
	struct dev_mem *mem = as_mem(dev);
	const uint8_t *from = buf;

	dev->stats.n_writes++;
	dev->stats.write_bytes += len_bytes;
	while (len_bytes > 0) {
		size_t in_page = off % PAGE_BYTES;
		size_t n = (size_t)min_u64(len_bytes, PAGE_BYTES - in_page);
		uint8_t *page = page_to_write(mem, off);

		if (!page)
			return fat_dev_fail(dev, FAT_ERR_MEMORY, "write", off, len_bytes, 0);
		memcpy(page + in_page, from, n);
		from += n;
		off += n;
		len_bytes -= n;
	}
	return FAT_OK;
}

static enum fat_status mem_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	struct dev_mem *mem = as_mem(dev);

	dev->stats.n_zeroes++;
	dev->stats.zero_bytes += len_bytes;
	while (len_bytes > 0) {
		size_t in_page = off % PAGE_BYTES;
		uint64_t n = min_u64(len_bytes, PAGE_BYTES - in_page);
		uint8_t **page = page_place(mem, off);

		if (!page) {
			n = min_u64(len_bytes, LEAF_BYTES - off % LEAF_BYTES);
		} else if (*page && n == PAGE_BYTES) {
			free(*page);
			*page = NULL;
			mem->used_bytes -= PAGE_BYTES;
		} else if (*page) {
			memset(*page + in_page, 0, (size_t)n);
		}
		off += n;
		len_bytes -= n;
	}
	return FAT_OK;
}

static enum fat_status mem_flush(struct fat_dev *dev)
{
	dev->stats.n_flushes++;
	return FAT_OK;
}

static void mem_close(struct fat_dev *dev)
{
	struct dev_mem *mem = as_mem(dev);

	for (uint64_t i = 0; i < mem->n_leaves; i++) {
		for (size_t k = 0; mem->leaf[i] && k < LEAF_PAGES; k++)
			free(mem->leaf[i]->page[k]);
		free(mem->leaf[i]);
	}
	free(mem->leaf);
	free(mem);
}

static const struct fat_dev_ops mem_ops = {
	.name = "mem",
	.read = mem_read,
	.write = mem_write,
	.zero = mem_zero,
	.flush = mem_flush,
	.close = mem_close,
};

enum fat_status fat_dev_mem_open(uint64_t size_bytes, struct fat_dev **dev)
{
	struct dev_mem *mem;

	*dev = NULL;
	if (size_bytes == 0)
		return FAT_ERR_SIZE;
	mem = as_mem(fat_dev_new(sizeof *mem, &mem_ops, NULL));
	if (!mem)
		return FAT_ERR_MEMORY;
	mem->n_leaves = div_ceil(size_bytes, LEAF_BYTES);
	mem->leaf = calloc((size_t)mem->n_leaves, sizeof(struct leaf *));
	if (!mem->leaf) {
		free(mem);
		return FAT_ERR_MEMORY;
	}
	mem->dev.size_bytes = size_bytes;
	*dev = &mem->dev;
	return FAT_OK;
}

uint64_t fat_dev_mem_used(const struct fat_dev *dev)
{
	return ((const struct dev_mem *)dev)->used_bytes;
}
