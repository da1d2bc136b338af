/* SPDX-License-Identifier: MIT */
/*
 * wear: where a measurement may still write. Inside the advisor only. Pure.
 *
 * Every place is claimed before it is written to, with the number of times that the writes there
 * can make a device erase a block of it. Invariant: no block's claims add up to more than
 * WEAR_MOST. While the blocks are not known, claims lie further apart than any block is long.
 */
#ifndef FATWISE_ADVISOR_WEAR_H
#define FATWISE_ADVISOR_WEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* The longest blocks known [PROBING 3]. */
#define WEAR_LONGEST_BLOCK (24u << 20)

/* Times that a block may be erased because of a measurement. */
#define WEAR_MOST 3

/*
 * Once more in order from the block's start costs one erase; whatever begins inside of a block may
 * cost two: the block that takes the writes, and the one that the pages had been in.
 */
#define WEAR_RUN 2

struct wear {
	struct fat_vec claims;
	uint64_t block_bytes, block_off; /* 0: not known */
	uint64_t apart_bytes;            /* then: longer than any block */
};

void wear_init(struct wear *wear, uint64_t size_bytes);
void wear_fini(struct wear *wear);

/* Counts by blocks from now on, what was claimed before as well. */
void wear_set_blocks(struct wear *wear, uint64_t block_bytes, uint64_t block_off);

/*
 * Claims from_off..to_off - 1 for writes that erase a block n_erases times at most. false, and
 * nothing is claimed: a block there has had its share. O(claims * blocks).
 */
bool wear_claim(struct wear *wear, uint64_t from_off, uint64_t to_off, unsigned n_erases);

#endif
