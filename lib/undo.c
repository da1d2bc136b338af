/* SPDX-License-Identifier: MIT */
/*
 * undo: reads an undo file, verifies all of it, and rolls a device back.
 *
 * Believes nothing that does not verify. Writes to the device only in fat_undo_rollback(). A record
 * that does not verify is a torn tail if nothing of a later batch follows: the device cannot have
 * been written after it. Otherwise the file is corrupt.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "crc.h"
#include "undo_format.h"
#include "vec.h"

/* What a rollback needs to know of a record. */
struct saved {
	uint64_t off, len_bytes;
	uint64_t payload_off; /* in the store; 0: zeros */
};

struct undo_file {
	struct fat_dev *store;
	struct undo_header header;
	struct fat_vec saved; /* of struct saved */
	uint64_t end_off; /* behind the last sound record */
	uint64_t n_records;
	uint64_t last_batch;
	bool finished, rolled_back;
	uint32_t end_crc;
	uint64_t end_bytes;
	uint8_t *buf; /* UNDO_CHUNK_BYTES */
};

static void close_file(struct undo_file *file)
{
	fat_vec_fini(&file->saved);
	free(file->buf);
}

static const struct saved *saved_at(const struct undo_file *file, size_t i)
{
	return fat_vec_at(&file->saved, i);
}

static enum fat_status remember(struct undo_file *file, const struct undo_record *record)
{
	struct saved *saved = fat_vec_push(&file->saved);

	if (!saved)
		return FAT_ERR_MEMORY;
	*saved = (struct saved){
		.off = record->off,
		.len_bytes = record->len_bytes,
		.payload_off = record->kind == UNDO_DATA ? file->end_off + UNDO_RECORD_BYTES : 0,
	};
	return FAT_OK;
}

/* Header and payload of the record at off verify; it stays within store and device. */
static enum fat_status read_record(struct undo_file *file, uint64_t off,
				   struct undo_record *record, bool *sound)
{
	uint8_t bytes[UNDO_RECORD_BYTES];
	enum fat_status status;

	*sound = false;
	if (off + UNDO_RECORD_BYTES > file->store->size_bytes)
		return FAT_OK;
	status = fat_dev_read(file->store, off, bytes, sizeof bytes);
	if (status != FAT_OK || !fat_undo_record_decode(bytes, record))
		return status;
	if (record->payload_bytes > file->store->size_bytes - off - UNDO_RECORD_BYTES ||
	    record->off > file->header.device_bytes ||
	    record->len_bytes > file->header.device_bytes - record->off)
		return FAT_OK;
	status = fat_dev_read(file->store, off + UNDO_RECORD_BYTES, file->buf,
			      record->payload_bytes);
	*sound = status == FAT_OK &&
		 (record->kind != UNDO_DATA ||
		  record->payload_crc == fat_crc32c(0, file->buf, record->payload_bytes));
	return status;
}

static enum fat_status take(struct undo_file *file, const struct undo_record *record)
{
	enum fat_status status = FAT_OK;

	switch (record->kind) {
	case UNDO_DATA:
	case UNDO_ZEROS:
		status = remember(file, record);
		file->finished = false;
		break;
	case UNDO_END:
		file->finished = true;
		file->end_crc = record->payload_crc;
		file->end_bytes = record->len_bytes;
		break;
	case UNDO_ROLLBACK:
		file->rolled_back = true;
		break;
	}
	file->n_records++;
	file->last_batch = record->batch;
	file->end_off += fat_undo_record_span(record);
	return status;
}

/* Whether a record of a later batch lies behind the one that does not verify. */
static enum fat_status later_batch_follows(struct undo_file *file, bool *follows)
{
	struct undo_record record;
	uint8_t bytes[UNDO_RECORD_BYTES];

