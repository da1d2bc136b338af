/* SPDX-License-Identifier: MIT */
/*
 * bench: one whole run of the advisor on a simulated device.
 */
#ifndef FATWISE_TESTS_BENCH_H
#define FATWISE_TESTS_BENCH_H

#include "advisor/advise.h"
#include "advisor/sim.h"

struct bench {
	uint64_t n_differences;  /* writes that would have changed the content */
	unsigned n_worst_erases; /* of one block behind the places of the FATs */
	struct advise_facts facts;
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_measured measured;
	struct advise_inferred inferred;
	struct advise_fit fit;
	struct sim_params model;
	struct advise_prediction prediction;
	struct advise_choice choice;
};

/* With the default budget. false: it could not be measured. Freed with bench_fini(). */
bool bench_run(const struct sim_params *params, struct bench *bench);
bool bench_run_within(const struct sim_params *params, const struct advise_budget *budget,
		      struct bench *bench);
void bench_fini(struct bench *bench);

/* From facts, layouts and what was measured to the choice. */
void bench_advise(struct bench *bench);

/* Set-up and tear-down of a group of tests: *state is a bench. */
int bench_make(void **state);
int bench_free(void **state);

/* The truth: the whole of a workload, played on the device's own model. */
double bench_true_rate(const struct sim_params *params, const struct advise_layout *layout,
		       enum advise_writer writer, enum advise_workload workload);

/* The score that the choice is made by, of true rates. */
double bench_true_score(const struct sim_params *params, const struct advise_layout *layout);

#endif
