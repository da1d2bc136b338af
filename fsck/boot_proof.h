/* SPDX-License-Identifier: MIT */
/*
 * boot_proof: a boot sector, or what one might have been, with the proof there is for it.
 */
#ifndef FATWISE_FSCK_BOOT_PROOF_H
#define FATWISE_FSCK_BOOT_PROOF_H

#include "fsck.h"

struct candidate {
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;
	struct fat_boot_report report;
	struct fat_geometry geometry;
	uint64_t off;
	bool is_atari;
	bool usable; /* describes a volume at all */
	int proof;
	int root;   /* part of it: a root is there */
	int length; /* part of it: the FAT is as long as the clusters need */
	bool root_empty;  /* its first slot was never used */
	bool rootless;    /* there is none, or an empty one though clusters are in use */
	bool weak;        /* what is in the root is no proof of a cluster's size */
	uint32_t n_files_right; /* of the root, with a chain as long as they need */
	bool has_fat;	  /* at least one FAT is where it says */
	bool miscounted;  /* there is a FAT more, or less, than it says */
	bool made_up;	  /* all fields are worked out, not one was there */
	bool doubted;	  /* what is on the volume speaks against it */
};

/* Reads the sector at off, and judges it. */
enum fat_status candidate_read(struct fsck *fsck, uint64_t off, struct candidate *candidate);
/* Decodes candidate->sector, and fills in the rest. */
void candidate_judge(struct fsck *fsck, struct candidate *candidate);
/* Whether a root may begin in that cluster: slots, and no dots. */
bool candidate_root_may_be(struct fsck *fsck, const struct candidate *candidate, uint32_t clus);
/*
 * Formatters make a FAT as long as the clusters need, and round it up a little. 1: it is so; below
 * 0: far from it.
 */
int boot_prove_length(const struct fat_geometry *geometry);
bool candidate_deviates(const struct candidate *candidate, enum fat_boot_deviation_id id);

/*
 * Where FAT32's root is, if the cluster that the boot sector names holds none: found by the folders
 * in it, whose ".." is 0. *clus 0: not found. boot_root.c
 */
enum fat_status boot_find_root(struct fsck *fsck, const struct candidate *candidate,
			       uint32_t *clus);
/* The cluster that it calls the root is another folder: "." in it says so. boot_root.c */
bool boot_root_is_folder(struct fsck *fsck, const struct candidate *candidate);

/* Whole clusters that the device has room for, where the geometry puts the first. boot_infer.c */
uint64_t boot_room_clus(const struct fsck *fsck, const struct fat_geometry *geometry);

/* In the field that a count of that size goes into; the other becomes 0. boot_infer.c */
void boot_set_total(struct fat_boot *boot, uint64_t total_sec);

/*
 * The one boot sector, if there is just one, under which the whole volume is without fault, and
 * that differs from main in one field, or, where main is not usable, in all. false: not known.
 * boot_infer.c
 */
bool boot_infer(struct fsck *fsck, const struct candidate *main, struct candidate *found);

/*
 * The same for a main that nothing in the root bears out, though nothing speaks against it: if all
 * is sound under another one, and more than one thing is not under this. boot_infer.c
 */
bool boot_infer_size(struct fsck *fsck, const struct candidate *main, struct candidate *found);

/*
 * A larger sector count, if clusters in use lie behind the end that main draws, and less is wrong
 * with them in the volume. boot_infer.c
 */
bool boot_infer_total(struct fsck *fsck, const struct candidate *main, struct candidate *found);

/*
 * So small a sector count that a volume which calls itself FAT16 would be read as FAT12, or a FAT32
 * as FAT16: the larger one that its FAT was made for, if no more is wrong with that. boot_infer.c
 */
bool boot_infer_type(struct fsck *fsck, const struct candidate *main, struct candidate *found);

#endif
