/* SPDX-License-Identifier: MIT */
/*
 * The advisor's pure parts, and the promise that a device holds afterwards what it held before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "advisor/advise.h"
#include "advisor/sim.h"
#include "advisor/wear.h"

#define MIB (1ull << 20)

/* ---- pure ---------------------------------------------------------------------------------- */

static void comb_is_found(void **state)
{
	static const struct {
		size_t period, first;
	} cases[] = { { 2, 1 }, { 4, 0 }, { 8, 3 }, { 12, 5 }, { 24, 23 }, { 48, 17 } };

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		uint64_t ns[ADVISE_SCAN_POINTS];
		struct advise_comb comb;

		for (size_t i = 0; i < ADVISE_SCAN_POINTS; i++)
			ns[i] = 600000 + i % 7 * 1000 +
				(i % cases[k].period == cases[k].first ? 100000 : 0);
		comb = advise_find_comb(ns, ADVISE_SCAN_POINTS, 0.005);
		assert_int_equal(comb.period, cases[k].period);
		assert_int_equal(comb.first, cases[k].first);
		assert_true(comb.fit > 0.99);
	}
}

static void no_comb_in_a_flat_row(void **state)
{
	uint64_t ns[ADVISE_SCAN_POINTS];

	(void)state;
	for (size_t i = 0; i < ADVISE_SCAN_POINTS; i++)
		ns[i] = 600000 + i * 7919 % 5000;
	assert_int_equal(advise_find_comb(ns, ADVISE_SCAN_POINTS, 0.01).period, 0);
}

static void statistics(void **state)
{
	struct advise_samples samples = { .n = 5, .ns = { 10, 20, 30, 40, 1000 } };
	struct advise_samples none = { .n = 0 };

	(void)state;
	assert_true(advise_median(&samples) == 30);
	assert_true(advise_mean(&samples) == 25); /* 1000 is an event, not a price */
	assert_true(advise_percentile(&samples, 1) == 1000);
	assert_true(advise_mean(&none) == 0 && advise_median(&none) == 0);
}

static void layouts_hold_a_volume(void **state)
{
	static const uint64_t sizes[] = { 8 * MIB,    64 * MIB,    512 * MIB,
					  4096 * MIB, 32768 * MIB, 2097152 * MIB };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct advise_facts facts = { .size_bytes = sizes[s] };
		struct advise_layout layouts[ADVISE_N_CLUSTERS];

		advise_layouts(&facts, 512, layouts);
		for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
			const struct advise_layout *l = &layouts[i];

			if (l->fat_bits == 0)
				continue;
			assert_int_equal(l->cluster_bytes, 512u << i);
			assert_true(l->fat1_off < l->fat2_off && l->fat2_off < l->data_off);
			assert_true(l->data_off + l->n_clusters * l->cluster_bytes <= sizes[s]);
			assert_true(l->fat_bytes * 8 >=
				    (l->n_clusters + 2) * (uint64_t)l->fat_bits);
			assert_int_equal(l->data_off % l->cluster_bytes, 0);
			if (l->fat_bits == 32)
				assert_true(l->n_clusters >= 65525);
		}
	}
}

/* ---- the model ----------------------------------------------------------------------------- */

static const struct sim_params linear = {
	.size_bytes = 64 * MIB,
	.kind = SIM_LINEAR,
	.page_bytes = 4096,
	.block_bytes = MIB,
	.open_segments = 1,
	.program_ns = 1000,
	.copy_ns = 10,
	.erase_ns = 100000,
};

static void linear_segments_cost_what_they_should(void **state)
{
	struct sim *sim = sim_new(&linear);
	uint64_t t;

	(void)state;
	assert_non_null(sim);
	t = sim_request(sim, SIM_WRITE, 0, 8192, 0);
	assert_int_equal(t, 2000); /* two pages in a row */
	t = sim_request(sim, SIM_WRITE, 5 * 4096, 4096, t);
	assert_int_equal(t, 2000 + 3 * 10 + 1000); /* a gap of three is copied */
	t = sim_request(sim, SIM_WRITE, MIB, 4096, t);
	/* the first block lacks 250 pages; it is completed and the old one erased */
	assert_int_equal(t, 3030 + 250 * 10 + 100000 + 1000);
	assert_int_equal(sim_stats(sim).n_erases, 1);
	sim_free(sim);
}

static void behind_the_end_is_nothing(void **state)
{
	struct sim *sim = sim_new(&linear);
	uint64_t t;

	(void)state;
	assert_non_null(sim);
	t = sim_request(sim, SIM_WRITE, linear.size_bytes - 4096, 4096, 0);
	assert_true(t > 0);
	assert_int_equal(sim_request(sim, SIM_WRITE, linear.size_bytes, 64 * MIB, t), t);
	assert_int_equal(sim_stats(sim).n_programmed_pages, 1);
	sim_free(sim);
}

