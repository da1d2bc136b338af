/* SPDX-License-Identifier: MIT */
/*
 * engine: rounds of looking and repairing until a look finds nothing more to repair.
 *
 * A round repairs the faults of one level only, the lowest there is, and then everything is looked at
 * afresh: repairs rest on what is there, never on what was there. All of it happens in the overlay;
 * at the end the volume is checked once more from its first byte, as it would be on disk.
 */
#include "engine.h"

#include <string.h>

#include "request.h"

#define MAX_ROUNDS	    40u
#define RESERVED_EDIT_BYTES (16u << 20)
#define MAX_SUSPECTS	    500000u

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

/* ---- decisions ---- */

static uint64_t key_of(const struct fault *fault)
{
	uint64_t parts[] = { fault->id, fault->entry_off, fault->clus, fault->start };
	uint64_t key = 0x9E3779B97F4A7C15u;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		key ^= parts[i] + 0x9E3779B97F4A7C15u + (key << 6) + (key >> 2);
		key *= 0xFF51AFD7ED558CCDu;
		key ^= key >> 33;
	}
	return key;
}

static bool is_left(const struct engine *engine, const struct fault *fault)
{
	return name_set_find(&engine->left, key_of(fault)) != NULL;
}

static void tell(const struct engine *engine, const struct fault *fault, const char *done)
{
	if (engine->user->done)
		engine->user->done(engine->user->context, fault, done);
}

static void tell_done(struct engine *engine, const struct fault *fault, const char *done)
{
	if (done)
		engine->n_fixed++;
	else
		engine->n_left++;
	tell(engine, fault, done);
}

static void tell_fixed(struct engine *engine, const struct fault *fault)
{
	tell_done(engine, fault, fault_kind(fault->id)->fix);
}

/* All that a look has found; only the first one counts as finding, later ones see consequences. */
static void tell_found(struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.faults.n && engine->user->found; i++)
		engine->user->found(engine->user->context, fat_vec_at(&engine->fsck.faults, i));
}

static enum fat_status leave(struct engine *engine, const struct fault *fault)
{
	struct name_item item = { .hash = key_of(fault) };

	if (is_left(engine, fault))
		return FAT_OK;
	tell_done(engine, fault, NULL);
	return name_set_add(&engine->left, &item) ? FAT_OK : FAT_ERR_MEMORY;
}

/*
 * Part of the FAT or of a folder cannot be read: what is lost may belong to something there, so it is
 * neither saved as another file, nor are files cut that it may be the rest of.
 */
static enum fat_status suspect_lost(struct engine *engine)
{
	const struct fsck *fsck = &engine->fsck;
	bool unread = fsck->blind.n > 0 || fsck->count.gaps > 0;

	for (size_t i = 0; unread && i < fsck->lost.n; i++) {
		struct lost_chain *suspect = fat_vec_push(&engine->suspects);

		if (!suspect)
			return FAT_ERR_MEMORY;
		*suspect = *(const struct lost_chain *)fat_vec_at(&fsck->lost, i);
	}
	return FAT_OK;
}

/* A lost chain that is not to be saved, or an entry that misses as much as one of them has. */
static bool is_suspect(const struct engine *engine, const struct fault *fault)
{
	enum fault_level level = fault_kind(fault->id)->level;

	if (level == LEVEL_SAVE)
		return lost_find(&engine->suspects, fault->start);
	for (size_t i = 0; level == LEVEL_SHRINK && i < engine->suspects.n; i++) {
		const struct lost_chain *suspect = fat_vec_at(&engine->suspects, i);

		if (fault->is_dir || suspect->n == fault->need - fault->n)
			return true;
	}
	return false;
}

/* The overlay takes no more than what the end of a repair may need: the rest is for another run. */
static bool is_full(const struct engine *engine)
{
	return fat_txn_free_bytes(engine->txn) < RESERVED_EDIT_BYTES;
}

/* Whether to repair it; if not, it is put down as left. */
static enum fat_status decide(struct engine *engine, const struct fault *fault, bool *fix)
{
	const struct engine_user *user = engine->user;

