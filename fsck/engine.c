/* SPDX-License-Identifier: MIT */
/*
 * engine: a whole run: the boot sector, a first look, requests, rounds of repairing, the end.
 *
 * All of it happens in the overlay; at the end the volume is checked once more from its first byte,
 * as it would be on disk.
 */
#include "engine.h"

#include "engine_parts.h"

#define MAX_SUSPECTS 500000u

enum fat_status engine_init(struct engine *engine, const struct fsck_options *options,
			    struct fat_dev *txn, const struct engine_user *user)
{
	enum fat_status status;

	*engine = (struct engine){ .txn = txn, .options = options, .user = user };
	fat_vec_init(&engine->suspects, sizeof(struct lost_chain), MAX_SUSPECTS);
	status = fsck_init(&engine->fsck, options, txn);
	if (user->tick) {
		engine->watch = (struct fsck_watch){ user->context, user->tick };
		engine->fsck.watch = &engine->watch;
	}
	return status;
}

void engine_fini(struct engine *engine)
{
	fsck_fini(&engine->fsck);
	fat_vec_fini(&engine->suspects);
	name_set_fini(&engine->left);
}
/* ---- looking ---- */

static enum fat_status look_at_fats(struct engine *engine)
{
	fsck_reset(&engine->fsck);
	return pass_fat(&engine->fsck);
}

static enum fat_status look_at_rest(struct engine *engine)
{
	struct fsck *fsck = &engine->fsck;
	enum fat_status status = pass_tree(fsck);

	if (status == FAT_OK)
		status = pass_lost(fsck);
	if (status == FAT_OK)
		status = pass_summary(fsck);
	return status;
}

enum fat_status engine_look(struct engine *engine)
{
	enum fat_status status = look_at_fats(engine);

	return status == FAT_OK ? look_at_rest(engine) : status;
}

/*
 * The FATs are read once, if nothing changes what is believed of them: which copy is, or what
 * cannot be read.
 */
static enum fat_status first_look(struct engine *engine)
{
	const struct fsck_options *options = engine->options;
	struct fsck *fsck = &engine->fsck;
	enum fat_status status = look_at_fats(engine);
	bool differ = fsck->differing.n > 0 && !options->fat_number;

	if (status == FAT_OK && differ)
		status = view_choose(fsck);
	if (status == FAT_OK && options->read_test)
		status = pass_read(fsck);
	if (status == FAT_OK && (differ || options->read_test))
		status = look_at_fats(engine);
	return status == FAT_OK ? look_at_rest(engine) : status;
}

/* All that a look has found; only the first one counts as finding, later ones see consequences. */
static void tell_found(struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.faults.n && engine->user->found; i++)
		engine->user->found(engine->user->context, fat_vec_at(&engine->fsck.faults, i));
}

/* ---- the boot sector, and which FAT ---- */

static enum fat_status decide_all(struct engine *engine, enum fault_level level)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		bool fix;

		if (fault_kind(fault->id)->level != level && fault->id != F_COPIES_DIFFER)
			continue;
		status = engine_decide(engine, fault, &fix);
		if (status == FAT_OK && fix)
			engine_tell_fixed(engine, fault);
		engine->heal = engine->heal || (fix && fault->id == F_COPY_UNREADABLE);
		if (!fix && level == LEVEL_BOOT && fault->id != F_DEVICE_SHORT)
			engine->hands_off = true; /* the rest rests on this */
	}
	return status;
}

static bool has_fatal(const struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		if (fault_kind(fault->id)->severity == SEV_FATAL)
			return true;
	}
	return false;
}

static enum fat_status start(struct engine *engine)
{
	struct fsck *fsck = &engine->fsck;
	enum fat_status status = pass_boot(fsck);

	if (status == FAT_OK || status == FAT_ERR_FORMAT)
		tell_found(engine);
	if (status != FAT_OK)
		return status;
	status = decide_all(engine, LEVEL_BOOT);
	engine->lost_bearings = has_fatal(&engine->fsck);
	if (status == FAT_OK)
		status = decide_all(engine, LEVEL_SUMMARY);
	if (status != FAT_OK || engine->options->boot_only || engine->lost_bearings)
		return status;
	status = unreadable_extend(fsck);
	engine->lost_bearings = status == FAT_ERR_RANGE;
	if (status != FAT_OK)
		return engine->lost_bearings ? FAT_OK : status;
	if (engine->options->fat_number > fsck->geometry.n_fats)
		return FAT_ERR_ARGUMENT;
	if (engine->options->fat_number)
		fat_table_set_source(&fsck->table, engine->options->fat_number - 1, NULL, 0);
	return FAT_OK;
}

