/* SPDX-License-Identifier: MIT */
/*
 * fit_prices: see fit_prices.h. Pure.
 *
 * The structure says how often each thing is done for each request; the time is the sum of these,
 * each with its price, so the prices follow by least squares, none below zero. Where bus and medium
 * work at the same time the slower of the two counts: which one that is follows from the prices,
 * and these from it, round by round. Requests that a device interrupts for its own reasons weigh
 * little (Huber).
 *
 * Behind a cache the medium works on while the bus takes what comes next: what is judged together
 * took the bus time of its first request and then the longer of the rest of the bus's and the
 * medium's. The bus alone is what the first request after the cache was empty shows.
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

/* The row that request i belongs to: one for each, or for all up to where the cache is empty. */
static struct fit_row *row_of(const struct advise_measured *measured, size_t i, bool each,
			      struct fit_table *table)
{
	const struct advise_request *r = fat_vec_at(&measured->trace, i);
	bool begins = i == 0 || each || r[-1].len_bytes == 0;

	if (begins)
		table->rows[table->n++] =
			(struct fit_row){ .step = r->step, .head_bytes = r->len_bytes };
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
		const struct advise_request *r = fat_vec_at(&measured->trace, i);
		struct fit_row *row =
			row_of(measured, i, measured->settle == ADVISE_SETTLED, table);
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

static double sum_parts(const struct fit_row *row, const double *price, bool medium)
{
	double ns = 0;

	for (size_t k = 0; k < N_PARTS; k++)
		ns += is_medium(k) == medium ? row->part[k] * price[k] : 0;
	return ns;
}

/* What a row takes whatever else happens: of a cache, the bus's time for its first request. */
static double head_ns(const struct fit_row *row, const double *price, enum fit_bus bus)
{
	return bus == FIT_BUS_CACHED ? price[PART_COMMAND] + row->head_bytes * price[PART_BYTE] : 0;
}

/* Where bus and medium work together: does the bus take longer? */
static bool waits_for_bus(const struct fit_row *row, const double *price)
{
	double medium = sum_parts(row, price, true);

	return row->part[PART_BYTE] * price[PART_BYTE] > medium;
}

/* The parts of a row whose times are seen. */
static void take_parts(const struct fit_row *row, const double *price, enum fit_bus bus,
		       double part[N_PARTS])
{
	bool waits = bus == FIT_BUS_BESIDE && waits_for_bus(row, price);

	memcpy(part, row->part, N_PARTS * sizeof *part);
	for (size_t k = 0; k < N_PARTS && bus != FIT_BUS_FIRST; k++)
		if (waits ? is_medium(k) : bus == FIT_BUS_CACHED ? !is_medium(k) : k == PART_BYTE)
			part[k] = 0;
}

static double predicted(const struct fit_row *row, const double *price, enum fit_bus bus)
{
	double part[N_PARTS], ns = 0;

	take_parts(row, price, bus, part);
	for (size_t k = 0; k < N_PARTS; k++)
		ns += part[k] * price[k];
	if (bus == FIT_BUS_CACHED)
		ns = fmax(ns + head_ns(row, price, bus), sum_parts(row, price, false));
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

/*
 * Behind a cache the bus's prices are known: only the medium's are looked for, by what took longer
 * than the bus.
 */
static void solve(const struct fit_table *table, enum fit_bus bus, double *price)
{
	double a[N_PARTS][N_PARTS] = { { 0 } }, b[N_PARTS] = { 0 }, part[N_PARTS];

	for (size_t i = 0; i < table->n; i++) {
		const struct fit_row *row = &table->rows[i];
		double ns = row->ns - head_ns(row, price, bus);

		if (bus == FIT_BUS_CACHED && row->ns < 1.1 * sum_parts(row, price, false))
			continue;
		take_parts(row, price, bus, part);
		for (size_t k = 0; k < N_PARTS; k++) {
			b[k] += row->weight * part[k] * ns;
			for (size_t m = 0; m < N_PARTS; m++)
				a[k][m] += row->weight * part[k] * part[m];
		}
	}
	descend(a, b, price);
}

/* Far-off requests count little. */
static void weigh(struct fit_table *table, const double *price, enum fit_bus bus)
{
	for (size_t i = 0; i < table->n; i++) {
		struct fit_row *row = &table->rows[i];
		double off = price ? fabs(predicted(row, price, bus) / row->ns - 1) : 0;

		row->weight = 1 / (row->ns * row->ns) / sqrt((double)row->n_like);
		if (off > HUBER)
			row->weight *= HUBER / off;
	}
}

/* Mean over the steps of the mean relative difference within each, one row counting 1 at most. */
static double error_of(const struct fit_table *table, const double *price, enum fit_bus bus)
{
	double sum = 0, n_steps = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct fit_row *row = &table->rows[i];

		sum += fmin(fabs(predicted(row, price, bus) / row->ns - 1), 1) / row->n_like;
		n_steps += 1.0 / row->n_like;
	}
	return n_steps > 0 ? sum / n_steps : 1;
}

static void set_expected(struct fit_table *table, const double *price, enum fit_bus bus)
{
	for (size_t i = 0; i < table->n; i++)
		table->rows[i].expected_ns = predicted(&table->rows[i], price, bus);
}

/* From the prices that *prices holds on. */
static void improve(struct fit_table *table, enum fit_bus bus, struct fit_prices *prices)
{
	weigh(table, NULL, bus);
	for (int round = 0; round < N_ROUNDS; round++) {
		solve(table, bus, prices->ns);
		weigh(table, prices->ns, bus);
	}
	prices->error = error_of(table, prices->ns, bus);
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
		improve(table, FIT_BUS_BESIDE, &begin);
		if (begin.error < prices->error)
			*prices = begin;
	}
}

