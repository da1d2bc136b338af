/* SPDX-License-Identifier: MIT */
/*
 * infer: from times to statements about the device. Pure.
 *
 * Locations are medians where one kind of request is asked about, means where a device's own
 * housekeeping belongs to the price [PROBING 4].
 */
#include "advise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* Of what must have been timed at least. */
#define LEAST_AGAIN 6
#define SMALL_BYTES 4096
#define LARGE_BYTES 32768

/* ---- statistics ---------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The part-th value of n <= ADVISE_SCAN_POINTS in order of size; 0 without any. */
static double percentile(const uint64_t *ns, size_t n, double part)
{
	uint64_t sorted[ADVISE_SCAN_POINTS];

	if (n == 0)
		return 0;
	memcpy(sorted, ns, n * sizeof *ns);
	qsort(sorted, n, sizeof *sorted, by_size);
	return (double)sorted[(size_t)(part * (double)(n - 1) + 0.5)];
}

double advise_middle(const uint64_t *ns, size_t n)
{
	return percentile(ns, n, 0.5);
}

double advise_percentile(const struct advise_samples *samples, double part)
{
	return percentile(samples->ns, samples->n, part);
}

double advise_write_percentile(const struct fat_vec *trace, double part)
{
	uint64_t *ns = calloc(trace->n + 1, sizeof *ns), result = 0;
	size_t n = 0;

	for (size_t i = 0; ns && i < trace->n; i++) {
		const struct advise_request *r = fat_vec_at(trace, i);

		if (r->len_bytes)
			ns[n++] = r->ns;
	}
	if (n > 0) {
		qsort(ns, n, sizeof *ns, by_size);
		result = ns[(size_t)(part * (double)(n - 1) + 0.5)];
	}
	free(ns);
	return (double)result;
}

double advise_median(const struct advise_samples *samples)
{
	return advise_percentile(samples, 0.5);
}

double advise_mean(const struct advise_samples *samples)
{
	double limit = 4 * advise_median(samples), sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < samples->n; i++) {
		if ((double)samples->ns[i] > limit)
			continue;
		sum += (double)samples->ns[i];
		n++;
	}
	return n > 0 ? sum / (double)n : 0;
}

double advise_noise(const struct advise_measured *measured)
{
	const struct advise_samples *again = &measured->again;
	double median = advise_median(again);

	if (median <= 0)
		return 1;
	return (advise_percentile(again, 0.8) - advise_percentile(again, 0.2)) / 2 / median;
}

/* ---- combs --------------------------------------------------------------------------------- */

/* How well "every period-th point from first on, and no other" describes the marks: F1. */
static double fit_of(const bool *mark, size_t n, size_t n_marks, size_t period, size_t first)
{
	size_t n_points = 0, n_hits = 0;

	for (size_t i = first; i < n; i += period) {
		n_points++;
		n_hits += mark[i];
	}
	return 2.0 * (double)n_hits / (double)(n_points + n_marks);
}

struct advise_comb advise_find_comb(const uint64_t *ns, size_t n, double noise)
{
	double usual = percentile(ns, n, 0.35); /* every second point may stand out */
	double step = fmax(fmax(0.02 * usual, 1.5 * noise * usual), 8000);
	double highest = percentile(ns, n, 0.98) - usual; /* a tooth, if there are any */
	bool mark[ADVISE_SCAN_POINTS] = { false };
	struct advise_comb best = { 0 };
	size_t n_marks = 0;

	for (size_t i = 0; i < n; i++) {
		mark[i] = (double)ns[i] > usual + fmax(step, highest / 2);
		n_marks += mark[i];
	}
	for (size_t period = 2; n_marks > 1 && period <= n / 4; period++) {
		for (size_t first = 0; first < period; first++) {
			double fit = fit_of(mark, n, n_marks, period, first);

			if (fit > best.fit)
				best = (struct advise_comb){ period, first, fit };
		}
	}
	return best;
}

/* Chance finds cost little more than their neighbours; boundaries all cost the same. */
static size_t true_boundaries(const struct advise_block_scan *scan,
			      uint64_t off[ADVISE_MAX_BOUNDARIES])
{
	double least = percentile(scan->excess_ns, scan->n, 0.9) / 2;
	size_t n = 0;

	for (size_t i = 0; i < scan->n; i++)
		if ((double)scan->excess_ns[i] >= least)
			off[n++] = scan->off[i];
	return n;
}

