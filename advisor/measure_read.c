/* SPDX-License-Identifier: MIT */
/*
 * measure_read: the steps that only read: kind and noise, sizes, stream, page, erase block.
 */
#include <string.h>

#include "bytes.h"
#include "probe.h"

/* The grid that pages are looked for on; a finer one for the shortest. */
#define GRID_BLOCKS  4ull
#define SHORT_BLOCKS 4ull
#define SHORT_POINTS 48

/* Of several planes at once; the usual grid shows up to the shortest of them. */
#define COARSE_BLOCKS 32ull
#define SHORTEST_LONG (96u << 10)

#define FEW_PAIRS 16

#define LEAST_STEPS 8 /* a block of a few pages would be no block */

/* Of pairs, the part that says so: less is a no, more a yes, and what is between them open. */
#define PAIRS_DENY   0.3
#define PAIRS_DOUBT  0.6
#define PAIRS_ENOUGH 0.75
#define PAIRS_HOLD   0.9

#define LEAST_BUFFERED (256u << 10) /* what is read ahead of the first request, and more */

static void measure_seek(struct probe *p)
{
	uint64_t n_blocks = p->dev->size_bytes / 4096, half_ns, ns;

	probe_begin_step(p, "random reads", 5);
	half_ns = (p->step_end_ns + probe_now(p)) / 2;
	for (int i = 0; i < 24 && !probe_is_over(p) && probe_now(p) < half_ns; i++)
		if (probe_read(p, probe_random_below(p, n_blocks) * 4096, p->buf, 4096, &ns) ==
		    FAT_OK)
			probe_keep(&p->measured->seek, ns);
	for (int i = 0; i < 48 && !probe_is_over(p); i++)
		if (probe_read(p, n_blocks / 2 * 4096, p->buf, 4096, &ns) == FAT_OK)
			probe_keep(&p->measured->again, ns);
}

static void measure_reads(struct probe *p)
{
	probe_begin_step(p, "reads by size", 8);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		uint32_t len = advise_size_bytes(i);
		uint64_t off = probe_next_place(p, 12 * (uint64_t)len), ns;

		if (len < p->target->block_bytes)
			continue;
		for (int k = 0; k < 12 && !probe_is_over(p); k++, off += len)
			if (probe_read(p, off, p->buf, len, &ns) == FAT_OK)
				probe_keep(&p->measured->read[i], ns);
	}
}

/* ---- pages and erase blocks: what a boundary inside costs a read --------------------------- */

/* The shortest read across a point. */
static bool read_across(struct probe *p, uint64_t off, uint64_t *ns)
{
	uint32_t half = p->target->block_bytes;

	return off >= half && off + half <= p->dev->size_bytes &&
	       probe_read(p, off - half, p->buf, (size_t)2 * half, ns) == FAT_OK;
}

/* Enough pairs to say yes or no; noise needs more of them. */
static bool is_decided(const struct advise_pairs *pairs, double noise)
{
	double sure = pairs->n < FEW_PAIRS ? 0.5 : advise_pairs_agree(pairs, noise);

	return sure < PAIRS_DENY || sure > PAIRS_HOLD;
}

/* Across the points phase + k * period, k at random, and across the points beside them. */
static void hold_out(struct probe *p, uint64_t period, uint64_t phase, uint64_t beside,
		     struct advise_pairs *pairs)
{
	uint64_t n_periods = p->dev->size_bytes / period;
	double noise = advise_noise(p->measured);

	pairs->n = 0;
	for (int i = 0; n_periods > 2 && i < ADVISE_MAX_PAIRS && !probe_is_over(p) &&
			!is_decided(pairs, noise);
	     i++) {
		uint64_t off = (1 + probe_random_below(p, n_periods - 2)) * period + phase;
		uint64_t across, other;

		if (!read_across(p, off, &across) || !read_across(p, off + beside, &other))
			continue;
		pairs->across_ns[pairs->n] = across;
		pairs->beside_ns[pairs->n++] = other;
	}
}

/* Reads across n_points of a grid, the best of some passes; without time for one scan->n is 0. */
static void scan_pages(struct probe *p, uint64_t off, uint64_t step_bytes, size_t n_points,
		       struct advise_page_scan *scan)
{
	const int n_passes = 3;