static void flush_waits_for_an_honest_cache(void **state)
{
	struct sim_params params = linear;

	(void)state;
	params.cache_bytes = MIB;
	params.program_ns = 1000000;
	for (int lies = 0; lies < 2; lies++) {
		struct sim *sim;
		uint64_t t;

		params.cache_lies = lies;
		sim = sim_new(&params);
		assert_non_null(sim);
		t = sim_request(sim, SIM_WRITE, 0, 65536, 0);
		assert_true(t < 1000);
		t = sim_request(sim, SIM_FLUSH, 0, 0, t);
		assert_true(lies ? t < 1000 : t >= 16 * 1000000);
		sim_free(sim);
	}
}

/* ---- content ------------------------------------------------------------------------------- */

struct stopper {
	unsigned n_calls, stop_at; /* 0: never */
};

static bool stop_at_call(void *ctx)
{
	struct stopper *stopper = ctx;

	return ++stopper->n_calls == stopper->stop_at;
}

static void ignore(void *ctx, const char *name, uint64_t left_ns)
{
	(void)ctx;
	(void)name;
	(void)left_ns;
}

static uint8_t content_at(uint64_t off)
{
	return (uint8_t)(off * 31 + (off >> 9) * 7 + (off >> 20));
}

static void fill(struct fat_dev *dev)
{
	uint8_t *buf = malloc(MIB);

	assert_non_null(buf);
	for (uint64_t off = 0; off < dev->size_bytes; off += MIB) {
		for (uint64_t i = 0; i < MIB; i++)
			buf[i] = content_at(off + i);
		assert_int_equal(fat_dev_write(dev, off, buf, MIB), FAT_OK);
	}
	free(buf);
}

static bool is_as_filled(struct fat_dev *dev)
{
	uint8_t *buf = malloc(MIB);
	bool same = true;

	assert_non_null(buf);
	for (uint64_t off = 0; same && off < dev->size_bytes; off += MIB) {
		assert_int_equal(fat_dev_read(dev, off, buf, MIB), FAT_OK);
		for (uint64_t i = 0; same && i < MIB; i++)
			same = buf[i] == content_at(off + i);
	}
	free(buf);
	return same;
}

/* Returns how often the device was about to be used. */
static unsigned run_on_small_device(unsigned stop_at)
{
	static struct advise_measured measured;
	const struct advise_budget budget = { 30000000000u, 64 * MIB };
	const struct advise_facts facts = { .size_bytes = linear.size_bytes };
	struct stopper stopper = { .stop_at = stop_at };
	struct advise_watch watch = { stop_at_call, ignore, &stopper };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_target target;

	assert_int_equal(advise_target_simulate(&linear, NULL, &target), FAT_OK);
	fill(target.dev);
	advise_layouts(&facts, 512, layouts);
	assert_int_equal(advise_measure(&target, layouts, &budget, &watch, &measured), FAT_OK);
	assert_int_equal(measured.interrupted, stop_at != 0);
	assert_false(measured.content_differs);
	assert_true(measured.written_bytes <= budget.max_bytes);
	if (!stop_at)
		assert_true(measured.written_bytes > 4 * MIB);
	assert_true(is_as_filled(target.dev));
	advise_measured_fini(&measured);
	advise_target_close(&target);
	return stopper.n_calls;
}

static void content_stays_wherever_it_is_stopped(void **state)
{
	unsigned n_calls = run_on_small_device(0);

	(void)state;
	assert_true(n_calls > 500);
	for (unsigned at = 1; at < n_calls; at += n_calls / 24)
		run_on_small_device(at);
}

/* ---- failures ------------------------------------------------------------------------------ */

/* A layer that fails or forgets, from the n-th write on. */
struct dev_bad {
	struct fat_dev dev;
	unsigned n_writes, bad_from;
	bool forgets;
};

static enum fat_status bad_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	struct dev_bad *bad = (struct dev_bad *)dev;
	enum fat_status status = fat_dev_read(dev->below, off, buf, len_bytes);

	if (bad->forgets && bad->n_writes >= bad->bad_from)
		memset(buf, 0xFF, len_bytes);
	return status;
}

static enum fat_status bad_write(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes)
{
	struct dev_bad *bad = (struct dev_bad *)dev;

	if (++bad->n_writes >= bad->bad_from && !bad->forgets)
		return fat_dev_fail(dev, FAT_ERR_IO, "write", off, len_bytes, 5);
	return fat_dev_write(dev->below, off, buf, len_bytes);
}

