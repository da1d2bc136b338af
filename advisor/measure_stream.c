/* SPDX-License-Identifier: MIT */
/*
 * measure_stream: erase blocks from one long stream of writes, where reads show none.
 *
 * The write that fills a block pays for an erase. Two such peaks say about where the next ones must
 * be; there the stream goes on page by page, which tells the very page. Blocks too long to come to
 * the third peak in time are looked at where the next ones must end, elsewhere on the device. A
 * peak that does not come where it was foretold was something else.
 */
#include "bytes.h"
#include "probe.h"

#define MOST_BYTES     (44u << 20)
#define PIECE_BYTES    (128u << 10)
#define SMALLEST_BLOCK (256u << 10)
#define UNIT_BYTES     (128u << 10) /* blocks known are multiples of it */
#define LEAST_NS       400000
#define MOST_NS        50000000 /* an erase takes less; a device that pauses, more */
#define N_RECENT       31
#define N_EXACT        3
#define LEAST_AHEAD    2
#define MOST_AHEAD     4 /* blocks: how far off the end of one can be foretold */

struct stream {
	struct probe *p;
	uint64_t off, end;
	uint32_t page_bytes, piece_bytes;
	uint64_t piece_ns[N_RECENT], page_ns[N_RECENT];
	size_t n_pieces, n_pages;
	uint64_t peak_off[2]; /* where the last two peaks ended */
	unsigned n_peaks;
	uint64_t window_from, window_to; /* where the next one must be; 0: not foretold */
	uint64_t best_off, best_ns;      /* of the pages in there */
	enum fat_status status;
};

static double usual(const uint64_t *ns, size_t n)
{
	return advise_middle(ns, n < N_RECENT ? n : N_RECENT);
}

/* Writes len bytes at the stream's place, which p->buf holds from base on. */
static bool write_on(struct stream *s, uint64_t base, uint32_t len_bytes, uint64_t *ns)
{
	if (probe_is_over(s->p) || !probe_may_write(s->p, len_bytes))
		return false;
	s->status = probe_write(s->p, s->off, s->p->buf + (s->off - base), len_bytes, ns);
	s->off += len_bytes;
	return s->status == FAT_OK;
}

static void foretell(struct stream *s, uint64_t period)
{
	uint64_t next = s->peak_off[1] + period;

	s->window_from = next - 3 * (uint64_t)s->piece_bytes / 2;
	s->window_to = next + s->piece_bytes;
	s->best_ns = 0;
}

static void note_peak(struct stream *s, uint64_t end_off)
{
	s->peak_off[0] = s->peak_off[1];
	s->peak_off[1] = end_off;
	s->n_peaks++;
	if (s->n_peaks >= 2 && end_off - s->peak_off[0] >= SMALLEST_BLOCK)
		foretell(s, end_off - s->peak_off[0]);
}

static bool is_peak(double ns, double base, double noise)
{
	return ns > base * (1 + 2 * noise) + LEAST_NS && ns < base + MOST_NS;
}

static bool write_piece(struct stream *s, uint64_t base)
{
	double before = usual(s->piece_ns, s->n_pieces);
	uint64_t ns;

	if (!write_on(s, base, s->piece_bytes, &ns))
		return false;
	s->piece_ns[s->n_pieces++ % N_RECENT] = ns;
	if (s->n_pieces > 8 && is_peak((double)ns, before, advise_noise(s->p->measured)))
		note_peak(s, s->off);
	return true;
}

/* The window is behind: was there the page that was looked for? */
static void close_window(struct stream *s)
{
	struct advise_block_scan *scan = &s->p->measured->write_scan;
	double base = usual(s->page_ns, s->n_pages);

	s->window_from = 0;
	if (!is_peak((double)s->best_ns, base, advise_noise(s->p->measured))) {
		s->n_peaks = 0; /* it was chance: begin again */
		scan->n = 0;
		return;
	}
	scan->excess_ns[scan->n] = s->best_ns - (uint64_t)base;
	scan->pairs.across_ns[scan->n] = s->best_ns;
	scan->pairs.beside_ns[scan->n] = (uint64_t)base;
	scan->off[scan->n++] = s->best_off;
	scan->pairs.n = scan->n;
	note_peak(s, s->best_off);
}

