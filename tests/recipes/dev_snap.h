/* SPDX-License-Identifier: MIT */
/*
 * dev_snap: a sparse device in memory whose copies share what is equal.
 *
 * A copy costs a pointer for each 4 MiB, a write the page it touches; so thousands of crash states
 * of one volume are cheap. It is the base of every test stack. Dies when memory runs out.
 */
#ifndef RECIPES_DEV_SNAP_H
#define RECIPES_DEV_SNAP_H

#include "lib/libfat.h"

#define SNAP_PAGE_BYTES 4096u

struct fat_dev *snap_open(uint64_t size_bytes);
/* Independent of the original from now on. */
struct fat_dev *snap_clone(struct fat_dev *dev);
void snap_resize(struct fat_dev *dev, uint64_t size_bytes);
/* The first page at or behind off that holds content: its offset; UINT64_MAX: none. */
uint64_t snap_next_page(const struct fat_dev *dev, uint64_t off);
/* The first byte in which two devices differ (a missing page is zeros); UINT64_MAX: none. */
uint64_t snap_first_difference(const struct fat_dev *a, const struct fat_dev *b);

/* Sparse files. Die if it cannot be done. */
void snap_to_file(const struct fat_dev *dev, const char *path);
struct fat_dev *snap_from_file(const char *path);

#endif
