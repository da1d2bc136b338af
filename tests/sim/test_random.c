/* SPDX-License-Identifier: MIT */
/*
 * The advisor on devices by seed. `make check` tries a fixed sample; `make -C tests sim` many more
 * (SIM_DEVICES in the environment, from SIM_FIRST on) and prints the figures that the README
 * quotes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "lib/bytes.h"
#include "random_device.h"

#define SAMPLE    12
#define FIRST_ROW 3 /* 4 KiB */
#define N_WORST   10

static const char *const writer_names[ADVISE_N_WRITERS] = { "fresh", "aged", "sync", "cluster" };

/* A device that the advice did worst on, and what it is. */
struct sad {
	unsigned n_bad; /* predictions far off, and ten for each best size missed */
	char text[200];
};

/* What came out over all devices. */
struct tally {
	unsigned n, n_measured;
	unsigned n_block_shown, n_block_right, n_offset_right, n_block_wrong;
	unsigned n_page_shown, n_page_right, n_page_wrong;
	unsigned n_over_time, n_over_bytes;
	unsigned n_fake, n_fake_found, n_fake_wrong;
	unsigned n_changed;      /* devices whose content a write would have changed */
	uint64_t n_worst_erases; /* of one block, but for the FAT's place */
	unsigned n_worn;         /* devices with one erased more than 3 times */
	unsigned n_model, n_choice_good;
	unsigned n_rates, n_told, n_rates_near; /* speeds, predicted, within 20 % of the truth */
	unsigned n_best[ADVISE_N_WRITERS][ADVISE_N_WORKLOADS]; /* best cluster within 5 % */
	struct sad worst[N_WORST];                             /* the worst first */
};

static unsigned number(const char *name, unsigned usual)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

static unsigned first_seed(void)
{
	return number("SIM_FIRST", 1);
}

static unsigned end_seed(void)
{
	return first_seed() + number("SIM_DEVICES", SAMPLE);
}

static bool is_flash(const struct sim_params *p)
{
	return p->kind == SIM_LINEAR || p->kind == SIM_LOG;
}

static void tally_inside(const struct sim_params *p, const struct bench *b, struct tally *t)
{
	const struct advise_inferred *inferred = &b->inferred;
	bool right = inferred->block.value == p->block_bytes && is_flash(p);

	if (inferred->block.value && !right) {
		t->n_block_wrong++;
		print_message("# %u: block %llu, truth %llu\n", (unsigned)p->seed,
			      (unsigned long long)inferred->block.value,
			      (unsigned long long)p->block_bytes);
	}
	if (random_device_shows_block(p)) {
		t->n_block_shown++;
		t->n_block_right += right;
		t->n_offset_right += right && inferred->block_off == p->block_off;
	}
	right = inferred->page.value == p->page_bytes && p->kind != SIM_DISK;
	t->n_page_wrong += inferred->page.value && !right;
	if (random_device_shows_page(p)) {
		t->n_page_shown++;
		t->n_page_right += right;
	}
}

/* Of one writer's workload: is the size said to be best as good as the truly best, but for 5 %? */
static bool best_is_good(const struct bench *b, const double truth[ADVISE_N_CLUSTERS], int w, int k)
{
	size_t said = FIRST_ROW, best = FIRST_ROW;

	for (size_t i = FIRST_ROW; i < ADVISE_N_CLUSTERS; i++) {
		if (b->prediction.rows[i].bytes_per_s[w][k] >
		    b->prediction.rows[said].bytes_per_s[w][k])
			said = i;
		if (truth[i] > truth[best])
			best = i;
	}
	return truth[said] >= 0.95 * truth[best];
}

static void tally_writer(const struct sim_params *p, const struct bench *b, int w, int k,
			 struct tally *t, unsigned *n_far, unsigned *n_lost)
{
	double truth[ADVISE_N_CLUSTERS] = { 0 };

