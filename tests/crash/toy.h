/* SPDX-License-Identifier: MIT */
/*
 * toy: a repairer of one fault, to try the harness on. Careful, or careless in ways that the
 * harness must catch.
 *
 * The fault: a second entry in the root directory starts at the first one's chain. The repair gives
 * it a private copy.
 */
#ifndef CRASH_TOY_H
#define CRASH_TOY_H

#include "tests/recipes/recipe.h"

enum toy_manners {
	TOY_CAREFUL,
	TOY_ATTACHES_FIRST, /* the entry points to the copy before the copy is there */
	TOY_NEVER_FLUSHES,
	TOY_NO_MARK,
	TOY_MIRRORS_FIRST, /* FAT 2 is written before FAT 1 */
	TOY_HIDES_ERRORS,  /* ends with 1 whatever happened */
	TOY_FORGETS,       /* the second run finds the same again */
};

struct toy {
	struct shape shape;
	enum toy_manners manners;
};

/* The exit status of fsck: 0 clean, 1 repaired, 8 failed. ctx: a struct toy. */
int toy_run(void *ctx, struct fat_dev *dev);

#endif
