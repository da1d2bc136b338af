/* SPDX-License-Identifier: MIT */
/*
 * fit_pauses: what a device does for its own reasons, now and then: a command that takes long by
 * chance, or a pause after so many bytes. Pure.
 *
 * The model leaves them unexplained. Where it only has an event at the wrong write, a later one is
 * as much too short: what counts is the balance. So few are seen that a mean is all they tell.
 */
#include "fit_prices.h"

#include <math.h>

#include "bytes.h"

#define LEAST_NS     2000000 /* less may be this machine's own doing */
#define FEW          3
#define MOST_PART    10  /* of all writes, one in so many: more are no exception */
#define ALIKE        1.5 /* the longest pause, by the shortest */
#define NEARLY_WHOLE 0.15
#define SMOOTH       32

struct pauses {
	size_t n, n_short; /* writes that took far too long, or far less than expected */
	double ns, shortest_ns, longest_ns;
	double n_commands;
	size_t n_reads, n_slow_reads;
	double read_ns; /* of the slow ones, too much */
	uint64_t bytes, last_bytes, least_gap_bytes, gaps[ADVISE_MAX_SAMPLES];
};

static void note_pause(struct pauses *p, double ns)
{
	uint64_t gap = p->bytes - p->last_bytes;

	p->shortest_ns = p->n == 0 || ns < p->shortest_ns ? ns : p->shortest_ns;
	p->longest_ns = ns > p->longest_ns ? ns : p->longest_ns;
	p->ns += ns;
	if (p->n < ADVISE_MAX_SAMPLES)
		p->gaps[p->n] = gap;
	if (p->n > 0)
		p->least_gap_bytes = min_u64(p->least_gap_bytes, gap);
	p->last_bytes = p->bytes;
	p->n++;
}

static void look_at_writes(const struct advise_measured *measured, const struct fit_table *table,
			   struct pauses *p)
{
	p->least_gap_bytes = UINT64_MAX;
	for (size_t i = 0; i < table->n; i++) {
		const struct advise_request *r = fat_vec_at(&measured->trace, i);
		double expected = table->rows[i].expected_ns, off = table->rows[i].ns - expected;

		p->n_commands += table->rows[i].part[PART_COMMAND];
		p->bytes += r->len_bytes;
		if (off > LEAST_NS + expected / 2)
			note_pause(p, off);
		p->n_short += off < -LEAST_NS - expected / 3;
	}
}

static void look_at_reads(const struct advise_samples *equal, struct pauses *p)
{
	double usual = advise_median(equal);

	p->n_reads += equal->n;
	for (size_t i = 0; i < equal->n; i++) {
		double off = (double)equal->ns[i] - usual;

		if (off <= LEAST_NS + usual / 2)
			continue;
		p->n_slow_reads++;
		p->read_ns += off;
	}
}

/* The same long pause each time, after equal numbers of bytes, or some of them. */
static bool come_by_bytes(const struct pauses *p)
{
	if (p->n < FEW || p->n > ADVISE_MAX_SAMPLES || p->longest_ns > ALIKE * p->shortest_ns)
		return false;
	for (size_t i = 1; i < p->n; i++) {
		double times = (double)p->gaps[i] / (double)p->least_gap_bytes;
		double part = times - (double)(uint64_t)times;

		if (part > NEARLY_WHOLE && part < 1 - NEARLY_WHOLE)
			return false;
	}
	return true;
}

/* Any command, reads as well, so that it is no matter of blocks. */
static bool come_by_chance(const struct pauses *p, size_t n_writes)
{
	return p->n >= FEW && p->n_slow_reads > 0 && p->n >= FEW * p->n_short &&
	       p->n * MOST_PART <= n_writes;
}

uint64_t fit_find_pauses(const struct advise_measured *measured, const struct fit_table *table,
			 struct sim_params *model)
{
	struct pauses p = { 0 };

	look_at_writes(measured, table, &p);
	look_at_reads(&measured->again, &p);
	look_at_reads(&measured->seek, &p);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		look_at_reads(&measured->read[i], &p);
	if (come_by_chance(&p, table->n)) {
		double n = (double)(p.n + p.n_slow_reads);
		double mean_ns = (p.ns + p.read_ns) / (p.n_commands + (double)p.n_reads);

		model->write_command_ns += (uint64_t)mean_ns;
		return (uint64_t)(mean_ns * sqrt(2 / n)); /* of n pauses of very different length */
	}
	if (come_by_bytes(&p) && p.n_short == 0) {
		/* whether one falls into a short workload is chance: many small ones, for the mean
		 */
		model->stall_every_bytes = p.least_gap_bytes / SMOOTH;
		model->stall_ns = (uint64_t)(p.ns / (double)p.n) / SMOOTH;
	}
	return 0;
}
