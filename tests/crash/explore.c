/* SPDX-License-Identifier: MIT */
/*
 * explore: runs a subject once and then from every state that an interruption of it can leave.
 *
 * Interruptions are power cuts (states.c), a second cut in the run after the first, and the nth
 * read, write, flush or allocation failing.
 */
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "tests/recipes/dev_snap.h"

#define STATUS_UNFINISHED 8 /* the bit of an operational error */
#define MAX_COMPLAINTS    20u
#define SECOND_CUT_EACH   16u /* one state in so many is cut a second time */

struct explorer {
	const struct crash_subject *subject;
	struct crash_counts *counts;
	struct notes *complaints;
	struct crash_world world;
	struct crash_log log;
	struct crash_states states;
	int status; /* of the whole run */
};

static bool had_enough(const struct explorer *explorer)
{
	return explorer->complaints->n >= MAX_COMPLAINTS;
}

/* Moves what was found to the complaints, each with the id that makes it again. */
static void report(struct explorer *explorer, const char *id, struct notes *found)
{
	for (size_t i = 0; i < found->n && !had_enough(explorer); i++)
		notes_add(explorer->complaints, "replay %s:%s: %s", explorer->subject->name, id,
			  found->line[i]);
	notes_free(found);
}

/*
 * Runs the subject on a volume that stays the caller's; the layers between are taken away again.
 * The base is detached, because closing a stack closes it too.
 */
static int run_on(const struct crash_subject *subject, struct fat_dev *dev, struct fat_dev *top)
{
	int status = subject->run(subject->ctx, top);

	while (top != dev) {
		struct fat_dev *below = top->below;

		top->below = NULL;
		fat_dev_close(top);
		top = below;
	}
	return status;
}

static int run_recorded(const struct crash_subject *subject, struct fat_dev *dev,
			struct crash_log *log)
{
	return run_on(subject, dev, dev_crash_open(dev, log));
}

/* A repair that ended must leave nothing to do. */
static void check_second_run(struct explorer *explorer, struct fat_dev *dev, struct notes *found)
{
	struct crash_log log;
	int status = run_recorded(explorer->subject, dev, &log);

	if (log.n > 0)
		notes_add(found, "the run after the repair writes at %llu",
			  (unsigned long long)log.write[0].off);
	if (status != 0 && !explorer->subject->is_unsound)
		notes_add(found, "the run after the repair ends with %d", status);
	crash_log_free(&log);
}

/* Repairs what a cut left, and judges the result. dev is changed. */
static void check_recovery(struct explorer *explorer, struct fat_dev *dev, struct notes *found)
{
	int status = explorer->subject->run(explorer->subject->ctx, dev);

	if (status & STATUS_UNFINISHED)
		notes_add(found, "the re-run ends with %d", status);
	check_second_run(explorer, dev, found);
	if (!explorer->subject->is_unsound)
		crash_check_result(&explorer->world, dev, found);
}

/* ---- power cuts ---------------------------------------------------------------------------- */

/* The re-run is cut too, after each of its writes. only: NULL or the one to try. */
static void try_second_cuts(struct explorer *explorer, const char *id, struct fat_dev *state,
			    const char *only)
{
	struct fat_dev *whole = snap_clone(state);
	struct crash_log log;
	struct crash_states states;

	run_recorded(explorer->subject, whole, &log);
	crash_states_make(&states, &log, explorer->states.sector_bytes, 1);
	for (size_t i = 0; i < states.n && !had_enough(explorer); i++) {
		struct notes found = { 0 };
		struct fat_dev *cut;
		char *both;

		if (only ? strcmp(only, states.id[i]) != 0 : states.id[i][0] != 'p')
			continue;
		cut = crash_state_build(&states, state, states.id[i]);
		both = xformat("%s/%s", id, states.id[i]);
		explorer->counts->n_second++;
		crash_check_state(&explorer->world, cut, whole,
				  crash_state_tear(&explorer->states, id), &found);
		check_recovery(explorer, cut, &found);
		report(explorer, both, &found);
		free(both);
		fat_dev_close(cut);
	}
	crash_states_free(&states);
	crash_log_free(&log);
	fat_dev_close(whole);
}

