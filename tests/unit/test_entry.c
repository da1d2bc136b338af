/* SPDX-License-Identifier: MIT */
/* entry: 12, 16 and 32 bits; neighbours and reserved bits are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libfat.h"

static const enum fat_type types[] = { FAT_TYPE_12, FAT_TYPE_16, FAT_TYPE_32 };

static void setting_one_leaves_the_others(void **state)
{
	uint8_t table[64];

	(void)state;
	for (size_t t = 0; t < 3; t++) {
		uint32_t mask = fat_entry_mask(types[t]);

		for (uint32_t n = 0; n < 14; n++) {
			memset(table, 0xFF, sizeof table);
			fat_entry_set(types[t], table, n, 0x5A5A5A5 & mask);
			for (uint32_t k = 0; k < 14; k++)
				assert_int_equal(fat_entry_get(types[t], table, k),
						 k == n ? 0x5A5A5A5 & mask : mask);
			fat_entry_set(types[t], table, n, mask);
			for (size_t i = 0; i < sizeof table; i++)
				assert_int_equal(table[i], 0xFF);
		}
	}
}

static void fat12_packs_two_in_three_bytes(void **state)
{
	uint8_t table[3] = { 0 };

	(void)state;
	fat_entry_set(FAT_TYPE_12, table, 0, 0x123);
	fat_entry_set(FAT_TYPE_12, table, 1, 0xABC);
	assert_int_equal(table[0], 0x23);
	assert_int_equal(table[1], 0xC1);
	assert_int_equal(table[2], 0xAB);
	assert_int_equal(fat_entry_off(FAT_TYPE_12, 341), 511);
}

static void reserved_bits_stay(void **state)
{
	uint8_t table[4] = { 0, 0, 0, 0xA0 };

	(void)state;
	fat_entry_set(FAT_TYPE_32, table, 0, 0xFFFFFFFF);
	assert_int_equal(table[3], 0xAF);
	assert_int_equal(fat_entry_get(FAT_TYPE_32, table, 0), 0x0FFFFFFF);
	fat_entry_set(FAT_TYPE_32, table, 0, 0);
	assert_int_equal(table[3], 0xA0);
}

static void classes(void **state)
{
	(void)state;
	for (size_t t = 0; t < 3; t++) {
		enum fat_type type = types[t];
		uint32_t mask = fat_entry_mask(type);

		assert_int_equal(fat_entry_classify(type, 0, 100), FAT_ENTRY_FREE);
		assert_int_equal(fat_entry_classify(type, 1, 100), FAT_ENTRY_INVALID);
		assert_int_equal(fat_entry_classify(type, 2, 100), FAT_ENTRY_NEXT);
		assert_int_equal(fat_entry_classify(type, 100, 100), FAT_ENTRY_NEXT);
		assert_int_equal(fat_entry_classify(type, 101, 100), FAT_ENTRY_INVALID);
		assert_int_equal(fat_entry_classify(type, mask - 9, 100), FAT_ENTRY_INVALID);
		assert_int_equal(fat_entry_classify(type, mask - 8, 100), FAT_ENTRY_BAD);
		assert_int_equal(fat_entry_classify(type, mask - 7, 100), FAT_ENTRY_END);
		assert_int_equal(fat_entry_classify(type, mask, 100), FAT_ENTRY_END);
	}
}

static void flags_of_entry_1(void **state)
{
	(void)state;
	assert_int_equal(fat_entry_clean_bit(FAT_TYPE_12), 0);
	assert_int_equal(fat_entry_no_error_bit(FAT_TYPE_12), 0);
	assert_int_equal(fat_entry_clean_bit(FAT_TYPE_16), 0x8000);
	assert_int_equal(fat_entry_no_error_bit(FAT_TYPE_16), 0x4000);
	assert_int_equal(fat_entry_clean_bit(FAT_TYPE_32), 0x08000000);
	assert_int_equal(fat_entry_no_error_bit(FAT_TYPE_32), 0x04000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_one_leaves_the_others),
		cmocka_unit_test(fat12_packs_two_in_three_bytes),
		cmocka_unit_test(reserved_bits_stay),
		cmocka_unit_test(classes),
		cmocka_unit_test(flags_of_entry_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
