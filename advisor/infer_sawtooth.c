/* SPDX-License-Identifier: MIT */
/*
 * infer_sawtooth: erase blocks from the price of single writes, where reads show none. Pure.
 *
 * A device that keeps k blocks open, each filled in rising order, pays for a write at x: the pages
 * of x's block before x, and the pages that the block closed for it (the one visited k visits ago;
 * none, if a block was full and closed by itself) lacks behind its own. For each block size, offset
 * and k this number of pages is known, and the time is a + b * pages: a and b follow by regression,
 * and the right ones leave nothing but noise.
 *
 * Between two visits the offset makes no difference but to a: only the places of visits are tried.
 */
#include <math.h>

#include "advise.h"
#include "bytes.h"

#define SMALLEST_BLOCK (256u << 10)
#define LARGEST_BLOCK  (32u << 20)
#define CLEARLY        1.5
#define LARGEST_ODD    9
#define MOST_OPEN      8

/* Part of the variance that the best line leaves; 1 if the line falls. */
static double left_over(const double *x, const double *y, size_t n)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, vx, vy, cov;

	for (size_t i = 0; i < n; i++) {
		sx += x[i];
		sy += y[i];
		sxx += x[i] * x[i];
		sxy += x[i] * y[i];
		syy += y[i] * y[i];
	}
	vx = sxx - sx * sx / (double)n;
	vy = syy - sy * sy / (double)n;
	cov = sxy - sx * sy / (double)n;
	if (vx <= 0 || vy <= 0 || cov <= 0)
		return 1;
	return fmax(1 - cov * cov / (vx * vy), 0);
}

struct teeth {
	const struct advise_inside *inside;
	uint64_t page_bytes;
};

/* Part of the variance that blocks of this size and place leave; 1 if too few visits tell. */
static double try_block(const struct teeth *t, uint64_t block, uint64_t off, size_t n_segments)
{
	double x[ADVISE_MAX_VISITS], y[ADVISE_MAX_VISITS];
	uint64_t open[ADVISE_MAX_VISITS + 1]; /* pages that the open blocks lack, oldest first */
	size_t first = 0, n_open = 0, n_unknown = n_segments, n = 0;

	for (size_t i = 0; i < t->inside->n_visits; i++) {
		uint64_t pos = (t->inside->visit_off[i] + block - off) % block;
		uint64_t lacks = block - pos - t->page_bytes, closed = 0;
		bool known = true;

		if (n_unknown + n_open == n_segments) {
			known = n_unknown == 0;
			if (known) {
				closed = open[first++];
				n_open--;
			} else {
				n_unknown--;
			}
		}
		if (lacks > 0)
			open[first + n_open++] = lacks;
		if (!known)
			continue;
		x[n] = (double)(pos + closed);
		y[n++] = (double)t->inside->visit_ns[i];
	}
	return n >= 8 ? left_over(x, y, n) : 1;
}

/* The least that any offset and number of open blocks leaves. */
static double try_offsets(const struct teeth *t, uint64_t block, struct advise_sawtooth *best)
{
	*best = (struct advise_sawtooth){ .left = 1 };
	for (size_t i = 0; i < t->inside->n_visits; i++) {
		uint64_t off = t->inside->visit_off[i] % block;

		for (uint32_t n = 1; n <= MOST_OPEN; n++) {
			double left = try_block(t, block, off, n);

			if (left < best->left)
				*best = (struct advise_sawtooth){ block, off, n, left };
		}
	}
	return best->left;
}

/*
 * Among so many sizes chance explains visits too. Blocks are a few powers of two long: what is not
 * must explain them better.
 */
static double weighed(uint64_t block, double left)
{
	uint64_t odd = block / SMALLEST_BLOCK;

	while (odd % 2 == 0)
		odd /= 2;
	return odd > LARGEST_ODD ? left * CLEARLY : left;
}

/* No other size may explain the visits nearly as well. */
void advise_find_sawtooth(const struct advise_inside *inside, uint64_t page_bytes,
			  struct advise_sawtooth *found)
{
	struct teeth t = { inside, page_bytes ? page_bytes : 16384 };
	double least = 1, second = 1;

	*found = (struct advise_sawtooth){ .left = 1 };
	if (inside->n_visits < 12)
		return;
	for (uint64_t block = SMALLEST_BLOCK; block <= LARGEST_BLOCK; block += SMALLEST_BLOCK) {
		struct advise_sawtooth best;
		double left;

		if (block % t.page_bytes)
			continue;
		left = weighed(block, try_offsets(&t, block, &best));
		if (left >= least) {
			second = fmin(second, left);
			continue;
		}
		second = least;
		least = left;
		*found = best;
	}
	if (least * CLEARLY >= second)
		found->block_bytes = 0;
}

void advise_sawtooth_gap(const struct advise_inside *inside, uint64_t block_bytes,
			 uint64_t block_off, uint64_t *low, uint64_t *high)
{
	uint64_t below = block_bytes, above = block_bytes;

	/* how far behind and before the offset the nearest visits lie, round the circle */
	for (size_t i = 0; i < inside->n_visits; i++) {
		uint64_t after = (inside->visit_off[i] + block_bytes - block_off) % block_bytes;

		above = min_u64(above, after);
		below = min_u64(below, (block_bytes - after) % block_bytes == 0
					       ? block_bytes
					       : block_bytes - after);
	}
	*low = (block_off + block_bytes - below) % block_bytes;
	*high = *low + below + above;
}
