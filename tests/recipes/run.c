/* SPDX-License-Identifier: MIT */
/*
 * run: checks, repairs, checks again and undoes one volume, and says what was not as the recipe
 * wants it.
 */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "dev_snap.h"
#include "tests/crash/crash.h"
#include "tool.h"

#define UNDO_BYTES (1ull << 30)

struct trial {
	struct image *image;
	struct expectation expect;
	struct fat_dev *before;
	char *const *words;
	size_t n_words;
	struct notes *complaints;
};

/* The layers between fsck and the volume: unreadable places, and a log of what is written. */
static struct fat_dev *open_stack(const struct trial *trial, struct fat_dev *dev,
				  struct crash_log *log)
{
	struct fat_dev *top = dev_fault_open(dev_crash_open(dev, log));

	for (size_t i = 0; i < trial->image->n_unreadable; i++)
		dev_fault_bad_range(top, trial->image->unreadable[i].off,
				    trial->image->unreadable[i].len);
	return top;
}

/* What was written can be read by the next run. */
static void keep_healed(struct trial *trial, const struct fat_dev *top)
{
	for (size_t i = 0; i < trial->image->n_unreadable; i++)
		dev_fault_get_bad(top, i, &trial->image->unreadable[i].off,
				  &trial->image->unreadable[i].len);
}

/* Closes the layers; the volume stays. */
static void close_stack(struct fat_dev *top, struct fat_dev *dev)
{
	while (top != dev) {
		struct fat_dev *below = top->below;

		top->below = NULL;
		fat_dev_close(top);
		top = below;
	}
}

static void want_status(struct trial *trial, const char *run, int status, int want)
{
	if (want != ANY_STATUS && status != want)
		notes_add(trial->complaints, "%s: exit status %d, not %d", run, status, want);
}

static void want_no_write(struct trial *trial, const char *run, const struct crash_log *log)
{
	if (log->n > 0)
		notes_add(trial->complaints, "%s: writes %zu bytes at %llu", run, log->write[0].len,
			  (unsigned long long)log->write[0].off);
}

static void try_check(struct trial *trial)
{
	struct fat_dev *dev = snap_clone(trial->before), *top;
	struct crash_log log;
	struct tool_result result;

	top = open_stack(trial, dev, &log);
	tool_check(top, trial->words, trial->n_words, &result);
	want_status(trial, "check", result.status, trial->expect.check);
	want_no_write(trial, "check", &log);
	expect_codes(&trial->expect, (const char *const *)result.codes.line, result.codes.n,
		     trial->complaints);
	tool_result_free(&result);
	crash_log_free(&log);
	close_stack(top, dev);
	fat_dev_close(dev);
}

/* A run on a volume that is repaired already. */
static void try_again(struct trial *trial, struct fat_dev *dev)
{
	struct crash_log log;
	struct fat_dev *top = open_stack(trial, dev, &log);
	struct tool_result result;

	tool_repair(top, NULL, 0, &result);
	want_status(trial, "second run", result.status, trial->expect.again);
	want_no_write(trial, "second run", &log);
	for (size_t i = 0; trial->expect.again == 0 && i < result.codes.n; i++)
		notes_add(trial->complaints, "second run: finds %s", result.codes.line[i]);
	tool_result_free(&result);
	crash_log_free(&log);
	close_stack(top, dev);
}

static void try_undo(struct trial *trial, struct fat_dev *store, struct fat_dev *dev)
{
	struct fat_undo_info info;
	enum fat_undo_verdict verdict = FAT_UNDO_NOT_UNDO;
	uint64_t differs;

	if (fat_undo_verify(store, &info, &verdict) != FAT_OK || verdict != FAT_UNDO_SOUND ||
	    fat_undo_rollback(store, dev) != FAT_OK) {
		notes_add(trial->complaints, "undo: verdict %d", (int)verdict);
		return;
	}
	differs = snap_first_difference(trial->before, dev);
	if (differs != UINT64_MAX)
		notes_add(trial->complaints, "undo: byte %llu is not as it was",
			  (unsigned long long)differs);
}

/* The strict reader wants the whole volume: what a truncated device lacks is zeros for it. */
static void judge_whole(struct trial *trial, struct fat_dev *dev)
{
	const struct shape *shape = &trial->image->shape;
	uint64_t bytes = (uint64_t)shape->total_sec * shape->sector_bytes;
	struct fat_dev *whole = snap_clone(dev);

	if (dev->size_bytes < bytes)
		snap_resize(whole, bytes);
	expect_judge(trial->image, &trial->expect, trial->before, whole, trial->complaints);
	fat_dev_close(whole);
}

static void try_repair(struct trial *trial)
{
	const struct fat_undo_origin origin = { "recipes", 0 };
	struct fat_dev *dev = snap_clone(trial->before), *store = snap_open(UNDO_BYTES), *top,
		       *undo;
	struct crash_log log;
	struct tool_result result;

	if (fat_undo_create(dev, store, &origin, &undo) != FAT_OK)
		die("%s: no undo layer", trial->image->recipe->name);
	top = open_stack(trial, undo, &log);
	tool_repair(top, trial->words, trial->n_words, &result);
	keep_healed(trial, top);
	fat_undo_finish(undo);
	want_status(trial, "repair", result.status, trial->expect.repair);
	if (trial->expect.refuses)
		want_no_write(trial, "repair", &log);
	if (log.n > 0 || !trial->expect.unharmed)
		judge_whole(trial, dev);
	close_stack(top, undo);
	tool_result_free(&result);
	crash_log_free(&log);
	try_again(trial, dev);
	try_undo(trial, store, dev);
	undo->below = NULL;
	fat_dev_close(undo);
	fat_dev_close(dev);
}

void run_instance(const struct recipe *recipe, const struct instance *instance, bool check_only,
		  struct notes *complaints)
{
	struct trial trial = { .complaints = complaints };

	trial.image = image_build(recipe, instance);
	trial.before = snap_clone(trial.image->dev);
	trial.words = run_options(recipe, instance, &trial.n_words);
	expect_read(trial.image, &trial.expect);
	if (trial.n_words == 0) /* -d and -u do not go with -n */
		try_check(&trial);
	if (!check_only)
		try_repair(&trial);
	expect_free(&trial.expect);
	fat_dev_close(trial.before);
	image_free(trial.image);
}

char *const *run_options(const struct recipe *recipe, const struct instance *instance, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < recipe->n_statements; i++) {
		const struct statement *s = &recipe->statement[i];

		if (strcmp(s->word[0], "options") == 0 && statement_holds(s, instance)) {
			*n = s->n_words - 1;
			return s->word + 1;
		}
	}
	return NULL;
}

bool run_is_long(const struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->n_statements; i++)
		if (strcmp(recipe->statement[i].word[0], "tier") == 0)
			return true;
	return false;
}