	*scan = (struct advise_page_scan){ .off = off, .step_bytes = step_bytes };
	for (int pass = 0; pass < n_passes; pass++) {
		for (size_t i = 0; i < n_points; i++) {
			uint64_t ns;

			if (probe_is_over(p) || !read_across(p, off + i * step_bytes, &ns))
				return;
			if (pass == 0 || ns < scan->ns[i])
				scan->ns[i] = ns;
		}
		scan->n = n_points;
	}
}

/* Pages so short that every point of the usual grid is a boundary. */
static bool find_short_pages(struct probe *p, struct advise_page_scan *scan)
{
	uint32_t block = p->target->block_bytes;
	uint64_t phase, page;

	scan_pages(p, p->dev->size_bytes / 2 / 4096 * 4096, block, SHORT_POINTS, scan);
	page = advise_page_of(p->measured, &phase);
	if (page == 0 || page > SHORT_BLOCKS * block)
		return false;
	hold_out(p, page, phase, block, &scan->pairs);
	return advise_pairs_agree(&scan->pairs, advise_noise(p->measured)) > PAIRS_ENOUGH;
}

/* Pages longer than a quarter of the usual grid; the scan is what it was where there are none. */
static void find_long_pages(struct probe *p, struct advise_page_scan *scan)
{
	const struct advise_page_scan before = *scan;
	uint64_t step = COARSE_BLOCKS * p->target->block_bytes, phase, page;

	if (step > ADVISE_LONGEST_PAGE / 8)
		return;
	p->step_end_ns += p->budget->max_ns / 25;
	scan_pages(p, probe_next_place(p, (ADVISE_SCAN_POINTS + 2) * step) / step * step + step,
		   step, ADVISE_SCAN_POINTS, scan);
	page = advise_page_of(p->measured, &phase);
	if (page > SHORTEST_LONG && page <= ADVISE_LONGEST_PAGE)
		hold_out(p, page, phase, scan->step_bytes, &scan->pairs);
	else
		*scan = before;
}

/* A comb that the pairs deny was chance, or half of one: the search goes on. */
static void find_pages(struct probe *p)
{
	struct advise_page_scan *scan = &p->measured->page_scan;
	uint32_t block = p->target->block_bytes;
	uint64_t step = GRID_BLOCKS * block;
	double noise = advise_noise(p->measured);

	probe_begin_step(p, "page size", 8);
	if (find_short_pages(p, scan))
		return;
	for (uint64_t shift = 0; shift < GRID_BLOCKS && !probe_is_over(p); shift++) {
		uint64_t off = probe_next_place(p, (ADVISE_SCAN_POINTS + 2) * step) + step;
		uint64_t phase, page;

		scan_pages(p, off + (shift * 2 % 4 + shift / 2) * block, step, ADVISE_SCAN_POINTS,
			   scan);
		page = advise_page_of(p->measured, &phase);
		if (page) {
			hold_out(p, page, phase, scan->step_bytes, &scan->pairs);
			if (advise_pairs_agree(&scan->pairs, noise) > PAIRS_ENOUGH)
				return;
		}
	}
	find_long_pages(p, scan);
}

/* What this point costs more than the one beside it, again and again; 0: nothing to speak of. */
static uint64_t excess_at(struct probe *p, uint64_t off, uint64_t beside, double noise)
{
	struct advise_pairs pairs = { 0 };

	while (pairs.n < 6) {
		uint64_t *across = &pairs.across_ns[pairs.n], *other = &pairs.beside_ns[pairs.n];

		if (probe_is_over(p) || !read_across(p, off, across) ||
		    !read_across(p, off + beside, other))
			return 0;
		pairs.n++;
		if (pairs.n == 2 && across[0] <= other[0] && across[-1] <= other[-1])
			return 0;
	}
	if (advise_pairs_agree(&pairs, noise) < 0.8)
		return 0;
	return (uint64_t)(advise_middle(pairs.across_ns, pairs.n) -
			  advise_middle(pairs.beside_ns, pairs.n));
}

/* Enough boundaries in a row, none missing. */
static bool is_clear(const struct advise_block_scan *scan)
{
	uint64_t period, first;

	return scan->n >= 4 && advise_find_period(scan, &period, &first) > 0.95;
}

