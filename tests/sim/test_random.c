/* SPDX-License-Identifier: MIT */
/*
 * The advisor on devices by seed. `make check` tries a fixed sample; `make -C tests sim` many more
 * (SIM_DEVICES in the environment) and prints the figures that the README quotes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "bench.h"
#include "oracle.h"
#include "random_device.h"

#define SAMPLE 60

/* What came out over all devices. */
struct tally {
	unsigned n, n_measured;
	unsigned n_block_shown, n_block_right, n_offset_right, n_block_wrong;
	unsigned n_page_shown, n_page_right, n_page_wrong;
	unsigned n_over_time, n_over_bytes;
};

static unsigned n_devices(void)
{
	const char *text = getenv("SIM_DEVICES");

	return text ? (unsigned)strtoul(text, NULL, 10) : SAMPLE;
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

static void tally_device(uint64_t seed, struct bench *b, struct tally *t)
{
	struct sim_params params;

	random_device(seed, 0.03, &params);
	t->n++;
	if (!bench_run(&params, b))
		return;
	t->n_measured++;
	tally_inside(&params, b, t);
	t->n_over_time += b->measured.elapsed_ns > 33000000000u;
	t->n_over_bytes += b->measured.written_bytes > 70u << 20;
}

static void random_devices(void **state)
{
	struct bench *b = *state;
	struct tally t = { 0 };

	for (uint64_t seed = 1; seed <= n_devices(); seed++)
		tally_device(seed, b, &t);
	print_message("# %u devices: block right %u of %u, offset right %u, wrong %u; page right %u "
		      "of %u, wrong %u; over time %u, over bytes %u\n",
		      t.n, t.n_block_right, t.n_block_shown, t.n_offset_right, t.n_block_wrong,
		      t.n_page_right, t.n_page_shown, t.n_page_wrong, t.n_over_time,
		      t.n_over_bytes);
	assert_int_equal(t.n, t.n_measured);
	assert_true(t.n_block_right * 100 >= t.n_block_shown * 95);
	assert_true(t.n_offset_right * 100 >= t.n_block_shown * 90);
	assert_true(t.n_block_wrong * 200 <= t.n);
	assert_true(t.n_page_right * 100 >= t.n_page_shown * 95);
	assert_true(t.n_page_wrong * 200 <= t.n);
	assert_int_equal(t.n_over_bytes, 0);
}

static int make_bench(void **state)
{
	*state = calloc(1, sizeof(struct bench));
	return *state ? 0 : -1;
}

static int free_bench(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_devices),
	};

	return cmocka_run_group_tests(tests, make_bench, free_bench);
}
