/* SPDX-License-Identifier: MIT */
/*
 * bitmap: one bit a cluster, in pages that exist once a bit in them was set.
 *
 * A leaf of libfat: knows nothing of FAT. 268,435,444 bits take 32 MiB when they are set all over
 * the place, and next to nothing while they are not.
 */
#ifndef FATWISE_BITMAP_H
#define FATWISE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITMAP_PAGE_BITS  32768u
#define BITMAP_PAGE_WORDS (BITMAP_PAGE_BITS / 64)

struct fat_bitmap {
	uint64_t n_bits;
	uint64_t n_set;
	size_t n_pages;
	uint64_t **page;
};

/* All bits clear. false: no memory. */
bool fat_bitmap_init(struct fat_bitmap *bitmap, uint64_t n_bits);
void fat_bitmap_fini(struct fat_bitmap *bitmap);

/* Makes the page of a bit; false: no memory. */
bool fat_bitmap_make_page(struct fat_bitmap *bitmap, uint64_t bit);

/* bit < n_bits. O(1). */
static inline bool fat_bitmap_get(const struct fat_bitmap *bitmap, uint64_t bit)
{
	const uint64_t *page = bitmap->page[bit / BITMAP_PAGE_BITS];

	return page && (page[bit % BITMAP_PAGE_BITS / 64] >> bit % 64 & 1);
}

enum fat_bit { FAT_BIT_NEW, FAT_BIT_OLD, FAT_BIT_NO_MEMORY };

/* Sets a bit and says whether it was set before. O(1). */
static inline enum fat_bit fat_bitmap_set(struct fat_bitmap *bitmap, uint64_t bit)
{
	uint64_t mask = (uint64_t)1 << bit % 64;
	uint64_t **page = &bitmap->page[bit / BITMAP_PAGE_BITS];
	uint64_t *word;

	if (!*page && !fat_bitmap_make_page(bitmap, bit))
		return FAT_BIT_NO_MEMORY;
	word = &(*page)[bit % BITMAP_PAGE_BITS / 64];
	if (*word & mask)
		return FAT_BIT_OLD;
	*word |= mask;
	bitmap->n_set++;
	return FAT_BIT_NEW;
}

/* Asks the processor for a bit that will be wanted soon. */
static inline void fat_bitmap_prefetch(const struct fat_bitmap *bitmap, uint64_t bit)
{
	const uint64_t *page = bitmap->page[bit / BITMAP_PAGE_BITS];

	if (page)
		__builtin_prefetch(page + bit % BITMAP_PAGE_BITS / 64);
}

static inline void fat_bitmap_clear(struct fat_bitmap *bitmap, uint64_t bit)
{
	uint64_t *page = bitmap->page[bit / BITMAP_PAGE_BITS];
	uint64_t mask = (uint64_t)1 << bit % 64;

	if (page && (page[bit % BITMAP_PAGE_BITS / 64] & mask)) {
		page[bit % BITMAP_PAGE_BITS / 64] &= ~mask;
		bitmap->n_set--;
	}
}

#endif