static enum fat_status bad_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static const struct fat_dev_ops bad_ops = {
	.name = "bad", .read = bad_read, .write = bad_write, .flush = bad_flush
};

static enum fat_status run_on_bad_device(bool forgets, struct advise_measured *measured)
{
	const struct advise_budget budget = { 30000000000u, 64 * MIB };
	const struct advise_facts facts = { .size_bytes = linear.size_bytes };
	struct stopper stopper = { 0 };
	struct advise_watch watch = { stop_at_call, ignore, &stopper };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_target target, wrapped;
	struct dev_bad bad = { .bad_from = 100, .forgets = forgets };
	enum fat_status status;

	assert_int_equal(advise_target_simulate(&linear, NULL, &target), FAT_OK);
	advise_layouts(&facts, 512, layouts);
	bad.dev = (struct fat_dev){ .ops = &bad_ops,
				    .below = target.dev,
				    .size_bytes = target.dev->size_bytes,
				    .block_bytes = 512 };
	wrapped = target;
	wrapped.dev = &bad.dev;
	status = advise_measure(&wrapped, layouts, &budget, &watch, measured);
	advise_measured_fini(measured);
	advise_target_close(&target);
	return status;
}

static void failed_write_ends_it(void **state)
{
	static struct advise_measured measured;

	(void)state;
	assert_int_equal(run_on_bad_device(false, &measured), FAT_ERR_IO);
}

static void forgotten_content_is_noticed(void **state)
{
	static struct advise_measured measured;

	(void)state;
	assert_int_equal(run_on_bad_device(true, &measured), FAT_OK);
	assert_true(measured.content_differs);
}

/* ---- choice -------------------------------------------------------------------------------- */

/*
 * By rates that rise with the cluster size, no model, and writes that take longer_ns for 8 KiB; of
 * the short ones some take late_ns.
 */
static struct advise_choice choose_on(uint64_t size_bytes, double longer_ns, uint64_t late_ns,
				      double noise)
{
	const struct advise_facts facts = { .size_bytes = size_bytes };
	const struct advise_samples varies = { 5, { 1000000, late_ns, 1000000, late_ns, 1000000 } };
	const struct advise_measured measured = { .size_bytes = size_bytes,
						  .write = { varies, varies } };
	const struct advise_fit fit = { .error = 1 };
	struct advise_inferred inferred = { .enough = true, .noise = noise };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_prediction prediction = { 0 };
	struct advise_choice choice;

	advise_layouts(&facts, 512, layouts);
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		prediction.rows[i].layout = layouts[i];
		for (int w = 0; w < ADVISE_N_WRITERS; w++)
			for (int k = 0; k < ADVISE_N_WORKLOADS; k++)
				prediction.rows[i].bytes_per_s[w][k] = 1e6 * (double)(i + 1);
	}
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		inferred.write_ns[i] = 1e6 + 10 * advise_size_bytes(i);
	inferred.write_ns[4] = longer_ns;
	advise_choose(&facts, &measured, &inferred, &fit, &prediction, advise_purpose(0), &choice);
	return choice;
}

static enum advise_verdict choose_by(double longer_ns, uint64_t late_ns, double noise)
{
	return choose_on(1024 * MIB, longer_ns, late_ns, noise).verdict;
}

/* The longest clusters are the fastest, and FAT12's. */
static void no_fat12_where_fat16_is(void **state)
{
	struct advise_choice choice = choose_on(64 * MIB, 1.1e6, 1100000, 0.01);

	(void)state;
	assert_int_equal(choice.verdict, ADVISE_CHOSEN);
	assert_int_equal(choice.layout.fat_bits, 16);
	choice = choose_on(10 * MIB, 1.1e6, 1100000, 0.01);
	assert_int_equal(choice.layout.fat_bits, 12);
}

static void contradicting_times_are_no_ground(void **state)
{
	(void)state;
	assert_int_equal(choose_by(1.1e6, 1100000, 0.01), ADVISE_CHOSEN);
	assert_int_equal(choose_by(9e6, 1100000, 0.01), ADVISE_DO_NOT_KNOW);
	assert_int_equal(choose_by(1.1e6, 20000000, 0.01), ADVISE_DO_NOT_KNOW);
	assert_int_equal(choose_by(1.1e6, 1100000, 0.2), ADVISE_DO_NOT_KNOW);
}

/* ---- what is taken back -------------------------------------------------------------------- */

