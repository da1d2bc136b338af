/* SPDX-License-Identifier: MIT */
/*
 * measure: asks the device, step by step; see probe.h for what holds throughout.
 */
#include <stdlib.h>

#include "bytes.h"
#include "probe.h"

#define MOST_REQUESTS 1000000

bool advise_trace_add(struct fat_vec *trace, const struct advise_request *request)
{
	struct advise_request *added;

	if (trace->item_bytes == 0)
		fat_vec_init(trace, sizeof *added, MOST_REQUESTS);
	added = fat_vec_push(trace);
	if (!added)
		return false;
	*added = *request;
	return true;
}

void advise_measured_fini(struct advise_measured *measured)
{
	fat_vec_fini(&measured->trace);
}

#define HOST_NS 150000

/* Where heads move, reads differ much without waiting for anything. */
static void set_usual_read(struct probe *p)
{
	struct advise_inferred inferred;

	advise_infer(p->measured, &inferred);
	p->usual_read_ns = (uint64_t)inferred.far_read_ns;
	/* what is less than some 0.1 ms may be this machine's own doing */
	p->slow_read_ns = p->usual_read_ns + max_u64(p->usual_read_ns / 3, HOST_NS);
	if (inferred.heads_move)
		p->slow_read_ns = 3 * p->usual_read_ns;
}

static uint64_t front_end(const struct advise_layout *layouts)
{
	uint64_t end = 0;

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		if (layouts[i].fat_bits && layouts[i].cluster_bytes >= 4096)
			end = max_u64(end, layouts[i].data_off + layouts[i].cluster_bytes);
	return end;
}

enum fat_status advise_measure(struct advise_target *target, const struct advise_layout *layouts,
			       const struct advise_budget *budget, const struct advise_watch *watch,
			       struct advise_measured *measured)
{
	struct probe p = { .target = target,
			   .dev = target->dev,
			   .budget = budget,
			   .watch = watch,
			   .measured = measured,
			   .front_off = front_end(layouts),
			   .rng = 0x9E3779B97F4A7C15u };
	enum fat_status status = FAT_ERR_MEMORY;

	*measured = (struct advise_measured){ .block_bytes = target->block_bytes,
					      .max_bytes = target->max_bytes,
					      .size_bytes = target->dev->size_bytes };
	if (target->dev->size_bytes < ADVISE_SMALLEST_BYTES)
		return FAT_ERR_SIZE;
	p.begin_ns = probe_now(&p);
	wear_init(&p.wear, target->dev->size_bytes);
	p.buf = aligned_alloc(4096, PROBE_STRETCH_BYTES);
	p.check = aligned_alloc(4096, PROBE_CHECK_BYTES);
	if (p.buf && p.check) {
		probe_reads(&p);
		set_usual_read(&p);
		probe_learn(&p);
		measured->read_only = target->dev->read_only;
		status = measured->real_bytes || measured->read_only ? FAT_OK
								     : probe_writes(&p, layouts);
	}
	measured->elapsed_ns = probe_now(&p) - p.begin_ns;
	wear_fini(&p.wear);
	free(p.buf);
	free(p.check);
	return status;
}
