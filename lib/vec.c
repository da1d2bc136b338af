/* SPDX-License-Identifier: MIT */
/*
 * vec: see vec.h. Doubles, so that pushing costs O(1) on the average.
 */
#include "vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

void fat_vec_init(struct fat_vec *vec, size_t item_bytes, size_t max)
{
	*vec = (struct fat_vec){ .item_bytes = item_bytes, .max = max };
}

void fat_vec_fini(struct fat_vec *vec)
{
	free(vec->items);
	vec->items = NULL;
	vec->n = vec->room = 0;
}

static int grow(struct fat_vec *vec)
{
	size_t room = vec->room ? vec->room * 2 : FIRST_ROOM;
	void *items;

	if (room > vec->max)
		room = vec->max;
	if (room > SIZE_MAX / vec->item_bytes)
		return 0;
	items = realloc(vec->items, room * vec->item_bytes);
	if (!items)
		return 0;
	vec->items = items;
	vec->room = room;
	return 1;
}

void *fat_vec_push(struct fat_vec *vec)
{
	void *item;

	if (fat_vec_is_full(vec) || (vec->n == vec->room && !grow(vec)))
		return NULL;
	item = (char *)vec->items + vec->n++ * vec->item_bytes;
	return memset(item, 0, vec->item_bytes);
}

void *fat_vec_at(const struct fat_vec *vec, size_t i)
{
	return (char *)vec->items + i * vec->item_bytes;
}

void fat_vec_sort(struct fat_vec *vec, int (*compare)(const void *a, const void *b))
{
	if (vec->n > 1)
		qsort(vec->items, vec->n, vec->item_bytes, compare);
}