	*fix = !engine->hands_off && !is_full(engine) && !is_left(engine, fault) &&
	       !is_suspect(engine, fault) && policy_fixes(engine->options, fault);
	if (*fix && engine->options->mode == MODE_ASK && user->ask)
		*fix = user->ask(user->context, fault);
	return *fix ? FAT_OK : leave(engine, fault);
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

static enum fat_status look(struct engine *engine)
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

/* The lowest level at or above `from` that has a fault not left; LEVEL_SUMMARY: none below that. */
static enum fault_level lowest_level(const struct engine *engine, enum fault_level from)
{
	enum fault_level lowest = LEVEL_SUMMARY;

	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		enum fault_level level = fault_kind(fault->id)->level;

		if (level >= from && level < lowest && fault_kind(fault->id)->how != HOW_NONE &&
		    !is_left(engine, fault))
			lowest = level;
	}
	return lowest;
}

/* ---- repairing ---- */

static enum fat_status repair_one(struct repair *repair, struct fault *fault)
{
	switch (fault_kind(fault->id)->how) {
	case HOW_FLAT:
		return repair_flat(repair, fault);
	case HOW_NAME:
		return repair_name(repair, fault);
	case HOW_DIR:
		return repair_dir(repair, fault);
	case HOW_CHAIN:
		return repair_chain(repair, fault);
	case HOW_SAVE:
		return repair->fsck->options->free_lost ? repair_free(repair, fault) :
							  repair_save(repair, fault);
	case HOW_NONE:
		break;
	}
	return FAT_OK;
}

/* Lost directories that are to be saved in this round, before anything that may be in them. */
static bool has_top_dir(const struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault->id == F_LOST_DIR && !is_left(engine, fault) && !fault->need)
			return true;
	}
	return false;
}

/* Where the chain is to be cut it is another's as well: that is to be settled first. */
static bool cuts_another(const struct engine *engine, const struct fault *fault)
{
	for (size_t i = 0; i < engine->fsck.claimants.n && fault->id == F_CHAIN_LONG; i++) {
		const struct claimant *claimant = fat_vec_at(&engine->fsck.claimants, i);

		if (claimant->entry_off == fault->entry_off)
			return claimant->nth == 0;
	}
	return false;
}

static enum fat_status repair_level(struct engine *engine, struct repair *repair,
				    enum fault_level level)
{
	bool tops = level == LEVEL_SAVE && !engine->options->free_lost && has_top_dir(engine);
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		bool fix;

		if (fault_kind(fault->id)->level != level ||
		    fault_kind(fault->id)->how == HOW_NONE || is_left(engine, fault) ||
		    (tops && (fault->id != F_LOST_DIR || fault->need)) ||
		    (level == LEVEL_CUT && cuts_another(engine, fault)))
			continue;
		status = decide(engine, fault, &fix);
		if (status != FAT_OK || !fix)
			continue;
		status = repair_one(repair, fault);
		if (status == FAT_OK)
			tell_fixed(engine, fault);
	}
	return status;
}

/* Faults that a lost chain or a copy cures; asked about once, before either is tried. */
static enum fat_status decide_chains(struct engine *engine, bool *any)
{
	enum fat_status status = FAT_OK;

	*any = false;
	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		bool fix;

		if (fault_kind(fault->id)->level != LEVEL_CLONE || is_left(engine, fault))
			continue;
		status = decide(engine, fault, &fix);
		*any = *any || fix;
	}
	return status;
}

static void tell_level(struct engine *engine, enum fault_level level)
{
	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault_kind(fault->id)->level == level && !is_left(engine, fault))
			tell_fixed(engine, fault);
	}
}

static enum fat_status relink(struct engine *engine, struct repair *repair, bool *acted)
{
	struct fat_vec links;
	enum fat_status status = repair_find_links(repair, &links);

