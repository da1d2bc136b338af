/* SPDX-License-Identifier: MIT */
/*
 * engine: the rounds. One repairs the faults of one level only, the lowest there is, and then
 * everything is looked at afresh: repairs rest on what is there, never on what was there.
 */
#include "engine_parts.h"

#define MAX_ROUNDS 40u

/* The lowest level at or above `from` that has a fault not left; LEVEL_SUMMARY: none below that. */
static enum fault_level lowest_level(const struct engine *engine, enum fault_level from)
{
	enum fault_level lowest = LEVEL_SUMMARY;

	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		enum fault_level level = fault_kind(fault->id)->level;

		if (level >= from && level < lowest && fault_kind(fault->id)->how != HOW_NONE &&
		    !engine_is_left(engine, fault))
			lowest = level;
	}
	return lowest;
}

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
		return repair->fsck->options->free_lost ? repair_free(repair, fault)
							: repair_save(repair, fault);
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

		if (fault->id == F_LOST_DIR && !engine_is_left(engine, fault) && !fault->need)
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
		    fault_kind(fault->id)->how == HOW_NONE || engine_is_left(engine, fault) ||
		    (tops && (fault->id != F_LOST_DIR || fault->need)) ||
		    (level == LEVEL_CUT && cuts_another(engine, fault)))
			continue;
		status = engine_decide(engine, fault, &fix);
		if (status != FAT_OK || !fix)
			continue;
		status = repair_one(repair, fault);
		if (status == FAT_OK)
			engine_tell_fixed(engine, fault);
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

		if (fault_kind(fault->id)->level != LEVEL_CLONE || engine_is_left(engine, fault))
			continue;
		status = engine_decide(engine, fault, &fix);
		*any = *any || fix;
	}
	return status;
}

static void tell_level(struct engine *engine, enum fault_level level)
{
	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		if (fault_kind(fault->id)->level == level && !engine_is_left(engine, fault))
			engine_tell_fixed(engine, fault);
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

		status = engine_decide(engine, &link->fault, &fix);
		if (status != FAT_OK || !fix)
			continue;
		status = repair_make_link(repair, link);
		engine_tell_done(engine, &link->fault, "{text}");
		*acted = true;
	}
	repair_free_links(&links);
	return status;
}

static bool joins_at(const struct fault *fault, uint32_t clus)
{
	return fault->clus == clus &&
	       (fault->id == F_CHAIN_SHARED || fault->id == F_DIR_START_SHARED ||
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
				status = engine_leave(engine, fault);
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
			engine_tell_fixed(engine, &fault);
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

		if (fault_kind(fault->id)->level == LEVEL_CUT && !engine_is_left(engine, fault) &&
		    !cuts_another(engine, fault))
			return false;
	}
	return true;
}

static bool shares_as_folder(const struct engine *engine, const struct fault *fault)
{
	return fault->id == F_CHAIN_SHARED && fault->is_dir && !engine_is_left(engine, fault);
}

static bool any_shares_as_folder(const struct engine *engine)
{
	for (size_t i = 0; i < engine->fsck.faults.n; i++)
		if (shares_as_folder(engine, fat_vec_at(&engine->fsck.faults, i)))
			return true;
	return false;
}

/* Directories that run into another's cluster behind their end: what is in there is not theirs. */
static enum fat_status part_folders(struct engine *engine, struct repair *repair, bool *acted)
{
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < engine->fsck.faults.n && status == FAT_OK; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);
		bool fix;

		if (!shares_as_folder(engine, fault) ||
		    !repair_folders_part(&engine->fsck, fault->clus))
			continue;
		status = engine_decide(engine, fault, &fix);
		if (status != FAT_OK || !fix)
			continue;
		status = repair_part_folders(repair, fault->clus);
		if (status == FAT_OK)
			engine_tell_fixed(engine, fault);
		*acted = true;
	}
	return status;
}

static enum fat_status repair_by_level(struct engine *engine, struct repair *repair,
				       enum fault_level level)
{
	enum fat_status status = FAT_OK;
	bool acted = false;

	if (level == LEVEL_CUT && only_shared_cuts(engine))
		level = LEVEL_CLONE;
	if (level >= LEVEL_CLONE && !engine->options->free_lost)
		status = repair_shared(engine, repair, &acted);
	return status == FAT_OK && !acted ? repair_level(engine, repair, level) : status;
}

static enum fat_status repair_round(struct engine *engine, enum fault_level level)
{
	enum fat_status status = FAT_OK;
	struct repair repair;
	bool parted = false;

	repair_init(&repair, &engine->fsck, engine->txn);
	if (level >= LEVEL_CUT || any_shares_as_folder(engine))
		status = pass_links(&engine->fsck);
	if (status == FAT_OK)
		status = part_folders(engine, &repair, &parted);
	if (status == FAT_OK && !parted)
		status = repair_by_level(engine, &repair, level);
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
			status = engine_leave(engine, fault);
	}
	return status;
}

/* What there is to repair, as a number: if a round left it as it was, so would all the others. */
static uint64_t sum_of_faults(const struct engine *engine)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < engine->fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&engine->fsck.faults, i);

		sum += engine_is_left(engine, fault) ? 0 : engine_key(fault) ^ fault->last;
	}
	return sum;
}

enum fat_status engine_repair(struct engine *engine)
{
	enum fat_status status = FAT_OK;
	uint64_t seen = 0;

	for (unsigned round = 0; round < MAX_ROUNDS && status == FAT_OK; round++) {
		enum fault_level level = lowest_level(engine, LEVEL_REVIVE);
		uint64_t sum = sum_of_faults(engine);

		if (level == LEVEL_SUMMARY)
			return FAT_OK;
		if (engine_is_full(engine))
			return leave_below(engine, LEVEL_SUMMARY);
		status = sum == seen ? leave_below(engine, level + 1) : repair_round(engine, level);
		seen = sum;
		if (status == FAT_OK)
			status = engine_look(engine);
	}
	return status;
}