static void try_state(struct explorer *explorer, const char *id)
{
	struct fat_dev *state = crash_state_build(&explorer->states, explorer->subject->s0, id);
	struct fat_dev *rerun = snap_clone(state);
	struct notes found = { 0 };

	explorer->counts->n_states++;
	crash_check_state(&explorer->world, state, explorer->world.s1,
			  crash_state_tear(&explorer->states, id), &found);
	check_recovery(explorer, rerun, &found);
	report(explorer, id, &found);
	if (mix64(hash_text(id)) % SECOND_CUT_EACH == 0)
		try_second_cuts(explorer, id, state, NULL);
	fat_dev_close(rerun);
	fat_dev_close(state);
}

/* ---- failing calls ------------------------------------------------------------------------- */

/* What an aborted run left is a state like any other. */
static void check_aborted(struct explorer *explorer, const char *id, struct fat_dev *dev,
			  int status, bool must_fail)
{
	struct notes found = { 0 };

	if (must_fail && !(status & STATUS_UNFINISHED))
		notes_add(&found, "the failure is not told: exit status %d", status);
	if (status & STATUS_UNFINISHED) {
		crash_check_state(&explorer->world, dev, explorer->world.s1, 0, &found);
		check_recovery(explorer, dev, &found);
	}
	report(explorer, id, &found);
}

static void try_fault(struct explorer *explorer, enum call_kind kind, uint64_t nth)
{
	static const char letter[N_CALL_KINDS] = { 'R', 'W', 'F' };
	struct fat_dev *dev = snap_clone(explorer->subject->s0), *top = dev_fault_open(dev);
	char id[32];
	int status;

	snprintf(id, sizeof id, "%c%llu", letter[kind], (unsigned long long)nth);
	dev_fault_set(top, kind, nth, kind != CALL_READ);
	status = run_on(explorer->subject, dev, top);
	explorer->counts->n_faults++;
	check_aborted(explorer, id, dev, status, kind != CALL_READ);
	fat_dev_close(dev);
}

static void try_malloc(struct explorer *explorer, uint64_t nth)
{
	struct fat_dev *dev = snap_clone(explorer->subject->s0), *top = dev_fault_open(dev);
	char id[32];
	int status;

	snprintf(id, sizeof id, "M%llu", (unsigned long long)nth);
	malloc_fail_arm(nth);
	status = explorer->subject->run(explorer->subject->ctx, top);
	malloc_fail_disarm();
	top->below = NULL;
	fat_dev_close(top);
	explorer->counts->n_mallocs++;
	check_aborted(explorer, id, dev, status, false);
	fat_dev_close(dev);
}

/* How many calls of each kind a whole run makes. */
static void count_calls(struct explorer *explorer, uint64_t calls[N_CALL_KINDS], uint64_t *mallocs)
{
	struct fat_dev *dev = snap_clone(explorer->subject->s0), *top = dev_fault_open(dev);

	malloc_fail_arm(0);
	explorer->subject->run(explorer->subject->ctx, top);
	*mallocs = malloc_fail_disarm();
	for (int kind = 0; kind < N_CALL_KINDS; kind++)
		calls[kind] = dev_fault_count(top, (enum call_kind)kind);
	fat_dev_close(top);
}

/* All, or so many spread evenly. */
static uint64_t step_for(uint64_t n, size_t max)
{
	return max == 0 || n <= max ? 1 : n / max + 1;
}

