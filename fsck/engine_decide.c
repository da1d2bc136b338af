/* SPDX-License-Identifier: MIT */
/*
 * engine: what is repaired and what is left, and who is told.
 *
 * A fault that was left once is left for the whole run, so no round asks about it again.
 */
#include "engine_parts.h"

#define RESERVED_EDIT_BYTES (16u << 20)

uint64_t engine_key(const struct fault *fault)
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

bool engine_is_left(const struct engine *engine, const struct fault *fault)
{
	return name_set_find(&engine->left, engine_key(fault)) != NULL;
}

void engine_tell(const struct engine *engine, const struct fault *fault, const char *done)
{
	if (engine->user->done)
		engine->user->done(engine->user->context, fault, done);
}

void engine_tell_done(struct engine *engine, const struct fault *fault, const char *done)
{
	if (done)
		engine->n_fixed++;
	else
		engine->n_left++;
	engine_tell(engine, fault, done);
}

void engine_tell_fixed(struct engine *engine, const struct fault *fault)
{
	engine_tell_done(engine, fault, fault_kind(fault->id)->fix);
}

enum fat_status engine_leave(struct engine *engine, const struct fault *fault)
{
	struct name_item item = { .hash = engine_key(fault) };

	if (engine_is_left(engine, fault))
		return FAT_OK;
	engine_tell_done(engine, fault, NULL);
	return name_set_add(&engine->left, &item) ? FAT_OK : FAT_ERR_MEMORY;
}

enum fat_status engine_suspect_lost(struct engine *engine)
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

bool engine_is_full(const struct engine *engine)
{
	return fat_txn_free_bytes(engine->txn) < RESERVED_EDIT_BYTES;
}

enum fat_status engine_decide(struct engine *engine, const struct fault *fault, bool *fix)
{
	const struct engine_user *user = engine->user;

	*fix = !engine->hands_off && !engine_is_full(engine) && !engine_is_left(engine, fault) &&
	       !is_suspect(engine, fault) && policy_fixes(engine->options, fault);
	if (*fix && engine->options->mode == MODE_ASK && user->ask)
		*fix = user->ask(user->context, fault);
	return *fix ? FAT_OK : engine_leave(engine, fault);
}