	*acted = false;
	for (size_t i = 0; i < links.n && status == FAT_OK; i++) {
		const struct repair_link *link = fat_vec_at(&links, i);
		bool fix;

		status = decide(engine, &link->fault, &fix);
		if (status != FAT_OK || !fix)
			continue;
		status = repair_make_link(repair, link);
		tell_done(engine, &link->fault, "{text}");
		*acted = true;
	}
	repair_free_links(&links);
	return status;
}

static bool joins_at(const struct fault *fault, uint32_t clus)
{
	return fault->clus == clus && (fault->id == F_CHAIN_SHARED || fault->id == F_DIR_START_SHARED ||
				       (fault->id == F_CHAIN_LONG && fault->b == WALK_SHARED));
}

/* There was no room for a copy: what shares that cluster stays. */
static enum fat_status leave_shared(struct engine *engine)
{
	const struct fat_vec *claimants = &engine->fsck.claimants;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < claimants->n && status == FAT_OK; i++) {
		const struct claimant *claimant = fat_vec_at(claimants, i);

		for (size_t k = 0; k < engine->fsck.faults.n && claimant->no_room; k++) {
			const struct fault *fault = fat_vec_at(&engine->fsck.faults, k);

			if (joins_at(fault, claimant->join) && status == FAT_OK)
				status = leave(engine, fault);
		}
	}
	return status;
}

/* Without room for a copy, an entry that was there twice is there once now. */
static void tell_dropped(struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.claimants.n; i++) {
		const struct claimant *claimant = fat_vec_at(&engine->fsck.claimants, i);
		const struct fault fault = {
			.id = F_TWIN,
			.dir = claimant->dir,
			.entry_off = claimant->entry_off,
			.start = claimant->start,
			.clus = claimant->start,
			.size = claimant->size,
			.path = claimant->path,
		};

		if (claimant->is_dropped)
			tell_fixed(engine, &fault);
	}
}

/* Chains that lost something: what fits goes back, then shared ones get copies. */
static enum fat_status repair_shared(struct engine *engine, struct repair *repair, bool *acted)
{
	enum fat_status status;
	bool any = false;
	size_t n = 0;

	*acted = false;
	status = engine->suspects.n ? FAT_OK : relink(engine, repair, acted);
	if (status != FAT_OK || *acted)
		return status;
	status = decide_chains(engine, &any);
	if (status != FAT_OK || !any)
		return status;
	status = repair_clone(repair, &n);
	*acted = n > 0;
	if (status == FAT_OK)
		status = leave_shared(engine);
	if (status == FAT_OK)
		tell_dropped(engine);
	if (status == FAT_OK)
		tell_level(engine, LEVEL_CLONE);
	return status;
}

/* All that is to be cut is another's as well. */
static bool only_shared_cuts(const struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault_kind(fault->id)->level == LEVEL_CUT && !is_left(engine, fault) &&
		    !cuts_another(engine, fault))
			return false;
	}
	return true;
}

static enum fat_status repair_round(struct engine *engine, enum fault_level level)
{
	enum fat_status status = FAT_OK;
	struct repair repair;
	bool acted = false;

	repair_init(&repair, &engine->fsck, engine->txn);
	if (level >= LEVEL_CUT)
		status = pass_links(&engine->fsck);
	if (status == FAT_OK && level == LEVEL_CUT && only_shared_cuts(engine))
		level = LEVEL_CLONE;
	if (status == FAT_OK && level >= LEVEL_CLONE && !engine->options->free_lost)
		status = repair_shared(engine, &repair, &acted);
	if (status == FAT_OK && !acted)
		status = repair_level(engine, &repair, level);
	repair_fini(&repair);
	return status;
}

/* All faults below `level`: nothing can be done about them, or not in this run. */
static enum fat_status leave_below(struct engine *engine, enum fault_level level)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault_kind(fault->id)->level < level)
			status = leave(engine, fault);
	}
	return status;
}

/* What there is to repair, as a number: if a round left it as it was, so would all the others. */
static uint64_t sum_of_faults(const struct engine *engine)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		sum += is_left(engine, fault) ? 0 : key_of(fault) ^ fault->last;
	}
	return sum;
}