static void try_failures(struct explorer *explorer)
{
	uint64_t calls[N_CALL_KINDS], mallocs;
	size_t max = explorer->subject->max_states / 4;

	count_calls(explorer, calls, &mallocs);
	for (int kind = 0; kind < N_CALL_KINDS; kind++)
		for (uint64_t n = 1; n <= calls[kind] && !had_enough(explorer);
		     n += step_for(calls[kind], max))
			try_fault(explorer, (enum call_kind)kind, n);
	for (uint64_t n = 1; n <= mallocs && !had_enough(explorer); n += step_for(mallocs, max))
		try_malloc(explorer, n);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void open_explorer(struct explorer *explorer, struct notes *violations)
{
	const struct crash_subject *subject = explorer->subject;
	struct fat_dev *s1 = snap_clone(subject->s0);
	struct fat_dev *top =
		dev_order_open(dev_crash_open(s1, &explorer->log), &subject->shape, violations);

	explorer->status = run_on(subject, s1, top);
	crash_world_open(&explorer->world, subject->s0, s1, &subject->shape);
	crash_states_make(&explorer->states, &explorer->log, subject->shape.sector_bytes,
			  subject->max_states);
}

static void close_explorer(struct explorer *explorer)
{
	fat_dev_close(explorer->world.s1);
	crash_world_close(&explorer->world);
	crash_states_free(&explorer->states);
	crash_log_free(&explorer->log);
}

void crash_explore(const struct crash_subject *subject, struct crash_counts *counts,
		   struct notes *complaints)
{
	struct explorer explorer = { .subject = subject,
				     .counts = counts,
				     .complaints = complaints };
	struct notes found = { 0 };

	open_explorer(&explorer, &found);
	report(&explorer, "order", &found);
	if (explorer.log.n > 0 &&
	    explorer.log.write[explorer.log.n - 1].epoch + 1 == explorer.log.n_epochs)
		notes_add(&found, "the last write is not flushed");
	report(&explorer, "order", &found);
	for (size_t i = 0; i < explorer.states.n && !had_enough(&explorer); i++)
		try_state(&explorer, explorer.states.id[i]);
	if (explorer.log.n > 0)
		try_failures(&explorer);
	close_explorer(&explorer);
}

void crash_replay(const struct crash_subject *subject, const char *id, struct notes *complaints)
{
	struct crash_counts counts = { 0 };
	struct explorer explorer = { .subject = subject,
				     .counts = &counts,
				     .complaints = complaints };
	const char *slash = strchr(id, '/');
	char *first = slash ? xformat("%.*s", (int)(slash - id), id) : xstrdup(id);
	struct notes found = { 0 };

	open_explorer(&explorer, &found);
	if (strcmp(id, "order") == 0)
		report(&explorer, id, &found);
	else if (strcmp(id, "failures") == 0)
		try_failures(&explorer);
	else if (strchr("RWF", *id))
		try_fault(&explorer, (enum call_kind)(strchr("RWF", *id) - "RWF"),
			  strtoull(id + 1, NULL, 10));
	else if (*id == 'M')
		try_malloc(&explorer, strtoull(id + 1, NULL, 10));
	else if (slash) {
		struct fat_dev *state = crash_state_build(&explorer.states, subject->s0, first);

		if (state)
			try_second_cuts(&explorer, first, state, slash + 1);
		fat_dev_close(state);
	} else {
		try_state(&explorer, id);
	}
	notes_free(&found);
	free(first);
	close_explorer(&explorer);
}

bool crash_save_state(const struct crash_subject *subject, const char *id, const char *path)
{
	struct crash_counts counts = { 0 };
	struct notes complaints = { 0 };
	struct explorer explorer = { .subject = subject,
				     .counts = &counts,
				     .complaints = &complaints };
	struct fat_dev *state;

	open_explorer(&explorer, &complaints);
	state = crash_state_build(&explorer.states, subject->s0, id);
	if (state)
		snap_to_file(state, path);
	fat_dev_close(state);
	notes_free(&complaints);
	close_explorer(&explorer);
	return state != NULL;
}