void fit_find_bus(const struct advise_measured *measured, struct fit_table *table,
		  struct fit_prices *prices)
{
	const struct fat_vec *trace = &measured->trace;

	table->n = 0;
	for (size_t i = 1; i < trace->n; i++) {
		const struct advise_request *r = fat_vec_at(trace, i);
		struct fit_row *row = &table->rows[table->n];

		if (r->len_bytes == 0 || r[-1].len_bytes != 0)
			continue;
		*row = (struct fit_row){ .step = r->step, .ns = (double)r->ns };
		row->part[PART_COMMAND] = (double)div_ceil(r->len_bytes, measured->max_bytes);
		row->part[PART_BYTE] = r->len_bytes;
		table->n++;
	}
	count_alike(table);
	*prices = (struct fit_prices){ .error = 1 };
	improve(table, FIT_BUS_FIRST, prices);
	prices->ns[PART_FLUSH] = measured->settle == ADVISE_SETTLE_BY_FLUSH
					 ? advise_percentile(&measured->flush, 0)
					 : 0;
}

bool fit_find_prices(const struct advise_measured *measured, const struct sim_params *structure,
		     struct fit_table *table, struct fit_prices *prices)
{
	*prices = (struct fit_prices){ .error = 1 };
	if (measured->settle != ADVISE_SETTLED)
		fit_find_bus(measured, table, prices);
	if (!replay(measured, structure, table))
		return false;
	if (measured->settle != ADVISE_SETTLED) {
		improve(table, FIT_BUS_CACHED, prices);
		return true;
	}
	improve(table, FIT_BUS_FIRST, prices);
	if (structure->overlap)
		improve_overlap(table, structure->page_bytes, prices);
	set_expected(table, prices->ns, structure->overlap ? FIT_BUS_BESIDE : FIT_BUS_FIRST);
	return true;
}

/* ---- with times ---------------------------------------------------------------------------- */

double fit_replay_error(const struct advise_measured *measured, const struct sim_params *model,
			bool each, struct fit_table *table)
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
		const struct advise_request *r = fat_vec_at(&measured->trace, i);
		struct fit_row *row = row_of(measured, i, each, table);
		uint64_t start_ns = now_ns;

		now_ns = sim_request(sim, r->len_bytes ? SIM_WRITE : SIM_FLUSH, r->off,
				     r->len_bytes, now_ns);
		row->part[0] += (double)(now_ns - start_ns);
	}
	sim_free(sim);
	count_alike(table);
	return error_of(table, one, FIT_BUS_FIRST);
}
