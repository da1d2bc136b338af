/* SPDX-License-Identifier: MIT */
/*
 * The advice for devices whose truth is known: every shipped model, in virtual time, measured once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "bench.h"

static double true_best(const struct sim_params *params, const struct bench *b)
{
	double best = 0;

	for (size_t i = 3; i < ADVISE_N_CLUSTERS; i++)
		if (b->layouts[i].fat_bits)
			best = fmax(best, bench_true_score(params, &b->layouts[i]));
	return best;
}

/* The choice is as good as the best one that the oracle knows, but for 10 %. */
static void choice_is_nearly_the_best(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; sim_model(i); i++, b++) {
		const struct sim_params *params = sim_model(i);
		double chosen, best;

		assert_int_not_equal(b->choice.verdict, ADVISE_DO_NOT_KNOW);
		chosen = bench_true_score(params, &b->layouts[b->choice.row]);
		best = true_best(params, b);
		print_message("# %-10s %2u KiB: %.3f of the best\n", params->name,
			      b->layouts[b->choice.row].cluster_bytes / 1024, chosen / best);
		assert_true(chosen >= 0.9 * best);
	}
}

static void page_size_is_right_or_unknown(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; sim_model(i); i++, b++) {
		const struct sim_params *params = sim_model(i);

		if (params->kind == SIM_LINEAR)
			assert_int_equal(b->inferred.page.value, params->page_bytes);
		else if (b->inferred.page.value)
			assert_int_equal(b->inferred.page.value, params->page_bytes);
	}
}

/* Where the recommended size was rehearsed, what is promised for it comes within 25 %. */
static void promise_is_kept(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; sim_model(i); i++, b++) {
		const struct sim_params *params = sim_model(i);

		for (int w = 0; w < ADVISE_N_WRITERS; w++) {
			double truth = bench_true_rate(params, &b->layouts[b->choice.row],
						       (enum advise_writer)w, ADVISE_LARGE);
			double said =
				b->prediction.rows[b->choice.row].bytes_per_s[w][ADVISE_LARGE];

			print_message("# %-10s writer %d: %.3g MB/s, in truth %.3g\n", params->name,
				      w, said / 1e6, truth / 1e6);
			assert_true(said > 0.75 * truth && said < 1.25 * truth);
		}
	}
}

/* At most 33 s and 70 MiB. */
static void budget_is_kept(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; sim_model(i); i++, b++) {
		assert_true(b->measured.elapsed_ns < 33000000000u);
		assert_true(b->measured.written_bytes <= 70u << 20);
	}
}

/* Where time is short the answer is good, or "don't know"; and the time is kept to within 10 %. */
static void short_budgets_mislead_nobody(void **state)
{
	static const uint8_t seconds[] = { 2, 3, 5, 7, 10, 15 };
	struct bench *all = *state;

	for (size_t i = 0; sim_model(i); i++) {
		const struct sim_params *params = sim_model(i);
		double best = true_best(params, all++);

		for (size_t k = 0; k < sizeof seconds; k++) {
			const struct advise_budget budget = { seconds[k] * 1000000000ull,
							      16u << 20 };
			struct bench b;
			double chosen;

			assert_true(bench_run_within(params, &budget, &b));
			chosen = bench_true_score(params, &b.layouts[b.choice.row]) / best;
			print_message("# %-10s %2u s: verdict %d, %2u KiB: %.3f of the best, "
				      "%.1f s\n",
				      params->name, seconds[k], b.choice.verdict,
				      b.layouts[b.choice.row].cluster_bytes / 1024, chosen,
				      (double)b.measured.elapsed_ns / 1e9);
			assert_true(b.choice.verdict == ADVISE_DO_NOT_KNOW || chosen >= 0.85);
			assert_true(b.measured.elapsed_ns <= budget.max_ns / 10 * 11);
			bench_fini(&b);
		}
	}
}

