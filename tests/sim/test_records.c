/* SPDX-License-Identifier: MIT */
/*
 * What fatadvise said of devices in the field, or of models under conditions that came up there,
 * and what it has to say: each file in records/ is one that was advised wrongly once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "advisor/record.h"
#include "bench.h"

#define FOLDER "tests/sim/records/"

/* The advice by a record. */
static enum advise_verdict verdict_of(const char *path)
{
	struct bench b;
	unsigned line;
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(advise_record_read(in, &b.facts, &b.measured, &line));
	fclose(in);
	advise_layouts(&b.facts, 512, b.layouts);
	bench_advise(&b);
	print_message("# %s: %s\n", path, b.choice.reason);
	bench_fini(&b);
	return b.choice.verdict;
}

/* A bus of 1 MB/s on a loop device: there was time for reads and for nothing else. */
static void no_write_is_no_ground(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(FOLDER "slow-bus-reads-only"), ADVISE_DO_NOT_KNOW);
}

/* A few writes of two sizes: explained to 0.0 %, it was said, and 64 KiB best. */
static void few_writes_are_no_ground(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(FOLDER "slow-bus-two-sizes"), ADVISE_DO_NOT_KNOW);
	assert_int_equal(verdict_of(FOLDER "old-stick-five-writes"), ADVISE_DO_NOT_KNOW);
}

/* Sizes 5.5 % apart by a model that is off by 4.4 %, on a busy machine: 8 KiB, it was said. */
static void no_more_than_the_error_does_not_matter(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(FOLDER "slow-bus-within-error"), ADVISE_NO_MATTER);
}

/* 2 and 4 KiB took longer than 8 KiB, by chance: so 8 KiB is 3.3 times as fast, it was said. */
static void contradictions_are_no_ground(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(FOLDER "slow-bus-contradicts"), ADVISE_DO_NOT_KNOW);
}

/* A stick on a loop device of a busy machine passed for a disk, by a model that was off by 31 %. */
static void a_poor_model_is_no_ground(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(FOLDER "busy-stick-as-disk"), ADVISE_DO_NOT_KNOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_write_is_no_ground),
		cmocka_unit_test(few_writes_are_no_ground),
		cmocka_unit_test(no_more_than_the_error_does_not_matter),
		cmocka_unit_test(contradictions_are_no_ground),
		cmocka_unit_test(a_poor_model_is_no_ground),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
