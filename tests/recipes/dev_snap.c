/* SPDX-License-Identifier: MIT */
/* dev_snap: pages and leaves of pages, both counted by who shares them. See dev_snap.h. */
#include "dev_snap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "lib/bytes.h"

#define LEAF_PAGES 1024u
#define LEAF_BYTES ((uint64_t)LEAF_PAGES * SNAP_PAGE_BYTES)

struct page {
	unsigned n_users;
	uint8_t bytes[SNAP_PAGE_BYTES];
};

struct leaf {
	unsigned n_users;
	struct page *page[LEAF_PAGES];
};

struct snap {
	struct fat_dev dev;
	size_t n_leaves;
	struct leaf **leaf;
};

static const uint8_t zeros[SNAP_PAGE_BYTES];

static void drop_page(struct page *page)
{
	if (page && --page->n_users == 0)
		free(page);
}

static void drop_leaf(struct leaf *leaf)
{
	if (!leaf || --leaf->n_users > 0)
		return;
	for (size_t i = 0; i < LEAF_PAGES; i++)
		drop_page(leaf->page[i]);
	free(leaf);
}

static const uint8_t *page_at(const struct snap *snap, uint64_t off)
{
	const struct leaf *leaf = snap->leaf[off / LEAF_BYTES];
	const struct page *page = leaf ? leaf->page[off % LEAF_BYTES / SNAP_PAGE_BYTES] : NULL;

	return page ? page->bytes : zeros;
}

static struct leaf *own_leaf(struct leaf **place)
{
	struct leaf *old = *place, *leaf = old;

	if (old && old->n_users == 1)
		return old;
	leaf = xalloc(1, sizeof *leaf);
	leaf->n_users = 1;
	for (size_t i = 0; old && i < LEAF_PAGES; i++) {
		leaf->page[i] = old->page[i];
		if (leaf->page[i])
			leaf->page[i]->n_users++;
	}
	drop_leaf(old);
	*place = leaf;
	return leaf;
}

static uint8_t *own_page(struct snap *snap, uint64_t off)
{
	struct page **place =
		&own_leaf(&snap->leaf[off / LEAF_BYTES])->page[off % LEAF_BYTES / SNAP_PAGE_BYTES];
	struct page *old = *place;

	if (!old || old->n_users > 1) {
		*place = xalloc(1, sizeof **place);
		(*place)->n_users = 1;
		if (old)
			memcpy((*place)->bytes, old->bytes, SNAP_PAGE_BYTES);
		drop_page(old);
	}
	return (*place)->bytes;
}

static enum fat_status snap_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	const struct snap *snap = (const struct snap *)dev;
	uint8_t *to = buf;

	dev->stats.n_reads++;
	dev->stats.read_bytes += len_bytes;
	while (len_bytes > 0) {
		size_t in_page = off % SNAP_PAGE_BYTES;
		size_t n = (size_t)min_u64(len_bytes, SNAP_PAGE_BYTES - in_page);

		memcpy(to, page_at(snap, off) + in_page, n);
		to += n, off += n, len_bytes -= n;
	}
	return FAT_OK;
}

static enum fat_status snap_write(struct fat_dev *dev, uint64_t off, const void *buf,
				  size_t len_bytes)
{
	struct snap *snap = (struct snap *)dev;
	const uint8_t *from = buf;

	dev->stats.n_writes++;
	dev->stats.write_bytes += len_bytes;
	while (len_bytes > 0) {
		size_t in_page = off % SNAP_PAGE_BYTES;
		size_t n = (size_t)min_u64(len_bytes, SNAP_PAGE_BYTES - in_page);

		if (memcmp(page_at(snap, off) + in_page, from, n) != 0)
			memcpy(own_page(snap, off) + in_page, from, n);
		from += n, off += n, len_bytes -= n;
	}
	return FAT_OK;
}

static enum fat_status snap_flush(struct fat_dev *dev)
{
	dev->stats.n_flushes++;
	return FAT_OK;
}

static void snap_close(struct fat_dev *dev)
{
	struct snap *snap = (struct snap *)dev;

	for (size_t i = 0; i < snap->n_leaves; i++)
		drop_leaf(snap->leaf[i]);
	free(snap->leaf);
	free(snap);
}

static const struct fat_dev_ops snap_ops = {
	.name = "snap",
	.read = snap_read,
	.write = snap_write,
	.flush = snap_flush,
	.close = snap_close,
};

