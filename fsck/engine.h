/* SPDX-License-Identifier: MIT */
/*
 * engine: looks, decides, repairs in the overlay, looks again, and commits what came out clean.
 */
#ifndef FATWISE_FSCK_ENGINE_H
#define FATWISE_FSCK_ENGINE_H

#include "options.h"
#include "repair.h"

/* What the engine tells and asks; any may be NULL. */
struct engine_user {
	void *context;
	/* The first look found this. */
	void (*found)(void *context, const struct fault *fault);
	/*
	 * Something was done about a fault, as `done` says with the fault's own words filled in;
	 * NULL: it stays. Repairs have consequences, so it need not have been found at first.
	 */
	void (*done)(void *context, const struct fault *fault, const char *done);
	/* May this be repaired? Only asked with MODE_ASK. */
	bool (*ask)(void *context, const struct fault *fault);
	/* How far the work is; false: stop, by a signal. */
	bool (*tick)(void *context, enum fsck_tick tick, uint64_t done, uint64_t max);
	/* With -l: an entry of the volume as it will be. */
	void (*entry)(void *context, const char *path, const char *alias);
};

/* What the overlay of a run may hold. */
#define ENGINE_EDIT_BYTES (48u << 20)

struct engine {
	struct fsck fsck;
	struct fat_dev *txn;
	const struct fsck_options *options;
	const struct engine_user *user;
	struct fsck_watch watch;
	struct name_set left; /* faults that stay, by what they are */
	uint64_t n_fixed, n_left;
	uint64_t n_refused; /* requests; the volume is none the worse for them */
	bool hands_off;	      /* the volume must not be touched: every fault stays */
	bool lost_bearings;   /* where things are is not known: nothing more can be looked at */
	bool heal;	      /* what can be read elsewhere only is to be written anew */
	struct fat_vec suspects; /* of struct lost_chain: they may belong to what cannot be read */
	bool not_clean; /* the repaired volume would not have been: nothing is to be written */
};

/* txn: a fat_txn overlay; the engine does not close it. */
enum fat_status engine_init(struct engine *engine, const struct fsck_options *options,
			    struct fat_dev *txn, const struct engine_user *user);
void engine_fini(struct engine *engine);

/*
 * All passes and all repairs, in the overlay. Afterwards engine->fsck has the counts, and the
 * overlay the edits, checked clean; the caller commits them or not.
 */
enum fat_status engine_run(struct engine *engine);

/* Whether there is something to commit. */
bool engine_has_work(const struct engine *engine);

/*
 * Sends the edits down, stage by stage. undo: a layer of the stack that saves what is overwritten,
 * or NULL. FAT_OK also if there is nothing to write.
 */
enum fat_status engine_commit(struct engine *engine, struct fat_dev *undo);

/* Of a check alone: what a repair would be able to do; of a repair that was committed. */
enum fsck_exit engine_exit(const struct engine *engine);

/* view.c: sets the source of the table. */
enum fat_status view_choose(struct fsck *fsck);

/*
 * unreadable.c: after a commit, sectors of a FAT that another copy knows; dev is the layer below
 * the txn.
 */
enum fat_status unreadable_heal(struct fsck *fsck, struct fat_dev *dev);

/* policy.c: what to do about a fault, without asking anybody. */
bool policy_fixes(const struct fsck_options *options, const struct fault *fault);

#endif
