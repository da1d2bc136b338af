/* SPDX-License-Identifier: MIT */
/*
 * The crash harness on a toy repairer: it must accept the careful one and catch each careless one
 * by what it does wrong; and every layer by itself.
 */
#include "tests/unit/unit.h"

#include "crash.h"
#include "lib/bytes.h"
#include "tests/recipes/dev_snap.h"
#include "toy.h"

static const char twin_text[] = "at fat16\n"
				"root-entries 16\n"
				"file /PAD.BIN 250*cluster hole at 2-251\n"
				"file /A.BIN 3000 at 300-305\n"
				"file /B.BIN 3000 at 310-315\n"
				"entry /B.BIN start = /A.BIN[0]\n"
				"fat /B.BIN[*] = free\n";

struct trial {
	struct recipe *recipe;
	struct image *image;
	struct toy toy;
	struct crash_subject subject;
	struct crash_counts counts;
	struct notes complaints;
};

static void open_trial(struct trial *trial, enum toy_manners manners)
{
	const struct instance instance = { 16, 512 };

	*trial = (struct trial){ .toy.manners = manners };
	trial->recipe = recipe_parse("twin", twin_text);
	trial->image = image_build(trial->recipe, &instance);
	trial->toy.shape = trial->image->shape;
	trial->subject = (struct crash_subject){ .name = "toy",
						 .s0 = trial->image->dev,
						 .shape = trial->image->shape,
						 .run = toy_run,
						 .ctx = &trial->toy };
}

static void close_trial(struct trial *trial)
{
	notes_free(&trial->complaints);
	image_free(trial->image);
	recipe_free(trial->recipe);
}

static bool says(const struct notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strstr(notes->line[i], text))
			return true;
	return false;
}

/* The harness must complain with these words. */
static void must_catch(enum toy_manners manners, const char *words)
{
	struct trial trial;

	open_trial(&trial, manners);
	crash_explore(&trial.subject, &trial.counts, &trial.complaints);
	for (size_t i = 0; !says(&trial.complaints, words) && i < trial.complaints.n; i++)
		print_message("# %s\n", trial.complaints.line[i]);
	assert_true(says(&trial.complaints, words));
	close_trial(&trial);
}

static void careful_toy_is_accepted(void **state)
{
	struct trial trial;

	(void)state;
	open_trial(&trial, TOY_CAREFUL);
	crash_explore(&trial.subject, &trial.counts, &trial.complaints);
	for (size_t i = 0; i < trial.complaints.n; i++)
		print_message("# %s\n", trial.complaints.line[i]);
	crash_undo_cuts(&trial.subject, &trial.counts, &trial.complaints);
	assert_int_equal(trial.complaints.n, 0);
	assert_true(trial.counts.n_undone > 10);
	assert_true(trial.counts.n_states > 100);
	assert_true(trial.counts.n_second > 10);
	assert_true(trial.counts.n_faults > 20);
	assert_true(trial.counts.n_mallocs >= 3);
	print_message(
		"# %llu states, %llu second cuts, %llu failing calls, %llu failing allocations\n",
		(unsigned long long)trial.counts.n_states,
		(unsigned long long)trial.counts.n_second,
		(unsigned long long)trial.counts.n_faults,
		(unsigned long long)trial.counts.n_mallocs);
	close_trial(&trial);
}

static void attaching_first_is_caught(void **state)
{
	(void)state;
	must_catch(TOY_ATTACHES_FIRST, "a chain runs into the free cluster");
	must_catch(TOY_ATTACHES_FIRST, "is lost or altered");
}

static void missing_flushes_are_caught(void **state)
{
	(void)state;
	must_catch(TOY_NEVER_FLUSHES, "no flush between MARK and PREPARE");
	must_catch(TOY_NEVER_FLUSHES, "the last write is not flushed");
}

static void missing_mark_is_caught(void **state)
{
	(void)state;
	must_catch(TOY_NO_MARK, "not marked dirty");
}

static void mirror_before_the_rest_is_caught(void **state)
{
	(void)state;
	must_catch(TOY_MIRRORS_FIRST, "comes after");
}

static void hidden_errors_are_caught(void **state)
{
	(void)state;
	must_catch(TOY_HIDES_ERRORS, "the failure is not told: exit status 1");
}

static void unclean_second_run_is_caught(void **state)
{
	(void)state;
	must_catch(TOY_FORGETS, "the run after the repair ends with 1");
}

/* The id of a complaint makes the same complaint again, alone. */
static void an_id_replays(void **state)
{
	struct trial trial;
	struct notes again = { 0 };
	char id[64];

	(void)state;
	open_trial(&trial, TOY_ATTACHES_FIRST);
	crash_explore(&trial.subject, &trial.counts, &trial.complaints);
	assert_true(trial.complaints.n > 1);
	assert_int_equal(
		sscanf(trial.complaints.line[trial.complaints.n - 1], "replay toy:%63[^:]", id), 1);
	crash_replay(&trial.subject, id, &again);
	assert_true(says(&again, strchr(trial.complaints.line[trial.complaints.n - 1], ':')));
	notes_free(&again);
	close_trial(&trial);
}