struct fat_dev *snap_open(uint64_t size_bytes)
{
	struct snap *snap = xalloc(1, sizeof *snap);

	snap->dev.ops = &snap_ops;
	snap->dev.size_bytes = size_bytes;
	snap->dev.block_bytes = 1;
	snap->n_leaves = (size_t)div_ceil(size_bytes, LEAF_BYTES);
	snap->leaf = xalloc(snap->n_leaves, sizeof(struct leaf *));
	return &snap->dev;
}

struct fat_dev *snap_clone(struct fat_dev *dev)
{
	const struct snap *old = (const struct snap *)dev;
	struct snap *snap = (struct snap *)snap_open(dev->size_bytes);

	snap->dev.block_bytes = dev->block_bytes;
	for (size_t i = 0; i < snap->n_leaves; i++) {
		snap->leaf[i] = old->leaf[i];
		if (snap->leaf[i])
			snap->leaf[i]->n_users++;
	}
	return &snap->dev;
}

void snap_resize(struct fat_dev *dev, uint64_t size_bytes)
{
	struct snap *snap = (struct snap *)dev;
	size_t n = (size_t)div_ceil(size_bytes, LEAF_BYTES);

	for (size_t i = n; i < snap->n_leaves; i++)
		drop_leaf(snap->leaf[i]);
	snap->leaf = xgrow(snap->leaf, n, sizeof(struct leaf *));
	for (size_t i = snap->n_leaves; i < n; i++)
		snap->leaf[i] = NULL;
	snap->n_leaves = n;
	dev->size_bytes = size_bytes;
}

uint64_t snap_next_page(const struct fat_dev *dev, uint64_t off)
{
	const struct snap *snap = (const struct snap *)dev;

	off -= off % SNAP_PAGE_BYTES;
	while (off < dev->size_bytes) {
		const struct leaf *leaf = snap->leaf[off / LEAF_BYTES];

		if (!leaf)
			off += LEAF_BYTES - off % LEAF_BYTES;
		else if (leaf->page[off % LEAF_BYTES / SNAP_PAGE_BYTES])
			return off;
		else
			off += SNAP_PAGE_BYTES;
	}
	return UINT64_MAX;
}

uint64_t snap_first_difference(const struct fat_dev *a, const struct fat_dev *b)
{
	const struct snap *x = (const struct snap *)a, *y = (const struct snap *)b;
	uint64_t off = 0;

	if (a->size_bytes != b->size_bytes)
		return min_u64(a->size_bytes, b->size_bytes);
	for (;; off += SNAP_PAGE_BYTES) {
		const uint8_t *p, *q;

		off = min_u64(snap_next_page(a, off), snap_next_page(b, off));
		if (off == UINT64_MAX)
			return off;
		p = page_at(x, off);
		q = page_at(y, off);
		for (size_t i = 0; p != q && i < SNAP_PAGE_BYTES; i++)
			if (p[i] != q[i])
				return off + i;
	}
}

void snap_to_file(const struct fat_dev *dev, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, (off_t)dev->size_bytes) != 0)
		die("%s: cannot be created", path);
	for (uint64_t off = snap_next_page(dev, 0); off != UINT64_MAX;
	     off = snap_next_page(dev, off + SNAP_PAGE_BYTES)) {
		size_t n = (size_t)min_u64(SNAP_PAGE_BYTES, dev->size_bytes - off);

		if (pwrite(fd, page_at((const struct snap *)dev, off), n, (off_t)off) != (ssize_t)n)
			die("%s: cannot be written", path);
	}
	if (close(fd) != 0)
		die("%s: cannot be written", path);
}

struct fat_dev *snap_from_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	struct fat_dev *dev;

	if (size <= 0)
		die("%s: cannot be read", path);
	dev = snap_open((uint64_t)size);
	for (off_t off = lseek(fd, 0, SEEK_DATA); off >= 0; off = lseek(fd, off, SEEK_DATA)) {
		uint8_t buf[SNAP_PAGE_BYTES];
		ssize_t n = pread(fd, buf, sizeof buf - (size_t)off % sizeof buf, off);

		if (n <= 0)
			die("%s: cannot be read", path);
		snap_write(dev, (uint64_t)off, buf, (size_t)n);
		off += n;
	}
	close(fd);
	return dev;
}
