/* SPDX-License-Identifier: MIT */
/*
 * undo_cuts: with an undo file, every cut can be taken back: whatever had reached the device, what
 * had reached the undo file by then brings the volume back byte for byte.
 */
#include <stdlib.h>

#include "crash.h"
#include "tests/recipes/dev_snap.h"

#define STORE_BYTES (1ull << 30)

/* Below the undo layer: at each write, what the store holds at that moment. */
struct dev_witness {
	struct fat_dev dev;
	struct fat_dev *store, **seen;
	size_t n;
};

static enum fat_status witness_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static enum fat_status witness_write(struct fat_dev *dev, uint64_t off, const void *buf,
				     size_t len_bytes)
{
	struct dev_witness *witness = (struct dev_witness *)dev;

	GROW_ARRAY(witness->seen, witness->n);
	witness->seen[witness->n++] = snap_clone(witness->store);
	return fat_dev_write(dev->below, off, buf, len_bytes);
}

static enum fat_status witness_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void witness_close(struct fat_dev *dev)
{
	(void)dev; /* the caller's */
}

static const struct fat_dev_ops witness_ops = {
	.name = "witness",
	.read = witness_read,
	.write = witness_write,
	.flush = witness_flush,
	.close = witness_close,
};

/* Rolls a cut back with what the store held, and compares. */
static void check_rollback(const struct crash_subject *subject, const char *id,
			   struct fat_dev *store, struct fat_dev *cut, struct notes *complaints)
{
	struct fat_undo_info info;
	enum fat_undo_verdict verdict = FAT_UNDO_NOT_UNDO;

	if (fat_undo_verify(store, &info, &verdict) != FAT_OK || verdict != FAT_UNDO_SOUND ||
	    fat_undo_rollback(store, cut) != FAT_OK)
		notes_add(complaints, "replay %s:%s: the undo file cannot be used (%d)",
			  subject->name, id, (int)verdict);
	else if (snap_first_difference(subject->s0, cut) != UINT64_MAX)
		notes_add(complaints, "replay %s:%s: after the rollback byte %llu is not as it was",
			  subject->name, id,
			  (unsigned long long)snap_first_difference(subject->s0, cut));
}

void crash_undo_cuts(const struct crash_subject *subject, struct crash_counts *counts,
		     struct notes *complaints)
{
	const struct fat_undo_origin origin = { "crash", 0 };
	struct fat_dev *dev = snap_clone(subject->s0), *undo;
	struct dev_witness witness = { .store = snap_open(STORE_BYTES) };
	struct crash_log log;
	struct crash_states states;

	witness.dev.ops = &witness_ops;
	witness.dev.below = dev_crash_open(dev, &log);
	witness.dev.size_bytes = dev->size_bytes;
	witness.dev.block_bytes = dev->block_bytes;
	if (fat_undo_create(&witness.dev, witness.store, &origin, &undo) != FAT_OK)
		die("%s: no undo layer", subject->name);
	subject->run(subject->ctx, undo);
	crash_states_make(&states, &log, subject->shape.sector_bytes, 0);
	for (size_t k = 0; k < witness.n; k++) {
		char id[32];
		struct fat_dev *cut;

		snprintf(id, sizeof id, "p%zu", k + 1);
		cut = crash_state_build(&states, subject->s0, id);
		counts->n_undone++;
		snprintf(id, sizeof id, "U%zu", k + 1);
		check_rollback(subject, id, witness.seen[k], cut, complaints);
		fat_dev_close(cut);
		fat_dev_close(witness.seen[k]);
	}
	free(witness.seen);
	crash_states_free(&states);
	crash_log_free(&log);
	fat_dev_close(undo);
}