/* Looks at every page boundary in turn; whatever costs more than lately is looked at again. */
static void scan_blocks(struct probe *p, uint64_t step, uint64_t phase, double noise)
{
	const uint64_t range = min_u64(256u << 20, p->dev->size_bytes - 2 * step);
	struct advise_block_scan *scan = &p->measured->block_scan;
	uint64_t recent[31];
	size_t n_recent = 0;

	scan->step_bytes = step;
	scan->from_off = probe_next_place(p, range) / step * step + step + phase;
	for (uint64_t off = scan->from_off; off + 2 * step < scan->from_off + range; off += step) {
		double usual = advise_middle(recent, n_recent < 31 ? n_recent : 31);
		uint64_t ns, excess;

		if (probe_is_over(p) || !read_across(p, off, &ns))
			return;
		recent[n_recent++ % 31] = ns;
		scan->to_off = off;
		if (n_recent < 16 || (double)ns < usual * (1.004 + noise) + 4000)
			continue;
		excess = excess_at(p, off, step, noise);
		if (excess == 0)
			continue;
		scan->excess_ns[scan->n] = excess;
		scan->off[scan->n++] = off;
		if (scan->n == ADVISE_MAX_BOUNDARIES || is_clear(scan))
			return;
	}
}

/* The smallest prime that divides n and is not below least; 0: none. n > 0. */
static uint64_t prime_divisor(uint64_t n, uint64_t least)
{
	for (uint64_t i = 2; i * i <= n; i++) {
		if (n % i != 0)
			continue;
		while (n % i == 0)
			n /= i;
		if (i >= least)
			return i;
	}
	return n > 1 && n >= least ? n : 0;
}

/*
 * A period may hide a shorter one whose other boundaries were missed, or that of pages, where pages
 * were not found: then every block that chance suggests costs more at its ends than beside them.
 * Where noise leaves that open the period is not known.
 */
static void try_divisors(struct probe *p, struct advise_block_scan *scan, double noise)
{
	uint64_t divisor = 2;

	while (scan->period_bytes) {
		uint64_t n_steps = scan->period_bytes / scan->step_bytes, part;
		struct advise_pairs pairs;
		double sure;

		divisor = prime_divisor(n_steps, divisor);
		if (divisor == 0)
			return;
		part = scan->period_bytes / divisor;
		hold_out(p, scan->period_bytes, scan->phase_off % scan->period_bytes + part,
			 scan->step_bytes, &pairs);
		sure = advise_pairs_agree(&pairs, noise);
		if (pairs.n < 6 || sure < PAIRS_DOUBT) {
			divisor++;
			continue;
		}
		scan->period_bytes = sure < PAIRS_ENOUGH ? 0 : part;
		divisor = 2;
	}
}

static void find_blocks(struct probe *p)
{
	struct advise_block_scan *scan = &p->measured->block_scan;
	double noise = advise_noise(p->measured);
	uint64_t phase = 0, page = advise_page_of(p->measured, &phase), first;

	probe_begin_step(p, "erase block", 25);
	scan_blocks(p, page ? page : 16384, page ? phase : 0, noise);
	if (scan->n < 2 || advise_find_period(scan, &scan->period_bytes, &first) < 0.6 ||
	    scan->period_bytes < LEAST_STEPS * scan->step_bytes) {
		scan->period_bytes = 0;
		return;
	}
	scan->phase_off = first % scan->period_bytes;
	p->step_end_ns += p->budget->max_ns / 20;
	try_divisors(p, scan, noise);
	if (scan->period_bytes < LEAST_STEPS * scan->step_bytes) {
		scan->period_bytes = 0;
		return;
	}
	scan->phase_off %= scan->period_bytes;
	hold_out(p, scan->period_bytes, scan->phase_off, scan->step_bytes, &scan->pairs);
}

static void measure_read_stream(struct probe *p)
{
	size_t max = min_u32(p->target->max_bytes, PROBE_STRETCH_BYTES);
	uint64_t off = probe_next_place(p, 2ull * PROBE_STRETCH_BYTES), ns;
	struct advise_stream *stream = &p->measured->read_stream;

	probe_begin_step(p, "read stream", 5);
	while (stream->bytes + max <= PROBE_STRETCH_BYTES && !probe_is_over(p)) {
		if (probe_read(p, off + stream->bytes, p->buf, max, &ns) != FAT_OK)
			return;
		stream->bytes += max;
		stream->ns += ns;
	}
}

