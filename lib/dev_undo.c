/* SPDX-License-Identifier: MIT */
/*
 * dev_undo: saves what a write is about to destroy, before it goes down.
 *
 * Invariant: no byte below changes before its first content is in the store, and the store flushed.
 * Knows which ranges are saved (a sorted list of extents that do not overlap). Knows no FAT.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "crc.h"
#include "undo_format.h"

#define ZERO_GRAIN_BYTES 65536u

struct extent {
	uint64_t start_off, end_off;
};

struct dev_undo {
	struct fat_dev dev;
	struct fat_dev *store;
	uint64_t next_off; /* where the next record goes */
	uint64_t sequence;
	uint64_t batch;
	bool unflushed;
	struct extent *extent;
	size_t n_extents, cap_extents;
	uint8_t *record; /* a record header and its payload */
};

static struct dev_undo *as_undo(struct fat_dev *dev)
{
	return (struct dev_undo *)dev;
}

static enum fat_status store_failed(struct dev_undo *undo, enum fat_status status)
{
	undo->dev.error = undo->store->error;
	return status;
}

static enum fat_status store_write(struct dev_undo *undo, const void *bytes, size_t len_bytes)
{
	uint64_t end_off = undo->next_off + len_bytes;
	enum fat_status status = FAT_OK;

	if (end_off > undo->store->size_bytes)
		status = fat_dev_resize(undo->store, end_off);
	if (status == FAT_OK)
		status = fat_dev_write(undo->store, undo->next_off, bytes, len_bytes);
	if (status != FAT_OK)
		return store_failed(undo, status);
	undo->next_off = end_off;
	undo->unflushed = true;
	return FAT_OK;
}

/* The payload, if any, stands in undo->record already. */
static enum fat_status append(struct dev_undo *undo, enum undo_kind kind, uint64_t off,
			      uint64_t len_bytes, uint32_t crc)
{
	struct undo_record record = {
		.kind = kind,
		.sequence = undo->sequence++,
		.batch = undo->batch,
		.off = off,
		.len_bytes = len_bytes,
		.payload_bytes = kind == UNDO_DATA ? (uint32_t)len_bytes : 0,
		.payload_crc = crc,
	};
	size_t used = UNDO_RECORD_BYTES + record.payload_bytes;
	size_t span = (size_t)fat_undo_record_span(&record);

	fat_undo_record_encode(&record, undo->record);
	memset(undo->record + used, 0, span - used);
	return store_write(undo, undo->record, span);
}

static enum fat_status flush_store(struct dev_undo *undo)
{
	enum fat_status status;

	if (!undo->unflushed)
		return FAT_OK;
	status = fat_dev_flush(undo->store);
	if (status != FAT_OK)
		return store_failed(undo, status);
	undo->unflushed = false;
	undo->batch++;
	return FAT_OK;
}

static bool is_zero(const uint8_t *bytes, size_t len_bytes)
{
	return len_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len_bytes - 1) == 0);
}

/* One piece of what is not saved yet; zeros cost a record, not a payload. */
static enum fat_status save_piece(struct dev_undo *undo, uint64_t off, size_t len_bytes)
{
	uint8_t *payload = undo->record + UNDO_RECORD_BYTES;
	enum fat_status status = fat_dev_read(undo->dev.below, off, payload, len_bytes);

	if (status != FAT_OK)
		return status;
	if (is_zero(payload, len_bytes))
		return append(undo, UNDO_ZEROS, off, len_bytes, 0);
	return append(undo, UNDO_DATA, off, len_bytes, fat_crc32c(0, payload, len_bytes));
}

static enum fat_status save_gap(struct dev_undo *undo, uint64_t off, uint64_t end_off)
{
	while (off < end_off) {
		uint64_t most = end_off - off >= UNDO_CHUNK_BYTES ? UNDO_CHUNK_BYTES :
								    ZERO_GRAIN_BYTES;
		size_t n = (size_t)min_u64(end_off - off, most);
		enum fat_status status = save_piece(undo, off, n);

		if (status != FAT_OK)
			return status;
		off += n;
	}
	return FAT_OK;
}

