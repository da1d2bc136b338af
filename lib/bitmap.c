/* SPDX-License-Identifier: MIT */
/*
 * bitmap: the part that allocates. See bitmap.h.
 */
#include "bitmap.h"

#include <stdlib.h>

#include "bytes.h"

bool fat_bitmap_init(struct fat_bitmap *bitmap, uint64_t n_bits)
{
	bitmap->n_bits = n_bits;
	bitmap->n_set = 0;
	bitmap->n_pages = (size_t)div_ceil(n_bits, BITMAP_PAGE_BITS);
	bitmap->page = calloc(bitmap->n_pages ? bitmap->n_pages : 1, sizeof *bitmap->page);
	return bitmap->page != NULL;
}

void fat_bitmap_fini(struct fat_bitmap *bitmap)
{
	for (size_t i = 0; bitmap->page && i < bitmap->n_pages; i++)
		free(bitmap->page[i]);
	free(bitmap->page);
	*bitmap = (struct fat_bitmap){ .n_bits = 0 };
}

bool fat_bitmap_make_page(struct fat_bitmap *bitmap, uint64_t bit)
{
	uint64_t **page = &bitmap->page[bit / BITMAP_PAGE_BITS];

	*page = calloc(BITMAP_PAGE_WORDS, sizeof **page);
	return *page != NULL;
}
