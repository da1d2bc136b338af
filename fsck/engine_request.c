/* SPDX-License-Identifier: MIT */
/*
 * engine: what a person asked for by -d and -u, before any repair: none may take the clusters of a
 * file that is to come back.
 */
#include "engine_parts.h"
#include "request.h"

static enum fat_status decide_request(struct engine *engine, const struct fault *fault, bool *fix)
{
	enum fat_status status;

	*fix = false;
	if (fault->id == F_REQUEST_REFUSED || fault->id == F_REQUEST_MOOT) {
		engine->n_refused += fault->id == F_REQUEST_REFUSED;
		engine_tell(engine, fault, NULL);
		return FAT_OK;
	}
	status = engine_decide(engine, fault, fix);
	if (status == FAT_OK && *fix)
		engine_tell_fixed(engine, fault);
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
			status = engine_look(engine);
		if (status == FAT_OK)
			status = free_dropped(engine, &repair, fault.start);
		if (status == FAT_OK)
			status = engine_look(engine);
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
			status = engine_look(engine);
	}
	repair_fini(&repair);
	request_free(&fault);
	return status;
}

enum fat_status engine_grant(struct engine *engine)
{
	const struct fsck_options *options = engine->options;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < options->drop.n && status == FAT_OK; i++)
		status = drop(engine, *(const char *const *)fat_vec_at(&options->drop, i));
	for (size_t i = 0; i < options->undelete.n && status == FAT_OK; i++)
		status = undelete(engine, *(const char *const *)fat_vec_at(&options->undelete, i));
	return status;
}
