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

/* What the workloads are made of, for those who reckon with them as well. */
#define PLAY_WRITE_BACK_BYTES (64u << 20)  /* of data, then the metadata follow */
#define PLAY_CALL_BYTES       (128u << 10) /* one write call of the program that writes */
#define PLAY_PHOTO_BYTES      (3456u << 10)
#define PLAY_N_PHOTOS         32 /* where they have room */
#define PLAY_N_FILES          20 /* small ones, in a folder */
#define PLAY_FILE_BYTES       6000u

/* A large file is no longer than this, so that all of a workload lies on the volume. */
static inline uint64_t play_most_bytes(const struct advise_layout *layout)
{
	return layout->n_clusters * layout->cluster_bytes / 6;
}

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
