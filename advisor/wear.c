/* SPDX-License-Identifier: MIT */
/*
 * wear: see wear.h.
 */
#include "wear.h"

#include "bytes.h"

#define MOST_CLAIMS 4096

/* Smaller devices have shorter blocks. */
#define LARGE_BYTES (1000u << 20)

struct claim {
	uint64_t from_off, to_off;
	unsigned n_erases;
};

void wear_init(struct wear *wear, uint64_t size_bytes)
{
	*wear = (struct wear){ .apart_bytes = size_bytes >= LARGE_BYTES ? WEAR_LONGEST_BLOCK
									: size_bytes / 64 };
	fat_vec_init(&wear->claims, sizeof(struct claim), MOST_CLAIMS);
}

void wear_fini(struct wear *wear)
{
	fat_vec_fini(&wear->claims);
}

void wear_set_blocks(struct wear *wear, uint64_t block_bytes, uint64_t block_off)
{
	wear->block_bytes = block_bytes;
	wear->block_off = block_off;
}

/* The number of a block, the one that the device begins with being 0 or, cut off, 1. */
static uint64_t block_of(const struct wear *wear, uint64_t off)
{
	return (off + wear->block_bytes - wear->block_off) / wear->block_bytes;
}

static unsigned claimed(const struct wear *wear, uint64_t block)
{
	unsigned n = 0;

	for (size_t i = 0; i < wear->claims.n; i++) {
		const struct claim *c = fat_vec_at(&wear->claims, i);

		if (block_of(wear, c->from_off) <= block && block_of(wear, c->to_off - 1) >= block)
			n += c->n_erases;
	}
	return n;
}

static bool is_near_any(const struct wear *wear, uint64_t from_off, uint64_t to_off)
{
	for (size_t i = 0; i < wear->claims.n; i++) {
		const struct claim *c = fat_vec_at(&wear->claims, i);

		if (from_off < c->to_off + wear->apart_bytes &&
		    c->from_off < to_off + wear->apart_bytes)
			return true;
	}
	return false;
}

static bool has_room(const struct wear *wear, uint64_t from_off, uint64_t to_off, unsigned n_erases)
{
	if (wear->block_bytes == 0)
		return !is_near_any(wear, from_off, to_off);
	for (uint64_t block = block_of(wear, from_off); block <= block_of(wear, to_off - 1);
	     block++)
		if (claimed(wear, block) + n_erases > WEAR_MOST)
			return false;
	return true;
}

bool wear_claim(struct wear *wear, uint64_t from_off, uint64_t to_off, unsigned n_erases)
{
	struct claim *c;

	if (!has_room(wear, from_off, to_off, n_erases))
		return false;
	c = fat_vec_push(&wear->claims);
	if (!c)
		return false;
	*c = (struct claim){ from_off, to_off, n_erases };
	return true;
}
