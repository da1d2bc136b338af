/* SPDX-License-Identifier: MIT */
/* undo_format: an undo file's header and records, to bytes and back. Pure. */
#include "undo_format.h"

#include <string.h>

#include "bytes.h"
#include "crc.h"

enum header_off {
	HEADER_VERSION = 8,
	HEADER_DEVICE = 16,
	HEADER_CREATED = 24,
	HEADER_PROGRAM = 32,
	HEADER_SAMPLES = 48,
	HEADER_CRC = UNDO_BLOCK - 4,
};

enum record_off {
	RECORD_MAGIC = 0,
	RECORD_KIND = 4,
	RECORD_SEQUENCE = 8,
	RECORD_BATCH = 16,
	RECORD_OFF = 24,
	RECORD_LEN = 32,
	RECORD_PAYLOAD = 40,
	RECORD_PAYLOAD_CRC = 44,
	RECORD_CRC = UNDO_RECORD_BYTES - 4,
};

void fat_undo_header_encode(const struct undo_header *header, uint8_t block[UNDO_BLOCK])
{
	memset(block, 0, UNDO_BLOCK);
	memcpy(block, UNDO_MAGIC, sizeof UNDO_MAGIC);
	put_le32(block + HEADER_VERSION, UNDO_VERSION);
	put_le64(block + HEADER_DEVICE, header->device_bytes);
	put_le64(block + HEADER_CREATED, header->origin.created_unix);
	memcpy(block + HEADER_PROGRAM, header->origin.program, sizeof header->origin.program);
	for (uint32_t i = 0; i < UNDO_N_SAMPLES; i++)
		put_le32(block + HEADER_SAMPLES + (size_t)4 * i, header->sample_crc[i]);
	put_le32(block + HEADER_CRC, fat_crc32c(0, block, HEADER_CRC));
}

enum fat_undo_verdict fat_undo_header_decode(const uint8_t block[UNDO_BLOCK],
					     struct undo_header *header)
{
	if (memcmp(block, UNDO_MAGIC, sizeof UNDO_MAGIC) != 0)
		return FAT_UNDO_NOT_UNDO;
	if (get_le32(block + HEADER_VERSION) != UNDO_VERSION)
		return FAT_UNDO_VERSION;
	if (get_le32(block + HEADER_CRC) != fat_crc32c(0, block, HEADER_CRC))
		return FAT_UNDO_CORRUPT;
	header->device_bytes = get_le64(block + HEADER_DEVICE);
	header->origin.created_unix = get_le64(block + HEADER_CREATED);
	memcpy(header->origin.program, block + HEADER_PROGRAM, sizeof header->origin.program);
	for (uint32_t i = 0; i < UNDO_N_SAMPLES; i++)
		header->sample_crc[i] = get_le32(block + HEADER_SAMPLES + (size_t)4 * i);
	return FAT_UNDO_SOUND;
}

void fat_undo_record_encode(const struct undo_record *record, uint8_t bytes[UNDO_RECORD_BYTES])
{
	memset(bytes, 0, UNDO_RECORD_BYTES);
	put_le32(bytes + RECORD_MAGIC, UNDO_RECORD_MAGIC);
	put_le32(bytes + RECORD_KIND, record->kind);
	put_le64(bytes + RECORD_SEQUENCE, record->sequence);
	put_le64(bytes + RECORD_BATCH, record->batch);
	put_le64(bytes + RECORD_OFF, record->off);
	put_le64(bytes + RECORD_LEN, record->len_bytes);
	put_le32(bytes + RECORD_PAYLOAD, record->payload_bytes);
	put_le32(bytes + RECORD_PAYLOAD_CRC, record->payload_crc);
	put_le32(bytes + RECORD_CRC, fat_crc32c(0, bytes, RECORD_CRC));
}

static bool is_consistent(const struct undo_record *record)
{
	switch (record->kind) {
	case UNDO_DATA:
		return record->payload_bytes == record->len_bytes && record->len_bytes > 0 &&
		       record->payload_bytes <= UNDO_CHUNK_BYTES;
	case UNDO_ZEROS:
		return record->payload_bytes == 0 && record->len_bytes > 0;
	case UNDO_END:
	case UNDO_ROLLBACK:
		return record->payload_bytes == 0;
	}
	return false;
}

bool fat_undo_record_decode(const uint8_t bytes[UNDO_RECORD_BYTES], struct undo_record *record)
{
	if (get_le32(bytes + RECORD_MAGIC) != UNDO_RECORD_MAGIC ||
	    get_le32(bytes + RECORD_CRC) != fat_crc32c(0, bytes, RECORD_CRC))
		return false;
	*record = (struct undo_record){
		.kind = (enum undo_kind)get_le32(bytes + RECORD_KIND),
		.sequence = get_le64(bytes + RECORD_SEQUENCE),
		.batch = get_le64(bytes + RECORD_BATCH),
		.off = get_le64(bytes + RECORD_OFF),
		.len_bytes = get_le64(bytes + RECORD_LEN),
		.payload_bytes = get_le32(bytes + RECORD_PAYLOAD),
		.payload_crc = get_le32(bytes + RECORD_PAYLOAD_CRC),
	};
	return is_consistent(record);
}

uint64_t fat_undo_record_span(const struct undo_record *record)
{
	return round_up((uint64_t)UNDO_RECORD_BYTES + record->payload_bytes, UNDO_BLOCK);
}

size_t fat_undo_sample_bytes(uint64_t device_bytes)
{
	return (size_t)min_u64(device_bytes, UNDO_SAMPLE_BYTES);
}

/* Spread evenly, first and last byte included. */
uint64_t fat_undo_sample_off(uint64_t device_bytes, uint32_t i)
{
	uint64_t room = device_bytes - fat_undo_sample_bytes(device_bytes);

	if (i == UNDO_N_SAMPLES - 1)
		return room;
	return room / (UNDO_N_SAMPLES - 1) * i / UNDO_BLOCK * UNDO_BLOCK;
}