/* F1 of "every period from phase on" for the boundaries found. */
static double fit_of_period(const struct advise_block_scan *scan, const uint64_t *off, size_t n,
			    uint64_t period, uint64_t phase)
{
	uint64_t first = round_up(scan->from_off - phase, period) + phase;
	size_t n_points = first > scan->to_off ? 0 : (size_t)((scan->to_off - first) / period) + 1;
	size_t n_hits = 0;

	for (size_t i = 0; i < n; i++)
		n_hits += off[i] % period == phase;
	return 2.0 * (double)n_hits / (double)(n_points + n);
}

double advise_find_period(const struct advise_block_scan *scan, uint64_t *period_bytes,
			  uint64_t *first_off)
{
	uint64_t off[ADVISE_MAX_BOUNDARIES];
	size_t n = true_boundaries(scan, off);
	double best = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			uint64_t period = off[k] - off[i];
			double fit = fit_of_period(scan, off, n, period, off[i] % period);

			if (fit <= best)
				continue;
			best = fit;
			*period_bytes = period;
			*first_off = off[i];
		}
	}
	return best;
}

double advise_pairs_agree(const struct advise_pairs *pairs, double noise)
{
	double beside = advise_middle(pairs->beside_ns, pairs->n);
	double across = advise_middle(pairs->across_ns, pairs->n);
	double least = (across - beside) / 3; /* half a comb is no comb: chance must not count */
	size_t n_positive = 0;

	for (size_t i = 0; i < pairs->n; i++)
		n_positive += (double)pairs->across_ns[i] > (double)pairs->beside_ns[i] + least;
	if (pairs->n == 0 || across < beside * (1.004 + noise / 4) + 4000)
		return 0;
	return (double)n_positive / (double)pairs->n;
}

uint64_t advise_page_of(const struct advise_measured *measured, uint64_t *phase_off)
{
	const struct advise_page_scan *scan = &measured->page_scan;
	struct advise_comb comb = advise_find_comb(scan->ns, scan->n, advise_noise(measured));
	uint64_t page = comb.period * scan->step_bytes;

	if (comb.fit < 0.6 || page == 0)
		return 0;
	*phase_off = (scan->off + comb.first * scan->step_bytes) % page;
	return page;
}

static void infer_by_visits(const struct advise_measured *measured,
			    struct advise_inferred *inferred)
{
	uint64_t page = inferred->page.value ? inferred->page.value : 16384, low, high;
	struct advise_sawtooth found;

	advise_find_sawtooth(&measured->inside, inferred->page.value, &found);
	if (found.block_bytes == 0 || found.left > 0.02)
		return;
	inferred->block = (struct advise_value){ found.block_bytes, 1 - 10 * found.left };
	inferred->block_by_visits = true;
	inferred->open_segments =
		(struct advise_value){ found.open_segments, inferred->block.confidence };
	advise_sawtooth_gap(&measured->inside, found.block_bytes, found.block_off, &low, &high);
	/* a visit at high is one in the block that begins there, one at low in the block before */
	inferred->block_off = high % found.block_bytes;
	inferred->block_off_confidence = high - low <= page ? inferred->block.confidence : 0;
}

/* Is what a search for blocks came to held up by the pairs? */
static bool take_blocks(const struct advise_block_scan *scan, struct advise_inferred *inferred)
{
	double sure = advise_pairs_agree(&scan->pairs, inferred->noise);

	if (scan->period_bytes == 0 || sure < 0.8)
		return false;
	inferred->block = (struct advise_value){ scan->period_bytes, sure };
	inferred->block_off = scan->phase_off;
	inferred->block_off_confidence = sure;
	return true;
}

static void infer_inside(const struct advise_measured *measured, struct advise_inferred *inferred)
{
	double sure = advise_pairs_agree(&measured->page_scan.pairs, inferred->noise);
	uint64_t page = advise_page_of(measured, &inferred->page_off);

	if (page && sure >= 0.8)
		inferred->page = (struct advise_value){ page, sure };
	if (!take_blocks(&measured->block_scan, inferred) &&
	    !take_blocks(&measured->write_scan, inferred))
		infer_by_visits(measured, inferred);
}

/* ---- the rest ------------------------------------------------------------------------------ */

static double rate(const struct advise_stream *stream)
{
	return stream->ns > 0 ? (double)stream->bytes * 1e9 / (double)stream->ns : 0;
}

