/* SPDX-License-Identifier: MIT */
/*
 * The content of a device is the same after a measurement, and after one that ended at any write:
 * with the power, so that nothing more arrives and half of the last write does; with an error; with
 * a signal. Compared in full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "advisor/advise.h"
#include "lib/bytes.h"

#define SIZE_BYTES (80u << 20)
#define N_CUTS     8 /* in a check; SIM_CUTS in the environment: how many */

/* A device in memory that ends at a write. */
struct dev_cut {
	struct fat_dev dev;
	uint8_t *now, *before;
	size_t n_writes, cut_at; /* the write that is torn; SIZE_MAX: none */
	bool says_error;         /* else it says that all was well */
};

static enum fat_status cut_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	memcpy(buf, ((struct dev_cut *)dev)->now + off, len_bytes);
	return FAT_OK;
}

static enum fat_status cut_write(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes)
{
	struct dev_cut *cut = (struct dev_cut *)dev;
	size_t n = cut->n_writes++;

	if (n < cut->cut_at)
		memcpy(cut->now + off, buf, len_bytes);
	else if (n == cut->cut_at)
		memcpy(cut->now + off, buf, len_bytes / 2);
	return n >= cut->cut_at && cut->says_error ? FAT_ERR_IO : FAT_OK;
}

static enum fat_status cut_flush(struct fat_dev *dev)
{
	(void)dev;
	return FAT_OK;
}

/* The test keeps the device: it is used again and again. */
static void cut_close(struct fat_dev *dev)
{
	(void)dev;
}

static const struct fat_dev_ops cut_ops = {
	.name = "cut",
	.read = cut_read,
	.write = cut_write,
	.flush = cut_flush,
	.close = cut_close,
};

static const struct sim_params stick = {
	.size_bytes = SIZE_BYTES,
	.kind = SIM_LINEAR,
	.page_bytes = 8192,
	.block_bytes = 1u << 20,
	.open_segments = 2,
	.read_command_ns = 400000,
	.write_command_ns = 700000,
	.read_ns_per_byte = 45,
	.write_ns_per_byte = 45,
	.sense_ns = 100000,
	.program_ns = 1000000,
	.copy_ns = 1100000,
	.erase_ns = 2000000,
	.lookup_ns = 120000,
	.max_command_bytes = 120u << 10,
};

struct stop {
	const struct dev_cut *cut;
	size_t at; /* SIZE_MAX: never */
};

static bool stop_at(void *ctx)
{
	return ((const struct stop *)ctx)->cut->n_writes >= ((const struct stop *)ctx)->at;
}

static void ignore(void *ctx, const char *name, uint64_t left_ns)
{
	(void)ctx;
	(void)name;
	(void)left_ns;
}

/* A whole measurement; the device must hold what it held. Returns how many writes it made. */
static size_t measure(struct dev_cut *cut, size_t cut_at, bool says_error, size_t stop_after)
{
	const struct advise_budget budget = { 30000000000u, 64u << 20 };
	struct stop stop = { cut, stop_after };
	const struct advise_watch watch = { stop_at, ignore, &stop };
	const struct advise_facts facts = { .size_bytes = SIZE_BYTES };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_target target;
	struct advise_measured measured;

	cut->n_writes = 0;
	cut->cut_at = cut_at;
	cut->says_error = says_error;
	advise_layouts(&facts, 512, layouts);
	assert_int_equal(advise_target_simulate(&stick, &cut->dev, &target), FAT_OK);
	advise_measure(&target, layouts, &budget, &watch, &measured);
	advise_measured_fini(&measured);
	target.dev->below = NULL;
	advise_target_close(&target);
	assert_memory_equal(cut->now, cut->before, SIZE_BYTES);
	return cut->n_writes;
}

static size_t n_cuts(void)
{
	const char *text = getenv("SIM_CUTS");

	return text ? strtoul(text, NULL, 10) : N_CUTS;
}

static void content_stays_at_any_cut(void **state)
{
	struct dev_cut *cut = *state;
	size_t n_all = measure(cut, SIZE_MAX, false, SIZE_MAX);

	assert_true(n_all > 100);
	for (size_t i = 0; i < n_cuts(); i++) {
		size_t at = i * n_all / n_cuts();

		measure(cut, at, false, SIZE_MAX);
		measure(cut, at, true, SIZE_MAX);
		/* some writes belong together, and a signal waits for them */
		assert_in_range(measure(cut, SIZE_MAX, false, at), at, at + 16);
	}
	print_message("# %zu writes; cut at %zu of them\n", n_all, n_cuts());
}

static int make_device(void **state)
{
	struct dev_cut *cut = calloc(1, sizeof *cut);
	uint64_t x = 88172645463325252u;

	if (!cut || !(cut->now = malloc(SIZE_BYTES)) || !(cut->before = malloc(SIZE_BYTES)))
		return -1;
	cut->dev =
		(struct fat_dev){ .ops = &cut_ops, .size_bytes = SIZE_BYTES, .block_bytes = 512 };
	for (size_t i = 0; i < SIZE_BYTES; i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		put_le64(cut->before + i, x);
	}
	memcpy(cut->now, cut->before, SIZE_BYTES);
	*state = cut;
	return 0;
}

static int free_device(void **state)
{
	struct dev_cut *cut = *state;

	free(cut->now);
	free(cut->before);
	free(cut);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_stays_at_any_cut),
	};

	return cmocka_run_group_tests(tests, make_device, free_device);
}