/*
 * The same through the page cache, for comparison only: nothing else is ever measured there. It
 * cannot be stopped on its way, so no more is asked for than the step has time for.
 */
static void measure_buffered(struct probe *p)
{
	uint64_t off = probe_next_place(p, 2ull * PROBE_STRETCH_BYTES), start;
	size_t len = PROBE_STRETCH_BYTES;

	if (!p->target->read_buffered || !p->measured->read_stream.ns)
		return;
	probe_begin_step(p, "reads through the page cache", 3);
	while (len >= LEAST_BUFFERED && !probe_can_read(p, 2ull * len, p->step_end_ns))
		len /= 2;
	start = probe_now(p);
	if (len < LEAST_BUFFERED || probe_is_over(p) ||
	    p->target->read_buffered(p->target, off, p->buf, len) != FAT_OK)
		return;
	p->measured->buffered = (struct advise_stream){ len, probe_now(p) - start };
	p->measured->read_bytes += len;
}

/* ---- capacity ------------------------------------------------------------------------------ */

#define CAPACITY_SAMPLES 6
#define SMALLEST_REAL    (64ull << 20)

/* Blocks near the front whose content tells them from each other. */
struct marks {
	size_t n;
	uint64_t off[CAPACITY_SAMPLES];
	uint8_t content[CAPACITY_SAMPLES][4096];
};

static bool is_distinct(const struct marks *marks, const uint8_t *content)
{
	if (memcmp(content, content + 1, 4095) == 0)
		return false; /* all the same byte */
	for (size_t i = 0; i < marks->n; i++)
		if (memcmp(marks->content[i], content, 4096) == 0)
			return false;
	return true;
}

static void take_marks(struct probe *p, struct marks *marks)
{
	uint64_t ns;

	for (int i = 0; i < 64 && marks->n < CAPACITY_SAMPLES && !probe_is_over(p); i++) {
		uint64_t off = i == 0 ? 0 : probe_random_below(p, SMALLEST_REAL / 4096) * 4096;

		if (probe_read(p, off, p->buf, 4096, &ns) != FAT_OK || !is_distinct(marks, p->buf))
			continue;
		memcpy(marks->content[marks->n], p->buf, 4096);
		marks->off[marks->n++] = off;
	}
}

/* Every mark comes again so much further on. */
static bool repeats_after(struct probe *p, const struct marks *marks, uint64_t real_bytes)
{
	uint64_t ns;

	for (size_t i = 0; i < marks->n; i++)
		if (probe_is_over(p) ||
		    probe_read(p, real_bytes + marks->off[i], p->buf, 4096, &ns) != FAT_OK ||
		    memcmp(p->buf, marks->content[i], 4096) != 0)
			return false;
	return true;
}

/*
 * A fake that says to hold more than it does repeats its content, for it leaves out the upper bits
 * of the place. Nothing is written for this; where there is too little content to tell, nothing is
 * said.
 */
static void find_real_size(struct probe *p)
{
	struct marks marks = { 0 };
	uint64_t real = SMALLEST_REAL;

	probe_begin_step(p, "capacity", 3);
	if (p->dev->size_bytes > 2 * SMALLEST_REAL)
		take_marks(p, &marks);
	for (; marks.n >= 3 && real + SMALLEST_REAL <= p->dev->size_bytes; real *= 2) {
		p->measured->capacity_tested = true;
		if (repeats_after(p, &marks, real)) {
			p->measured->real_bytes = real;
			return;
		}
	}
}

void probe_reads(struct probe *p)
{
	struct advise_inferred inferred;

	find_real_size(p);
	if (p->measured->real_bytes)
		return; /* nothing that it says can be believed */
	measure_seek(p);
	measure_reads(p);
	measure_read_stream(p);
	measure_buffered(p);
	advise_infer(p->measured, &inferred);
	if (inferred.heads_move)
		return; /* a disk: there is nothing to be found */
	find_pages(p);
	find_blocks(p);
}
