/* SPDX-License-Identifier: MIT */
/* format_table: writes the FATs of a new volume. Inside libfat only. */
#ifndef FATWISE_FORMAT_TABLE_H
#define FATWISE_FORMAT_TABLE_H

#include "libfat.h"

/*
 * Writes all FAT copies from runs of clusters, ascending and apart; the FATs read as zeros before.
 * Only sectors that hold something are written. 64 KiB of memory.
 */
enum fat_status fat_format_table(struct fat_dev *dev, const struct fat_geometry *geometry,
				 const struct fat_run *runs, size_t n_runs);

#endif
