/* SPDX-License-Identifier: MIT */
/*
 * vec: a growable array with a limit.
 *
 * A leaf of libfat. Items move when it grows: keep indexes, not pointers.
 */
#ifndef FATWISE_VEC_H
#define FATWISE_VEC_H

#include <stdbool.h>
#include <stddef.h>

struct fat_vec {
	void *items;
	size_t n;
	size_t room;
	size_t item_bytes;
	size_t max; /* items, at most: what a hostile volume can make it grow to */
};

/* Takes no memory yet. */
void fat_vec_init(struct fat_vec *vec, size_t item_bytes, size_t max);
void fat_vec_fini(struct fat_vec *vec);

/* A new item of zeros at the end; NULL at the limit (fat_vec_is_full()) or without memory. */
void *fat_vec_push(struct fat_vec *vec);

static inline bool fat_vec_is_full(const struct fat_vec *vec)
{
	return vec->n == vec->max;
}

/* Item i < n. */
void *fat_vec_at(const struct fat_vec *vec, size_t i);

/* qsort(), which must not be asked to sort nothing at no place. */
void fat_vec_sort(struct fat_vec *vec, int (*compare)(const void *a, const void *b));

#endif
