/* SPDX-License-Identifier: MIT */
/*
 * volume: small volumes for fuzz targets, and what must hold when fsck.fat is let loose on one.
 *
 * The volumes come from the recipes' encoder, which shares nothing with libfat.
 */
#ifndef FATWISE_FUZZ_VOLUME_H
#define FATWISE_FUZZ_VOLUME_H

#include "fuzz.h"
#include "tests/recipes/recipe.h"

#define FUZZ_N_BASES 6u

/* One of the sound volumes (a number modulo FUZZ_N_BASES), built once; not to be changed. */
const struct image *fuzz_base(unsigned number);

/* Its device, to be damaged and closed by the caller. */
struct fat_dev *fuzz_clone(const struct image *base);

/*
 * A check, a repair, another repair, a rollback. Bounded in reads, an answer from each, the check
 * writes nothing, nothing is left to be done for the second repair, and what it calls clean is so
 * in the eyes of the strict reader; nothing behind the volume changes; the undo file brings the
 * first state back. Aborts if not.
 */
void fuzz_judge(const struct image *base, struct fat_dev *damaged);

#endif
