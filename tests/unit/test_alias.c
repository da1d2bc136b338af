/* SPDX-License-Identifier: MIT */
/* alias: short names for long ones, by tables; tails; names in code pages. */
#include "unit.h"

#include "libfat.h"

static struct fat_codepage page850, page437;

static int setup(void **state)
{
	(void)state;
	return fat_codepage_init(&page850, 850) == FAT_OK &&
			       fat_codepage_init(&page437, 437) == FAT_OK
		       ? 0
		       : -1;
}

static size_t units_of(const char *text, uint16_t *units)
{
	size_t n = 0;

	assert_true(fat_units_from_utf8(text, units, FAT_NAME_UNITS, &n));
	return n;
}

static void own_short_form(void **state)
{
	static const struct {
		const char *name, *alias;
		enum fat_alias_kind kind;
		unsigned case_flags;
	} cases[] = {
		{ "README.TXT", "README  TXT", FAT_ALIAS_WHOLE, 0 },
		{ "readme.txt", "README  TXT", FAT_ALIAS_WHOLE, 0x18 },
		{ "README.txt", "README  TXT", FAT_ALIAS_WHOLE, 0x10 },
		{ "readme.TXT", "README  TXT", FAT_ALIAS_WHOLE, 0x08 },
		{ "Readme.txt", "README  TXT", FAT_ALIAS_UPPER, 0 },
		{ "vmlinuz", "VMLINUZ    ", FAT_ALIAS_WHOLE, 0x08 },
		{ "12345678.123", "12345678123", FAT_ALIAS_WHOLE, 0 },
		{ "a1-_$~!#.x", "A1-_$~!#X  ", FAT_ALIAS_WHOLE, 0x18 },
		{ "123456789", "12345678   ", FAT_ALIAS_LOSSY, 0 },
		{ "name.html", "NAME    HTM", FAT_ALIAS_LOSSY, 0 },
		{ "archive.tar.gz", "ARCHIVETGZ ", FAT_ALIAS_LOSSY, 0 },
		{ "my file.txt", "MYFILE  TXT", FAT_ALIAS_LOSSY, 0 },
		{ ".profile", "PROFILE    ", FAT_ALIAS_LOSSY, 0 },
		{ "..a", "A          ", FAT_ALIAS_LOSSY, 0 },
		{ ".a.b", "A       B  ", FAT_ALIAS_LOSSY, 0 },
		{ "a+b=c;[d],e", "A_B_C__D   ", FAT_ALIAS_LOSSY, 0 },
		{ "übung.txt",
		  "\x9A"
		  "BUNG   TXT",
		  FAT_ALIAS_UPPER, 0 },
		{ "ÜBUNG.TXT",
		  "\x9A"
		  "BUNG   TXT",
		  FAT_ALIAS_UPPER, 0 },
		{ "Õ", "\x05          ", FAT_ALIAS_UPPER, 0 }, /* E5h in page 850 */
		{ "日本.txt", "__      TXT", FAT_ALIAS_LOSSY, 0 },
		{ "\xF0\x9F\x98\x80.txt", "_       TXT", FAT_ALIAS_LOSSY,
		  0 }, /* one for the pair */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint16_t units[FAT_NAME_UNITS];
		size_t n = units_of(cases[i].name, units);
		struct fat_alias alias;

		assert_int_equal(fat_alias_make(&page850, units, n, &alias), cases[i].kind);
		assert_memory_equal(alias.name, cases[i].alias, FAT_SHORT_BYTES);
		assert_int_equal(alias.case_flags, cases[i].case_flags);
	}
}

static void the_codepage_decides(void **state)
{
	uint16_t units[FAT_NAME_UNITS];
	size_t n =
		units_of("\xC3\xA1", units); /* a with an acute: its capital is in page 850 only */
	struct fat_alias alias;

	(void)state;
	assert_int_equal(fat_alias_make(&page850, units, n, &alias), FAT_ALIAS_UPPER);
	assert_int_equal(alias.name[0], 0xB5);
	assert_int_equal(fat_alias_make(&page437, units, n, &alias), FAT_ALIAS_LOSSY);
	assert_int_equal(alias.name[0], '_');
}

static void unique(struct fat_alias_set *set, const char *name, const char *alias_wanted)
{
	uint16_t units[FAT_NAME_UNITS];
	size_t n = units_of(name, units);
	struct fat_alias alias;

	assert_int_equal(fat_alias_make_unique(&page850, units, n, set, &alias), FAT_OK);
	if (alias_wanted)
		assert_memory_equal(alias.name, alias_wanted, FAT_SHORT_BYTES);
}

static void tails_count_and_then_hash(void **state)
{
	struct fat_alias_set set;

	(void)state;
	fat_alias_set_init(&set);
	unique(&set, "long file name 1.text", "LONGFI~1TEX");
	unique(&set, "long file name 2.text", "LONGFI~2TEX");
	unique(&set, "long file name 3.text", "LONGFI~3TEX");
	unique(&set, "long file name 4.text", "LONGFI~4TEX");
	unique(&set, "long file name 5.text", "LOBEC7~1TEX"); /* what it is may never change */
	unique(&set, "a b", "AB~1       ");
	unique(&set, ".x", "X~1        ");
	assert_int_equal(set.n_names, 7);
	fat_alias_set_fini(&set);
}

static void twenty_thousand_alike(void **state)
{
	struct fat_alias_set set;

	(void)state;
	fat_alias_set_init(&set);
	for (unsigned i = 0; i < 20000; i++) {
		char name[64];

		snprintf(name, sizeof name, "a name like any other %u.text", i);
		unique(&set, name, NULL);
	}
	assert_int_equal(set.n_names, 20000);
	fat_alias_set_fini(&set);
}

static void a_taken_name_is_left_alone(void **state)
{
	struct fat_alias_set set;
	bool added;

	(void)state;
	fat_alias_set_init(&set);
	assert_int_equal(fat_alias_set_add(&set, (const uint8_t *)"LONGFI~1TXT", &added), FAT_OK);
	assert_true(added);
	assert_int_equal(fat_alias_set_add(&set, (const uint8_t *)"LONGFI~1TXT", &added), FAT_OK);
	assert_false(added);
	unique(&set, "long file name.txt", "LONGFI~2TXT");
	fat_alias_set_fini(&set);
}

/* A tail must not cut a character of two bytes in half. */
static void pairs_stay_whole(void **state)
{
	struct fat_codepage page932;
	uint16_t units[FAT_NAME_UNITS];
	size_t n = units_of("abc日本語.txt", units);
	struct fat_alias_set set;
	struct fat_alias alias;

	(void)state;
	if (fat_codepage_init(&page932, 932) != FAT_OK)
		skip();
	assert_int_equal(fat_alias_make(&page932, units, n, &alias), FAT_ALIAS_LOSSY);
	assert_memory_equal(alias.name, "ABC\x93\xFA\x96\x7B TXT", FAT_SHORT_BYTES);
	fat_alias_set_init(&set);
	assert_int_equal(fat_alias_make_unique(&page932, units, n, &set, &alias), FAT_OK);
	assert_memory_equal(alias.name, "ABC\x93\xFA~1 TXT", FAT_SHORT_BYTES);
	fat_alias_set_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_short_form),
		cmocka_unit_test(the_codepage_decides),
		cmocka_unit_test(tails_count_and_then_hash),
		cmocka_unit_test(twenty_thousand_alike),
		cmocka_unit_test(a_taken_name_is_left_alone),
		cmocka_unit_test(pairs_stay_whole),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
