/* SPDX-License-Identifier: MIT */
/*
 * name_set: an open-addressed hash table. See name_set.h.
 *
 * The table itself holds 8 bytes a name, so that it stays in the cache for folders of 60,000 files;
 * the items lie in the order in which they came.
 */
#include "name_set.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

struct name_slot {
	uint32_t tag; /* the upper half of the hash; the lower half says where to look */
	uint32_t nth; /* item[nth - 1]; 0: none */
};

void name_set_fini(struct name_set *set)
{
	free(set->item);
	free(set->slot);
	*set = (struct name_set){ .n = 0 };
}

void name_set_clear(struct name_set *set)
{
	if (set->n > 0)
		memset(set->slot, 0, set->room * sizeof *set->slot);
	set->n = 0;
}

/* Where an item with that hash is, or would go. */
static struct name_slot *place_of(const struct name_set *set, uint64_t hash)
{
	size_t i = (size_t)hash & (set->room - 1);

	for (;; i = (i + 1) & (set->room - 1)) {
		struct name_slot *slot = &set->slot[i];

		if (!slot->nth ||
		    (slot->tag == (uint32_t)(hash >> 32) && set->item[slot->nth - 1].hash == hash))
			return slot;
	}
}

struct name_item *name_set_find(const struct name_set *set, uint64_t hash)
{
	const struct name_slot *slot;

	if (set->n == 0)
		return NULL;
	slot = place_of(set, hash);
	return slot->nth ? &set->item[slot->nth - 1] : NULL;
}

void name_set_expect(struct name_set *set, size_t n)
{
	set->n_expected = n;
}

/* Room for twice as many; half of the table's places stay empty. */
static bool grow(struct name_set *set)
{
	size_t room = set->room ? set->room * 2 : FIRST_ROOM;
	struct name_item *item;
	struct name_slot *slot;

	while (set->room == 0 && room / 2 < set->n_expected)
		room *= 2;
	item = realloc(set->item, room / 2 * sizeof *item);
	if (!item)
		return false;
	set->item = item;
	slot = calloc(room, sizeof *slot);
	if (!slot)
		return false;
	free(set->slot);
	set->slot = slot;
	set->room = room;
	for (size_t i = 0; i < set->n; i++) {
		uint64_t hash = set->item[i].hash;

		*place_of(set, hash) =
			(struct name_slot){ (uint32_t)(hash >> 32), (uint32_t)i + 1 };
	}
	return true;
}

bool name_set_add(struct name_set *set, const struct name_item *item)
{
	struct name_slot *slot;

	if (set->n * 2 >= set->room && !grow(set))
		return false;
	slot = place_of(set, item->hash);
	if (slot->nth)
		return true;
	set->item[set->n++] = *item;
	*slot = (struct name_slot){ (uint32_t)(item->hash >> 32), (uint32_t)set->n };
	return true;
}
