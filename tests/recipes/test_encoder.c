/* SPDX-License-Identifier: MIT */
/*
 * The encoder against the strict reader, and the judge against damage: what is built sound is found
 * sound in every shape, what is broken is noticed, and what a recipe is owed is missed when it is
 * not there.
 */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "dev_snap.h"
#include "expect.h"
#include "lib/bytes.h"
#include "names.h"

static const char tree_text[] =
	"label VOLUME\n"
	"dir /D1\n"
	"dir /D1/SUB\n"
	"file /A.BIN 3000\n"
	"file /EMPTY 0\n"
	"file /D1/C.TXT 6 attr rhs\n"
	"file /D1/SUB/DEEP.BIN 4000 at 300,302,304,301,303,305,310-330\n"
	"file \"/D1/Long file name number one.bin\" 4000\n"
	"file \"/D1/n\xC3\xA4me \xF0\x9F\x98\x80 with a name of exactly thirty nine\" 10\n"
	"file /D1/OLD.TXT 100 deleted\n"
	"bad 200-205\n"
	"fill /D1 40 of 10\n";

static void print_problems(const struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		print_message("# %s\n", notes->line[i]);
}

/* Builds and surveys; what the judge complains of when nothing was repaired. */
static size_t complaints_about(const char *text, unsigned bits, uint32_t sector_bytes, bool show)
{
	const struct instance instance = { bits, sector_bytes };
	struct recipe *recipe = recipe_parse("test", text);
	struct image *image = image_build(recipe, &instance);
	struct expectation expect;
	struct notes complaints = { 0 };
	size_t n;

	expect_read(image, &expect);
	expect_judge(image, &expect, image->dev, image->dev, &complaints);
	n = complaints.n;
	if (show)
		print_problems(&complaints);
	notes_free(&complaints);
	expect_free(&expect);
	image_free(image);
	recipe_free(recipe);
	return n;
}

static void sound_volumes_are_sound(void **state)
{
	static const char *const shapes[] = { "",
					      "fats 1\n",
					      "fats 4\n",
					      "cluster 8192\n",
					      "cluster 65536\n",
					      "spare-fat 3\n",
					      "behind 4096\n" };

	(void)state;
	for (unsigned bits = 12; bits <= 32; bits += bits == 12 ? 4 : 16)
		for (uint32_t sector = 512; sector <= 4096; sector *= 2)
			for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
				char *text = xformat("%s%s", shapes[i], tree_text);

				assert_int_equal(complaints_about(text, bits, sector, true), 0);
				free(text);
			}
}

static void offsets_beyond_4_gib_are_reached(void **state)
{
	(void)state;
	assert_int_equal(complaints_about("volume-size 6G\ncluster 4K\n"
					  "dir /FAR at 1400000\n"
					  "file /FAR/A.BIN 9000 at 1400001-1400003\n"
					  "file /MAX.BIN 4294967295 hole\n",
					  32, 512, true),
			 0);
}

/* Each of these must be complained about, at each width it applies to. */
static void damage_is_noticed(void **state)
{
	static const char *const damages[] = {
		"fat /A.BIN[1] = end",
		"fat /A.BIN[1] = free in 1",
		"fat /A.BIN[1] = bad",
		"fat /A.BIN[1] = last+1",
		"fat /A.BIN[1] = 1",
		"fat /A.BIN[-1] = /A.BIN[0]",
		"fat 0 = mask",
		"fat 1 = 0x123",
		"lost 3 of 2",
		"entry /A.BIN size = old+10*cluster",
		"entry /A.BIN size = 0",
		"entry /A.BIN start = 0",
		"entry /A.BIN attr = 0x30",
		"entry /A.BIN name = \"A*      BIN\"",
		"entry /A.BIN mtime = 0xFFFF",
		"entry /D1 attr = 0x20",
		"entry /D1 size = 512",
		"dot /D1 start = 0",
		"dotdot /D1/SUB start = 0",
		"dot /D1 first = 0xE5",
		"lfn \"/D1/Long file name number one.bin\" 1 sum = old^1",
		"lfn \"/D1/Long file name number one.bin\" 2 seq = 5",
		"lfn \"/D1/Long file name number one.bin\" 2 char3 = 0x2A",
		"erase-short \"/D1/Long file name number one.bin\"",
		"erase /A.BIN",
		"twin /A.BIN",
		"clone /A.BIN / B.BIN",
		"raw / \"SECOND     \" 0x08 0 0",
		"raw /D1 \"STRAY      \" 0x08 0 0",
		"slot /D1 4 first = 0",
		"zero cluster /D1[0]",
		"garbage cluster /D1[0]",
		"zero fat1",
		"ones fat1 sector 0",
		"zero boot",
		"boot media = 0xF1",
		"boot signature = 0",
		"boot state = 1",
		"boot total = old*2",
		"truncate 3*cluster",
	};

	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++)
		for (unsigned bits = 12; bits <= 32; bits += bits == 12 ? 4 : 16) {
			char *text = xformat("%s%s\n", tree_text, damages[i]);

			if (complaints_about(text, bits, 512, false) == 0)
				fail_msg("FAT%u: not noticed: %s", bits, damages[i]);
			free(text);
		}
}

