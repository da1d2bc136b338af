/* SPDX-License-Identifier: MIT */
/*
 * probe: one measurement under way: its budget, its requests, its record. Inside the advisor only.
 *
 * Invariant: a byte is written only where the same byte has just been read, so the content is right
 * at every moment and nothing has to be restored, whatever ends the program. A stretch is read
 * first and then written in pieces, and only the writes are timed: a read directly before each
 * write would cost a disk a full turn and hide everything [PROBING 4]. Outside of the places of the
 * FATs, a byte is written only where probe_find_place() or probe_claim() said so, which keep count
 * of how often that erases a block.
 */
#ifndef FATWISE_ADVISOR_PROBE_H
#define FATWISE_ADVISOR_PROBE_H

#include "advise.h"
#include "wear.h"

#define PROBE_STRETCH_BYTES (4u << 20)
#define PROBE_CHECK_BYTES   (64u << 10)
#define PROBE_FRONT_BLOCKS  8 /* that may be made for FATs */

struct probe {
	struct advise_target *target;
	struct fat_dev *dev;
	const struct advise_budget *budget;
	const struct advise_watch *watch;
	struct advise_measured *measured;
	uint8_t *buf, *check; /* a stretch as it was read; a part of it read again */
	uint64_t begin_ns;
	uint64_t step_end_ns; /* of the step that runs */
	uint32_t n_places;
	uint64_t rng;
	uint32_t step;
	uint64_t dearest_ns;    /* the write that took longest so far */
	uint64_t usual_read_ns; /* a 4 KiB read somewhere */
	uint64_t slow_read_ns;  /* from here on one waited for something */
	uint64_t front_off;     /* FATs and root folders of all layouts end before */
	uint64_t page_bytes;    /* 0: not known */
	bool erases_show;       /* a write that costs nothing but an erase more would be noticed */
	struct wear wear;
};

uint64_t probe_now(struct probe *p);

/* A step may take a part of the budget's time, in percent. */
void probe_begin_step(struct probe *p, const char *name, unsigned percent);

/* No more requests in this step. */
bool probe_is_over(struct probe *p);

/* There is time for n more writes as dear as the dearest so far. */
bool probe_affords_dear(struct probe *p, unsigned n);

/* So much may still be written. */
bool probe_may_write(struct probe *p, uint64_t len_bytes);

/*
 * By the speeds seen so far: does it fit into this step to read so much, and then to write it back
 * in pieces of piece_bytes? No, as long as no write has been timed.
 */
bool probe_affords(struct probe *p, uint64_t len_bytes, uint32_t piece_bytes);

/* By the speed of the longest reads seen so far: can so much be read until then? */
bool probe_can_read(struct probe *p, uint64_t len_bytes, uint64_t end_ns);

/* A request and its time. Writes and flushes are recorded. */
enum fat_status probe_read(struct probe *p, uint64_t off, void *buf, size_t len_bytes,
			   uint64_t *ns);
enum fat_status probe_write(struct probe *p, uint64_t off, const void *buf, size_t len_bytes,
			    uint64_t *ns);
enum fat_status probe_flush(struct probe *p, uint64_t *ns);

/* Records that what was written took ns more after the device had said that it was done. */
void probe_note_settled(struct probe *p, uint64_t ns);

/* Waits until what was written is written, in the way this device needs; adds the time to *ns. */
enum fat_status probe_settle(struct probe *p, uint64_t *ns);

/*
 * The same by reads alone, at least so many; adds to *ns. *n_before: so many were quick before the
 * first slow one; UINT_MAX: all.
 */
void probe_settle_by_reading(struct probe *p, unsigned n_least, uint64_t *ns, unsigned *n_before);

/*
 * Reads a stretch, of PROBE_STRETCH_BYTES at most, into p->buf. false if it cannot be read: another
 * place, then.
 */
bool probe_load(struct probe *p, uint64_t off, uint64_t len_bytes);

/* Reads a part of a stretch again and compares it with p->buf. */
void probe_verify(struct probe *p, uint64_t off, size_t len_bytes);

/*
 * Another part of the device each time, len_bytes long: steps of the golden ratio, so that places
 * lie far apart and fall into step with nothing inside.
 */
uint64_t probe_next_place(struct probe *p, uint64_t len_bytes);

/* A place to write to: from base_off, in steps of align_bytes. */
struct probe_want {
	uint64_t len_bytes, align_bytes, base_off;
	unsigned n_erases; /* of a block, that the writes cause at most; a row: WEAR_RUN */
};

/*
 * Another part of the device each time. Where blocks are known it begins with a block, or else ends
 * a page before the end of one: small writes into the last page would close the block again and
 * again. false: no block is left that may be erased so often.
 */
bool probe_find_place(struct probe *p, const struct probe_want *want, uint64_t *off);

/* A row of writes anywhere, to begin at multiples of align_bytes. */
bool probe_find_run(struct probe *p, uint64_t len_bytes, uint64_t align_bytes, uint64_t *off);

/* Learns pages and blocks from what was measured so far. */
void probe_learn(struct probe *p);

uint64_t probe_random_below(struct probe *p, uint64_t limit);

/* One more sample, while there is room. */
void probe_keep(struct advise_samples *samples, uint64_t ns);

/* The steps. Those that only read: */
void probe_reads(struct probe *p);
/* Those that write: */
enum fat_status probe_writes(struct probe *p, const struct advise_layout *layouts);
/* Erase blocks by a long stream of writes, where reads show none. */
enum fat_status probe_block_stream(struct probe *p);
/* Single writes into erase blocks here and there. */
enum fat_status probe_inside(struct probe *p);
/* What a disk needs between two writes. */
enum fat_status probe_disk(struct probe *p);

#endif
