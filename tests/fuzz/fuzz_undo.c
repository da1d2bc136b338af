/* SPDX-License-Identifier: MIT */
/*
 * fuzz_undo: an undo file of any bytes is verified in bounded time, and never makes a device change
 * unless it verifies and matches. Header and record CRCs are mended, so that the fuzzer gets past.
 */
#include <string.h>

#include "bytes.h"
#include "crc.h"
#include "fuzz.h"
#include "libfat.h"

#define DEVICE_BYTES 8192u
#define BLOCK	     512u

static void mend(uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < BLOCK || !(bytes[40] & 1))
		return;
	memcpy(bytes, "FATUNDO", 8);
	put_le32(bytes + 8, 1);
	put_le64(bytes + 16, DEVICE_BYTES);
	put_le32(bytes + BLOCK - 4, fat_crc32c(0, bytes, BLOCK - 4));
	for (size_t at = BLOCK; at + 64 <= n_bytes; at += BLOCK) {
		uint8_t *record = bytes + at;

		if (record[50] & 2)
			continue;
		memcpy(record, "FUrc", 4);
		record[4] &= 7;
		put_le32(record + 60, fat_crc32c(0, record, 60));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static uint8_t bytes[16 * BLOCK];
	struct fat_dev *store, *dev;
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;

	if (n_bytes == 0)
		return 0;
	if (n_bytes > sizeof bytes)
		n_bytes = sizeof bytes;
	memcpy(bytes, data, n_bytes);
	mend(bytes, n_bytes);
	must(fat_dev_mem_open(n_bytes, &store) == FAT_OK);
	must(fat_dev_write(store, 0, bytes, n_bytes) == FAT_OK);
	must(fat_dev_mem_open(DEVICE_BYTES, &dev) == FAT_OK);
	must(fat_undo_verify(store, &info, &verdict) == FAT_OK);
	must(fat_undo_match(store, dev, &verdict) == FAT_OK);
	must(dev->stats.n_writes == 0 && dev->stats.n_zeroes == 0);
	if (verdict == FAT_UNDO_SOUND)
		must(info.n_records <= 16 && info.device_bytes == DEVICE_BYTES);
	fat_undo_rollback(store, dev);
	if (verdict != FAT_UNDO_SOUND && verdict != FAT_UNDO_OTHER_DATA)
		must(dev->stats.n_writes == 0 && dev->stats.n_zeroes == 0);
	fat_dev_close(dev);
	fat_dev_close(store);
	return 0;
}