/* Index of the first extent that ends at or behind off. */
static size_t first_reaching(const struct dev_undo *undo, uint64_t off)
{
	size_t low = 0;
	size_t high = undo->n_extents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (undo->extent[mid].end_off < off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static enum fat_status make_room(struct dev_undo *undo)
{
	size_t cap = undo->cap_extents ? 2 * undo->cap_extents : 64;
	struct extent *grown;

	if (undo->n_extents < undo->cap_extents)
		return FAT_OK;
	grown = realloc(undo->extent, cap * sizeof *grown);
	if (!grown)
		return fat_dev_fail(&undo->dev, FAT_ERR_MEMORY, "save", 0, 0, 0);
	undo->extent = grown;
	undo->cap_extents = cap;
	return FAT_OK;
}

/* Replaces extents first..last-1 by one; room was made before. */
static void merge(struct dev_undo *undo, size_t first, size_t last, struct extent merged)
{
	size_t behind = undo->n_extents - last;

	memmove(undo->extent + first + 1, undo->extent + last, behind * sizeof *undo->extent);
	undo->extent[first] = merged;
	undo->n_extents = first + 1 + behind;
}

enum fat_status fat_undo_save(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	struct dev_undo *undo = as_undo(dev);
	uint64_t end_off = off + len_bytes;
	size_t first = first_reaching(undo, off);
	size_t i = first;
	struct extent merged = { off, end_off };
	enum fat_status status;

	if (len_bytes == 0)
		return FAT_OK;
	status = make_room(undo);
	for (uint64_t at = off; status == FAT_OK && at < end_off; i++) {
		bool more = i < undo->n_extents && undo->extent[i].start_off <= end_off;
		uint64_t gap_end = more ? undo->extent[i].start_off : end_off;

		if (at < gap_end)
			status = save_gap(undo, at, gap_end);
		if (!more)
			break;
		merged.start_off = min_u64(merged.start_off, undo->extent[i].start_off);
		merged.end_off = max_u64(merged.end_off, undo->extent[i].end_off);
		at = undo->extent[i].end_off;
	}
	if (status != FAT_OK)
		return status;
	merge(undo, first, i, merged);
	return FAT_OK;
}

/* Saved and on the store's medium: now the bytes below may change. */
static enum fat_status secure(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = fat_undo_save(dev, off, len_bytes);

	return status == FAT_OK ? flush_store(as_undo(dev)) : status;
}

static enum fat_status undo_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static enum fat_status undo_write(struct fat_dev *dev, uint64_t off, const void *buf,
				  size_t len_bytes)
{
	enum fat_status status = secure(dev, off, len_bytes);

	return status == FAT_OK ? fat_dev_write(dev->below, off, buf, len_bytes) : status;
}

static enum fat_status undo_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	enum fat_status status = secure(dev, off, len_bytes);

	return status == FAT_OK ? fat_dev_zero(dev->below, off, len_bytes) : status;
}

static void undo_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	fat_dev_prefetch(dev->below, off, len_bytes);
}

static enum fat_status undo_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void undo_close(struct fat_dev *dev)
{
	struct dev_undo *undo = as_undo(dev);

	fat_dev_close(undo->store);
	free(undo->extent);
	free(undo->record);
	free(undo);
}

static const struct fat_dev_ops undo_ops = {
	.name = "undo",
	.read = undo_read,
	.write = undo_write,
	.zero = undo_zero,
	.prefetch = undo_prefetch,
	.flush = undo_flush,
	.close = undo_close,
};

static enum fat_status sample(struct fat_dev *below, struct undo_header *header)
{
	uint8_t bytes[UNDO_SAMPLE_BYTES];
	size_t n = fat_undo_sample_bytes(below->size_bytes);

	for (uint32_t i = 0; i < UNDO_N_SAMPLES; i++) {
		enum fat_status status =
			fat_dev_read(below, fat_undo_sample_off(below->size_bytes, i), bytes, n);

		if (status != FAT_OK)
			return status;
		header->sample_crc[i] = fat_crc32c(0, bytes, n);
	}
	return FAT_OK;
}

static enum fat_status start_store(struct dev_undo *undo, const struct fat_undo_origin *origin)
{
	struct undo_header header = { .device_bytes = undo->dev.size_bytes, .origin = *origin };
	uint8_t block[UNDO_BLOCK];
	enum fat_status status = sample(undo->dev.below, &header);

	if (status != FAT_OK)
		return status;
	fat_undo_header_encode(&header, block);
	return store_write(undo, block, sizeof block);
}

enum fat_status fat_undo_create(struct fat_dev *below, struct fat_dev *store,
				const struct fat_undo_origin *origin, struct fat_dev **dev)
{
	struct dev_undo *undo = as_undo(fat_dev_new(sizeof *undo, &undo_ops, below));
	enum fat_status status = FAT_ERR_MEMORY;

	*dev = NULL;
	if (!undo)
		return status;
	undo->store = store;
	undo->record = malloc((size_t)round_up(UNDO_RECORD_BYTES + UNDO_CHUNK_BYTES, UNDO_BLOCK));
	if (undo->record)
		status = start_store(undo, origin);
	if (status != FAT_OK) {
		free(undo->record);
		free(undo);
		return status;
	}
	*dev = &undo->dev;
	return FAT_OK;
}

enum fat_status fat_undo_finish(struct fat_dev *dev)
{
	struct dev_undo *undo = as_undo(dev);
	uint8_t *bytes = undo->record + UNDO_RECORD_BYTES;
	size_t n = (size_t)min_u64(dev->size_bytes, UNDO_TRAIL_BYTES);
	enum fat_status status = fat_dev_read(dev->below, 0, bytes, n);

	if (status == FAT_OK)
		status = append(undo, UNDO_END, 0, n, fat_crc32c(0, bytes, n));
	return status == FAT_OK ? flush_store(undo) : status;
}

uint64_t fat_undo_store_bytes(const struct fat_dev *dev)
{
	return ((const struct dev_undo *)dev)->next_off;
}
