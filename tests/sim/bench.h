/* SPDX-License-Identifier: MIT */
/*
 * bench: one whole run of the advisor on a simulated device.
 */
#ifndef FATWISE_TESTS_BENCH_H
#define FATWISE_TESTS_BENCH_H

#include "advisor/advise.h"
#include "advisor/sim.h"

struct bench {
	struct advise_facts facts;
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_measured measured;
	struct advise_inferred inferred;
	struct advise_prediction prediction;
	struct advise_choice choice;
};

/* With the default budget. false: it could not be measured. */
bool bench_run(const struct sim_params *params, struct bench *bench);

/* Geometric mean of the oracle's rates over writers and workloads. */
double bench_true_score(const struct sim_params *params, const struct advise_layout *layout);

#endif