	for (size_t i = FIRST_ROW; i < ADVISE_N_CLUSTERS; i++) {
		double said = advise_told(&b->prediction.rows[i], (size_t)w, (size_t)k);

		if (b->layouts[i].fat_bits == 0)
			continue;
		truth[i] = bench_true_rate(p, &b->layouts[i], (enum advise_writer)w,
					   (enum advise_workload)k);
		t->n_rates++;
		t->n_told += said > 0;
		if (said > 0.8 * truth[i] && said < 1.2 * truth[i])
			t->n_rates_near++;
		else
			++*n_far;
	}
	if (best_is_good(b, truth, w, k))
		t->n_best[w][k]++;
	else
		++*n_lost;
}

/* Why: what the model lacks, if there is none, or what hides the inside. */
static const char *reason(const struct sim_params *p, const struct bench *b)
{
	if (!b->fit.params && is_flash(p) && b->inferred.block.value == 0)
		return "no model: erase blocks not found";
	if (!b->fit.params)
		return "no model explains the writes";
	if (p->cache_bytes > 0 && b->measured.settle == ADVISE_SETTLED)
		return "its cache was not noticed";
	if (p->kind == SIM_DISK)
		return "the angle of a disk decides";
	return "the model explains the measurement, and not the rest";
}

static void note_sad(const struct sim_params *p, const struct bench *b, unsigned n_far,
		     unsigned n_lost, struct tally *t)
{
	static const char *const kinds[] = { "flat", "log", "linear", "disk" };
	struct sad now = { .n_bad = n_far + 10 * n_lost };

	snprintf(now.text, sizeof now.text,
		 "%u: %u of 80 speeds far off, %u best sizes missed; %s, block %u KiB, cache %u "
		 "KiB%s: %s (error %.2f)",
		 (unsigned)p->seed, n_far, n_lost, kinds[p->kind],
		 (unsigned)(p->block_bytes / 1024), (unsigned)(p->cache_bytes / 1024),
		 p->cache_lies ? " that lies" : "", reason(p, b), b->fit.error);
	for (size_t i = 0; i < N_WORST; i++) {
		struct sad other = t->worst[i];

		if (now.n_bad <= other.n_bad)
			continue;
		t->worst[i] = now;
		now = other;
	}
}

static void tally_prediction(const struct sim_params *p, const struct bench *b, struct tally *t)
{
	double best = 0, chosen;
	unsigned n_far = 0, n_lost = 0;

	for (size_t i = FIRST_ROW; i < ADVISE_N_CLUSTERS; i++)
		if (b->layouts[i].fat_bits)
			best = fmax(best, bench_true_score(p, &b->layouts[i]));
	chosen = bench_true_score(p, &b->layouts[b->choice.row]);
	t->n_choice_good += chosen >= 0.9 * best;
	t->n_model += b->fit.params != NULL;
	for (int w = 0; w < ADVISE_N_WRITERS; w++)
		for (int k = 0; k < ADVISE_N_WORKLOADS; k++)
			tally_writer(p, b, w, k, t, &n_far, &n_lost);
	note_sad(p, b, n_far, n_lost, t);
}

static void tally_device(uint64_t seed, struct bench *b, struct tally *t)
{
	struct sim_params params;

	random_device(seed, 0.03, &params);
	t->n++;
	if (!bench_run(&params, b))
		return;
	t->n_measured++;
	t->n_changed += b->n_differences > 0;
	t->n_worst_erases = max_u64(t->n_worst_erases, b->n_worst_erases);
	t->n_worn += b->n_worst_erases > 3;
	if (b->n_worst_erases > 3)
		print_message("# %u: a block erased %u times\n", (unsigned)seed, b->n_worst_erases);
	t->n_fake += params.real_bytes > 0;
	t->n_fake_found += params.real_bytes > 0 && b->measured.real_bytes == params.real_bytes;
	t->n_fake_wrong +=
		b->measured.real_bytes > 0 && b->measured.real_bytes != params.real_bytes;
	if (params.real_bytes == 0) {
		tally_inside(&params, b, t);
		tally_prediction(&params, b, t);
	}
	t->n_over_time += b->measured.elapsed_ns > 33000000000u;
	t->n_over_bytes += b->measured.written_bytes > 70u << 20;
	bench_fini(b);
}

