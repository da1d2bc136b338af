/* SPDX-License-Identifier: MIT */
/* bytes: byte order, rounding, overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bytes.h"

static void little_endian_round_trip(void **state)
{
	uint8_t buf[8];

	(void)state;
	put_le64(buf, 0x0123456789ABCDEF);
	assert_int_equal(buf[0], 0xEF);
	assert_int_equal(buf[7], 0x01);
	assert_int_equal(get_le16(buf), 0xCDEF);
	assert_int_equal(get_le32(buf + 4), 0x01234567);
	assert_true(get_le64(buf) == 0x0123456789ABCDEF);
}

static void rounding(void **state)
{
	(void)state;
	assert_int_equal(div_ceil(0, 7), 0);
	assert_int_equal(div_ceil(7, 7), 1);
	assert_int_equal(div_ceil(8, 7), 2);
	assert_true(div_ceil(UINT64_MAX, 2) == UINT64_MAX / 2 + 1);
	assert_int_equal(round_up(13, 6), 18);
	assert_true(is_pow2(1) && is_pow2(1ull << 63) && !is_pow2(0) && !is_pow2(12));
}

static void overflow_is_noticed(void **state)
{
	uint64_t v = 5;

	(void)state;
	assert_false(add_u64(UINT64_MAX, 1, &v));
	assert_false(mul_u64(1ull << 33, 1ull << 31, &v));
	assert_int_equal(v, 5);
	assert_true(add_u64(UINT64_MAX - 1, 1, &v) && v == UINT64_MAX);
	assert_true(mul_u64(1ull << 32, 1ull << 31, &v) && v == 1ull << 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_endian_round_trip),
		cmocka_unit_test(rounding),
		cmocka_unit_test(overflow_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