/* ---- the end ---- */

/* Everything again, from the first byte, as it would be on disk. */
static enum fat_status verify(struct engine *engine)
{
	struct fsck fsck;
	enum fat_status status = fsck_init(&fsck, engine->options, engine->txn);

	fsck.watch = engine->fsck.watch;
	fsck.verifying = true;
	if (status == FAT_OK)
		status = pass_boot(&fsck);
	if (status == FAT_OK)
		status = pass_fat(&fsck);
	if (status == FAT_OK)
		status = pass_tree(&fsck);
	if (status == FAT_OK)
		status = pass_lost(&fsck);
	if (status == FAT_OK)
		status = pass_summary(&fsck);
	for (size_t i = 0; i < fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&fsck.faults, i);

		if (!engine_is_left(engine, fault) && engine->n_left == 0 &&
		    !(engine->heal && fault->id == F_COPY_UNREADABLE))
			engine->not_clean = true;
	}
	fsck_fini(&fsck);
	return status;
}

static enum fat_status finish(struct engine *engine)
{
	struct repair repair;
	enum fat_status status;

	repair_init(&repair, &engine->fsck, engine->txn);
	status = repair_final(&repair, engine->n_left == 0);
	repair_fini(&repair);
	if (status == FAT_OK && fat_txn_has_edits(engine->txn, FAT_N_STAGES))
		status = verify(engine);
	return status;
}

/* What no repair is made of, and none has cured by the way, is told as left. */
static enum fat_status leave_for_good(struct engine *engine)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		const struct fault_kind *kind = fault_kind(fault->id);

		if (kind->automatic == AUTO_LEAVE && kind->how == HOW_NONE &&
		    kind->level == LEVEL_FLAT)
			status = engine_leave(engine, fault);
	}
	return status;
}

static enum fat_status list_entries(struct engine *engine)
{
	const struct fsck_lister lister = { engine->user->context, engine->user->entry };
	struct fsck_counts count = engine->fsck.count;
	enum fat_status status;

	if (!engine->options->list || !engine->user->entry)
		return FAT_OK;
	status = pass_list(&engine->fsck, &lister);
	engine->fsck.count = count;
	return status;
}

/* -V asks for a second look even where nothing was repaired. */
static bool wants_verify(const struct engine *engine)
{
	return engine->n_fixed == 0 && engine->options->verify_again;
}

enum fat_status engine_run(struct engine *engine)
{
	enum fat_status status = start(engine);

	if (status != FAT_OK || engine->options->boot_only || engine->lost_bearings)
		return status;
	status = first_look(engine);
	if (status == FAT_OK) {
		tell_found(engine);
		status = decide_all(engine, LEVEL_SUMMARY);
	}
	if (status == FAT_OK)
		status = engine_suspect_lost(engine);
	if (status == FAT_OK && !engine->hands_off)
		status = engine_grant(engine);
	if (status == FAT_OK)
		status = engine_repair(engine);
	if (status == FAT_OK)
		status = leave_for_good(engine);
	if (status == FAT_OK && engine->n_fixed > 0)
		status = finish(engine);
	if (status == FAT_OK && wants_verify(engine))
		status = verify(engine);
	if (status == FAT_OK)
		status = list_entries(engine);
	return status;
}

bool engine_has_work(const struct engine *engine)
{
	return engine->heal || fat_txn_has_edits(engine->txn, FAT_N_STAGES);
}

enum fat_status engine_commit(struct engine *engine, struct fat_dev *undo)
{
	enum fat_status status = fat_txn_commit(engine->txn, undo, NULL);

	if (status == FAT_OK && engine->heal)
		status = unreadable_heal(&engine->fsck, engine->txn->below);
	engine->n_left += fat_dev_unhealed_units(engine->txn);
	return status;
}

enum fsck_exit engine_exit(const struct engine *engine)
{
	bool repaired = engine->n_fixed > 0 && !engine->not_clean;

	if (engine->n_left + engine->n_refused == 0 && !engine->not_clean)
		return repaired ? EXIT_CORRECTED : EXIT_CLEAN;
	return repaired && engine->options->mode != MODE_LOOK ? EXIT_LEFT | EXIT_CORRECTED
							      : EXIT_LEFT;
}
