/* SPDX-License-Identifier: MIT */
/*
 * check_dir: a directory being checked, between check_dir.c (the order of its slots) and
 * check_entry.c (what an entry says).
 */
#ifndef FATWISE_CHECK_DIR_H
#define FATWISE_CHECK_DIR_H

#include "fsck.h"
#include "name_set.h"

struct dir_check {
	struct fsck *fsck;
	uint32_t dir; /* its index */
	bool is_root;
	uint32_t slot; /* number of the current one */
	/* long-name slots that wait for their short entry */
	uint32_t n_pend;
	uint8_t pend[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	uint64_t pend_off[FAT_LONG_SLOTS];
	/* end mark */
	bool ended, end_ignored, stop;
	uint64_t end_off;
	bool has_dot, has_dotdot, dot_taken;
	uint32_t tail_clus; /* the last one that was found to be the directory's own */
	/* what cannot be read of it */
	uint64_t gap_off, gap_bytes;
	bool after_gap; /* nothing was seen behind it yet */
	struct name_set shorts, names;
	size_t first_fault; /* of this directory */
};

/* A file's or directory's short entry; the pending long slots are its own, if anybody's. */
enum fat_status check_entry(struct dir_check *check, const uint8_t *slot, uint64_t off);

/* The long name before this entry has its checksum, and all its parts. */
bool check_long_fits(const struct dir_check *check, const uint8_t *slot);

/*
 * A slot that begins with 0. true: it is an empty file for certain, and put down as a fault;
 * whether others are entries is known when all chains are: zeroed_report(). check_zeroed.c
 */
bool zeroed_note(struct dir_check *check, const uint8_t *slot, uint64_t off);

/*
 * Puts down a fault of the directory (or of the slot at off) without an entry's path.
 */
void dir_fault(struct dir_check *check, enum fault_id id, uint64_t off, uint64_t a, uint64_t b);

#endif
