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

double advise_percentile(const struct advise_samples *samples, double part)
{
	return percentile(samples->ns, samples->n, part);
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
	bool mark[ADVISE_SCAN_POINTS] = { false };
	struct advise_comb best = { 0 };
	size_t n_marks = 0;

	for (size_t i = 0; i < n; i++) {
		mark[i] = (double)ns[i] > usual + step;
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

/* Of the foretold boundaries, how many are dearer than the place beside them. */
static double confirmed_part(const struct advise_scan *scan)
{
	size_t n_positive = 0;

	for (size_t i = 0; i < scan->n_pairs; i++)
		n_positive += scan->across_ns[i] > scan->beside_ns[i];
	return scan->n_pairs > 0 ? (double)n_positive / (double)scan->n_pairs : 0;
}

static struct advise_value infer_page(const struct advise_measured *measured, double noise)
{
	const struct advise_scan *scan = &measured->page_scan;
	struct advise_comb comb = advise_find_comb(scan->ns, scan->n, noise);
	double confirmed = confirmed_part(scan);

	if (comb.fit < 0.6 || confirmed < 0.75)
		return (struct advise_value){ 0, 0 };
	return (struct advise_value){ comb.period * scan->step_bytes, comb.fit * confirmed };
}

/* ---- the rest ------------------------------------------------------------------------------ */

static double rate(const struct advise_stream *stream)
{
	return stream->ns > 0 ? (double)stream->bytes * 1e9 / (double)stream->ns : 0;
}

/* The line command + n * per_byte through the times of writes, each weighted by its own size. */
static void fit_line(struct advise_inferred *inferred)
{
	double w0 = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		double x = advise_size_bytes(i), y = inferred->write_ns[i];
		double w = y > 0 ? 1 / (y * y) : 0;

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
	double spread = advise_percentile(&measured->seek, 0.8) -
			advise_percentile(&measured->seek, 0.2);

	return spread > 2e6 && spread > 0.2 * advise_median(&measured->seek);
}

void advise_infer(const struct advise_measured *measured, struct advise_inferred *inferred)
{
	*inferred = (struct advise_inferred){
		.noise = advise_noise(measured),
		.heads_move = heads_move(measured),
		.far_read_ns = advise_median(&measured->seek),
		.read_bytes_per_s = rate(&measured->read_stream),
		.write_bytes_per_s = rate(&measured->write_stream),
		.two_streams_bytes_per_s = rate(&measured->two_streams),
		.flush_ns = advise_median(&measured->flush),
	};
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		inferred->write_ns[i] = advise_mean(&measured->write[i]);
		inferred->read_size_ns[i] = advise_median(&measured->read[i]);
	}
	fit_line(inferred);
	if (!inferred->heads_move)
		inferred->page = infer_page(measured, inferred->noise);
}