/* Pages of 16 KiB and blocks of 4 MiB were inferred; the block that is left. */
static uint64_t block_left(const struct sim_params *model, double error, bool by_visits)
{
	const struct advise_fit fit = { .params = model, .error = error };
	struct advise_inferred inferred = { .page = { 16384, 1 },
					    .block = { 4 * MIB, 1 },
					    .block_by_visits = by_visits };

	advise_revise(&fit, &inferred);
	assert_int_equal(inferred.page.value, 16384);
	return inferred.block.value;
}

static void what_writes_deny_is_taken_back(void **state)
{
	const struct sim_params in_pages = { .kind = SIM_FLAT, .page_bytes = 16384 };
	const struct sim_params in_blocks = { .kind = SIM_LINEAR,
					      .page_bytes = 16384,
					      .block_bytes = 4 * MIB };

	(void)state;
	assert_int_equal(block_left(&in_blocks, 0.02, false), 4 * MIB);
	assert_int_equal(block_left(&in_blocks, 0.02, true), 4 * MIB);
	assert_int_equal(block_left(&in_blocks, 0.15, true), 0);
	assert_int_equal(block_left(NULL, 1, false), 4 * MIB);
	assert_int_equal(block_left(NULL, 1, true), 0);
	assert_int_equal(block_left(&in_pages, 0.02, false), 0);
}

/* ---- wear ---------------------------------------------------------------------------------- */

/* Blocks of 2 MiB that begin at 1 MiB; claims made before they were known count as well. */
static void no_block_is_claimed_too_often(void **state)
{
	struct wear wear;

	(void)state;
	wear_init(&wear, 4096 * MIB);
	assert_true(wear_claim(&wear, 100 * MIB, 101 * MIB, 2));
	assert_false(wear_claim(&wear, 120 * MIB, 121 * MIB, 1)); /* a block may be that long */
	assert_false(wear_claim(&wear, 80 * MIB, 81 * MIB, 1));
	assert_true(wear_claim(&wear, 130 * MIB, 131 * MIB, 1));
	wear_set_blocks(&wear, 2 * MIB, MIB);
	assert_false(wear_claim(&wear, 99 * MIB, 100 * MIB, 2)); /* the block of 99 to 101 MiB */
	assert_true(wear_claim(&wear, 99 * MIB, 100 * MIB, 1));
	assert_false(wear_claim(&wear, 90 * MIB, 100 * MIB, 1)); /* reaches into it */
	assert_true(wear_claim(&wear, 101 * MIB, 103 * MIB, 3));
	wear_fini(&wear);
}

/* ---- erase blocks from the price of writes ------------------------------------------------- */

/* Visits to a device that keeps two blocks of 3 MiB open, which begin at 1 MiB; pages of 16 KiB. */
static void sawtooth_tells_block_and_gap(void **state)
{
	const uint64_t block = 3 * MIB, begin = MIB, page = 16384;
	struct advise_inside inside = { .n_visits = 24 };
	struct advise_sawtooth found;
	uint64_t low, high, lacks[2] = { 0, 0 };

	(void)state;
	for (size_t i = 0; i < inside.n_visits; i++) {
		uint64_t at = (i * 97 + 64) * MIB + i * i * 7919 % 192 * page;
		uint64_t pos = (at + block - begin) % block;

		inside.visit_off[i] = at;
		inside.visit_ns[i] = 2000000 + (pos + lacks[i % 2]) * 60;
		lacks[i % 2] = block - pos - page;
	}
	advise_find_sawtooth(&inside, page, &found);
	assert_int_equal(found.block_bytes, block);
	assert_int_equal(found.open_segments, 2);
	assert_true(found.left < 0.01);
	advise_sawtooth_gap(&inside, found.block_bytes, found.block_off, &low, &high);
	assert_true(high - low < block / 4);
	assert_true((begin + block - low) % block <= high - low);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comb_is_found),
		cmocka_unit_test(no_comb_in_a_flat_row),
		cmocka_unit_test(statistics),
		cmocka_unit_test(layouts_hold_a_volume),
		cmocka_unit_test(contradicting_times_are_no_ground),
		cmocka_unit_test(no_fat12_where_fat16_is),
		cmocka_unit_test(what_writes_deny_is_taken_back),
		cmocka_unit_test(no_block_is_claimed_too_often),
		cmocka_unit_test(sawtooth_tells_block_and_gap),
		cmocka_unit_test(linear_segments_cost_what_they_should),
		cmocka_unit_test(behind_the_end_is_nothing),
		cmocka_unit_test(flush_waits_for_an_honest_cache),
		cmocka_unit_test(content_stays_wherever_it_is_stopped),
		cmocka_unit_test(failed_write_ends_it),
		cmocka_unit_test(forgotten_content_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