static void print_tally(const struct tally *t)
{
	print_message(
		"# %u devices: block right %u of %u, offset right %u, wrong %u; page right %u "
		"of %u, wrong %u; over time %u, over bytes %u\n",
		t->n, t->n_block_right, t->n_block_shown, t->n_offset_right, t->n_block_wrong,
		t->n_page_right, t->n_page_shown, t->n_page_wrong, t->n_over_time, t->n_over_bytes);
	print_message(
		"# model found for %u; choice within 10 %% for %u; rates within 20 %%: %u of %u, "
		"%u of them told\n",
		t->n_model, t->n_choice_good, t->n_rates_near, t->n_rates, t->n_told);
	for (int w = 0; w < ADVISE_N_WRITERS; w++)
		print_message(
			"# best size within 5 %%, %s: large %u, photos %u, small %u, log %u\n",
			writer_names[w], t->n_best[w][ADVISE_LARGE], t->n_best[w][ADVISE_PHOTOS],
			t->n_best[w][ADVISE_SMALL], t->n_best[w][ADVISE_LOG]);
	print_message("# fakes found %u of %u, wrongly %u; content changed on %u; one block erased "
		      "%u times at most, on %u devices more than 3 times\n",
		      t->n_fake_found, t->n_fake, t->n_fake_wrong, t->n_changed,
		      (unsigned)t->n_worst_erases, t->n_worn);
	for (size_t i = 0; i < N_WORST && t->worst[i].n_bad > 0; i++)
		print_message("# worst %zu: %s\n", i + 1, t->worst[i].text);
}

static void random_devices(void **state)
{
	struct bench *b = *state;
	struct tally t = { 0 };

	for (uint64_t seed = first_seed(); seed < end_seed(); seed++)
		tally_device(seed, b, &t);
	print_tally(&t);
	assert_int_equal(t.n_changed, 0);
	assert_int_equal(t.n_fake_found, t.n_fake);
	assert_int_equal(t.n_fake_wrong, 0);
	assert_int_equal(t.n, t.n_measured);
	assert_true(t.n_block_right * 100 >= t.n_block_shown * 95);
	assert_true(t.n_offset_right * 100 >= t.n_block_shown * 90);
	assert_true(t.n_block_wrong * 200 <= t.n);
	assert_true(t.n_page_right * 100 >= t.n_page_shown * 95);
	assert_true(t.n_page_wrong * 200 <= t.n);
	assert_int_equal(t.n_over_bytes, 0);
	assert_int_equal(t.n_over_time, 0);
	assert_int_equal(t.n_worn, 0);
	assert_true(t.n_choice_good * 100 >= (t.n - t.n_fake) * 90);
	assert_true(t.n_rates_near * 100 >= t.n_rates * 90);
	/* a best size or two may be missed by chance where few devices are tried */
	for (int w = 0; w < ADVISE_N_WRITERS; w++)
		for (int k = 0; k < ADVISE_N_WORKLOADS; k++)
			assert_true((t.n_best[w][k] + 2) * 100 >= (t.n - t.n_fake) * 95);
}

/* Noise of up to 15 %: less is found, but hardly anything wrongly. */
static void noisy_devices(void **state)
{
	struct bench *b = *state;
	struct tally t = { 0 };

	for (uint64_t seed = first_seed(); seed < end_seed(); seed++) {
		struct sim_params params;

		random_device(seed, 0.15, &params);
		if (params.real_bytes || !bench_run(&params, b))
			continue;
		t.n++;
		tally_inside(&params, b, &t);
		bench_fini(b);
	}
	print_message("# %u noisy devices: block right %u, wrong %u; page right %u, wrong %u\n",
		      t.n, t.n_block_right, t.n_block_wrong, t.n_page_right, t.n_page_wrong);
	assert_true(t.n_block_wrong * 100 <= t.n);
	assert_true(t.n_page_wrong * 100 <= t.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_devices),
		cmocka_unit_test(noisy_devices),
	};

	return cmocka_run_group_tests(tests, bench_make, bench_free);
}
