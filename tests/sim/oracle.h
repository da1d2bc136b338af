/* SPDX-License-Identifier: MIT */
/*
 * oracle: what a writer would really get from a simulated device: the write patterns in full, played
 * on the model itself. Shares nothing with the predictor but the model.
 */
#ifndef FATWISE_TESTS_ORACLE_H
#define FATWISE_TESTS_ORACLE_H

#include "advisor/advise.h"
#include "advisor/sim.h"

/* Bytes per second; 0 without memory. */
double oracle_rate(const struct sim_params *params, const struct advise_layout *layout,
		   enum advise_writer writer, enum advise_workload workload);

#endif
