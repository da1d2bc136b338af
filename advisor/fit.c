/* SPDX-License-Identifier: MIT */
/*
 * fit: a model of the device from the record of its writes. Pure.
 *
 * For a given structure (kind, blocks, open segments ...) the model says how often each thing is
 * done for each request: commands, bytes, pages programmed, sensed, copied, blocks erased. The time
 * is the sum of these, each with its price, so the prices follow by least squares, none below zero;
 * and the structure is the one whose best prices leave the least unexplained. Requests that a
 * device interrupts for its own reasons weigh little (Huber).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "bytes.h"
#include "sim.h"

/* What a request is made of; each has a price. */
enum {
	COMMAND,
	BYTE,
	PROGRAM,
	SENSE,
	COPY,
	ERASE,
	FLUSH,
	N_PARTS,
};

/* Requests that are judged together: one, or all up to the flush that tells. */
struct row {
	double part[N_PARTS];
	double ns;
	double weight;
	uint32_t step;
};

struct table {
	struct row *rows;
	size_t n;
};

struct prices {
	double ns[N_PARTS];
	double error;
};

/* ---- replay -------------------------------------------------------------------------------- */

static void add_work(struct row *row, const struct sim_stats *before, const struct sim_stats *after)
{
	row->part[COMMAND] += (double)(after->n_commands - before->n_commands);
	row->part[BYTE] += (double)(after->n_bytes - before->n_bytes);
	row->part[PROGRAM] += (double)(after->n_programmed_pages - before->n_programmed_pages);
	row->part[SENSE] += (double)(after->n_sensed_pages - before->n_sensed_pages);
	row->part[COPY] += (double)(after->n_copied_pages - before->n_copied_pages);
	row->part[ERASE] += (double)(after->n_erases - before->n_erases);
	row->part[FLUSH] += (double)(after->n_flushes - before->n_flushes);
}

/* Plays the record on a model without times, for what it does. false: no memory, no such device. */
static bool replay(const struct advise_measured *measured, const struct sim_params *params,
		   struct table *table)
{
	struct sim *sim = sim_new(params);
	struct sim_stats before = { 0 };
	bool begins = true;

	if (!sim)
		return false;
	table->n = 0;
	for (size_t i = 0; i < measured->trace.n; i++) {
		const struct advise_request *r = &measured->trace.requests[i];
		struct row *row = &table->rows[begins ? table->n : table->n - 1];
		struct sim_stats after;

		if (begins) {
			*row = (struct row){ .step = r->step };
			table->n++;
		}
		sim_request(sim, r->len_bytes ? SIM_WRITE : SIM_FLUSH, r->off, r->len_bytes, 0);
		after = sim_stats(sim);
		add_work(row, &before, &after);
		before = after;
		row->ns += (double)r->ns;
		begins = measured->settle == ADVISE_SETTLED || r->len_bytes == 0;
	}
	sim_free(sim);
	return table->n > 0;
}

/* ---- least squares ------------------------------------------------------------------------- */

static double predicted(const struct row *row, const double *price)
{
	double ns = 0;

	for (size_t k = 0; k < N_PARTS; k++)
		ns += row->part[k] * price[k];
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

static void solve(const struct table *table, double *price)
{
	double a[N_PARTS][N_PARTS] = { { 0 } }, b[N_PARTS] = { 0 };

	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		for (size_t k = 0; k < N_PARTS; k++) {
			b[k] += row->weight * row->part[k] * row->ns;
			for (size_t m = 0; m < N_PARTS; m++)
				a[k][m] += row->weight * row->part[k] * row->part[m];
		}
	}
	descend(a, b, price);
}

/* Steps count alike, however many requests they made; far-off requests count little. */
static void weigh(struct table *table, const double *price)
{
	const double huber = 0.05;

	for (size_t i = 0; i < table->n; i++) {
		struct row *row = &table->rows[i];
		size_t n_like = 0;
		double off = price ? fabs(predicted(row, price) / row->ns - 1) : 0;

		for (size_t k = i; k < table->n && table->rows[k].step == row->step; k++)
			n_like++;
		for (size_t k = i; k-- > 0 && table->rows[k].step == row->step;)
			n_like++;
		row->weight = 1 / (row->ns * row->ns) / sqrt((double)n_like);
		if (off > huber)
			row->weight *= huber / off;
	}
}

/* Mean over the steps of the mean relative difference within each, one request counting 1 at most.
 */
static double error_of(const struct table *table, const double *price)
{
	double sum = 0, step_sum = 0;
	size_t n_steps = 0, n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		step_sum += fmin(fabs(predicted(row, price) / row->ns - 1), 1);
		n++;
		if (i + 1 < table->n && table->rows[i + 1].step == row->step)
			continue;
		sum += step_sum / (double)n;
		n_steps++;
		step_sum = 0;
		n = 0;
	}
	return n_steps > 0 ? sum / (double)n_steps : 1;
}

