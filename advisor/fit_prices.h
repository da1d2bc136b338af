/* SPDX-License-Identifier: MIT */
/*
 * fit_prices: what each thing costs that a device of a given structure does. Inside the advisor
 * only.
 */
#ifndef FATWISE_ADVISOR_FIT_PRICES_H
#define FATWISE_ADVISOR_FIT_PRICES_H

#include "advise.h"
#include "sim.h"

/* What a request is made of; each has a price. */
enum {
	PART_COMMAND,
	PART_BYTE,
	PART_PROGRAM,
	PART_SENSE,
	PART_COPY,
	PART_ERASE,
	PART_FLUSH,
	N_PARTS,
};

/* How the bus and the medium share the time. */
enum fit_bus {
	FIT_BUS_FIRST,  /* one after the other */
	FIT_BUS_BESIDE, /* at once: the slower one of bytes and medium counts */
	FIT_BUS_CACHED, /* there is a cache between them */
};

/* Requests that are judged together: one, or all up to the flush that tells. */
struct fit_row {
	double part[N_PARTS];
	double ns, expected_ns; /* as measured; by the prices found last */
	double head_bytes; /* length of its first request */
	double weight;
	uint32_t step, n_like; /* of the same step */
};

struct fit_table {
	struct fit_row *rows; /* one for each request recorded */
	size_t n;
};

struct fit_prices {
	double ns[N_PARTS];
	double error; /* as advise_fit.error */
};

/*
 * Plays the record on a device of this structure, for what it does, and finds the prices. false: no
 * such device, no memory.
 */
bool fit_find_prices(const struct advise_measured *measured, const struct sim_params *structure,
		     struct fit_table *table, struct fit_prices *prices);

/*
 * Where nothing is cached: adds to a model what it does not explain of the rows that it was fitted
 * to, pauses now and then. Returns how far the mean time of a command may be off for it, ns.
 */
uint64_t fit_find_pauses(const struct advise_measured *measured, const struct fit_table *table,
			 struct sim_params *model);

/* The bus of a device with a cache, by each write that the empty cache took. */
void fit_find_bus(const struct advise_measured *measured, struct fit_table *table,
		  struct fit_prices *prices);

/*
 * How far a model with all its times is off, by the record; 1 without memory. each: request by
 * request, even where a cache is between.
 */
double fit_replay_error(const struct advise_measured *measured, const struct sim_params *model,
			bool each, struct fit_table *table);

/*
 * Behind a cache (fit_cache.c): its size, and the medium's prices from those found as sums on;
 * returns the error that is left.
 */
void fit_find_cache_size(const struct advise_measured *measured, struct sim_params *model,
			 struct fit_table *table);
double fit_refine_medium(const struct advise_measured *measured, struct sim_params *model,
			 struct fit_table *table);

/*
 * A disk (fit_disk.c) by its single writes and reads; fills in fit but for the model. false: this
 * is no such disk.
 */
bool fit_disk(const struct advise_measured *measured, const struct advise_inferred *inferred,
	      struct fit_table *table, struct sim_params *model, struct advise_fit *fit);

#endif
