/* SPDX-License-Identifier: MIT */
/*
 * engine_parts: what the engine's files know of each other, and nobody else does.
 */
#ifndef FATWISE_FSCK_ENGINE_PARTS_H
#define FATWISE_FSCK_ENGINE_PARTS_H

#include "engine.h"

/* ---- engine_decide.c ---- */

/* A fault as a number: the same in each look, whatever its place in the list. */
uint64_t engine_key(const struct fault *fault);
bool engine_is_left(const struct engine *engine, const struct fault *fault);

/* The user hears of it; NULL as `done`: it stays. The second counts it too. */
void engine_tell(const struct engine *engine, const struct fault *fault, const char *done);
void engine_tell_done(struct engine *engine, const struct fault *fault, const char *done);
/* In the fault's own words. */
void engine_tell_fixed(struct engine *engine, const struct fault *fault);

/* Put down as left, once. FAT_ERR_MEMORY. */
enum fat_status engine_leave(struct engine *engine, const struct fault *fault);

/*
 * Part of the FAT or of a folder cannot be read: what is lost may belong to something there, so it
 * is neither saved as another file, nor are files cut that it may be the rest of.
 */
enum fat_status engine_suspect_lost(struct engine *engine);

/* The overlay takes no more than what the end of a repair may need: the rest is for another run. */
bool engine_is_full(const struct engine *engine);

/* Whether to repair it; if not, it is put down as left. */
enum fat_status engine_decide(struct engine *engine, const struct fault *fault, bool *fix);

/* ---- engine_rounds.c ---- */

/* Repairs until a look finds nothing more to repair; what is left is put down as such. */
enum fat_status engine_repair(struct engine *engine);

/* ---- engine_request.c ---- */

/* -d and -u. */
enum fat_status engine_grant(struct engine *engine);

/* ---- engine.c ---- */

/* All passes behind the boot sector, afresh. */
enum fat_status engine_look(struct engine *engine);

#endif
