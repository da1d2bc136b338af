/* SPDX-License-Identifier: MIT */
/*
 * play: what kinds of writers ask of a device, request by request.
 *
 * The patterns are those traced from Linux's vfat driver, and of small systems that make a request
 * per cluster. Pure: requests go to whoever asked, a model or a test that counts them.
 */
#ifndef FATWISE_ADVISOR_PLAY_H
#define FATWISE_ADVISOR_PLAY_H

#include "advise.h"
#include "sim.h"

struct play_sink {
	void (*request)(void *ctx, enum sim_op op, uint64_t off, uint64_t len_bytes);
	void *ctx;
};

/*
 * Plays a workload on an empty volume of this layout, from cluster first_clus (0 is the first) on.
 * A large file is large_bytes long. Returns the bytes that the user wrote.
 */
uint64_t play_workload(const struct advise_layout *layout, enum advise_writer writer,
		       enum advise_workload workload, uint64_t first_clus, uint64_t large_bytes,
		       const struct play_sink *sink);

/* Bytes per second that a writer gets from a simulated device; 0 without memory. */
double play_on_model(const struct sim_params *params, const struct advise_layout *layout,
		     enum advise_writer writer, enum advise_workload workload,
		     uint64_t large_bytes);

#endif
