/* SPDX-License-Identifier: MIT */
/*
 * cli: option tables, numbers, sizes, text from strangers.
 */
#include "unit.h"

#include <getopt.h>

#include "cli.h"

enum { OPT_LONG_ONLY = CLI_LONG, OPT_MBR, OPT_HELP };

static const struct cli_option options[] = {
	{ 'a', 'a', NULL, NULL, "Do not align." },
	{ 'F', 'F', NULL, "SIZE", "FAT size." },
	{ 'n', 'n', "name", "NAME", "Volume name." },
	{ 'g', 'g', NULL, "[H/S]", "Geometry." },
	{ OPT_MBR, 0, "mbr", "[TYPE]", "Fake partition table." },
	{ OPT_LONG_ONLY, 0, "a-rather-long-name", "VALUE", "Its help goes to a line of its own." },
	{ OPT_HELP, 0, "help", NULL, "Show this." },
	{ 'q', 'q', NULL, NULL, NULL },
};

static const struct cli_program program = {
	.name = "mkfs.fat",
	.synopsis = "[OPTIONS] DEVICE",
	.purpose = "Makes a FAT volume.",
	.options = options,
	.n_options = sizeof options / sizeof *options,
};

/* "a F=32 n=X | dev": what the arguments parse to, in text. */
static const char *parse(int argc, const char *const *list)
{
	static char text[512];
	char *argv[16];
	struct cli_args args = { .argc = argc, .argv = argv };
	int code, n = 0;

	memcpy(argv, list, (size_t)(argc + 1) * sizeof *list);
	optind = 0; /* getopt starts anew */
	opterr = 0;
	text[0] = '\0';
	while ((code = cli_next(&program, &args)) != -1) {
		if (code < CLI_LONG)
			n += snprintf(text + n, sizeof text - (size_t)n, "%c", code);
		else
			n += snprintf(text + n, sizeof text - (size_t)n, "%d", code - CLI_LONG);
		n += snprintf(text + n, sizeof text - (size_t)n, "%s%s ", args.value ? "=" : "",
			      args.value ? args.value : "");
	}
	n += snprintf(text + n, sizeof text - (size_t)n, "|");
	for (int i = args.first_operand; i < argc; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, " %s", argv[i]);
	return text;
}

#define PARSE(...)                                                                                 \
	parse((int)(sizeof((const char *[]){ "p", __VA_ARGS__ }) / sizeof(char *)),                \
	      (const char *[]){ "p", __VA_ARGS__, NULL })

static void options_as_callers_write_them(void **state)
{
	(void)state;
	assert_string_equal(PARSE("-F32", "-a", "dev"), "F=32 a | dev");
	assert_string_equal(PARSE("-F", "32", "dev", "1000"), "F=32 | dev 1000");
	assert_string_equal(PARSE("dev", "1000", "-F", "32"), "F=32 | dev 1000");
	assert_string_equal(PARSE("-aqn", "X", "dev"), "a q n=X | dev");
	assert_string_equal(PARSE("--name=X", "--name", "Y"), "n=X n=Y |");
	assert_string_equal(PARSE("--mbr", "dev"), "1 | dev");
	assert_string_equal(PARSE("--mbr=no", "dev"), "1=no | dev");
	assert_string_equal(PARSE("-g", "-g4/32", "dev"), "g g=4/32 | dev");
	assert_string_equal(PARSE("-a", "--", "-n"), "a | -n");
	assert_string_equal(PARSE("-n", "", "dev"), "n= | dev");
	assert_string_equal(PARSE("-"), "| -");
}

static void what_is_no_option_is_a_question_mark(void **state)
{
	(void)state;
	assert_string_equal(PARSE("-x", "dev"), "? | dev");
	assert_string_equal(PARSE("--nonsense"), "? |");
	assert_string_equal(PARSE("dev", "-F"), "? | dev");
	assert_string_equal(PARSE("--help=x"), "? |");
	assert_string_equal(PARSE("-?"), "? |");
}

/* What a function prints, as a string that lives until the next call. */
static const char *printed(void (*print)(FILE *out, const void *with), const void *with)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	text[0] = '\0';
	assert_non_null(out);
	print(out, with);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void print_usage(FILE *out, const void *with)
{
	cli_usage(with, out);
}

