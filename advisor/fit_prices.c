/* SPDX-License-Identifier: MIT */
/*
 * fit_prices: see fit_prices.h. Pure.
 *
 * The structure says how often each thing is done for each request; the time is the sum of these,
 * each with its price, so the prices follow by least squares, none below zero. Where bus and medium
 * work at the same time the slower of the two counts: which one that is follows from the prices,
 * and these from it, round by round. Requests that a device interrupts for its own reasons weigh
 * little (Huber).
 */
#include "fit_prices.h"

#include <math.h>
#include <string.h>

#include "bytes.h"

#define N_ROUNDS 6
#define HUBER    0.05

/* ---- replay -------------------------------------------------------------------------------- */

static void add_work(struct fit_row *row, const struct sim_stats *before,
		     const struct sim_stats *after)
{
	row->part[PART_COMMAND] += (double)(after->n_commands - before->n_commands);
	row->part[PART_BYTE] += (double)(after->n_bytes - before->n_bytes);
	row->part[PART_PROGRAM] += (double)(after->n_programmed_pages - before->n_programmed_pages);
	row->part[PART_SENSE] += (double)(after->n_sensed_pages - before->n_sensed_pages);
	row->part[PART_COPY] += (double)(after->n_copied_pages - before->n_copied_pages);
	row->part[PART_ERASE] += (double)(after->n_erases - before->n_erases);
	row->part[PART_FLUSH] += (double)(after->n_flushes - before->n_flushes);
}

/* The row that request i belongs to; a new one where another began to be judged. */
static struct fit_row *row_of(const struct advise_measured *measured, size_t i,
			      struct fit_table *table)
{
	const struct advise_request *r = &measured->trace.requests[i];
	bool begins = i == 0 || measured->settle == ADVISE_SETTLED || r[-1].len_bytes == 0;

	if (begins)
		table->rows[table->n++] = (struct fit_row){ .step = r->step };
	table->rows[table->n - 1].ns += (double)r->ns;
	return &table->rows[table->n - 1];
}

/* Steps count alike, however many requests they made. */
static void count_alike(struct fit_table *table)
{
	for (size_t i = 0, k; i < table->n; i = k) {
		for (k = i; k < table->n && table->rows[k].step == table->rows[i].step;)
			k++;
		for (size_t m = i; m < k; m++)
			table->rows[m].n_like = (uint32_t)(k - i);
	}
}

static bool replay(const struct advise_measured *measured, const struct sim_params *structure,
		   struct fit_table *table)
{
	struct sim *sim = sim_new(structure);
	struct sim_stats before = { 0 };

	if (!sim)
		return false;
	table->n = 0;
	for (size_t i = 0; i < measured->trace.n; i++) {
		const struct advise_request *r = &measured->trace.requests[i];
		struct fit_row *row = row_of(measured, i, table);
		struct sim_stats after;

		sim_request(sim, r->len_bytes ? SIM_WRITE : SIM_FLUSH, r->off, r->len_bytes, 0);
		after = sim_stats(sim);
		add_work(row, &before, &after);
		before = after;
	}
	sim_free(sim);
	count_alike(table);
	return table->n > 0;
}

/* ---- least squares ------------------------------------------------------------------------- */

static bool is_medium(size_t part)
{
	return part != PART_COMMAND && part != PART_BYTE && part != PART_FLUSH;
}

/* Where bus and medium work together: does the bus take longer? */
static bool waits_for_bus(const struct fit_row *row, const double *price)
{
	double medium = 0;

	for (size_t k = 0; k < N_PARTS; k++)
		medium += is_medium(k) ? row->part[k] * price[k] : 0;
	return row->part[PART_BYTE] * price[PART_BYTE] > medium;
}

/* The parts of a row whose times are seen. */
static void take_parts(const struct fit_row *row, const double *price, bool overlap,
		       double part[N_PARTS])
{
	bool bus;

	memcpy(part, row->part, N_PARTS * sizeof *part);
	if (!overlap)
		return;
	bus = waits_for_bus(row, price);
	for (size_t k = 0; k < N_PARTS; k++)
		if (bus ? is_medium(k) : k == PART_BYTE)
			part[k] = 0;
}

static double predicted(const struct fit_row *row, const double *price, bool overlap)
{
	double part[N_PARTS], ns = 0;

	take_parts(row, price, overlap, part);
	for (size_t k = 0; k < N_PARTS; k++)
		ns += part[k] * price[k];
	return ns;
}

