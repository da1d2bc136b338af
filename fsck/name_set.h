/* SPDX-License-Identifier: MIT */
/*
 * name_set: the names of one directory, as hashes, to find those used twice.
 *
 * Costs O(1) a name. Two names with the same 64-bit hash are taken for the same one.
 */
#ifndef FATWISE_NAME_SET_H
#define FATWISE_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_item {
	uint64_t hash;
	uint64_t entry_off;
	uint32_t start, size;
};

struct name_slot;

struct name_set {
	struct name_item *item; /* n of them, room for room / 2 */
	struct name_slot *slot; /* room of them */
	size_t room, n;         /* room: a power of two, or 0 */
	size_t n_expected;      /* room for so many from the first one on */
};

void name_set_fini(struct name_set *set);
void name_set_clear(struct name_set *set);
/* The item with that hash; NULL: none. */
struct name_item *name_set_find(const struct name_set *set, uint64_t hash);
/* About so many are to come; costs nothing until the first one does. */
void name_set_expect(struct name_set *set, size_t n);
/* Adds one, unless one with that hash is there. false: no memory. */
bool name_set_add(struct name_set *set, const struct name_item *item);

#endif
