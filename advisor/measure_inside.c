/* SPDX-License-Identifier: MIT */
/*
 * measure_inside: single writes into erase blocks, here and there: how many blocks a device keeps
 * open, whether it takes their pages in any order, and whether it treats the FAT's place specially.
 *
 * A visit rewrites one page of a block. Where too many blocks are open already, one of them is
 * closed for it, and what it lacks is copied: such a visit costs many times a page.
 */
#include "bytes.h"
#include "probe.h"

#define MAX_OPEN       8
#define MAX_FAT_BLOCKS 8

struct visits {
	struct probe *p;
	uint64_t block_bytes,
		block_off; /* where the search found none: large pieces of the device */
	uint32_t page_bytes;
	uint64_t dear_ns; /* above: a block was closed for it */
	uint64_t last_ns; /* what the last visit took */
	uint32_t n_blocks;
	enum fat_status status;
};

/* Rewrites page n of the block that begins at start_off. false: no more of this. */
static bool visit(struct visits *v, uint64_t start_off, uint64_t n, bool *dear)
{
	struct probe *p = v->p;
	uint64_t off = start_off + n * v->page_bytes, ns = 0;

	if (probe_is_over(p) || !probe_affords_dear(p, 1) || !probe_may_write(p, v->page_bytes) ||
	    off + v->page_bytes > p->dev->size_bytes || !probe_load(p, off, v->page_bytes))
		return false;
	v->status = probe_write(p, off, p->buf, v->page_bytes, &ns);
	if (v->status == FAT_OK)
		v->status = probe_settle(p, &ns);
	v->last_ns = ns;
	*dear = ns > v->dear_ns;
	return v->status == FAT_OK;
}

/* Where another block begins, away from the front; never the same twice. */
static uint64_t new_block(struct visits *v)
{
	uint64_t n_all = (v->p->dev->size_bytes - v->block_off) / v->block_bytes - 1;
	uint64_t n_front = min_u64(n_all / 4, 2 * MAX_FAT_BLOCKS);
	uint64_t n = n_front + (uint64_t)v->n_blocks++ * 7919 % (n_all - n_front);

	return v->block_off + n * v->block_bytes;
}

/* Forth and back within a block: only pages in rising order come cheap to some devices. */
static bool try_order(struct visits *v)
{
	static const uint8_t pages[] = { 8, 4 };
	uint64_t start_off = new_block(v);
	bool dear;

	for (size_t i = 0; i < sizeof pages; i++)
		if (!visit(v, start_off, pages[i], &dear))
			return false;
	return true;
}

/*
 * Block after block is taken in turn, each followed by a visit to the one not seen for longest:
 * while that is cheap, all of them are open at once. Pages go from the first one on in order: to
 * close such a block wears least.
 */
static bool count_open(struct visits *v)
{
	struct {
		uint64_t start_off, next_page;
	} queue[MAX_OPEN + 2];
	struct advise_inside *inside = &v->p->measured->inside;
	bool dear;

	for (uint32_t n = 1; n <= MAX_OPEN + 1; n++) {
		queue[n - 1].start_off = new_block(v);
		queue[n - 1].next_page = 1;
		if (!visit(v, queue[n - 1].start_off, 0, &dear))
			return false;
		for (int again = 0; n > 1 && again < 2; again++) {
			uint64_t start_off = queue[0].start_off, page = queue[0].next_page;

			if (!visit(v, start_off, page, &dear))
				return false;
			for (uint32_t i = 1; i < n; i++)
				queue[i - 1] = queue[i];
			queue[n - 1].start_off = start_off;
			queue[n - 1].next_page = page + 1;
			if (!dear) {
				inside->open_at_least = n;
				break;
			}
			if (again == 1) { /* dear twice: one too many */
				inside->open_segments = n - 1;
				inside->costs = true;
				return true;
			}
		}
	}
	return true;
}

/* Pages at random in blocks far apart: their prices tell where in a block they lay. */
static void visit_at_random(struct visits *v)
{
	struct advise_inside *inside = &v->p->measured->inside;
	uint64_t n_pages = v->block_bytes / v->page_bytes;
	bool dear;

	while (inside->n_visits < inside->open_segments + 16u &&
	       inside->n_visits < ADVISE_MAX_VISITS) {
		uint64_t off = new_block(v) + probe_random_below(v->p, n_pages) * v->page_bytes;

		if (!visit(v, off, 0, &dear))
			return;
		inside->visit_off[inside->n_visits] = off;
		inside->visit_ns[inside->n_visits++] = v->last_ns;
	}
}

/* The boundary lies between two visits: more of them, each in the middle, until it is known. */
static void narrow_boundary(struct visits *v, struct advise_inferred *inferred)
{
	struct advise_inside *inside = &v->p->measured->inside;
	bool dear;

	while (inferred->block.value && inside->n_visits < ADVISE_MAX_VISITS) {
		uint64_t block = inferred->block.value, low, high, middle, start;

		advise_sawtooth_gap(inside, block, inferred->block_off, &low, &high);
		if (high - low <= v->page_bytes)
			return;
		middle = low + (high - low) / 2 / v->page_bytes * v->page_bytes;
		start = new_block(v) / block * block + middle % block;
		if (!visit(v, start, 0, &dear))
			return;
		inside->visit_off[inside->n_visits] = start;
		inside->visit_ns[inside->n_visits++] = v->last_ns;
		advise_infer(v->p->measured, inferred);
	}
}

/* Blocks at the front, in order, while a visit does not cost the closing of another. */
static void count_fat_blocks(struct visits *v)
{
	uint64_t lead = v->block_off ? v->block_bytes - v->block_off : 0;
	bool dear = false;

	for (uint32_t n = 0; n < MAX_FAT_BLOCKS; n++) {
		uint64_t start = n * v->block_bytes, off = start > lead ? start - lead : 0;

		if (n == 0 && v->block_off && v->block_off < 8 * v->page_bytes)
			continue; /* cut off at the front: no room to look */
		off += (v->page_bytes - (off + lead) % v->page_bytes) % v->page_bytes;
		if (!visit(v, off, 3, &dear))
			return;
		if (dear)
			return;
		v->p->measured->inside.fat_blocks = n + 1;
	}
}

enum fat_status probe_inside(struct probe *p)
{
	struct advise_inferred inferred;
	struct visits v = { .p = p, .status = FAT_OK };

	advise_infer(p->measured, &inferred);
	if (inferred.heads_move || p->dev->size_bytes < (256u << 20))
		return FAT_OK;
	v.page_bytes = (uint32_t)(inferred.page.value ? inferred.page.value : 16384);
	v.block_bytes = inferred.block.value;
	v.block_off = inferred.block_off;
	if (v.block_bytes == 0) {
		v.block_bytes = round_up(p->dev->size_bytes / 64, v.page_bytes);
		v.block_off = inferred.page_off;
	}
	v.dear_ns = (uint64_t)(4 * (inferred.command_ns + inferred.ns_per_byte * v.page_bytes)) +
		    2000000;
	probe_begin_step(p, "erase blocks at once", 40);
	p->measured->inside.tried = try_order(&v) && count_open(&v);
	if (p->measured->inside.costs && inferred.block.value == 0) {
		probe_begin_step(p, "erase block, by writing", 30);
		visit_at_random(&v);
		advise_infer(p->measured, &inferred);
		narrow_boundary(&v, &inferred);
		v.block_bytes = inferred.block.value;
		v.block_off = inferred.block_off;
	}
	if (p->measured->inside.costs && v.block_bytes > 0)
		count_fat_blocks(&v);
	return v.status;
}
