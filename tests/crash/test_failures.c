/* SPDX-License-Identifier: MIT */
/*
 * failures: each read, write, flush and allocation of the smaller operations fails once: a change
 * of the label, a commit with an undo file, a rollback, a look whether all was written.
 *
 * An operation that fails says so, and done again it ends as if nothing had been; one that says it
 * is done has done all of its work. Knows of the operations what their headers promise. (Checks and
 * repairs: test_crash. Formatting: test_format_cuts.)
 */
#include "tests/unit/unit.h"

#include "crash.h"
#include "label/label.h"
#include "lib/bytes.h"
#include "tests/recipes/dev_snap.h"

#define SECTOR       512u
#define MEDIUM_BYTES (512u << 10) /* behind it lies the undo file, so that its calls fail too */
#define STORE_BYTES  (2u << 20)
#define N_EDITS      700u /* more than the transaction's first table of them */

struct operation {
	struct fat_dev *(*make)(void); /* what it works on */
	bool (*run)(struct fat_dev *dev);
	void (*check_failed)(struct fat_dev *dev, const struct fat_dev *before); /* or NULL */
	void (*check_again)(struct fat_dev *dev); /* NULL: the same bytes as after one run */
};

/* Takes a layer off again, and leaves what is below it. */
static void drop(struct fat_dev *layer)
{
	layer->below = NULL;
	fat_dev_close(layer);
}

/* ---- labels --------------------------------------------------------------------------------- */

static struct fat_dev *make_volume(const char *text, struct instance instance)
{
	struct recipe *recipe = recipe_parse("failures", text);
	struct image *image = image_build(recipe, &instance);
	struct fat_dev *dev = snap_clone(image->dev);

	image_free(image);
	recipe_free(recipe);
	return dev;
}

static struct fat_dev *make_fat12(void)
{
	return make_volume("clusters 130\nroot-entries 32\nlabel OLD\nfile /A.BIN 700\n",
			   (struct instance){ 12, SECTOR });
}

/* Its root is full: a label needs a cluster more. */
static struct fat_dev *make_full_root(void)
{
	return make_volume("clusters 300\nfill / 16 of 10\n", (struct instance){ 32, SECTOR });
}

/* change: true once all is staged. */
static bool on_volume(struct fat_dev *dev, bool (*change)(struct label_volume *volume))
{
	struct label_volume volume = { .path = "volume" };
	bool done = false;

	if (fat_dev_read(dev, 0, volume.sector, sizeof volume.sector) != FAT_OK)
		return false;
	fat_boot_decode(volume.sector, &volume.boot);
	assert_int_equal(fat_geometry_decode(&volume.boot, &volume.geometry), FAT_OK);
	if (fat_txn_open(dev, SECTOR, 1u << 20, &volume.dev) != FAT_OK)
		return false;
	done = change(&volume) && label_volume_commit(&volume);
	drop(volume.dev);
	return done;
}

static bool stage_label(struct label_volume *volume)
{
	static const struct fat_datetime now = { .year = 2026, .month = 11, .day = 30 };
	static const uint8_t label[FAT_SHORT_BYTES] = "NEW LABEL  ";

	memcpy(volume->boot.label, label, sizeof label);
	return label_root_set(volume, label, &now) && label_volume_stage_boot(volume) == FAT_OK;
}

static bool stage_removal(struct label_volume *volume)
{
	return label_root_remove(volume);
}

/* What the first run took a cluster for may be lost, in one copy of the FAT or in both; no more. */
static void is_sound_but_for_a_cluster(struct fat_dev *dev)
{
	struct survey survey;

	assert_true(survey_read(&survey, dev));
	for (size_t i = 0; i < survey.problems.n; i++) {
		const char *problem = survey.problems.line[i];

		assert_true(strstr(problem, "1 lost clusters") || strstr(problem, "FSInfo") ||
			    strstr(problem, "FAT 2: entry"));
	}
	assert_memory_equal(survey.root_label, "NEW LABEL  ", FAT_SHORT_BYTES);
	survey_free(&survey);
}

static bool set_label(struct fat_dev *dev)
{
	return on_volume(dev, stage_label);
}

static bool remove_label(struct fat_dev *dev)
{
	return on_volume(dev, stage_removal);
}

/* ---- the undo journal, which lies behind the medium ----------------------------------------- */

static struct fat_dev *make_medium(void)
{
	struct fat_dev *dev = snap_open(MEDIUM_BYTES + STORE_BYTES);
	uint8_t bytes[SECTOR];