	*follows = false;
	for (uint64_t off = file->end_off; off + sizeof bytes <= file->store->size_bytes;
	     off += UNDO_BLOCK) {
		enum fat_status status = fat_dev_read(file->store, off, bytes, sizeof bytes);

		if (status != FAT_OK)
			return status;
		if (bytes[0] == 0 && off > file->end_off + 2ull * UNDO_CHUNK_BYTES)
			return FAT_OK; /* past what a torn batch leaves, into unused store */
		if (fat_undo_record_decode(bytes, &record) && record.batch > file->last_batch + 1) {
			*follows = true;
			return FAT_OK;
		}
	}
	return FAT_OK;
}

static enum fat_status read_records(struct undo_file *file, enum fat_undo_verdict *verdict)
{
	struct undo_record record;
	bool sound = true;
	bool follows;
	enum fat_status status;

	file->end_off = UNDO_BLOCK;
	for (;;) {
		status = read_record(file, file->end_off, &record, &sound);
		if (status != FAT_OK || !sound || record.sequence != file->n_records ||
		    record.batch < file->last_batch)
			break;
		status = take(file, &record);
		if (status != FAT_OK)
			return status;
	}
	if (status == FAT_OK)
		status = later_batch_follows(file, &follows);
	if (status == FAT_OK)
		*verdict = follows ? FAT_UNDO_CORRUPT : FAT_UNDO_SOUND;
	return status;
}

static enum fat_status open_file(struct fat_dev *store, struct undo_file *file,
				 enum fat_undo_verdict *verdict)
{
	uint8_t block[UNDO_BLOCK];
	enum fat_status status;

	*file = (struct undo_file){ .store = store };
	fat_vec_init(&file->saved, sizeof(struct saved),
		     (size_t)min_u64(store->size_bytes / UNDO_BLOCK, SIZE_MAX));
	*verdict = FAT_UNDO_NOT_UNDO;
	if (store->size_bytes < UNDO_BLOCK)
		return FAT_OK;
	status = fat_dev_read(store, 0, block, sizeof block);
	if (status != FAT_OK)
		return status;
	*verdict = fat_undo_header_decode(block, &file->header);
	if (*verdict != FAT_UNDO_SOUND)
		return FAT_OK;
	file->buf = malloc(UNDO_CHUNK_BYTES);
	return file->buf ? read_records(file, verdict) : FAT_ERR_MEMORY;
}

enum fat_status fat_undo_verify(struct fat_dev *store, struct fat_undo_info *info,
				enum fat_undo_verdict *verdict)
{
	struct undo_file file;
	enum fat_status status = open_file(store, &file, verdict);

	*info = (struct fat_undo_info){
		.origin = file.header.origin,
		.device_bytes = file.header.device_bytes,
		.n_records = file.saved.n,
		.finished = file.finished,
		.rolled_back = file.rolled_back,
	};
	for (size_t i = 0; i < file.saved.n; i++)
		info->saved_bytes += saved_at(&file, i)->len_bytes;
	close_file(&file);
	return status;
}

/* Puts what the records say about off..off+len over buf, as a rollback would. */
static enum fat_status overlay(struct undo_file *file, uint64_t off, uint8_t *buf,
			       uint64_t len_bytes)
{
	for (size_t i = file->saved.n; i-- > 0;) {
		const struct saved *saved = saved_at(file, i);
		uint64_t from = max_u64(off, saved->off);
		uint64_t to = min_u64(off + len_bytes, saved->off + saved->len_bytes);
		enum fat_status status = FAT_OK;

		if (from >= to)
			continue;
		if (saved->payload_off == 0)
			memset(buf + (from - off), 0, (size_t)(to - from));
		else
			status = fat_dev_read(file->store,
					      saved->payload_off + (from - saved->off),
					      buf + (from - off), (size_t)(to - from));
		if (status != FAT_OK)
			return status;
	}
	return FAT_OK;
}

static enum fat_status samples_match(struct undo_file *file, struct fat_dev *dev, bool *match)
{
	uint64_t size = dev->size_bytes;
	size_t n = fat_undo_sample_bytes(size);