/*
 * Where a long stream came to take half as long again, and kept to it, it had been fast for a
 * while. Its first MiB pays for going there.
 */
static void infer_sustained(const struct advise_samples *stream, struct advise_inferred *inferred)
{
	const size_t few = 4;
	double limit = 1.5 * advise_middle(stream->ns + 1, few), ns = 0;
	size_t n_slow = 0, from = 1;

	if (stream->n < 2 * few)
		return;
	for (size_t i = few; i < stream->n && n_slow < few; i++) {
		n_slow = (double)stream->ns[i] > limit ? n_slow + 1 : 0;
		from = i + 1 - n_slow;
	}
	if (n_slow < few)
		from = 1;
	for (size_t i = from; i < stream->n; i++)
		ns += (double)stream->ns[i];
	inferred->sustained_bytes_per_s = (double)(stream->n - from) * 1048576e9 / ns;
	inferred->fast_bytes = n_slow < few ? 0 : (uint64_t)from << 20;
}

/* The line command + n * per_byte through the times of writes, each weighted by its own size. */
static void fit_line(struct advise_inferred *inferred, uint32_t max_bytes)
{
	double w0 = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		double x = advise_size_bytes(i), y = inferred->write_ns[i];
		/* what is longer than one command is made of several */
		double w = y > 0 && x <= max_bytes ? 1 / (y * y) : 0;

		w0 += w;
		wx += w * x;
		wy += w * y;
		wxx += w * x * x;
		wxy += w * x * y;
	}
	det = w0 * wxx - wx * wx;
	if (det <= 0)
		return;
	inferred->ns_per_byte = fmax((w0 * wxy - wx * wy) / det, 0);
	inferred->command_ns = fmax((wy - inferred->ns_per_byte * wx) / w0, 0);
}

/* Random places cost a disk very different times, flash the same. */
static bool heads_move(const struct advise_measured *measured)
{
	double spread =
		advise_percentile(&measured->seek, 0.8) - advise_percentile(&measured->seek, 0.2);

	return spread > 2e6 && spread > 0.2 * advise_median(&measured->seek);
}

/* The same read again comes in less than half the time that one elsewhere takes. */
static bool cache_answers(const struct advise_measured *measured)
{
	double again = advise_median(&measured->again);

	return again > 0 && 2 * again < advise_median(&measured->seek);
}

/*
 * Equal requests often enough to see the noise, and writes from small to large ones: of sizes that
 * nobody tried nothing is known.
 */
static bool is_enough(const struct advise_measured *measured,
		      const struct advise_inferred *inferred)
{
	double smallest = 0, largest = 0;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		if (inferred->write_ns[i] <= 0)
			continue;
		largest = advise_size_bytes(i);
		smallest = smallest > 0 ? smallest : largest;
	}
	return measured->again.n >= LEAST_AGAIN && smallest > 0 && smallest <= SMALL_BYTES &&
	       largest >= LARGE_BYTES;
}

void advise_infer(const struct advise_measured *measured, struct advise_inferred *inferred)
{
	*inferred = (struct advise_inferred){
		.noise = advise_noise(measured),
		.heads_move = heads_move(measured),
		.far_read_ns = advise_median(&measured->seek),
		.read_bytes_per_s = rate(&measured->read_stream),
		.buffered_bytes_per_s = rate(&measured->buffered),
		.write_bytes_per_s = rate(&measured->write_stream),
		.burst_bytes_per_s = rate(&measured->burst),
		.cache_answers = cache_answers(measured),
		.two_streams_bytes_per_s = rate(&measured->two_streams),
		.four_streams_bytes_per_s = rate(&measured->four_streams),
		.flush_ns = advise_median(&measured->flush),
	};
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		/* a disk's first write of a row comes at any angle: no mean may count it */
		inferred->write_ns[i] = inferred->heads_move ? advise_median(&measured->write[i])
							     : advise_mean(&measured->write[i]);
		inferred->read_size_ns[i] = advise_median(&measured->read[i]);
	}
	if (measured->inside.open_segments)
		inferred->open_segments =
			(struct advise_value){ measured->inside.open_segments, 0.9 };
	infer_sustained(&measured->long_stream, inferred);
	fit_line(inferred, measured->max_bytes);
	inferred->enough = is_enough(measured, inferred);
	if (!inferred->heads_move)
		infer_inside(measured, inferred);
}