	for (uint64_t off = 0; off < MEDIUM_BYTES;
	     off += 2 * SECTOR) { /* every other one is zeros */
		memset(bytes, (int)(off / SECTOR % 255 + 1), sizeof bytes);
		assert_int_equal(fat_dev_write(dev, off, bytes, sizeof bytes), FAT_OK);
	}
	return dev;
}

struct pair {
	struct fat_dev *medium, *store;
};

static bool open_pair(struct fat_dev *dev, struct pair *pair)
{
	*pair = (struct pair){ 0 };
	if (fat_dev_window_open(dev, 0, MEDIUM_BYTES, &pair->medium) != FAT_OK)
		return false;
	if (fat_dev_window_open(dev, MEDIUM_BYTES, STORE_BYTES, &pair->store) == FAT_OK)
		return true;
	drop(pair->medium);
	return false;
}

static void close_pair(struct pair *pair)
{
	drop(pair->medium);
	if (pair->store)
		drop(pair->store);
}

/* It closes its store too. */
static void close_undo(struct fat_dev *undo, struct pair *pair)
{
	pair->store->below = NULL;
	pair->store = NULL;
	drop(undo);
}

static bool stage_edits(struct fat_dev *txn)
{
	enum fat_status status =
		fat_txn_copy(txn, FAT_STAGE_PREPARE, 200 * SECTOR, 900 * SECTOR, 8 * SECTOR);

	if (status == FAT_OK)
		status = fat_txn_fill(txn, FAT_STAGE_RELEASE, 0xE5, 300 * SECTOR, 4 * SECTOR);
	if (status == FAT_OK)
		status = fat_txn_fill(txn, FAT_STAGE_RELEASE, 0, 310 * SECTOR, SECTOR);
	for (uint32_t i = 0; i < N_EDITS && status == FAT_OK; i++)
		status = fat_txn_write(txn, (enum fat_stage)(i % FAT_N_STAGES),
				       i * 3 % 880 * SECTOR + i % 500, &i, sizeof i);
	return status == FAT_OK;
}

static bool commit(struct fat_dev *dev)
{
	const struct fat_undo_origin origin = { .program = "failures" };
	struct fat_dev *undo = NULL, *txn = NULL;
	struct pair pair;
	bool done;

	if (!open_pair(dev, &pair))
		return false;
	done = fat_undo_create(pair.medium, pair.store, &origin, &undo) == FAT_OK &&
	       fat_txn_open(undo, SECTOR, 4u << 20, &txn) == FAT_OK && stage_edits(txn) &&
	       fat_txn_commit(txn, undo, NULL) == FAT_OK && fat_undo_finish(undo) == FAT_OK;
	if (txn)
		drop(txn);
	if (undo)
		close_undo(undo, &pair);
	close_pair(&pair);
	return done;
}

static bool roll_back(struct fat_dev *dev)
{
	enum fat_undo_verdict verdict;
	struct pair pair;
	bool done;

	if (!open_pair(dev, &pair))
		return false;
	done = fat_undo_match(pair.store, pair.medium, &verdict) == FAT_OK &&
	       verdict == FAT_UNDO_SOUND && fat_undo_rollback(pair.store, pair.medium) == FAT_OK;
	close_pair(&pair);
	return done;
}

static struct fat_dev *make_committed(void)
{
	struct fat_dev *dev = make_medium();

	assert_true(commit(dev));
	return dev;
}

/* Where there is an undo file it takes back what has arrived; where there is none, nothing has. */
static void can_be_taken_back(struct fat_dev *dev, const struct fat_dev *before)
{
	struct fat_dev *copy = snap_clone(dev);
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;
	struct pair pair;

	assert_true(open_pair(copy, &pair));
	assert_int_equal(fat_undo_verify(pair.store, &info, &verdict), FAT_OK);
	if (verdict == FAT_UNDO_SOUND)
		assert_int_equal(fat_undo_rollback(pair.store, pair.medium), FAT_OK);
	close_pair(&pair);
	assert_true(snap_first_difference(copy, before) >= MEDIUM_BYTES);
	fat_dev_close(copy);
}

/* ---- verifying ------------------------------------------------------------------------------- */

