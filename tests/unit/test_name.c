/* SPDX-License-Identifier: MIT */
/* name, codepage, upcase: short and long names by tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libfat.h"

static struct fat_codepage page850;

static size_t units_of(const char *text, uint16_t *units)
{
	size_t n = 0;

	assert_true(fat_units_from_utf8(text, units, FAT_NAME_UNITS, &n));
	return n;
}

static void codepages(void **state)
{
	struct fat_codepage page;
	uint8_t bytes[2];
	size_t used;

	(void)state;
	assert_int_equal(fat_codepage_init(&page, 437), FAT_OK);
	assert_int_equal(fat_codepage_decode(&page, (const uint8_t *)"\x9A", 1, &used), 0xDC);
	assert_int_equal(fat_codepage_encode(&page850, 0x131, bytes), 1);
	assert_int_equal(bytes[0], 0xD5);
	assert_int_equal(fat_codepage_encode(&page850, 0x3B1, bytes), 0);
	for (unsigned i = 1; i < 256; i++) {
		uint8_t byte = (uint8_t)i;
		uint32_t c = fat_codepage_decode(&page850, &byte, 1, &used);

		assert_int_equal(fat_codepage_encode(&page850, c, bytes), 1);
		assert_int_equal(bytes[0], i);
	}
	assert_int_equal(fat_codepage_init(&page, 0), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_codepage_init(&page, 31), FAT_ERR_ARGUMENT);
}

static void capitals(void **state)
{
	(void)state;
	assert_int_equal(fat_unit_upcase('a'), 'A');
	assert_int_equal(fat_unit_upcase('{'), '{');
	assert_int_equal(fat_unit_upcase(0xFC), 0xDC);
	assert_int_equal(fat_unit_upcase(0xDF), 0xDF); /* has no single capital */
	assert_int_equal(fat_unit_upcase(0xFF), 0x178);
	assert_int_equal(fat_unit_upcase(0x100), 0x100);
	assert_int_equal(fat_unit_upcase(0x101), 0x100);
	assert_int_equal(fat_unit_upcase(0x44F), 0x42F);
	assert_int_equal(fat_unit_upcase(0x3C2), 0x3A3);
	assert_int_equal(fat_unit_upcase(0x4E00), 0x4E00);
}

static void short_names(void **state)
{
	static const struct {
		const char *text, *name;
		unsigned flaws;
	} rows[] = {
		{ "FOO.BAR", "FOO     BAR", 0 },
		{ "FOO", "FOO        ", 0 },
		{ "\xC3\x9C" "BER.TXT", "\x9A" "BER    TXT", 0 },
		{ "12345678.123", "12345678123", 0 },
		{ "A?", "A?         ", FAT_SHORT_CONTROL },
		{ "A+", "A+         ", FAT_SHORT_RESERVED },
	};
	char text[40];
	uint8_t name[11];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		fat_short_to_utf8((const uint8_t *)rows[i].name, 0, &page850, text, sizeof text);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(fat_short_check((const uint8_t *)rows[i].name), rows[i].flaws);
		assert_int_equal(fat_short_from_utf8(rows[i].text, &page850, name), !rows[i].flaws);
		if (!rows[i].flaws)
			assert_memory_equal(name, rows[i].name, 11);
	}
	fat_short_to_utf8((const uint8_t *)"README  TXT", 0x18, &page850, text, sizeof text);
	assert_string_equal(text, "readme.txt");
	assert_int_equal(fat_short_check((const uint8_t *)" A         "), FAT_SHORT_CONTROL);
	assert_int_equal(fat_short_check((const uint8_t *)"a          "), FAT_SHORT_LOWER);
	assert_int_equal(fat_short_check((const uint8_t *)"\x05          "), 0);
	assert_false(fat_short_from_utf8("123456789", &page850, name));
	assert_false(fat_short_from_utf8("A.B.C", &page850, name));
	assert_false(fat_short_from_utf8("", &page850, name));
}

