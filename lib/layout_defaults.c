/* SPDX-License-Identifier: MIT */
/*
 * layout_defaults: what a volume of a size usually looks like [COMPAT 3]. Tables, nothing else.
 */
#include "layout_defaults.h"

#include <stddef.h>

#define MAX_TRACK_SEC 63u

#define N_OF(array) (sizeof(array) / sizeof *(array))

const struct fat_layout_floppy *fat_layout_floppy_find(uint64_t size_bytes)
{
	static const struct fat_layout_floppy floppies[] = {
		{ 360, 0xFD, 2, 9, 2, 112 },   { 720, 0xF9, 2, 9, 2, 112 },
		{ 1200, 0xF9, 2, 15, 1, 224 }, { 1440, 0xF0, 2, 18, 1, 224 },
		{ 2880, 0xF0, 2, 36, 2, 224 },
	};

	for (size_t i = 0; i < N_OF(floppies); i++)
		if (size_bytes / 1024 == floppies[i].size_kib)
			return &floppies[i];
	return NULL;
}

void fat_layout_disk_geometry(uint64_t n_sec, uint32_t *heads, uint32_t *track_sec)
{
	/* Up to max_sec sectors: SD File System Specification, appendix C. */
	static const struct {
		uint32_t max_sec, heads, track_sec;
	} table[] = {
		{ 4096, 2, 16 },
		{ 32768, 2, 32 },
		{ 65536, 4, 32 },
		{ 262144, 8, 32 },
		{ 524288, 16, 32 },
		{ 16 * 63 * 1024, 16, 63 },
		{ 32 * 63 * 1024, 32, 63 },
		{ 64 * 63 * 1024, 64, 63 },
		{ 128 * 63 * 1024, 128, 63 },
	};

	*heads = 255;
	*track_sec = 63;
	for (size_t i = 0; i < N_OF(table); i++) {
		if (n_sec <= table[i].max_sec) {
			*heads = table[i].heads;
			*track_sec = table[i].track_sec;
			return;
		}
	}
}

uint32_t fat_layout_cluster_sec_32(uint64_t n_sec)
{
	static const uint64_t sec_per_mib = 2048;
	static const struct {
		uint32_t max_mib, cluster_sec;
	} table[] = { { 260, 1 }, { 8 << 10, 8 }, { 16 << 10, 16 }, { 32 << 10, 32 } };

	for (size_t i = 0; i < N_OF(table); i++)
		if (n_sec <= table[i].max_mib * sec_per_mib)
			return table[i].cluster_sec;
	return 64;
}

uint32_t fat_layout_track_divisor(uint64_t n_sec)
{
	uint32_t divisor = MAX_TRACK_SEC;

	while (n_sec % divisor != 0)
		divisor--;
	return divisor;
}