static void fit_prices(struct table *table, struct prices *prices)
{
	*prices = (struct prices){ .error = 1 };
	weigh(table, NULL);
	for (int round = 0; round < 4; round++) {
		solve(table, prices->ns);
		weigh(table, prices->ns);
	}
	prices->error = error_of(table, prices->ns);
}

/* ---- structures ---------------------------------------------------------------------------- */

struct search {
	const struct advise_measured *measured;
	struct table table;
	struct sim_params best;
	struct prices prices;
	bool found;
};

static void try_structure(struct search *s, const struct sim_params *params)
{
	struct prices prices;

	if (!replay(s->measured, params, &s->table))
		return;
	fit_prices(&s->table, &prices);
	if (s->found && prices.error >= s->prices.error * 0.98)
		return; /* the simpler one was tried first */
	s->best = *params;
	s->prices = prices;
	s->found = true;
}

/* Pages but no blocks: the price of a write does not depend on its place. */
static void try_flat(struct search *s, const struct advise_inferred *inferred)
{
	struct sim_params p = { .kind = SIM_FLAT,
				.size_bytes = s->measured->size_bytes,
				.page_bytes = inferred->page.value,
				.block_off = inferred->page_off };

	if (p.page_bytes) {
		p.block_bytes = p.page_bytes;
		try_structure(s, &p);
		return;
	}
	p.block_off = 0;
	for (p.page_bytes = 512; p.page_bytes <= 32768; p.page_bytes *= 2) {
		p.block_bytes = p.page_bytes;
		try_structure(s, &p);
	}
}

static void try_blocks(struct search *s, const struct advise_inferred *inferred)
{
	const struct advise_inside *inside = &s->measured->inside;
	uint32_t open_from =
		inside->open_segments ? inside->open_segments : max_u32(inside->open_at_least, 1);
	uint32_t open_to = inside->open_segments ? inside->open_segments : 8;
	struct sim_params p = { .size_bytes = s->measured->size_bytes,
				.page_bytes = inferred->page.value,
				.block_bytes = inferred->block.value,
				.block_off = inferred->block_off,
				.fat_blocks = inside->fat_blocks };

	if (!p.block_bytes || !p.page_bytes || p.block_bytes % p.page_bytes)
		return;
	for (p.open_segments = open_from; p.open_segments <= open_to; p.open_segments++) {
		for (int variant = 0; variant < 4; variant++) {
			p.kind = variant & 1 ? SIM_LOG : SIM_LINEAR;
			p.page_buffer = variant & 2;
			try_structure(s, &p);
		}
	}
}

/* ---- the model ----------------------------------------------------------------------------- */

static uint64_t whole_ns(double ns)
{
	return (uint64_t)(ns + 0.5);
}

/* What was taken at the speed of the bus, less what the medium had written meanwhile. */
static void set_cache(const struct advise_measured *measured, struct sim_params *p)
{
	double bytes = (double)measured->cache_bytes;
	double bus = p->write_ns_per_byte + (double)p->write_command_ns / 65536;
	double medium = (double)p->program_ns / (double)p->page_bytes;

	if (measured->settle == ADVISE_SETTLED || medium <= 0)
		return;
	p->cache_bytes = whole_ns(fmax(bytes * (1 - bus / medium), 65536));
	p->cache_lies = measured->settle == ADVISE_SETTLE_BY_READ;
}

/* The prices go into the model; a read far away is what it was measured to be. */
static void set_times(const struct search *s, const struct advise_inferred *inferred,
		      struct sim_params *p)
{
	const double *ns = s->prices.ns;

	p->write_command_ns = whole_ns(ns[COMMAND]);
	p->write_ns_per_byte = ns[BYTE];
	p->program_ns = whole_ns(ns[PROGRAM]);
	p->sense_ns = whole_ns(ns[SENSE]);
	p->copy_ns = whole_ns(ns[COPY]);
	p->erase_ns = whole_ns(ns[ERASE]);
	p->flush_ns = whole_ns(ns[FLUSH]);
	p->read_command_ns = whole_ns(fmax(inferred->far_read_ns - ns[SENSE], 0));
	p->max_command_bytes = s->measured->max_bytes;
	set_cache(s->measured, p);
}

/* ---- a disk without a write cache ---------------------------------------------------------- */

/*
 * Writes one after the other each wait for the same place to come round again: a turn, plus the
 * part of a turn that the data take. false: this is no such disk.
 */
static bool fit_disk(const struct advise_measured *measured, const struct advise_inferred *inferred,
		     struct sim_params *p, double *error)
{
	double turn = inferred->command_ns, off = 0, seek;
	size_t n = 0;

	if (measured->settle != ADVISE_SETTLED || turn < 4e6 || turn > 20e6 ||
	    inferred->ns_per_byte <= 0)
		return false;
	*p = (struct sim_params){ .kind = SIM_DISK,
				  .size_bytes = measured->size_bytes,
				  .page_bytes = 512,
				  .block_bytes = 512,
				  .rpm = 60e9 / turn,
				  .track_bytes = (uint64_t)(turn / inferred->ns_per_byte),
				  .max_command_bytes = measured->max_bytes };
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		double said = turn + inferred->ns_per_byte * advise_size_bytes(i);

