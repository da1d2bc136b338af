/* SPDX-License-Identifier: MIT */
/*
 * purpose: what a volume is for decides which speeds count, and how much. Pure.
 */
#include <math.h>

#include "advise.h"

static const struct advise_purpose purposes[] = {
	{
		.name = "all",
		.text = "large files and photos, by any writer but a sync mount",
		.weight = {
			[ADVISE_CACHED] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 1 },
			[ADVISE_AGED] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 1 },
			[ADVISE_CLUSTER] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 1 },
		},
	},
	{
		.name = "camera",
		.text = "photos and films, cluster by cluster",
		.weight = {
			[ADVISE_CACHED] = { [ADVISE_PHOTOS] = 1 },
			[ADVISE_CLUSTER] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 2 },
		},
	},
	{
		.name = "linux",
		.text = "files of all sizes through a page cache",
		.weight = {
			[ADVISE_CACHED] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 1,
					    [ADVISE_SMALL] = 1 },
			[ADVISE_AGED] = { [ADVISE_LARGE] = 1, [ADVISE_PHOTOS] = 1 },
		},
	},
	{
		.name = "embedded",
		.text = "logs and small files, sync or cluster by cluster",
		.weight = {
			[ADVISE_SYNC] = { [ADVISE_LARGE] = 1, [ADVISE_LOG] = 1 },
			[ADVISE_CLUSTER] = { [ADVISE_LARGE] = 1, [ADVISE_SMALL] = 1,
					     [ADVISE_LOG] = 2 },
		},
	},
	{
		.name = "boot",
		.text = "a boot partition: small files, rarely written",
		.weight = {
			[ADVISE_CACHED] = { [ADVISE_PHOTOS] = 1, [ADVISE_SMALL] = 2 },
			[ADVISE_SYNC] = { [ADVISE_SMALL] = 1 },
		},
	},
	{
		.name = "backup",
		.text = "large files through a page cache",
		.weight = {
			[ADVISE_CACHED] = { [ADVISE_LARGE] = 2 },
			[ADVISE_AGED] = { [ADVISE_LARGE] = 1 },
		},
	},
};

const struct advise_purpose *advise_purpose(size_t index)
{
	return index < sizeof purposes / sizeof *purposes ? &purposes[index] : NULL;
}

double advise_score(const struct advise_row *row, const struct advise_purpose *purpose)
{
	double sum = 0, weight = 0;

	for (size_t w = 0; w < ADVISE_N_WRITERS; w++) {
		for (size_t k = 0; k < ADVISE_N_WORKLOADS; k++) {
			if (purpose->weight[w][k] <= 0)
				continue;
			if (row->bytes_per_s[w][k] <= 0)
				return 0;
			sum += purpose->weight[w][k] * log(row->bytes_per_s[w][k]);
			weight += purpose->weight[w][k];
		}
	}
	return exp(sum / weight);
}