/* Pages longer than those of any device known, as chance may show them: they have room. */
static void the_longest_pages_fit(void **state)
{
	struct sim_params params = *sim_model_by_name("tlc-stick");
	struct bench b;

	(void)state;
	params.lookup_ns = 0; /* blocks cannot be seen: writes are planned by pages */
	for (params.page_bytes = 64 << 10; params.page_bytes <= 96 << 10;
	     params.page_bytes += 32 << 10) {
		assert_true(bench_run(&params, &b));
		assert_int_equal(b.inferred.page.value, params.page_bytes);
		assert_int_equal(b.n_differences, 0);
		bench_fini(&b);
	}
}

/* As old cards have: on the usual grid each point is a boundary, and blocks look like pages. */
static void short_pages_are_seen(void **state)
{
	struct sim_params params = *sim_model_by_name("sd-card");
	struct bench b;

	(void)state;
	params.program_ns = 300000;
	params.copy_ns = 350000;
	for (params.page_bytes = 1024; params.page_bytes <= 4096; params.page_bytes *= 2) {
		params.block_bytes = 128 * params.page_bytes;
		assert_true(bench_run(&params, &b));
		assert_int_equal(b.inferred.page.value, params.page_bytes);
		assert_int_equal(b.inferred.block.value, params.block_bytes);
		bench_fini(&b);
	}
}

/* A page of one sector is crossed at every point of a row of reads: its blocks look like pages. */
static void pages_of_one_sector_are_seen(void **state)
{
	struct sim_params params = *sim_model_by_name("sd-card");
	struct bench b;

	(void)state;
	params.page_bytes = 512;
	params.program_ns = 40000;
	params.copy_ns = 60000;
	params.block_bytes = 64 << 10;
	assert_true(bench_run(&params, &b));
	assert_int_equal(b.inferred.block.value, params.block_bytes);
	assert_int_equal(b.inferred.page.value, params.page_bytes);
	bench_fini(&b);
}

/* Of several planes at once: longer than the usual grid shows, and no erase blocks. */
static void pages_of_several_planes_are_seen(void **state)
{
	struct sim_params params = *sim_model_by_name("tlc-stick");
	struct bench b;

	(void)state;
	params.page_bytes = 192 << 10;
	params.program_ns = 6000000;
	params.copy_ns = 4000000;
	params.block_bytes = 12 << 20;
	assert_true(bench_run(&params, &b));
	assert_int_equal(b.inferred.page.value, params.page_bytes);
	assert_int_equal(b.inferred.block.value, params.block_bytes);
	assert_int_equal(b.n_differences, 0);
	bench_fini(&b);
}

/* A map in units of some MiB shows in reads; no write pays for it. */
static void map_units_are_no_blocks(void **state)
{
	struct sim_params params = *sim_model_by_name("sd-card");
	struct bench b;

	(void)state;
	params.kind = SIM_FLAT;
	assert_true(params.lookup_ns > 0);
	assert_true(bench_run(&params, &b));
	assert_true(b.measured.block_scan.period_bytes == params.block_bytes);
	assert_int_equal(b.inferred.block.value, 0);
	assert_int_equal(b.inferred.page.value, params.page_bytes);
	bench_fini(&b);
}

/* One command in fifty takes long, by chance: a speed has its share of them. */
static void pauses_have_a_price(void **state)
{
	struct sim_params params = *sim_model_by_name("sd-card");
	struct bench b;

	(void)state;
	params.spike_chance = 0.02;
	params.spike_ns = 40000000;
	assert_true(bench_run(&params, &b));
	assert_non_null(b.fit.params);
	assert_true(b.fit.params->write_command_ns > params.write_command_ns + 400000);
	bench_fini(&b);
}

/* Volumes that the usual workloads do not fit into: nothing is played behind their end. */
static void small_devices_are_judged(void **state)
{
	struct sim_params params = *sim_model_by_name("old-stick");
	struct bench b;

	(void)state;
	params.block_bytes = 1 << 20;
	for (params.size_bytes = 16 << 20; params.size_bytes <= 512 << 20; params.size_bytes *= 2) {
		double chosen;

		assert_true(bench_run(&params, &b));
		chosen = bench_true_score(&params, &b.layouts[b.choice.row]) /
			 true_best(&params, &b);
		print_message("# %3u MiB: verdict %d, %2u KiB: %.3f of the best\n",
			      (unsigned)(params.size_bytes >> 20), b.choice.verdict,
			      b.layouts[b.choice.row].cluster_bytes / 1024, chosen);
		assert_true(b.choice.verdict == ADVISE_DO_NOT_KNOW || chosen >= 0.85);
		assert_int_equal(b.n_differences, 0);
		bench_fini(&b);
	}
}

