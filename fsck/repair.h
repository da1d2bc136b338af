/* SPDX-License-Identifier: MIT */
/*
 * repair: the only part that changes anything, and that only in the overlay.
 *
 * Each edit says in which stage it goes to the device (fat_txn, DESIGN: the order of writes).
 * Decides nothing: policy has said FIX before any of this is called.
 */
#ifndef FATWISE_FSCK_REPAIR_H
#define FATWISE_FSCK_REPAIR_H

#include "fsck.h"
#include "name_set.h"

struct repair {
	struct fsck *fsck;
	struct fat_dev *txn;
	uint32_t next_free;   /* where to look for a free cluster */
	struct fat_bitmap wanted; /* free clusters that are not to be taken */
	bool has_wanted;
	/* the short names of one directory, while names are made for it */
	struct name_set names;
	uint32_t names_dir;   /* its start cluster */
	bool has_names;
	uint32_t next_number; /* of the next FSCKnnnn.REC */
	uint32_t room_dir, room_clus; /* the directory and cluster that had the last free slot */
	uint32_t found_start; /* of the folder for what the root has no room for; 0: none */
};

void repair_init(struct repair *repair, struct fsck *fsck, struct fat_dev *txn);
void repair_fini(struct repair *repair);

/* ---- repair.c: edits ---- */

/*
 * Writes, and sees to it that it can be seen: where a later stage already has an edit of these
 * bytes, that one is changed too.
 */
enum fat_status repair_write(struct repair *repair, enum fat_stage stage, uint64_t off,
			     const void *buf, size_t len_bytes);
enum fat_status repair_set_entry(struct repair *repair, enum fat_stage stage, uint32_t clus,
				 uint32_t value);
enum fat_status repair_set_end(struct repair *repair, enum fat_stage stage, uint32_t clus);

/* The next free cluster from `from` on that no broken chain leads to; 0: there is none. */
enum fat_status repair_next_free(struct repair *repair, uint32_t from, uint32_t *clus);
/* A broken chain leads to it. */
bool repair_is_wanted(struct repair *repair, uint32_t clus);
/* One of them, marked as the end of a chain. *clus 0: there is none. */
enum fat_status repair_allocate(struct repair *repair, uint32_t *clus);
/* What an allocated cluster is to hold: another one's content as it reads now, or zeros. */
enum fat_status repair_copy_cluster(struct repair *repair, uint32_t to, uint32_t from);
enum fat_status repair_zero_cluster(struct repair *repair, uint32_t clus);

enum fat_status repair_read_slot(struct repair *repair, uint64_t off, uint8_t slot[FAT_SLOT_BYTES]);
/* Reads, lets `change` have it, writes it back. */
enum fat_status repair_delete_slot(struct repair *repair, enum fat_stage stage, uint64_t off);
/* The short entry in DETACH, its long name in RELEASE. */
enum fat_status repair_delete_entry(struct repair *repair, const struct fault *fault);
enum fat_status repair_set_start(struct repair *repair, enum fat_stage stage, uint64_t entry_off,
				 uint32_t start, uint32_t size);

/* ---- one fault each; FAT_OK also where nothing could be done: the next look tells ---- */

enum fat_status repair_flat(struct repair *repair, struct fault *fault);  /* repair_flat.c */
enum fat_status repair_name(struct repair *repair, struct fault *fault);  /* repair_name.c */
enum fat_status repair_dir(struct repair *repair, struct fault *fault);	  /* repair_dir.c */
enum fat_status repair_chain(struct repair *repair, struct fault *fault); /* repair_chain.c */
enum fat_status repair_save(struct repair *repair, struct fault *fault);  /* repair_save.c */

/*
 * A lost chain that fits what an entry misses. A link is made where the chain breaks off: in the
 * FAT entry of cluster `from`, or (0) in the directory entry.
 */
struct repair_link {
	struct fault fault; /* what it cures; its path and text are the link's */
	uint32_t head, last, n;
	uint32_t from;
	bool is_open; /* the lost chain has no end mark yet */
	bool goes_on; /* the lost chain runs back into the file's: its end stays */
	uint32_t run, n_run; /* clusters in a row that come before head, or are all there is */
};

/* Finds lost chains that fit, one alone each; changes nothing. links: of struct repair_link. */
enum fat_status repair_find_links(struct repair *repair, struct fat_vec *links);
enum fat_status repair_make_link(struct repair *repair, const struct repair_link *link);
void repair_free_links(struct fat_vec *links);

/*
 * link->run: where a chain breaks off. Clusters in a row from there on, that are nobody's, and just
 * as many as are missing: link->n_run; with link->head, if a lost chain is the rest. 0: no.
 * repair_run.c
 */
enum fat_status repair_find_run(struct repair *repair, uint32_t n_missing, bool free_too,
				struct repair_link *link);
/* No other link may have them. */
void repair_take_run(struct repair *repair, const struct repair_link *link);
enum fat_status repair_join_run(struct repair *repair, const struct repair_link *link);

/*
 * fault: a file's chain that is too long. If it and one that is too short have become each other's
 * rest, both links are set right: *crossed. repair_cross.c
 */
enum fat_status repair_uncross(struct repair *repair, const struct fault *fault, bool *crossed);
/*
 * The same fault. If one file, and no other, is too short by just as much, it takes that one's
 * size: *taken. repair_cross.c
 */
enum fat_status repair_take_size(struct repair *repair, const struct fault *fault, bool *taken);

/* Gives each but one of those who share a cluster its own copy; *n: how many. repair_clone.c */
enum fat_status repair_clone(struct repair *repair, size_t *n);
/* Directories that share a cluster: those that ended before it are cut there. repair_clone.c */
bool repair_folders_part(const struct fsck *fsck, uint32_t join);
enum fat_status repair_part_folders(struct repair *repair, uint32_t join);

/* repair_sick.c: clusters that the read test could not read, free ones and a file's. */
enum fat_status repair_sick_free(struct repair *repair);
enum fat_status repair_sick_file(struct repair *repair, const struct fault *fault);

/* Frees all lost chains. */
enum fat_status repair_free(struct repair *repair, const struct fault *fault);

/*
 * n_slots free slots in a row in the directory that starts at start, growing it where it may; they
 * are for the caller to fill. *found false: no room. off[] gets their places. repair_dir.c
 */
enum fat_status repair_find_room(struct repair *repair, uint32_t start, uint32_t n_slots,
				 uint64_t *off, bool *found);

/* The root has no label, while the boot sector has one: it may have been lost. repair_dir.c */
bool repair_misses_label(const struct fsck *fsck);

/*
 * A slot that means nothing becomes a deleted one; or, in the root, the label that is missing
 * there. repair_dir.c
 */
enum fat_status repair_clear_slot(struct repair *repair, uint32_t dir, uint64_t off);

/* Makes a short name the only one in the directory that starts at start. repair_name.c */
enum fat_status repair_unique_name(struct repair *repair, uint32_t start, uint64_t own_off,
				   uint8_t name[FAT_SHORT_BYTES]);

/* Boot sectors, mirror copies, FSInfo, flags: once, when all else is done. repair_final.c */
enum fat_status repair_final(struct repair *repair, bool everything_fixed);

#endif
