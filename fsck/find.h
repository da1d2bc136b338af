/* SPDX-License-Identifier: MIT */
/*
 * find: a path from the command line, on the volume.
 */
#ifndef FATWISE_FSCK_FIND_H
#define FATWISE_FSCK_FIND_H

#include "fsck.h"

/* An entry and where it is. */
struct found_entry {
	uint32_t dir_start; /* the directory it is in; 0: the root of FAT12/16 */
	uint64_t entry_off;
	uint32_t n_long; /* long-name slots before it, in disk order */
	uint64_t long_off[FAT_LONG_SLOTS];
	uint8_t part[FAT_LONG_SLOTS][FAT_SLOT_BYTES]; /* of a deleted one: as they were */
	struct fat_dirent dirent;                     /* of a deleted one: with its first byte */
};

/*
 * The entry that an absolute path leads to. Names are compared as drivers do, long and short ones;
 * "\ooo" is a byte of the code page, in octal. *found false: there is none.
 */
enum fat_status find_path(struct fsck *fsck, const char *path, struct found_entry *entry,
			  bool *found);

/*
 * Whether n clusters from start on are there and free, so that nothing else has been written there.
 * Lost ones that lead on as the file's chain would are what a run with -u that was cut has
 * prepared.
 */
enum fat_status find_run_is_free(struct fsck *fsck, uint32_t start, uint32_t n, bool *is_free);

/*
 * The deleted file that had this path: the first whose clusters are free, else the first. *found as
 * above. The first byte of its name comes from the path, or from the checksum that its long name
 * has.
 */
enum fat_status find_deleted(struct fsck *fsck, const char *path, struct found_entry *entry,
			     bool *found);

/* Whether the directory that starts at start has entries but its dots. */
enum fat_status find_is_empty(struct fsck *fsck, uint32_t start, bool *empty);

#endif
