/* SPDX-License-Identifier: MIT */
/* label: text to the eleven bytes and back; clock and JSON strings, which fatlabel brought along.
 */
#include "unit.h"

#include "cli.h"
#include "libfat.h"

static struct fat_codepage page850;
static const struct cli_program program = { .name = "test" };

static int setup(void **state)
{
	(void)state;
	return fat_codepage_init(&page850, 850) == FAT_OK ? 0 : -1;
}

static void what_a_label_may_be(void **state)
{
	static const struct {
		const char *text;
		enum fat_label_flaw flaw;
		const char *label;
	} cases[] = {
		{ "A", FAT_LABEL_OK, "A          " },
		{ "ELEVEN CHAR", FAT_LABEL_OK, "ELEVEN CHAR" },
		{ "lower", FAT_LABEL_OK, "lower      " },
		{ "G~!@#$%^&(_", FAT_LABEL_OK, "G~!@#$%^&(_" }, /* GRUB's test suite */
		{ "ÜÄÖ", FAT_LABEL_OK, "\x9A\x8E\x99        " },
		{ "", FAT_LABEL_BLANK, NULL },
		{ "  ", FAT_LABEL_BLANK, NULL },
		{ " A", FAT_LABEL_LEADING_BLANK, NULL },
		{ "TWELVE CHARS", FAT_LABEL_LONG, NULL },
		{ "A.B", FAT_LABEL_RESERVED, NULL },
		{ "A\x7F", FAT_LABEL_CONTROL, NULL },
		{ "A\n", FAT_LABEL_CONTROL, NULL },
		{ "\xC3", FAT_LABEL_UTF8, NULL },
		{ "Ω", FAT_LABEL_CODEPAGE, NULL },
		{ "\xF0\x9F\x98\x80", FAT_LABEL_CODEPAGE, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t label[FAT_SHORT_BYTES];

		assert_int_equal(fat_label_encode(cases[i].text, &page850, label), cases[i].flaw);
		assert_true(cases[i].flaw == FAT_LABEL_OK ||
			    fat_label_flaw_text(cases[i].flaw)[0] != '\0');
		if (cases[i].label)
			assert_memory_equal(label, cases[i].label, FAT_SHORT_BYTES);
	}
}

static void far_too_long_is_no_trouble(void **state)
{
	uint8_t label[FAT_SHORT_BYTES];
	char text[2000];

	(void)state;
	for (size_t n = 200; n < sizeof text; n += 100) {
		memset(text, 'X', n);
		text[n] = '\0';
		assert_int_equal(fat_label_encode(text, &page850, label), FAT_LABEL_LONG);
	}
}

static void there_and_back(void **state)
{
	static const char *const texts[] = { "A", "ELEVEN CHAR", "ÕÕÕÕÕÕÕÕÕÕÕ", "Mixed Case" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		uint8_t label[FAT_SHORT_BYTES];
		char text[FAT_LABEL_TEXT_BYTES];

		assert_int_equal(fat_label_encode(texts[i], &page850, label), FAT_LABEL_OK);
		fat_label_decode(label, &page850, text);
		assert_string_equal(text, texts[i]);
		assert_int_equal(fat_label_has_lower(label, &page850), i == 3);
		assert_false(fat_label_is_none(label));
	}
}

static void no_label(void **state)
{
	uint8_t label[FAT_SHORT_BYTES];
	char text[FAT_LABEL_TEXT_BYTES];

	(void)state;
	fat_label_set_none(label);
	assert_memory_equal(label, "NO NAME    ", FAT_SHORT_BYTES);
	assert_true(fat_label_is_none(label));
	assert_true(fat_label_is_none((const uint8_t *)"           "));
	assert_false(fat_label_is_none((const uint8_t *)"NO NAMES   "));
	fat_label_decode((const uint8_t *)"           ", &page850, text);
	assert_string_equal(text, "");
}

static void assert_time(const struct cli_clock *clock, int64_t seconds, uint32_t nanoseconds,
			struct fat_datetime want)
{
	struct fat_datetime at;

	cli_clock_datetime(clock, seconds, nanoseconds, &at);
	assert_int_equal(at.year, want.year);
	assert_int_equal(at.month, want.month);
	assert_int_equal(at.day, want.day);
	assert_int_equal(at.hour, want.hour);
	assert_int_equal(at.minute, want.minute);
	assert_int_equal(at.second, want.second);
	assert_int_equal(at.hundredths, want.hundredths);
}

/* A given time is UTC and the latest there is; the system's time zone is for the clock's own. */
static void times(void **state)
{
	struct cli_clock clock;

	(void)state;
	setenv("TZ", "UTC-5", 1); /* five hours east */
	cli_clock_fix(&clock, 1700000000, 7);
	assert_int_equal(clock.volume_id, 7);
	assert_time(&clock, 1600000001, 990000000,
		    (struct fat_datetime){ 2020, 9, 13, 12, 26, 41, 99 });
	assert_time(&clock, 1800000000, 990000000,
		    (struct fat_datetime){ 2023, 11, 14, 22, 13, 20, 0 });
	assert_time(&clock, 0, 0, (struct fat_datetime){ 1980, 1, 1, 0, 0, 0, 0 });
	clock.is_fixed = false;
	assert_time(&clock, 1600000001, 0, (struct fat_datetime){ 2020, 9, 13, 17, 26, 41, 0 });
	assert_time(&clock, 5000000000, 0, (struct fat_datetime){ 2107, 12, 31, 23, 59, 59, 99 });
	unsetenv("TZ");
}

static void the_environment_gives_the_time(void **state)
{
	struct cli_clock clock;

	(void)state;
	unsetenv("SOURCE_DATE_EPOCH");
	assert_true(cli_clock_read(&program, &clock));
	assert_false(clock.is_fixed);
	setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
	assert_true(cli_clock_read(&program, &clock));
	assert_true(clock.is_fixed);
	assert_int_equal(clock.volume_id, 1700000000);
	setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
	assert_false(cli_clock_read(&program, &clock));
	unsetenv("SOURCE_DATE_EPOCH");
}

static void json_strings(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "", "\"\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "line\n\x7F", "\"line\\u000a\\u007f\"" },
		{ "\xFFok\xC3", "\"\\ufffdok\\ufffd\"" },
		{ "größe", "\"größe\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char buf[100] = "";
		FILE *out = fmemopen(buf, sizeof buf, "w");

		assert_non_null(out);
		cli_put_json_string(out, cases[i].text);
		fclose(out);
		assert_string_equal(buf, cases[i].json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_label_may_be),
		cmocka_unit_test(far_too_long_is_no_trouble),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(no_label),
		cmocka_unit_test(times),
		cmocka_unit_test(the_environment_gives_the_time),
		cmocka_unit_test(json_strings),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