/* ---- layers -------------------------------------------------------------------------------- */

static void faults_come_when_told(void **state)
{
	struct fat_dev *dev = dev_fault_open(snap_open(8192));
	uint8_t buf[512] = { 1 };

	(void)state;
	dev_fault_set(dev, CALL_WRITE, 2, false);
	dev_fault_bad_range(dev, 4096, 512);
	assert_int_equal(fat_dev_write(dev, 0, buf, 512), FAT_OK);
	assert_int_equal(fat_dev_write(dev, 512, buf, 512), FAT_ERR_IO);
	assert_int_equal(fat_dev_write(dev, 512, buf, 512), FAT_OK);
	assert_int_equal(fat_dev_read(dev, 3584, buf, 512), FAT_OK);
	assert_int_equal(fat_dev_read(dev, 4095, buf, 2), FAT_ERR_IO);
	assert_int_equal(fat_dev_read(dev, 4608, buf, 1), FAT_OK);
	dev_fault_set(dev, CALL_FLUSH, 1, true);
	assert_int_equal(fat_dev_flush(dev), FAT_ERR_IO);
	assert_int_equal(fat_dev_flush(dev), FAT_ERR_IO);
	assert_int_equal(dev_fault_count(dev, CALL_WRITE), 3);
	fat_dev_close(dev);
}

static void clones_are_independent(void **state)
{
	struct fat_dev *dev = snap_open(9ull << 30), *copy;
	uint8_t byte = 7;

	(void)state;
	assert_int_equal(fat_dev_write(dev, (8ull << 30) + 5, &byte, 1), FAT_OK);
	copy = snap_clone(dev);
	assert_true(snap_first_difference(dev, copy) == UINT64_MAX);
	byte = 9;
	assert_int_equal(fat_dev_write(copy, (8ull << 30) + 5, &byte, 1), FAT_OK);
	assert_true(snap_first_difference(dev, copy) == (8ull << 30) + 5);
	assert_int_equal(fat_dev_read(dev, (8ull << 30) + 5, &byte, 1), FAT_OK);
	assert_int_equal(byte, 7);
	assert_true(snap_next_page(dev, 0) == 8ull << 30);
	fat_dev_close(copy);
	fat_dev_close(dev);
}

/* Two writes in one epoch, one of two sectors; then one more. */
static void states_are_what_their_ids_say(void **state)
{
	struct fat_dev *s0 = snap_open(4096), *top, *cut;
	struct crash_log log;
	struct crash_states states;
	uint8_t buf[1024], byte;

	(void)state;
	top = dev_crash_open(snap_clone(s0), &log);
	memset(buf, 1, sizeof buf);
	fat_dev_write(top, 0, buf, 1024);
	fat_dev_write(top, 2048, buf, 512);
	fat_dev_flush(top);
	fat_dev_write(top, 3072, buf, 512);
	fat_dev_flush(top);
	fat_dev_close(top);
	crash_states_make(&states, &log, 512, 0);
	assert_int_equal(states.n_units, 4);
	cut = crash_state_build(&states, s0, "s0.5"); /* sectors 0 and 2 of the first epoch */
	fat_dev_read(cut, 0, buf, 1024);
	assert_true(buf[0] == 1 && buf[512] == 0);
	fat_dev_read(cut, 2048, &byte, 1);
	assert_int_equal(byte, 1);
	fat_dev_read(cut, 3072, &byte, 1);
	assert_int_equal(byte, 0);
	fat_dev_close(cut);
	cut = crash_state_build(&states, s0, "t3.-100"); /* the last sector's tail, all before it */
	fat_dev_read(cut, 3072, buf, 512);
	assert_true(buf[411] == 0 && buf[412] == 1);
	fat_dev_close(cut);
	assert_null(crash_state_build(&states, s0, "x1"));
	crash_states_free(&states);
	crash_log_free(&log);
	fat_dev_close(s0);
}

static void allocations_fail_when_told(void **state)
{
	void *volatile a, *volatile b;

	(void)state;
	malloc_fail_arm(2);
	a = malloc(10);
	b = malloc(10);
	assert_int_equal(malloc_fail_disarm(), 2);
	assert_non_null(a);
	assert_null(b);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_come_when_told),
		cmocka_unit_test(clones_are_independent),
		cmocka_unit_test(states_are_what_their_ids_say),
		cmocka_unit_test(allocations_fail_when_told),
		cmocka_unit_test(careful_toy_is_accepted),
		cmocka_unit_test(attaching_first_is_caught),
		cmocka_unit_test(missing_flushes_are_caught),
		cmocka_unit_test(missing_mark_is_caught),
		cmocka_unit_test(mirror_before_the_rest_is_caught),
		cmocka_unit_test(hidden_errors_are_caught),
		cmocka_unit_test(unclean_second_run_is_caught),
		cmocka_unit_test(an_id_replays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
