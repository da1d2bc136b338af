/* SPDX-License-Identifier: MIT */
/*
 * name_set: an open-addressed hash table. See name_set.h.
 */
#include "name_set.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

void name_set_fini(struct name_set *set)
{
	free(set->item);
	*set = (struct name_set){ .n = 0 };
}

void name_set_clear(struct name_set *set)
{
	if (set->n > 0)
		memset(set->item, 0, set->room * sizeof *set->item);
	set->n = 0;
}

/* Where an item with that hash is, or would go. */
static struct name_item *place_of(const struct name_set *set, uint64_t hash)
{
	size_t i = (size_t)hash & (set->room - 1);

	while (set->item[i].hash && set->item[i].hash != hash)
		i = (i + 1) & (set->room - 1);
	return &set->item[i];
}

struct name_item *name_set_find(const struct name_set *set, uint64_t hash)
{
	struct name_item *item;

	if (set->n == 0)
		return NULL;
	item = place_of(set, hash ? hash : 1);
	return item->hash ? item : NULL;
}

static bool grow(struct name_set *set)
{
	struct name_set bigger = { .room = set->room ? set->room * 2 : FIRST_ROOM };

	bigger.item = calloc(bigger.room, sizeof *bigger.item);
	if (!bigger.item)
		return false;
	for (size_t i = 0; i < set->room; i++)
		if (set->item[i].hash)
			*place_of(&bigger, set->item[i].hash) = set->item[i];
	bigger.n = set->n;
	free(set->item);
	*set = bigger;
	return true;
}

bool name_set_add(struct name_set *set, const struct name_item *item)
{
	struct name_item *place;

	if (set->n * 2 >= set->room && !grow(set))
		return false;
	place = place_of(set, item->hash ? item->hash : 1);
	*place = *item;
	place->hash = item->hash ? item->hash : 1;
	set->n++;
	return true;
}
