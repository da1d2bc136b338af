/* SPDX-License-Identifier: MIT */
/* badblocks: clusters that are to be marked bad. */
#ifndef FATWISE_MKFS_BADBLOCKS_H
#define FATWISE_MKFS_BADBLOCKS_H

#include "mkfs.h"

/* Ascending, each once, after a list was read or a scan made. All zero is empty. */
struct mkfs_bad {
	uint32_t *clus;
	size_t n, cap;
};

enum mkfs_bad_verdict {
	MKFS_BAD_TAKEN,
	MKFS_BAD_BEFORE, /* in front of the data area */
	MKFS_BAD_BEHIND, /* behind the last cluster */
	MKFS_BAD_MEMORY,
};

/* Adds the clusters that a block of 1 KiB touches. Sort after the last one. */
enum mkfs_bad_verdict mkfs_bad_add(struct mkfs_bad *bad, const struct fat_geometry *geometry,
				   uint64_t block);
void mkfs_bad_sort(struct mkfs_bad *bad);

/* The lowest good cluster; 0: there is none. */
uint32_t mkfs_bad_first_good(const struct mkfs_bad *bad, const struct fat_geometry *geometry);

/* As runs for fat_format(), to be freed; NULL: out of memory. */
struct fat_run *mkfs_bad_runs(const struct mkfs_bad *bad, size_t *n_runs);
void mkfs_bad_free(struct mkfs_bad *bad);

/* -l: block numbers, one a line. false: told why. */
bool mkfs_bad_read_list(const char *path, const struct fat_geometry *geometry,
			struct mkfs_bad *bad);

/* -c: reads the whole volume. false: told why. */
bool mkfs_bad_scan(const char *path, struct fat_dev *dev, const struct fat_geometry *geometry,
		   struct mkfs_bad *bad);

#endif