static void fat32_damage_is_noticed(void **state)
{
	static const char *const damages[] = {
		"backup cluster = 2",   "zero backup",    "fsinfo free = 7",  "fsinfo lead = 0",
		"fsinfo next = last+1", "boots root = 0", "boot version = 1", "boot fsinfo = 200",
	};

	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		char *text = xformat("%s%s\n", tree_text, damages[i]);

		if (complaints_about(text, 32, 512, false) == 0)
			fail_msg("not noticed: %s", damages[i]);
		free(text);
	}
}

/* Expectations that the sound volume does not meet. */
static void what_is_owed_is_missed(void **state)
{
	static const char *const expectations[] = {
		"expect gone /A.BIN",
		"expect size /A.BIN 17",
		"expect content /A.BIN of /D1/C.TXT",
		"expect keeps /A.BIN 0-3001",
		"expect new 1",
		"expect label OTHER",
		"expect fat /A.BIN[0] = end",
		"expect boot media = 0xF0",
		"expect entry /A.BIN size = 3",
	};

	(void)state;
	assert_int_equal(complaints_about(tree_text, 16, 512, true), 0);
	for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
		char *text = xformat("%s%s\n", tree_text, expectations[i]);

		if (complaints_about(text, 16, 512, false) == 0)
			fail_msg("not missed: %s", expectations[i]);
		free(text);
	}
}

static void what_is_met_is_not_missed(void **state)
{
	char *text = xformat("%s%s", tree_text,
			     "expect saved /A.BIN\n"
			     "expect samedir /D1/C.TXT\n"
			     "expect moved /D1/SUB\n"
			     "expect new 0\n"
			     "expect label VOLUME\n"
			     "expect fat 200-205 = bad\n"
			     "expect fat /A.BIN[0] = /A.BIN[1] in 1\n"
			     "expect same fat1\n");

	(void)state;
	assert_int_equal(complaints_about(text, 16, 512, true), 0);
	free(text);
}

static void names_round_trip(void **state)
{
	uint8_t short_name[11];
	uint16_t units[LFN_MAX_UNITS];
	char text[LFN_MAX_UNITS * 3 + 1];

	(void)state;
	assert_true(name_to_short("README.TXT", short_name));
	assert_memory_equal(short_name, "README  TXT", 11);
	assert_false(name_to_short("Readme.txt", short_name));
	assert_false(name_to_short("A.B.C", short_name));
	assert_false(name_to_short("NINECHARS", short_name));
	name_alias("Long file name.html", 3, short_name);
	assert_memory_equal(short_name, "LONGFI~3HTM", 11);
	assert_int_equal(name_checksum((const uint8_t *)"A          "), 0x80);
	name_from_units(units, name_to_units("\xC3\xA4\xF0\x9F\x98\x80z", units), text);
	assert_string_equal(text, "\xC3\xA4\xF0\x9F\x98\x80z");
	name_from_short((const uint8_t *)"AB         ", 0x08, text);
	assert_string_equal(text, "ab");
	name_from_short((const uint8_t *)"ABCDEFGHI  ", 0, text);
	assert_string_equal(text, "ABCDEFGH.I");
}

/* ---- the recipes themselves ---------------------------------------------------------------- */

static bool is_long(const struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->n_statements; i++)
		if (strcmp(recipe->statement[i].word[0], "tier") == 0)
			return true;
	return false;
}

/* Before its damage each volume must be sound, and the damage must be possible. */
static void build_one(const struct recipe *recipe, void *ctx)
{
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	for (size_t i = 0; i < n && !is_long(recipe); i++) {
		struct image *image = image_build_sound(recipe, &instance[i]);
		struct survey survey;

		survey_read(&survey, image->dev);
		if (survey.problems.n > 0) {
			print_message("# %s: before the damage: %s\n", recipe->name,
				      survey.problems.line[0]);
			++*(unsigned *)ctx;
		}
		survey_free(&survey);
		image_free(image);
		image_free(image_build(recipe, &instance[i]));
	}
}

static void every_recipe_builds(void **state)
{
	static const char *const folders[] = { "cases", "faults", "kinds", "todo" };
	unsigned n_unsound = 0;

	(void)state;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char *path = xformat("tests/recipes/%s", folders[i]);

		if (access(path, R_OK) == 0)
			recipe_each_in(path, build_one, &n_unsound);
		free(path);
	}
	assert_int_equal(n_unsound, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_round_trip),
		cmocka_unit_test(sound_volumes_are_sound),
		cmocka_unit_test(offsets_beyond_4_gib_are_reached),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(fat32_damage_is_noticed),
		cmocka_unit_test(what_is_owed_is_missed),
		cmocka_unit_test(what_is_met_is_not_missed),
		cmocka_unit_test(every_recipe_builds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