/* Streams as long as a block begin where one does: closed out of order a block is erased twice. */
static void short_blocks_are_spared(void **state)
{
	struct sim_params params = *sim_model_by_name("old-stick");
	struct bench b;

	(void)state;
	params.kind = SIM_LOG;
	params.page_bytes = 2048;
	for (params.size_bytes = 16 << 20; params.size_bytes <= 512 << 20; params.size_bytes *= 2)
		for (params.open_segments = 1; params.open_segments <= 2; params.open_segments++) {
			params.block_bytes = params.open_segments * (128 << 10);
			assert_true(bench_run(&params, &b));
			assert_in_range(b.n_worst_erases, 0, 3);
			bench_fini(&b);
		}
}

/* By angles over ever longer distances, to the very sector: thousands of tracks lie between. */
static void tracks_of_a_disk_are_counted(void **state)
{
	struct sim_params params = *sim_model_by_name("disk-64k");
	struct bench b;

	(void)state;
	for (params.noise = 0; params.noise < 0.04; params.noise += 0.03) {
		double far, wrong;

		assert_true(bench_run(&params, &b));
		assert_true(b.fit.angles_known);
		far = (double)params.size_bytes / 3;
		wrong = far / (double)b.model.track_bytes - far / (double)params.track_bytes;
		assert_true(fabs(wrong) < 0.25);
		bench_fini(&b);
	}
}

static int measure_all(void **state)
{
	size_t n = 0;
	struct bench *b;

	while (sim_model(n))
		n++;
	*state = b = calloc(n, sizeof *b);
	for (size_t i = 0; b && i < n; i++)
		if (!bench_run(sim_model(i), &b[i]))
			return -1;
	return b ? 0 : -1;
}

static int free_all(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; sim_model(i); i++)
		bench_fini(&b[i]);
	free(b);
	return 0;
}

/* Programs twenty times as fast until 32 MiB have been written, by this or anything before. */
static void slow_after_a_burst_is_seen(void **state)
{
	struct sim_params params = *sim_model_by_name("ssd");
	struct bench b;

	(void)state;
	params.burst_bytes = 32u << 20;
	params.burst_program_ns = params.program_ns;
	params.program_ns = 20 * params.burst_program_ns;
	assert_true(bench_run(&params, &b));
	assert_in_range(b.inferred.fast_bytes, 2u << 20, 31u << 20);
	assert_true(b.inferred.sustained_bytes_per_s < b.inferred.burst_bytes_per_s / 5);
	bench_fini(&b);
	assert_true(bench_run(sim_model_by_name("ssd"), &b));
	assert_int_equal(b.inferred.fast_bytes, 0);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice_is_nearly_the_best),
		cmocka_unit_test(page_size_is_right_or_unknown),
		cmocka_unit_test(promise_is_kept),
		cmocka_unit_test(budget_is_kept),
		cmocka_unit_test(slow_after_a_burst_is_seen),
		cmocka_unit_test(short_budgets_mislead_nobody),
		cmocka_unit_test(the_longest_pages_fit),
		cmocka_unit_test(short_pages_are_seen),
		cmocka_unit_test(pages_of_one_sector_are_seen),
		cmocka_unit_test(pages_of_several_planes_are_seen),
		cmocka_unit_test(map_units_are_no_blocks),
		cmocka_unit_test(pauses_have_a_price),
		cmocka_unit_test(small_devices_are_judged),
		cmocka_unit_test(short_blocks_are_spared),
		cmocka_unit_test(tracks_of_a_disk_are_counted),
	};

	return cmocka_run_group_tests(tests, measure_all, free_all);
}