static bool write_page(struct stream *s, uint64_t base)
{
	uint64_t ns;

	if (!write_on(s, base, s->page_bytes, &ns))
		return false;
	s->page_ns[s->n_pages++ % N_RECENT] = ns;
	if (ns > s->best_ns && (double)ns < usual(s->page_ns, s->n_pages) + MOST_NS) {
		s->best_ns = ns;
		s->best_off = s->off;
	}
	if (s->off >= s->window_to)
		close_window(s);
	return true;
}

/* One stretch; false: no more. */
static bool write_stretch(struct stream *s)
{
	uint64_t base = s->off;
	size_t len = PROBE_STRETCH_BYTES - PROBE_STRETCH_BYTES % s->piece_bytes;

	if (!probe_load(s->p, base, len))
		return false;
	while (s->off + s->piece_bytes <= base + len) {
		bool page = s->window_from && s->off >= s->window_from;

		if (s->p->measured->write_scan.n == N_EXACT ||
		    !(page ? write_page(s, base) : write_piece(s, base)))
			return false;
	}
	return true;
}

/* Where the n-th end of a block from the last peak on must be, as far as that is known. */
static bool claim_window(struct stream *s, uint64_t period, uint64_t n, uint64_t *base)
{
	uint64_t end = s->peak_off[1] + n * period;

	*base = end - (n + 1) * s->piece_bytes - s->page_bytes;
	s->window_to = end + n * s->piece_bytes;
	s->best_ns = 0;
	return s->window_to + s->page_bytes < s->p->dev->size_bytes &&
	       wear_claim(&s->p->wear, *base, s->window_to, WEAR_RUN);
}

/* Page by page across the end of a block elsewhere; the first one pays for going there. */
static bool look_elsewhere(struct stream *s, uint64_t period)
{
	size_t n_before = s->p->measured->write_scan.n;
	uint64_t base, end, n = LEAST_AHEAD, ns;

	while (!claim_window(s, period, n, &base))
		if (++n > MOST_AHEAD)
			return false;
	if (!probe_affords_dear(s->p, 3) || !probe_load(s->p, base, s->window_to - base))
		return false;
	s->off = base;
	end = s->window_to;
	if (!write_on(s, base, s->page_bytes, &ns))
		return false;
	while (s->off < end)
		if (!write_page(s, base))
			return false;
	return s->p->measured->write_scan.n > n_before;
}

/*
 * Whole numbers of equal blocks, of about the length seen, between the pages that were found. Where
 * a block that was entered in the middle is closed one page late, they do not come out even.
 */
static void conclude(struct advise_block_scan *scan, uint64_t page_bytes, uint64_t about)
{
	uint64_t period = 0;

	for (size_t i = 1; i < scan->n; i++) {
		uint64_t distance = scan->off[i] - scan->off[i - 1];
		uint64_t n = max_u64((distance + about / 2) / about, 1);

		if (distance % (n * page_bytes) != 0 || (i > 1 && distance / n != period))
			return;
		period = distance / n;
	}
	if (scan->n == 2 && period % UNIT_BYTES != 0)
		return; /* one distance alone may be chance */
	scan->period_bytes = period;
	scan->phase_off = period ? scan->off[0] % period : 0;
}

enum fat_status probe_block_stream(struct probe *p)
{
	struct advise_inferred inferred;
	struct stream s = { .p = p, .status = FAT_OK };
	struct probe_want want;
	uint64_t about;

	advise_infer(p->measured, &inferred);
	if (inferred.heads_move || inferred.block.value || !inferred.page.value ||
	    p->measured->settle != ADVISE_SETTLED || p->dev->size_bytes < 4ull * MOST_BYTES)
		return FAT_OK;
	s.page_bytes = (uint32_t)inferred.page.value;
	s.piece_bytes = max_u32(min_u32(PIECE_BYTES, p->target->max_bytes) / s.page_bytes, 1) *
			s.page_bytes;
	probe_begin_step(p, "erase block, by a stream", 45);
	want = (struct probe_want){ MOST_BYTES, s.page_bytes, inferred.page_off, WEAR_RUN };
	if (!probe_find_place(p, &want, &s.off))
		return FAT_OK;
	s.end = s.off + MOST_BYTES;
	while (s.off + PROBE_STRETCH_BYTES <= s.end && write_stretch(&s))
		;
	about = s.n_peaks >= 2 ? s.peak_off[1] - s.peak_off[0] : 0;
	while (about >= SMALLEST_BLOCK && p->measured->write_scan.n < 2 &&
	       look_elsewhere(&s, about))
		;
	if (about)
		conclude(&p->measured->write_scan, s.page_bytes, about);
	probe_learn(p);
	return s.status;
}