static bool write_and_verify(struct fat_dev *dev)
{
	static const char text[] = "written";
	struct fat_dev *verify;
	uint64_t wrong_off;
	bool is_right = false, done;

	if (fat_verify_open(dev, &verify) != FAT_OK)
		return false;
	done = fat_dev_zero(verify, 0, 4096) == FAT_OK &&
	       fat_dev_write(verify, 1024, text, sizeof text) == FAT_OK &&
	       fat_dev_write(verify, 8192, text, sizeof text) == FAT_OK &&
	       fat_dev_flush(verify) == FAT_OK &&
	       fat_verify_check(verify, &is_right, &wrong_off) == FAT_OK && is_right;
	drop(verify);
	return done;
}

/* ---- the harness ----------------------------------------------------------------------------- */

/* In the medium, for an undo file's end differs from run to run. */
static bool is_equal(const struct fat_dev *a, const struct fat_dev *b)
{
	uint64_t size = a->size_bytes == MEDIUM_BYTES + STORE_BYTES ? MEDIUM_BYTES : a->size_bytes;

	return snap_first_difference(a, b) >= size;
}

static void check_outcome(const struct operation *operation, bool done, struct fat_dev *dev,
			  const struct fat_dev *before, const struct fat_dev *after)
{
	if (!done) {
		if (operation->check_failed)
			operation->check_failed(dev, before);
		assert_true(operation->run(dev));
	}
	if (!done && operation->check_again)
		operation->check_again(dev);
	else
		assert_true(is_equal(dev, after));
}

/* Returns whether the run was long enough for there to be an nth call. */
static bool try_call(const struct operation *operation, enum call_kind kind, uint64_t nth,
		     struct fat_dev *before, const struct fat_dev *after)
{
	struct fat_dev *dev = snap_clone(before), *top = dev_fault_open(dev);
	bool done, was_there;

	dev_fault_set(top, kind, nth, kind != CALL_READ);
	done = operation->run(top);
	was_there = dev_fault_count(top, kind) >= nth;
	drop(top);
	assert_true(!was_there || !done);
	check_outcome(operation, done, dev, before, after);
	fat_dev_close(dev);
	return was_there;
}

static bool try_malloc(const struct operation *operation, uint64_t nth, struct fat_dev *before,
		       const struct fat_dev *after)
{
	struct fat_dev *dev = snap_clone(before), *top = dev_fault_open(dev);
	bool done, was_there;

	malloc_fail_arm(nth);
	done = operation->run(top);
	was_there = malloc_fail_disarm() >= nth;
	drop(top);
	check_outcome(operation, done, dev, before, after);
	fat_dev_close(dev);
	return was_there;
}

/* The first calls one by one, then fewer and fewer: some have thousands. */
static uint64_t next(uint64_t nth)
{
	return nth + 1 + (nth > 24 ? nth / 4 : 0);
}

static void explore(const struct operation *operation)
{
	struct fat_dev *before = operation->make(), *after = snap_clone(before);
	uint64_t nth;

	assert_true(operation->run(after));
	for (int kind = 0; kind < N_CALL_KINDS; kind++) {
		for (nth = 1; try_call(operation, (enum call_kind)kind, nth, before, after);
		     nth = next(nth))
			;
		assert_true(nth > 1);
	}
	for (nth = 1; try_malloc(operation, nth, before, after); nth = next(nth))
		;
	assert_true(nth > 1);
	fat_dev_close(after);
	fat_dev_close(before);
}

static void a_label_in_fat12(void **state)
{
	(void)state;
	explore(&(struct operation){ .make = make_fat12, .run = set_label });
	explore(&(struct operation){ .make = make_fat12, .run = remove_label });
}

static void a_label_in_a_full_root(void **state)
{
	(void)state;
	explore(&(struct operation){ .make = make_full_root,
				     .run = set_label,
				     .check_again = is_sound_but_for_a_cluster });
}

static void a_commit_with_an_undo_file(void **state)
{
	(void)state;
	explore(&(struct operation){
		.make = make_medium, .run = commit, .check_failed = can_be_taken_back });
}

static void a_rollback(void **state)
{
	(void)state;
	explore(&(struct operation){ .make = make_committed, .run = roll_back });
}

static void a_verified_write(void **state)
{
	(void)state;
	explore(&(struct operation){ .make = make_medium, .run = write_and_verify });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_in_fat12),
		cmocka_unit_test(a_label_in_a_full_root),
		cmocka_unit_test(a_commit_with_an_undo_file),
		cmocka_unit_test(a_rollback),
		cmocka_unit_test(a_verified_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
