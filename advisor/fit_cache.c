/* SPDX-License-Identifier: MIT */
/*
 * fit_cache: what a cache hides of a device. Pure.
 */
#include "fit_prices.h"

#define SMALLEST_CACHE (64u << 10)
#define LARGEST_CACHE  (16u << 20)

static uint64_t whole_ns(double ns)
{
	return (uint64_t)(ns + 0.5);
}

/*
 * Behind a cache the bus and the medium work at the same time, so times are no sums any more: the
 * medium's prices found as sums are where the search for better ones begins. One after the other is
 * made larger and smaller, in steps that become finer.
 */
double fit_refine_medium(const struct advise_measured *measured, struct sim_params *params,
			 struct fit_table *table)
{
	static const double steps[] = { 1.5, 1.2, 1.08, 1.03 };
	uint64_t *const prices[] = { &params->program_ns, &params->sense_ns, &params->copy_ns,
				     &params->erase_ns };
	double best = fit_replay_error(measured, params, false, table);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		for (size_t k = 0; k < 2 * sizeof prices / sizeof *prices; k++) {
			uint64_t before = *prices[k / 2];
			double error;

			*prices[k / 2] =
				whole_ns((double)before * (k % 2 ? steps[i] : 1 / steps[i]));
			error = fit_replay_error(measured, params, false, table);
			if (error < best) {
				best = error;
				k--; /* on in the same direction */
			} else {
				*prices[k / 2] = before;
			}
		}
	}
	return best;
}

/*
 * How much it holds shows in when writes begin to wait, not in how long all of them take. Sizes are
 * tried in steps of a quarter.
 */
void fit_find_cache_size(const struct advise_measured *measured, struct sim_params *params,
			 struct fit_table *table)
{
	double best = fit_replay_error(measured, params, true, table);
	uint64_t found = params->cache_bytes;

	for (uint64_t bytes = SMALLEST_CACHE; bytes <= LARGEST_CACHE; bytes *= 2) {
		for (uint64_t quarter = 4; quarter < 8; quarter++) {
			double error;

			params->cache_bytes = bytes / 4 * quarter;
			error = fit_replay_error(measured, params, true, table);
			if (error >= best)
				continue;
			best = error;
			found = params->cache_bytes;
		}
	}
	params->cache_bytes = found;
}
