/* SPDX-License-Identifier: MIT */
/* dirent: slots decoded and encoded again, dates, what kind a slot is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libfat.h"

static void any_slot_survives_a_round_trip(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 64; seed++) {
		enum fat_type type = seed % 2 ? FAT_TYPE_32 : FAT_TYPE_16;
		uint8_t slot[FAT_SLOT_BYTES], copy[FAT_SLOT_BYTES];
		struct fat_dirent dirent;
		struct fat_long_slot part;

		for (unsigned i = 0; i < sizeof slot; i++)
			slot[i] = (uint8_t)(seed * 37 + i * 11 + (i * i * seed) % 251);
		memcpy(copy, slot, sizeof copy);
		fat_dirent_decode(slot, type, &dirent);
		fat_dirent_encode(&dirent, type, copy);
		assert_memory_equal(copy, slot, sizeof slot);
		memset(copy, 0, sizeof copy);
		fat_long_slot_decode(slot, &part);
		fat_long_slot_encode(&part, copy);
		assert_memory_equal(copy, slot, sizeof slot);
	}
}

static void the_high_word_is_fat32s_alone(void **state)
{
	uint8_t slot[FAT_SLOT_BYTES] = { [20] = 0x34, [21] = 0x12, [26] = 0x78, [27] = 0x56 };
	struct fat_dirent dirent;

	(void)state;
	fat_dirent_decode(slot, FAT_TYPE_32, &dirent);
	assert_int_equal(dirent.start_clus, 0x12345678);
	fat_dirent_decode(slot, FAT_TYPE_16, &dirent);
	assert_int_equal(dirent.start_clus, 0x5678);
	dirent.start_clus = 0x99;
	fat_dirent_encode(&dirent, FAT_TYPE_16, slot);
	assert_int_equal(slot[20], 0x34);
	assert_int_equal(slot[26], 0x99);
}

static void kinds(void **state)
{
	static const struct {
		const char *name;
		uint8_t attr;
		enum fat_slot_kind kind;
	} rows[] = {
		{ "\0OO     BAR", 0x20, FAT_SLOT_END },
		{ "\xE5OO     BAR", 0x20, FAT_SLOT_DELETED },
		{ "\x05OO     BAR", 0x20, FAT_SLOT_FILE },
		{ "FOO     BAR", 0x20, FAT_SLOT_FILE },
		{ "FOO     BAR", 0x10, FAT_SLOT_DIRECTORY },
		{ "FOO     BAR", 0x0F, FAT_SLOT_LONG },
		{ "FOO     BAR", 0xCF, FAT_SLOT_LONG },
		{ "FOO     BAR", 0x08, FAT_SLOT_LABEL },
		{ "FOO     BAR", 0x18, FAT_SLOT_LABEL },
		{ ".          ", 0x10, FAT_SLOT_DOT },
		{ "..         ", 0x10, FAT_SLOT_DOTDOT },
		{ ".          ", 0x20, FAT_SLOT_DOT },
		{ "..X        ", 0x10, FAT_SLOT_DIRECTORY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t slot[FAT_SLOT_BYTES] = { 0 };

		memcpy(slot, rows[i].name, 11);
		slot[11] = rows[i].attr;
		assert_int_equal(fat_slot_classify(slot), rows[i].kind);
	}
}

static void dates(void **state)
{
	struct fat_datetime at = { 2026, 11, 30, 23, 59, 59, 99 }, back;
	uint16_t date, time;
	uint8_t fine;

	(void)state;
	assert_true(fat_datetime_encode(&at, &date, &time, &fine));
	assert_int_equal(date, 46 << 9 | 11 << 5 | 30);
	assert_int_equal(time, 23 << 11 | 59 << 5 | 29);
	assert_int_equal(fine, 199);
	fat_datetime_decode(date, time, fine, &back);
	assert_memory_equal(&back, &at, sizeof at);
	at.month = 2;
	assert_false(fat_datetime_encode(&at, &date, &time, &fine));
	at.year = 1979;
	at.month = 11;
	assert_false(fat_datetime_encode(&at, &date, &time, &fine));
	assert_false(fat_date_is_valid(0));
	assert_false(fat_date_is_valid(13 << 5 | 1));
	assert_true(fat_date_is_valid(1 << 5 | 1));
	assert_true(fat_time_is_valid(0));
	assert_false(fat_time_is_valid(24 << 11));
	assert_false(fat_time_is_valid(30));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_slot_survives_a_round_trip),
		cmocka_unit_test(the_high_word_is_fat32s_alone),
		cmocka_unit_test(kinds),
		cmocka_unit_test(dates),
	};

	return cmocka_run_group_tests_name("dirent", tests, NULL, NULL);
}
