/* SPDX-License-Identifier: MIT */
/*
 * populate_runs: a placed tree as the runs of clusters that formatting makes the FATs of.
 *
 * One run a node, more where bad clusters break it; and the bad clusters.
 */
#include "populate.h"

#include <stdlib.h>

struct runs {
	struct fat_populate *populate;
	size_t next_bad;
};

static void put(struct runs *runs, struct fat_run run)
{
	struct fat_populate *populate = runs->populate;

	populate->run[populate->n_runs++] = run;
}

/* The bad clusters before clus. */
static void put_bad(struct runs *runs, uint32_t clus)
{
	const struct fat_populate *populate = runs->populate;

	while (runs->next_bad < populate->n_bad && populate->bad[runs->next_bad] < clus) {
		uint32_t first = populate->bad[runs->next_bad];
		uint32_t n = 0;

		while (runs->next_bad < populate->n_bad &&
		       populate->bad[runs->next_bad] == first + n) {
			runs->next_bad++;
			n++;
		}
		put(runs, (struct fat_run){ .first_clus = first, .n_clus = n, .is_bad = true });
	}
}

static void put_chain(struct runs *runs, const struct populate_node *node)
{
	const struct fat_populate *populate = runs->populate;
	uint32_t clus = node->first_clus;

	for (uint32_t left = node->n_clus; left > 0;) {
		struct fat_run run = { .first_clus = clus };

		put_bad(runs, clus);
		run.n_clus = fat_populate_run(populate, clus, left);
		left -= run.n_clus;
		clus = fat_populate_skip_bad(populate, clus + run.n_clus);
		run.next = left ? clus : fat_entry_mask(populate->geometry.type);
		put(runs, run);
	}
}

enum fat_status fat_populate_make_runs(struct fat_populate *populate)
{
	struct runs runs = { .populate = populate };
	struct populate_walk walk = { .populate = populate };
	uint32_t node;

	free(populate->run);
	populate->n_runs = 0;
	/* A bad cluster is a run, and makes two of one. */
	populate->run = calloc(populate->n_nodes + 2 * populate->n_bad, sizeof *populate->run);
	if (!populate->run)
		return FAT_ERR_MEMORY;
	while ((node = fat_populate_walk_next(&walk)) != FAT_POPULATE_NO_NODE)
		put_chain(&runs, &populate->node[node]);
	put_bad(&runs, UINT32_MAX);
	return FAT_OK;
}

const struct fat_run *fat_populate_runs(const struct fat_populate *populate, size_t *n_runs)
{
	*n_runs = populate->n_runs;
	return populate->run;
}
