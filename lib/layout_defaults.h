/* SPDX-License-Identifier: MIT */
/*
 * layout_defaults: what a volume of a size usually looks like. Inside libfat only.
 */
#ifndef FATWISE_LAYOUT_DEFAULTS_H
#define FATWISE_LAYOUT_DEFAULTS_H

#include "libfat.h"

struct fat_layout_floppy {
	uint32_t size_kib;
	uint8_t media;
	uint8_t heads, track_sec;
	uint8_t cluster_sec;
	uint16_t root_entries;
};

/* NULL: no floppy disk has this size. */
const struct fat_layout_floppy *fat_layout_floppy_find(uint64_t size_bytes);

/* Heads and sectors per track for a disk of so many sectors: the SD table, LBA assist above. */
void fat_layout_disk_geometry(uint64_t n_sec, uint32_t *heads, uint32_t *track_sec);

/* FAT32's usual cluster size on a device of so many sectors, whatever their size [COMPAT 3]. */
uint32_t fat_layout_cluster_sec_32(uint64_t n_sec);

/* The largest number up to track_sec limit (63) that divides n_sec. */
uint32_t fat_layout_track_divisor(uint64_t n_sec);

#endif
