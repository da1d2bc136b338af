/* SPDX-License-Identifier: MIT */
/*
 * crash: what a repair looks like when it is interrupted anywhere.
 *
 * A subject is a damaged volume and something that repairs it. The harness runs it once, with every
 * write and flush recorded, and then makes each volume that a power cut could have left: between
 * two flushes each sector may have been written, not written, or torn. On each it checks what must
 * hold and runs the subject again. A failure has an id by which it can be made again.
 *
 * Knows the format from tests/recipes, nothing of how the subject works.
 */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include "tests/recipes/survey.h"

/* ---- layers -------------------------------------------------------------------------------- */

/* dev_fault: counts, and fails where told. Takes over below. Counting starts at 1; 0: never. */
enum call_kind { CALL_READ, CALL_WRITE, CALL_FLUSH, N_CALL_KINDS };

struct fat_dev *dev_fault_open(struct fat_dev *below);
/* The nth call of a kind fails; persistent: and all of that kind after it. */
void dev_fault_set(struct fat_dev *dev, enum call_kind kind, uint64_t nth, bool persistent);
void dev_fault_bad_range(struct fat_dev *dev, uint64_t off, uint64_t len);
/* What is left of the i-th: a place that is written can be read again. */
void dev_fault_get_bad(const struct fat_dev *dev, size_t i, uint64_t *off, uint64_t *len);
uint64_t dev_fault_count(const struct fat_dev *dev, enum call_kind kind);

/* dev_crash: remembers every write, and between which flushes it came. Takes over below. */
struct crash_write {
	uint64_t off;
	size_t len;
	uint8_t *bytes;
	unsigned epoch; /* flushes before it */
};

struct crash_log {
	struct crash_write *write;
	size_t n;
	unsigned n_epochs; /* the last one may be without writes */
};

struct fat_dev *dev_crash_open(struct fat_dev *below, struct crash_log *log);
void crash_log_free(struct crash_log *log);

/* dev_order: notes each write that breaks the order of stages. Takes over below. */
struct fat_dev *dev_order_open(struct fat_dev *below, const struct shape *shape,
			       struct notes *violations);

/* ---- memory -------------------------------------------------------------------------------- */

/* The nth allocation from now on fails, once; 0: none. Layers suspend it while they work. */
void malloc_fail_arm(uint64_t nth);
/* Disarms; how many allocations there were since it was armed. */
uint64_t malloc_fail_disarm(void);
void malloc_fail_suspend(void);
void malloc_fail_resume(void);

/* ---- what a cut can leave ------------------------------------------------------------------ */

/* One sector of a write. */
struct crash_unit {
	uint64_t off;
	uint32_t len;
	const uint8_t *bytes;
	unsigned epoch;
	size_t write;
};

struct crash_states {
	const struct crash_log *log;
	struct crash_unit *unit;
	size_t n_units;
	uint32_t sector_bytes;
	char (*id)[32]; /* p3, s2.1f, r2.17, t9.256, u9.-256: see states.c */
	size_t n;
};

/* All states, or a sample of about max. */
void crash_states_make(struct crash_states *states, const struct crash_log *log,
		       uint32_t sector_bytes, size_t max);
void crash_states_free(struct crash_states *states);
/* The volume that state leaves of s0; a new dev_snap. NULL: no such id. */
struct fat_dev *crash_state_build(const struct crash_states *states, struct fat_dev *s0,
				  const char *id);

/* Where a torn sector is torn; UINT64_MAX: none is, but not all of a stage arrived; 0: it did. */
uint64_t crash_state_tear(const struct crash_states *states, const char *id);

/* ---- what must hold ------------------------------------------------------------------------ */

struct crash_file {
	char *path;
	uint64_t hash;
	bool is_recovered; /* may come back under any name */
};

/* A reference to a cluster, and where on the disk it stands. */
struct crash_ref {
	uint32_t clus;
	uint64_t off;   /* of the entry in a folder */
	uint32_t from;  /* the entry in the table; 0: it stands in a folder */
	bool reachable; /* from the root */
};

struct crash_refs {
	struct crash_ref *ref; /* by cluster */
	size_t n;
	uint32_t *fat; /* of the copy that drivers read */
};

struct crash_world {
	struct fat_dev *s0, *s1; /* before, and after a whole repair */
	struct shape shape;
	struct crash_refs before;
	struct crash_file *file; /* with content, in s1 */
	size_t n_files;
};

void crash_refs_read(struct crash_refs *refs, struct fat_dev *dev, const struct shape *shape);
void crash_refs_free(struct crash_refs *refs);
void crash_world_open(struct crash_world *world, struct fat_dev *s0, struct fat_dev *s1,
		      const struct shape *shape);
void crash_world_close(struct crash_world *world);
/*
 * A state before anything repaired it: no new double reference, no chain into free, marked dirty.
 * end: how the volume was when the interrupted run was through; such a state is not interrupted.
 * tear: the byte from which on a sector is old or new; 0: none is torn; UINT64_MAX: not cut between
 * two writes. An entry that is half there says nothing, and a torn boot sector of FAT12 has no
 * mark.
 */
void crash_check_state(const struct crash_world *world, struct fat_dev *state,
		       const struct fat_dev *end, uint64_t tear, struct notes *complaints);
/* A state after it was repaired: sound, and every file of s1 is there. */
void crash_check_result(const struct crash_world *world, struct fat_dev *result,
			struct notes *complaints);
bool crash_is_dirty(struct fat_dev *dev, const struct shape *shape);

/* ---- the harness --------------------------------------------------------------------------- */

struct crash_subject {
	const char *name;
	struct fat_dev *s0;
	struct shape shape; /* of the volume when it is sound */
	/* Repairs dev; the exit status. Does not close dev. */
	int (*run)(void *ctx, struct fat_dev *dev);
	void *ctx;
	size_t max_states; /* 0: all */
	bool is_unsound;   /* the repair may leave faults: no survey of its results */
};

struct crash_counts {
	uint64_t n_states, n_second, n_faults, n_mallocs, n_undone;
};

/* Complaints begin with "replay NAME:ID: ". */
void crash_explore(const struct crash_subject *subject, struct crash_counts *counts,
		   struct notes *complaints);
/* Cuts the subject after each write and takes it back with the undo file as it was then. */
void crash_undo_cuts(const struct crash_subject *subject, struct crash_counts *counts,
		     struct notes *complaints);
/* One state again; id as printed, without the name. */
void crash_replay(const struct crash_subject *subject, const char *id, struct notes *complaints);
/* An image file of one; false: no such id. Not of a second cut. */
bool crash_save_state(const struct crash_subject *subject, const char *id, const char *path);

#endif