static void aliases(void **state)
{
	static const struct {
		const char *longname;
		uint32_t tail;
		const char *name;
		bool whole;
	} rows[] = {
		{ "foo.bar", 0, "FOO     BAR", true },
		{ "Long file name.text", 0, "LONGFILETEX", false },
		{ "Long file name.text", 1, "LONGFI~1TEX", false },
		{ "Long file name.text", 12345, "LO~12345TEX", false },
		{ "a", 3, "A~3        ", true },
		{ ".profile", 1, "PROFIL~1   ", false },
		{ "a.b.c", 1, "AB~1    C  ", false },
		{ "a+b", 1, "A_B~1      ", false },
		{ "trailing.", 1, "TRAILI~1   ", false },
		{ "\xE4\xB8\x80", 1, "_~1        ", false },
		{ "\xC3\xA5" "b", 0, "\x8F" "B         ", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint16_t units[FAT_NAME_UNITS];
		size_t n = units_of(rows[i].longname, units);
		uint8_t name[11];

		assert_int_equal(fat_short_alias(units, n, rows[i].tail, &page850, name),
				 rows[i].whole);
		assert_memory_equal(name, rows[i].name, 11);
	}
}

static const uint8_t alias[] = "LONGFI~1TXT";

static void long_names_survive_a_round_trip(void **state)
{
	uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	struct fat_long_name longname;
	uint16_t units[FAT_NAME_UNITS];
	unsigned flaws;

	(void)state;
	for (size_t n = 1; n <= FAT_NAME_UNITS; n++) {
		size_t n_slots;

		for (size_t i = 0; i < n; i++)
			units[i] = (uint16_t)('a' + (i + n) % 26);
		n_slots = fat_long_split(units, n, alias, slots);
		assert_int_equal(n_slots, (n + 12) / 13);
		assert_int_equal(fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])slots, n_slots,
						   alias, &longname, &flaws),
				 FAT_LONG_OK);
		assert_int_equal(flaws, 0);
		assert_int_equal(longname.n_units, n);
		assert_memory_equal(longname.unit, units, n * 2);
	}
}

static enum fat_long_verdict verdict_of(uint8_t (*slots)[FAT_SLOT_BYTES], size_t n, unsigned *flaws)
{
	struct fat_long_name longname;

	return fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])slots, n, alias, &longname,
				 flaws);
}

static void bad_long_names(void **state)
{
	uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	uint16_t units[FAT_NAME_UNITS];
	size_t n = units_of("a name of 3 slots: 27 units", units), n_slots;
	unsigned flaws;

	(void)state;
	n_slots = fat_long_split(units, n, alias, slots);
	assert_int_equal(n_slots, 3);
	assert_int_equal(verdict_of(slots, 3, &flaws), FAT_LONG_OK);
	assert_int_equal(flaws, FAT_LONG_FORBIDDEN);
	assert_int_equal(verdict_of(slots, 2, &flaws), FAT_LONG_ORDER);
	assert_int_equal(verdict_of(slots + 1, 2, &flaws), FAT_LONG_ORDER);
	slots[1][13] ^= 1;
	assert_int_equal(verdict_of(slots, 3, &flaws), FAT_LONG_CHECKSUM);
	slots[1][13] ^= 1;
	slots[2][1] = '/';
	assert_int_equal(verdict_of(slots, 3, &flaws), FAT_LONG_CHARS);
	n_slots = fat_long_split(units, 5, alias, slots);
	slots[0][30] = 'x';
	slots[0][26] = 1;
	assert_int_equal(verdict_of(slots, n_slots, &flaws), FAT_LONG_OK);
	assert_int_equal(flaws & FAT_LONG_TYPE, FAT_LONG_TYPE);
	assert_int_equal(flaws & FAT_LONG_PADDING, FAT_LONG_PADDING);
	slots[0][1] = 0;
	assert_int_equal(verdict_of(slots, n_slots, &flaws), FAT_LONG_LENGTH);
}

static void utf_conversions(void **state)
{
	static const uint16_t units[] = { 'a', 0xE4, 0x20AC, 0xD83D, 0xDE00, 0xD800, 'z' };
	uint16_t back[16];
	char text[32];
	size_t n;

	(void)state;
	fat_units_to_utf8(units, 7, text, sizeof text);
	assert_string_equal(text, "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBDz");
	assert_true(fat_units_from_utf8("a\xF0\x9F\x98\x80", back, 16, &n));
	assert_int_equal(n, 3);
	assert_false(fat_units_from_utf8("a\xF0\x9F\x98\x80", back, 2, &n));
	assert_false(fat_units_from_utf8("\xC0\xAF", back, 16, &n));
	assert_false(fat_units_from_utf8("\xED\xA0\x80", back, 16, &n));
	assert_false(fat_units_from_utf8("\xE2\x82", back, 16, &n));
	assert_int_equal(fat_units_to_utf8(units, 7, text, 4), 3);
	assert_true(
		fat_units_same((const uint16_t *)u"\u00e4B", 2, (const uint16_t *)u"\u00c4b", 2));
	assert_false(fat_units_same((const uint16_t *)u"a", 1, (const uint16_t *)u"ab", 2));
	assert_true(fat_units_hash((const uint16_t *)u"\u00e4B", 2) ==
		    fat_units_hash((const uint16_t *)u"\u00c4b", 2));
}

static int setup(void **state)
{
	(void)state;
	return fat_codepage_init(&page850, 850) == FAT_OK ? 0 : -1;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(codepages),
		cmocka_unit_test(capitals),
		cmocka_unit_test(short_names),
		cmocka_unit_test(aliases),
		cmocka_unit_test(long_names_survive_a_round_trip),
		cmocka_unit_test(bad_long_names),
		cmocka_unit_test(utf_conversions),
	};

	return cmocka_run_group_tests_name("name", tests, setup, NULL);
}
