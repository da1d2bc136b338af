/* SPDX-License-Identifier: MIT */
/*
 * bench: see bench.h.
 */
#include "bench.h"

#include <stdlib.h>

#include "advisor/play.h"
#include "lib/bytes.h"
#include "pattern.h"

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

static void ignore(void *ctx, const char *name, uint64_t left_ns)
{
	(void)ctx;
	(void)name;
	(void)left_ns;
}

void bench_fini(struct bench *b)
{
	advise_measured_fini(&b->measured);
}

/* FATs and root directory of the sizes rehearsed end before. */
static uint64_t fats_end(const struct advise_layout *layouts)
{
	uint64_t end = 0;

	for (size_t i = 3; i < ADVISE_N_CLUSTERS; i++)
		if (layouts[i].fat_bits)
			end = max_u64(end, layouts[i].data_off + layouts[i].cluster_bytes);
	return end;
}

void bench_advise(struct bench *b)
{
	advise_infer(&b->measured, &b->inferred);
	advise_fit_model(&b->measured, &b->inferred, &b->model, &b->fit);
	advise_revise(&b->fit, &b->inferred);
	advise_predict(&b->measured, &b->inferred, &b->fit, b->layouts, 0, &b->prediction);
	advise_choose(&b->facts, &b->measured, &b->inferred, &b->fit, &b->prediction,
		      advise_purpose(0), &b->choice);
}

bool bench_run(const struct sim_params *params, struct bench *b)
{
	const struct advise_budget budget = { 30000000000u, 64u << 20 };

	return bench_run_within(params, &budget, b);
}

bool bench_run_within(const struct sim_params *params, const struct advise_budget *budget,
		      struct bench *b)
{
	const struct advise_watch watch = { never, ignore, NULL };
	struct advise_target target;
	struct fat_dev *content = pattern_open(params->size_bytes);
	enum fat_status status =
		content ? advise_target_simulate(params, content, &target) : FAT_ERR_MEMORY;

	if (status != FAT_OK)
		return false;
	b->facts = (struct advise_facts){ .size_bytes = params->size_bytes };
	advise_layouts(&b->facts, 512, b->layouts);
	status = advise_measure(&target, b->layouts, budget, &watch, &b->measured);
	b->n_differences = pattern_differences(content);
	b->n_worst_erases = advise_target_sim_worst_erases(&target, fats_end(b->layouts));
	advise_target_close(&target);
	if (status != FAT_OK) {
		bench_fini(b);
		return false;
	}
	bench_advise(b);
	return true;
}

int bench_make(void **state)
{
	*state = calloc(1, sizeof(struct bench));
	return *state ? 0 : -1;
}

int bench_free(void **state)
{
	free(*state);
	return 0;
}

double bench_true_rate(const struct sim_params *params, const struct advise_layout *layout,
		       enum advise_writer writer, enum advise_workload workload)
{
	uint64_t bytes = min_u64(128u << 20, layout->n_clusters * layout->cluster_bytes / 6);

	return play_on_model(params, layout, writer, workload, bytes);
}

double bench_true_score(const struct sim_params *params, const struct advise_layout *layout)
{
	struct advise_row row = { 0 };

	for (int w = 0; w < ADVISE_N_WRITERS; w++)
		for (int k = 0; k < ADVISE_N_WORKLOADS; k++)
			row.bytes_per_s[w][k] = bench_true_rate(
				params, layout, (enum advise_writer)w, (enum advise_workload)k);
	return advise_score(&row, advise_purpose(0));
}