	*match = true;
	for (uint32_t i = 0; i < UNDO_N_SAMPLES && *match; i++) {
		uint64_t off = fat_undo_sample_off(size, i);
		enum fat_status status = fat_dev_read(dev, off, file->buf, n);

		if (status == FAT_OK)
			status = overlay(file, off, file->buf, n);
		if (status != FAT_OK)
			return status;
		*match = fat_crc32c(0, file->buf, n) == file->header.sample_crc[i];
	}
	return FAT_OK;
}

/* After a run that came to its end, the device must still begin as that run left it. */
static enum fat_status beginning_matches(struct undo_file *file, struct fat_dev *dev, bool *match)
{
	enum fat_status status;

	*match = true;
	if (!file->finished || file->rolled_back)
		return FAT_OK;
	status = fat_dev_read(dev, 0, file->buf, (size_t)file->end_bytes);
	if (status == FAT_OK)
		*match = fat_crc32c(0, file->buf, (size_t)file->end_bytes) == file->end_crc;
	return status;
}

static enum fat_status match_file(struct undo_file *file, struct fat_dev *dev,
				  enum fat_undo_verdict *verdict)
{
	bool match = true;
	enum fat_status status;

	if (dev->size_bytes != file->header.device_bytes) {
		*verdict = FAT_UNDO_OTHER_SIZE;
		return FAT_OK;
	}
	status = samples_match(file, dev, &match);
	if (status == FAT_OK && match)
		status = beginning_matches(file, dev, &match);
	if (status == FAT_OK && !match)
		*verdict = FAT_UNDO_OTHER_DATA;
	return status;
}

enum fat_status fat_undo_match(struct fat_dev *store, struct fat_dev *dev,
			       enum fat_undo_verdict *verdict)
{
	struct undo_file file;
	enum fat_status status = open_file(store, &file, verdict);

	if (status == FAT_OK && *verdict == FAT_UNDO_SOUND)
		status = match_file(&file, dev, verdict);
	close_file(&file);
	return status;
}

/* From now on the beginning of the device says nothing: it may be half rolled back. */
static enum fat_status note_rollback(struct undo_file *file)
{
	struct undo_record record = {
		.kind = UNDO_ROLLBACK,
		.sequence = file->n_records,
		.batch = file->last_batch + 1,
	};
	uint8_t block[UNDO_BLOCK] = { 0 };
	uint64_t end_off = file->end_off + sizeof block;
	enum fat_status status = FAT_OK;

	if (file->rolled_back)
		return FAT_OK;
	fat_undo_record_encode(&record, block);
	if (end_off > file->store->size_bytes)
		status = fat_dev_resize(file->store, end_off);
	if (status == FAT_OK)
		status = fat_dev_write(file->store, file->end_off, block, sizeof block);
	return status == FAT_OK ? fat_dev_flush(file->store) : status;
}

static enum fat_status restore(struct undo_file *file, const struct saved *saved,
			       struct fat_dev *dev)
{
	enum fat_status status;

	if (saved->payload_off == 0)
		return fat_dev_zero(dev, saved->off, saved->len_bytes);
	status = fat_dev_read(file->store, saved->payload_off, file->buf,
			      (size_t)saved->len_bytes);
	if (status == FAT_OK)
		status = fat_dev_write(dev, saved->off, file->buf, (size_t)saved->len_bytes);
	return status;
}

static enum fat_status rollback_file(struct undo_file *file, struct fat_dev *dev)
{
	enum fat_status status;

	if (dev->size_bytes < file->header.device_bytes)
		return FAT_ERR_RANGE;
	status = note_rollback(file);
	for (size_t i = file->saved.n; status == FAT_OK && i-- > 0;)
		status = restore(file, saved_at(file, i), dev);
	return status == FAT_OK ? fat_dev_flush(dev) : status;
}

enum fat_status fat_undo_rollback(struct fat_dev *store, struct fat_dev *dev)
{
	struct undo_file file;
	enum fat_undo_verdict verdict;
	enum fat_status status = open_file(store, &file, &verdict);

	if (status == FAT_OK)
		status = verdict == FAT_UNDO_SOUND ? rollback_file(&file, dev) : FAT_ERR_FORMAT;
	close_file(&file);
	return status;
}
