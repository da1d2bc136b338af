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

#define ERASE_NS    2000000 /* the shortest erase */
#define MAX_OPEN    8
#define MOST_TAKEN  32 /* blocks, to count the open ones */
#define FEW_VISITS  6
#define MANY_VISITS 24

struct visits {
	struct probe *p;
	uint64_t block_bytes, block_off; /* 0: not known */
	uint32_t page_bytes;
	uint64_t dear_ns;  /* above: a block was closed for it */
	uint64_t cheap_ns; /* up to it: none was */
	uint64_t last_ns;  /* what the last visit took */
	enum fat_status status;
};

/* Rewrites a page. false: no more of this. */
static bool visit(struct visits *v, uint64_t off, bool *dear)
{
	struct probe *p = v->p;
	uint64_t ns = 0;

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

/* A block not seen before, for n_pages from its start; anywhere, where blocks are not known. */
static bool new_block(struct visits *v, uint64_t n_pages, unsigned n_erases, uint64_t *start_off)
{
	struct probe_want want = { .len_bytes = n_pages * v->page_bytes, .n_erases = n_erases };
	struct advise_inferred inferred;

	advise_infer(v->p->measured, &inferred);
	want.align_bytes = v->page_bytes;
	want.base_off = inferred.page_off;
	return probe_find_place(v->p, &want, start_off);
}

/*
 * Page after page of a block is cheap; what costs clearly more closed a block, be it one that only
 * had to be erased. What a cache lets out is known less well.
 */
static bool set_dear(struct visits *v)
{
	double noise = advise_noise(v->p->measured);
	uint64_t start_off, first_ns = 0, least_ns = UINT64_MAX, spread_ns;
	bool dear;

	if (!new_block(v, 4, WEAR_RUN, &start_off))
		return false;
	for (uint64_t n = 0; n < 4; n++) {
		if (!visit(v, start_off + n * v->page_bytes, &dear))
			return false;
		if (n == 0)
			first_ns = v->last_ns;
		else
			least_ns = min_u64(least_ns, v->last_ns);
	}
	spread_ns = (uint64_t)((double)least_ns * 6 * noise);
	v->p->erases_show = v->p->measured->settle == ADVISE_SETTLED && spread_ns < ERASE_NS / 2;
	v->dear_ns = v->p->erases_show ? least_ns + spread_ns + ERASE_NS / 2
				       : 2 * least_ns + 2 * (uint64_t)ERASE_NS;
	v->cheap_ns = v->p->erases_show ? v->dear_ns : 2 * least_ns + (uint64_t)ERASE_NS;
	v->p->measured->inside.costs = first_ns > v->dear_ns;
	return true;
}

/*
 * Some pages in a row, then back among them: only pages in rising order come cheap to some devices.
 * Even one that was never full has these to copy then.
 */
static bool try_order(struct visits *v)
{
	struct probe *p = v->p;
	uint64_t n_pages = min_u64(32, p->wear.block_bytes / v->page_bytes / 2), start_off, ns;
	size_t len, piece = max_u32(min_u32(65536, p->target->max_bytes) / v->page_bytes, 1) *
			    (size_t)v->page_bytes;
	bool dear;

	if (n_pages == 0)
		n_pages = 8;
	n_pages = min_u64(n_pages, PROBE_STRETCH_BYTES / v->page_bytes);
	len = (size_t)n_pages * v->page_bytes;
	if (!new_block(v, n_pages, WEAR_RUN, &start_off) || probe_is_over(p) ||
	    !probe_affords_dear(p, 2) || !probe_may_write(p, len) || !probe_load(p, start_off, len))
		return false;
	for (size_t at = 0; at < len && v->status == FAT_OK; at += piece)
		v->status = probe_write(p, start_off + at, p->buf + at,
					(size_t)min_u64(piece, len - at), &ns);
	if (v->status == FAT_OK)
		v->status = probe_settle(p, &ns);
	return v->status == FAT_OK && visit(v, start_off + n_pages * 3 / 4 * v->page_bytes, &dear);
}

/* Blocks by their last visit, the one not seen for longest first. */
struct taken {
	struct {
		uint64_t start_off, next_page;
		bool closed; /* and opened again, maybe: that must do, for its sake */
	} block[MOST_TAKEN];
	size_t n, n_dear; /* of them, when they were new: a block was closed for them */
};

#define PAGES_TAKEN 16 /* of a block, at most */

static bool take_new(struct visits *v, struct taken *t)
{
	uint64_t start_off;
	bool dear;

	if (t->n == MOST_TAKEN || !new_block(v, PAGES_TAKEN, WEAR_MOST, &start_off) ||
	    !visit(v, start_off, &dear))
		return false;
	t->block[t->n].start_off = start_off;
	t->n_dear += dear;
	t->block[t->n].next_page = 1;
	t->block[t->n++].closed = false;
	return true;
}

/* Visits once more a block behind which n others were visited. */
static bool come_back(struct visits *v, struct taken *t, size_t n, bool *dear)
{
	size_t i = 0, last;
	uint64_t off;

	while (i < t->n && (t->block[i].closed || t->n - 1 - i > n))
		i++;
	while (i == t->n || t->n - 1 - i < n)
		if (!take_new(v, t))
			return false;
	for (last = t->n - 1; i < last; i++) {
		struct taken swap = { .block[0] = t->block[i] };

		t->block[i] = t->block[i + 1];
		t->block[i + 1] = swap.block[0];
	}
	off = t->block[last].start_off + t->block[last].next_page * v->page_bytes;
	if (t->block[last].next_page >= PAGES_TAKEN || !visit(v, off, dear))
		return false;
	t->block[last].next_page++;
	t->block[last].closed = *dear || !v->p->erases_show;
	return true;
}

/*
 * While it is cheap to come back to a block after n - 1 others, n are open at once. Where it may
 * have cost the erasing of a block that held nothing, that is as far as they can be counted.
 */
static bool count_open(struct visits *v)
{
	struct advise_inside *inside = &v->p->measured->inside;
	struct taken taken = { .n = 0 };
	unsigned n_dear = 0;

	for (uint32_t n = 2; n <= MAX_OPEN + 1;) {
		bool dear;

		if (!come_back(v, &taken, n - 1, &dear))
			return false;
		if (!dear && v->last_ns > v->cheap_ns)
			return true;
		if (!dear) {
			inside->open_at_least = n++;
			n_dear = 0;
			/* what closes blocks shows: then none was */
			v->p->erases_show |= taken.n >= 4 && 2 * taken.n_dear > taken.n;
		} else if (++n_dear == 2) { /* dear twice: one too many */
			inside->open_segments = n - 1;
			inside->costs = v->p->erases_show = true;
			return true;
		}
	}
	return true;
}

static bool visit_and_note(struct visits *v, uint64_t off)
{
	struct advise_inside *inside = &v->p->measured->inside;
	bool dear;

	if (inside->n_visits == ADVISE_MAX_VISITS || !visit(v, off, &dear))
		return false;
	inside->visit_off[inside->n_visits] = off;
	inside->visit_ns[inside->n_visits++] = v->last_ns;
	return true;
}

/* Pages at random, far apart: their prices tell where in a block they lay. */
static bool visit_at_random(struct visits *v)
{
	struct advise_inside *inside = &v->p->measured->inside;
	uint64_t off;

	while (inside->n_visits < MANY_VISITS) {
		if (inside->n_visits == FEW_VISITS) {
			inside->costs =
				advise_middle(inside->visit_ns, FEW_VISITS) > (double)v->dear_ns;
			if (!inside->costs)
				return true;
		}
		if (!new_block(v, 1, WEAR_RUN, &off) || !visit_and_note(v, off))
			return inside->costs;
	}
	return true;
}

/* The boundary lies between two visits: more of them, each in the middle, until it is known. */
static void narrow_boundary(struct visits *v)
{
	struct advise_inside *inside = &v->p->measured->inside;
	struct advise_inferred inferred;

	for (;;) {
		uint64_t block, low, high, place;
		struct probe_want want = { v->page_bytes, 0, 0, WEAR_RUN };

		advise_infer(v->p->measured, &inferred);
		block = inferred.block.value;
		if (block == 0)
			return;
		advise_sawtooth_gap(inside, block, inferred.block_off, &low, &high);
		if (high - low <= v->page_bytes)
			return;
		want.align_bytes = block;
		want.base_off = (low + (high - low) / 2 / v->page_bytes * v->page_bytes) % block;
		if (!probe_find_place(v->p, &want, &place) || !visit_and_note(v, place))
			return;
	}
}

static void find_blocks(struct visits *v)
{
	probe_begin_step(v->p, "erase block, by writing", 40);
	v->p->measured->inside.tried = visit_at_random(v);
	if (v->p->measured->inside.costs)
		narrow_boundary(v);
	probe_learn(v->p);
	v->block_bytes = v->p->wear.block_bytes;
	v->block_off = v->p->wear.block_off;
}

/* Blocks at the front, in order, while a visit does not cost the closing of another. */
static void count_fat_blocks(struct visits *v)
{
	uint64_t lead = v->block_off ? v->block_bytes - v->block_off : 0;
	bool dear = false;

	for (uint32_t n = 0; n < PROBE_FRONT_BLOCKS; n++) {
		uint64_t start = n * v->block_bytes, off = start > lead ? start - lead : 0;

		if (n == 0 && v->block_off && v->block_off < 8ull * v->page_bytes)
			continue; /* cut off at the front: no room to look */
		off += (v->page_bytes - (off + lead) % v->page_bytes) % v->page_bytes;
		off += 3ull * v->page_bytes;
		if (!wear_claim(&v->p->wear, off, off + v->page_bytes, WEAR_RUN) ||
		    !visit(v, off, &dear) || dear)
			return;
		v->p->measured->inside.fat_blocks = n + 1;
	}
}

enum fat_status probe_inside(struct probe *p)
{
	struct advise_inferred inferred;
	struct visits v = { .p = p,
			    .page_bytes = p->page_bytes ? (uint32_t)p->page_bytes : 16384,
			    .block_bytes = p->wear.block_bytes,
			    .block_off = p->wear.block_off,
			    .status = FAT_OK };

	advise_infer(p->measured, &inferred);
	if (inferred.heads_move || p->dev->size_bytes < (256u << 20))
		return FAT_OK;
	probe_begin_step(p, "erase blocks at once", 50);
	if (!set_dear(&v) || !try_order(&v))
		return v.status;
	if (v.block_bytes == 0)
		find_blocks(&v);
	if (p->measured->inside.costs && v.block_bytes > 0)
		count_fat_blocks(&v);
	if (v.block_bytes > 0 && !inferred.open_segments.value)
		p->measured->inside.tried = count_open(&v);
	return v.status;
}