		if (inferred->write_ns[i] <= 0 || advise_size_bytes(i) > measured->max_bytes)
			continue;
		off += fabs(said / inferred->write_ns[i] - 1);
		n++;
	}
	*error = n > 0 ? off / (double)n : 1;
	/* reads in a row come from its buffer: the bus, and the turning that writes pay as well */
	p->read_ns_per_byte = fmax((inferred->read_size_ns[6] - inferred->read_size_ns[3]) /
						   (advise_size_bytes(6) - advise_size_bytes(3)) -
					   inferred->ns_per_byte,
				   0);
	p->write_ns_per_byte = p->read_ns_per_byte;
	p->read_command_ns = whole_ns(
		fmax(inferred->read_size_ns[3] -
			     advise_size_bytes(3) * (p->read_ns_per_byte + inferred->ns_per_byte),
		     0));
	p->write_command_ns = p->read_command_ns;
	/* random places: half a turn, and 8/15 of the longest seek by the square root law */
	seek = inferred->far_read_ns - inferred->read_size_ns[3] - turn / 2;
	p->seek_min_ns = 1000000;
	p->seek_full_ns = p->seek_min_ns + whole_ns(fmax(seek - 1e6, 0) * 15 / 8);
	return true;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* ---- a device with a cache ----------------------------------------------------------------- */

/*
 * Behind a cache the bus and the medium work at the same time, so times are no sums any more: the
 * prices found as sums are where the search for better ones begins.
 */
static double replay_error(const struct advise_measured *measured, const struct sim_params *params,
			   struct table *table)
{
	struct sim_params honest = *params;
	const double one[N_PARTS] = { 1 }; /* the time as simulated is the first part */
	struct sim *sim;
	bool begins = true;
	uint64_t now_ns = 0;

	honest.cache_lies = false; /* what was waited for is waited for */
	sim = sim_new(&honest);
	if (!sim)
		return 1;
	table->n = 0;
	for (size_t i = 0; i < measured->trace.n; i++) {
		const struct advise_request *r = &measured->trace.requests[i];
		struct row *row = &table->rows[begins ? table->n : table->n - 1];
		uint64_t start_ns = now_ns;

		if (begins) {
			*row = (struct row){ .step = r->step };
			table->n++;
		}
		now_ns = sim_request(sim, r->len_bytes ? SIM_WRITE : SIM_FLUSH, r->off,
				     r->len_bytes, now_ns);
		row->part[0] += (double)(now_ns - start_ns);
		row->ns += (double)r->ns;
		begins = r->len_bytes == 0;
	}
	sim_free(sim);
	return error_of(table, one);
}

static void scale(struct sim_params *p, size_t which, double by)
{
	uint64_t *const times[] = { &p->write_command_ns, &p->program_ns, &p->sense_ns, &p->copy_ns,
				    &p->erase_ns };

	if (which < sizeof times / sizeof *times)
		*times[which] = whole_ns((double)*times[which] * by);
	else
		p->write_ns_per_byte *= by;
}

/* One price after the other is made larger and smaller, in steps that become finer. */
static double refine_with_cache(const struct advise_measured *measured, struct sim_params *params,
				struct table *table)
{
	static const double steps[] = { 1.5, 1.2, 1.08, 1.03 };
	double best = replay_error(measured, params, table);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		for (size_t k = 0; k < 2 * 6; k++) {
			struct sim_params other = *params;
			double error;

			scale(&other, k / 2, k % 2 ? steps[i] : 1 / steps[i]);
			error = replay_error(measured, &other, table);
			if (error >= best)
				continue;
			best = error;
			*params = other;
			k--; /* on in the same direction */
		}
	}
	return best;
}

void advise_fit_model(const struct advise_measured *measured,
		      const struct advise_inferred *inferred, struct sim_params *params,
		      struct advise_fit *fit)
{
	struct search s = { .measured = measured };

	*fit = (struct advise_fit){ .error = 1 };
	if (inferred->heads_move) {
		if (fit_disk(measured, inferred, params, &fit->error) &&
		    fit->error <= ADVISE_FIT_LIMIT)
			fit->params = params;
		return;
	}
	s.table.rows = calloc(measured->trace.n + 1, sizeof *s.table.rows);
	if (s.table.rows && measured->trace.n > 0) {
		try_flat(&s, inferred);
		try_blocks(&s, inferred);
	}
	if (s.found) {
		*params = s.best;
		set_times(&s, inferred, params);
		fit->error = s.prices.error;
		if (measured->settle != ADVISE_SETTLED)
			fit->error = refine_with_cache(measured, params, &s.table);
	}
	free(s.table.rows);
	if (s.found && fit->error <= ADVISE_FIT_LIMIT)
		fit->params = params;
}