/* Minimises the quadratic form by one price after the other, none below zero. */
static void descend(double a[N_PARTS][N_PARTS], const double *b, double *price)
{
	for (int sweep = 0; sweep < 400; sweep++) {
		for (size_t k = 0; k < N_PARTS; k++) {
			double rest = b[k];

			if (a[k][k] <= 0)
				continue;
			for (size_t m = 0; m < N_PARTS; m++)
				if (m != k)
					rest -= a[k][m] * price[m];
			price[k] = fmax(rest / a[k][k], 0);
		}
	}
}

static void solve(const struct fit_table *table, bool overlap, double *price)
{
	double a[N_PARTS][N_PARTS] = { { 0 } }, b[N_PARTS] = { 0 }, part[N_PARTS];

	for (size_t i = 0; i < table->n; i++) {
		const struct fit_row *row = &table->rows[i];

		take_parts(row, price, overlap, part);
		for (size_t k = 0; k < N_PARTS; k++) {
			b[k] += row->weight * part[k] * row->ns;
			for (size_t m = 0; m < N_PARTS; m++)
				a[k][m] += row->weight * part[k] * part[m];
		}
	}
	descend(a, b, price);
}

/* Far-off requests count little. */
static void weigh(struct fit_table *table, const double *price, bool overlap)
{
	for (size_t i = 0; i < table->n; i++) {
		struct fit_row *row = &table->rows[i];
		double off = price ? fabs(predicted(row, price, overlap) / row->ns - 1) : 0;

		row->weight = 1 / (row->ns * row->ns) / sqrt((double)row->n_like);
		if (off > HUBER)
			row->weight *= HUBER / off;
	}
}

/* Mean over the steps of the mean relative difference within each, one row counting 1 at most. */
static double error_of(const struct fit_table *table, const double *price, bool overlap)
{
	double sum = 0, n_steps = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct fit_row *row = &table->rows[i];

		sum += fmin(fabs(predicted(row, price, overlap) / row->ns - 1), 1) / row->n_like;
		n_steps += 1.0 / row->n_like;
	}
	return n_steps > 0 ? sum / n_steps : 1;
}

/* From the prices that *prices holds on. */
static void improve(struct fit_table *table, bool overlap, struct fit_prices *prices)
{
	weigh(table, NULL, overlap);
	for (int round = 0; round < N_ROUNDS; round++) {
		solve(table, overlap, prices->ns);
		weigh(table, prices->ns, overlap);
	}
	prices->error = error_of(table, prices->ns, overlap);
}

/*
 * Of bus and medium together only the slower is seen: a full page costs what the sum says, either
 * for its bytes or for its programming, and the other one costs less.
 */
static void improve_overlap(struct fit_table *table, uint64_t page_bytes, struct fit_prices *prices)
{
	const struct fit_prices sum = *prices;
	double page_ns = sum.ns[PART_PROGRAM] + (double)page_bytes * sum.ns[PART_BYTE];

	*prices = (struct fit_prices){ .error = 1 };
	for (int bus = 0; bus < 2; bus++) {
		struct fit_prices begin = sum;

		begin.ns[PART_BYTE] = page_ns / (double)page_bytes / (bus ? 1 : 2);
		begin.ns[PART_PROGRAM] = page_ns / (bus ? 2 : 1);
		improve(table, true, &begin);
		if (begin.error < prices->error)
			*prices = begin;
	}
}

bool fit_find_prices(const struct advise_measured *measured, const struct sim_params *structure,
		     struct fit_table *table, struct fit_prices *prices)
{
	if (!replay(measured, structure, table))
		return false;
	*prices = (struct fit_prices){ .error = 1 };
	improve(table, false, prices);
	if (structure->overlap)
		improve_overlap(table, structure->page_bytes, prices);
	return true;
}

/* ---- with times ---------------------------------------------------------------------------- */

double fit_replay_error(const struct advise_measured *measured, const struct sim_params *model,
			struct fit_table *table)
{
	struct sim_params honest = *model;
	const double one[N_PARTS] = { 1 }; /* the time as simulated is the first part */
	struct sim *sim;
	uint64_t now_ns = 0;

	honest.cache_lies = false; /* what was waited for is waited for */
	sim = sim_new(&honest);
	if (!sim)
		return 1;
	table->n = 0;
	for (size_t i = 0; i < measured->trace.n; i++) {
		const struct advise_request *r = &measured->trace.requests[i];
		struct fit_row *row = row_of(measured, i, table);
		uint64_t start_ns = now_ns;

		now_ns = sim_request(sim, r->len_bytes ? SIM_WRITE : SIM_FLUSH, r->off,
				     r->len_bytes, now_ns);
		row->part[0] += (double)(now_ns - start_ns);
	}
	sim_free(sim);
	count_alike(table);
	return error_of(table, one, false);
}