static void usage_has_all_that_is_listed(void **state)
{
	const char *text = printed(print_usage, &program);

	(void)state;
	assert_ptr_equal(strstr(text, "Usage: mkfs.fat [OPTIONS] DEVICE\n"), text);
	assert_non_null(strstr(text, "  -a  "));
	assert_non_null(strstr(text, "  -F SIZE  "));
	assert_non_null(strstr(text, "  -n, --name NAME  "));
	assert_non_null(strstr(text, "      --mbr[=TYPE]"));
	assert_non_null(strstr(text, "--a-rather-long-name VALUE\n"));
	assert_non_null(strstr(text, "  Its help goes to a line of its own.\n"));
	assert_null(strstr(text, "-q"));
	for (const char *line = text; line; line = strchr(line + 1, '\n'))
		assert_true(strcspn(line + 1, "\n") <= 100);
}

static void print_banner(FILE *out, const void *with)
{
	cli_banner(with, out);
}

static void the_banner_is_what_callers_match(void **state)
{
	unsigned major = 0, minor = 0;

	(void)state;
	assert_int_equal(sscanf(printed(print_banner, &program), "mkfs.fat %u.%u", &major, &minor),
			 2);
	assert_true(major > 4 || (major == 4 && minor >= 2));
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int base;
		uint64_t min, max;
		bool ok;
		uint64_t value;
	} cases[] = {
		{ "0", 10, 0, 9, true, 0 },
		{ "32", 10, 12, 32, true, 32 },
		{ "33", 10, 12, 32, false, 0 },
		{ "11", 10, 12, 32, false, 0 },
		{ "", 10, 0, 9, false, 0 },
		{ " 1", 10, 0, 9, false, 0 },
		{ "1 ", 10, 0, 9, false, 0 },
		{ "+1", 10, 0, 9, false, 0 },
		{ "-1", 10, 0, UINT64_MAX, false, 0 },
		{ "0x-1", 10, 0, UINT64_MAX, false, 0 },
		{ "1.5", 10, 0, 9, false, 0 },
		{ "1k", 10, 0, 9, false, 0 },
		{ "010", 10, 0, 99, true, 10 },
		{ "f", 10, 0, 99, false, 0 },
		{ "0xF8", 10, 0, 255, true, 0xF8 },
		{ "0X1f", 10, 0, 255, true, 0x1F },
		{ "0x", 10, 0, 255, false, 0 },
		{ "0x0x1", 16, 0, 255, false, 0 },
		{ "dead", 16, 0, 65535, true, 0xDEAD },
		{ "0xdead", 16, 0, 65535, true, 0xDEAD },
		{ "18446744073709551615", 10, 0, UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", 10, 0, UINT64_MAX, false, 0 },
		{ "123456789012345678901234567890", 10, 0, UINT64_MAX, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t v = 4711;
		bool ok =
			cli_parse_u64(cases[i].text, cases[i].base, cases[i].min, cases[i].max, &v);

		if (ok != cases[i].ok || (ok ? v != cases[i].value : v != 4711))
			fail_msg("\"%s\": %d, %llu", cases[i].text, ok, (unsigned long long)v);
	}
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t bytes;
	} cases[] = {
		{ "0", true, 0 },
		{ "4096", true, 4096 },
		{ "4096B", true, 4096 },
		{ "32k", true, 32768 },
		{ "32K", true, 32768 },
		{ "32KB", true, 32768 },
		{ "32KiB", true, 32768 },
		{ "4M", true, 4u << 20 },
		{ "2gib", true, 2ull << 30 },
		{ "3t", true, 3ull << 40 },
		{ "", false, 0 },
		{ "k", false, 0 },
		{ "-4k", false, 0 },
		{ "4kk", false, 0 },
		{ "4 k", false, 0 },
		{ "4x", false, 0 },
		{ "0x10", false, 0 },
		{ "4kbit", false, 0 },
		{ "16777216t", false, 0 },
		{ "99999999999999999999", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t bytes = 4711;
		bool ok = cli_parse_size(cases[i].text, &bytes);

		if (ok != cases[i].ok || (ok ? bytes != cases[i].bytes : bytes != 4711))
			fail_msg("\"%s\": %d, %llu", cases[i].text, ok, (unsigned long long)bytes);
	}
}

static void sizes_for_people(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(cli_size_text(0, buf, sizeof buf), "0 B");
	assert_string_equal(cli_size_text(1023, buf, sizeof buf), "1023 B");
	assert_string_equal(cli_size_text(32768, buf, sizeof buf), "32 KiB");
	assert_string_equal(cli_size_text(1536, buf, sizeof buf), "1.5 KiB");
	assert_string_equal(cli_size_text(1ull << 40, buf, sizeof buf), "1 TiB");
	assert_string_equal(cli_size_text(1048575, buf, sizeof buf), "1.0 MiB");
	assert_string_equal(cli_size_text(UINT64_MAX, buf, sizeof buf), "16 EiB");
}

static void print_text(FILE *out, const void *with)
{
	cli_put_text(out, with);
}

static void text_from_strangers_is_made_harmless(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "plain NAME.TXT", "plain NAME.TXT" },
		{ "M\xC3\xBCller", "M\xC3\xBCller" },
		{ "\xE2\x82\xAC \xF0\x9F\x98\x80", "\xE2\x82\xAC \xF0\x9F\x98\x80" },
		{ "a\nb\rc\td", "a\\x0Ab\\x0Dc\\x09d" },
		{ "\x1B[31mred", "\\x1B[31mred" },
		{ "\x7F", "\\x7F" },
		{ "\xC2\x9B"
		  "31m",
		  "\\u{009B}31m" }, /* CSI in one character */
		{ "exe\xE2\x80\xAEtxt.doc", "exe\\u{202E}txt.doc" },
		{ "a\xE2\x80\x8B"
		  "b",
		  "a\\u{200B}b" },
		{ "\xF3\xA0\x80\xA1", "\\u{E0021}" },
		{ "\xFF\xFE", "\\xFF\\xFE" },
		{ "\x80", "\\x80" },
		{ "\xC0\xAF", "\\xC0\\xAF" },                   /* overlong */
		{ "\xE0\x80\xAF", "\\xE0\\x80\\xAF" },          /* overlong */
		{ "\xED\xA0\x80", "\\xED\\xA0\\x80" },          /* half a surrogate pair */
		{ "\xF4\x90\x80\x80", "\\xF4\\x90\\x80\\x80" }, /* beyond Unicode */
		{ "\xE2\x82", "\\xE2\\x82" },                   /* cut short */
		{ "\xC3", "\\xC3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(printed(print_text, cases[i].text), cases[i].want);
}

static void print_stats(FILE *out, const void *with)
{
	struct fat_dev *dev;

	memcpy(&dev, with, sizeof dev);
	cli_print_stats(out, dev);
}

static void stats_are_those_of_the_base(void **state)
{
	struct fat_dev *mem, *window;
	const char *text;

	(void)state;
	assert_int_equal(fat_dev_mem_open(8192, &mem), FAT_OK);
	assert_int_equal(fat_dev_window_open(mem, 4096, 0, &window), FAT_OK);
	assert_int_equal(fat_dev_write(window, 0, "abc", 3), FAT_OK);
	assert_int_equal(fat_dev_read(window, 4096, &mem, 1), FAT_ERR_RANGE);
	text = printed(print_stats, &window);
	assert_non_null(strstr(text, "writes: 1 requests, 3 bytes\n"));
	assert_non_null(strstr(text, "reads: 0 requests, 0 bytes\n"));
	assert_non_null(strstr(text, "flushes: 0\n"));
	assert_non_null(strstr(text, "memory: "));
	fat_dev_close(window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_as_callers_write_them),
		cmocka_unit_test(what_is_no_option_is_a_question_mark),
		cmocka_unit_test(usage_has_all_that_is_listed),
		cmocka_unit_test(the_banner_is_what_callers_match),
		cmocka_unit_test(numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(sizes_for_people),
		cmocka_unit_test(text_from_strangers_is_made_harmless),
		cmocka_unit_test(stats_are_those_of_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