static enum fat_status repair_rounds(struct engine *engine)
{
	enum fat_status status = FAT_OK;
	uint64_t seen = 0;

	for (unsigned round = 0; round < MAX_ROUNDS && status == FAT_OK; round++) {
		enum fault_level level = lowest_level(engine, LEVEL_REVIVE);
		uint64_t sum = sum_of_faults(engine);

		if (level == LEVEL_SUMMARY)
			return FAT_OK;
		if (is_full(engine))
			return leave_below(engine, LEVEL_SUMMARY);
		status = sum == seen ? leave_below(engine, level + 1) : repair_round(engine, level);
		seen = sum;
		if (status == FAT_OK)
			status = look(engine);
	}
	return status;
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
		status = decide(engine, fault, &fix);
		if (status == FAT_OK && fix)
			tell_fixed(engine, fault);
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

		if (!is_left(engine, fault) && engine->n_left == 0 &&
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

		if (kind->automatic == AUTO_LEAVE && kind->how == HOW_NONE && kind->level == LEVEL_FLAT)
			status = leave(engine, fault);
	}
	return status;
}

/* ---- -d and -u ---- */

static enum fat_status decide_request(struct engine *engine, const struct fault *fault, bool *fix)
{
	enum fat_status status;

	*fix = false;
	if (fault->id == F_REQUEST_REFUSED || fault->id == F_REQUEST_MOOT) {
		engine->n_refused += fault->id == F_REQUEST_REFUSED;
		tell(engine, fault, NULL);
		return FAT_OK;
	}
	status = decide(engine, fault, fix);
	if (status == FAT_OK && *fix)
		tell_fixed(engine, fault);
	return status;
}

/* The chain of an entry that was just deleted: lost, but nobody wants it back. */
static enum fat_status free_dropped(struct engine *engine, struct repair *repair, uint32_t start)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault_kind(fault->id)->how == HOW_SAVE && fault->start == start && start)
			status = repair_free(repair, fault);
	}
	return status;
}

static enum fat_status drop(struct engine *engine, const char *path)
{
	struct repair repair;
	struct fault fault;
	enum fat_status status = request_drop(&engine->fsck, path, &fault);
	bool fix = false;

	repair_init(&repair, &engine->fsck, engine->txn);
	if (status == FAT_OK)
		status = decide_request(engine, &fault, &fix);
	if (status == FAT_OK && fix) {
		status = repair_delete_entry(&repair, &fault);
		if (status == FAT_OK)
			status = look(engine);
		if (status == FAT_OK)
			status = free_dropped(engine, &repair, fault.start);
		if (status == FAT_OK)
			status = look(engine);
	}
	repair_fini(&repair);
	request_free(&fault);
	return status;
}

static enum fat_status undelete(struct engine *engine, const char *path)
{
	struct repair repair;
	struct fault fault;
	enum fat_status status = request_undelete(&engine->fsck, path, &fault);
	bool fix = false;

	repair_init(&repair, &engine->fsck, engine->txn);
	if (status == FAT_OK)
		status = decide_request(engine, &fault, &fix);
	if (status == FAT_OK && fix) {
		status = request_bring_back(&repair, path);
		if (status == FAT_OK)
			status = look(engine);
	}
	repair_fini(&repair);
	request_free(&fault);
	return status;
}

static enum fat_status grant_requests(struct engine *engine)
{
	const struct fsck_options *options = engine->options;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < options->drop.n && status == FAT_OK; i++)
		status = drop(engine, *(const char *const *)fat_vec_at(&options->drop, i));
	for (size_t i = 0; i < options->undelete.n && status == FAT_OK; i++)
		status = undelete(engine, *(const char *const *)fat_vec_at(&options->undelete, i));
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
		status = suspect_lost(engine);
	if (status == FAT_OK && !engine->hands_off)
		status = grant_requests(engine);
	if (status == FAT_OK)
		status = repair_rounds(engine);
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
	return repaired && engine->options->mode != MODE_LOOK ? EXIT_LEFT | EXIT_CORRECTED :
								EXIT_LEFT;
}
