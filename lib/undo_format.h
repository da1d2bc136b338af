/* SPDX-License-Identifier: MIT */
/*
 * undo_format: the bytes of an undo file; fat-undo(5) is the same in words.
 *
 * Private to dev_undo.c, which writes them, and undo.c, which reads them.
 */
#ifndef FATWISE_UNDO_FORMAT_H
#define FATWISE_UNDO_FORMAT_H

#include "libfat.h"

#define UNDO_MAGIC	   "FATUNDO"
#define UNDO_VERSION	   1u
#define UNDO_BLOCK	   512u /* the header's size; records begin at multiples */
#define UNDO_RECORD_BYTES  64u
#define UNDO_RECORD_MAGIC  0x63725546u /* "FUrc" */
#define UNDO_N_SAMPLES	   16u
#define UNDO_SAMPLE_BYTES  4096u
#define UNDO_CHUNK_BYTES   (1u << 20) /* the longest payload */
#define UNDO_TRAIL_BYTES   65536u     /* what the end record's CRC covers */

enum undo_kind {
	UNDO_DATA = 1,	   /* payload: the old content of off..off+len */
	UNDO_ZEROS = 2,	   /* the old content was zeros; no payload */
	UNDO_END = 3,	   /* the run is over; crc: of the device's first bytes now */
	UNDO_ROLLBACK = 4, /* a rollback began */
};

struct undo_header {
	uint64_t device_bytes;
	struct fat_undo_origin origin;
	uint32_t sample_crc[UNDO_N_SAMPLES];
};

struct undo_record {
	enum undo_kind kind;
	uint64_t sequence; /* from 0 */
	uint64_t batch;	   /* records between two flushes of the store share it */
	uint64_t off;
	uint64_t len_bytes;
	uint32_t payload_bytes;
	uint32_t payload_crc;
};

void fat_undo_header_encode(const struct undo_header *header, uint8_t block[UNDO_BLOCK]);
enum fat_undo_verdict fat_undo_header_decode(const uint8_t block[UNDO_BLOCK],
					     struct undo_header *header);
void fat_undo_record_encode(const struct undo_record *record, uint8_t bytes[UNDO_RECORD_BYTES]);
/* false: no record, or one that does not verify. */
bool fat_undo_record_decode(const uint8_t bytes[UNDO_RECORD_BYTES], struct undo_record *record);
/* Store bytes from one record to the next. */
uint64_t fat_undo_record_span(const struct undo_record *record);

/* Where sample i of a device lies, and how long it is (shorter on tiny devices). */
uint64_t fat_undo_sample_off(uint64_t device_bytes, uint32_t i);
size_t fat_undo_sample_bytes(uint64_t device_bytes);

#endif
