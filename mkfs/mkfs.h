/* SPDX-License-Identifier: MIT */
/*
 * mkfs: what the files of this tool share.
 *
 * options.c reads the command line into struct mkfs_options; target.c opens the target and finds
 * out what there is to know of it; mkfs.c goes from there: plan, preview, apply. report.c speaks.
 */
#ifndef FATWISE_MKFS_H
#define FATWISE_MKFS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cli.h"
#include "libfat.h"

enum mkfs_exit { MKFS_DONE = 0, MKFS_FAILED = 1 };

enum mkfs_table { MKFS_TABLE_NO, MKFS_TABLE_YES };

enum mkfs_align {
	MKFS_ALIGN_AUTO,  /* whole clusters, or what a profile wants */
	MKFS_ALIGN_NO,
	MKFS_ALIGN_GIVEN, /* ask has it */
};

enum mkfs_discard { MKFS_DISCARD_AUTO, MKFS_DISCARD_YES, MKFS_DISCARD_NO };

struct mkfs_profile;

struct mkfs_options {
	const char *path;
	bool has_blocks;
	uint64_t n_blocks; /* of 1 KiB */
	uint64_t offset_sec;
	bool create;
	bool ignore_checks;
	bool no_align;	     /* -a */
	enum mkfs_align align;
	const struct mkfs_profile *profile;
	bool has_geometry;   /* -g */
	bool has_hidden;     /* -h */
	struct fat_layout_request ask; /* as far as options say it; target.c adds the rest */
	bool has_volume_id;
	uint32_t volume_id;
	const char *label; /* as given; NULL: none */
	unsigned codepage;
	const char *message_path; /* -m; "-" is standard input */
	enum mkfs_table table;
	bool invariant;
	unsigned verbosity;
	bool quiet;
	bool stats;
	bool dry_run;
	bool json;
	const char *undo_path;
	bool verify;
	enum mkfs_discard discard;
	bool scan;	      /* -c */
	const char *bad_path; /* -l */
	const char *tree_path; /* -d, --size-for: the folder; NULL: none */
	bool size_for;	       /* tell the size, make nothing */
};

extern const struct cli_program mkfs_program;

/*
 * Reads the command line. true: go on with *options. false: all is said, and *exit_status is to be
 * returned.
 */
bool mkfs_options_read(int argc, char **argv, struct mkfs_options *options, int *exit_status);

/* What is to be formatted, and what was found out about it. */
struct mkfs_target {
	struct fat_dev *dev;	/* open for writing; begins where the volume does */
	struct fat_dev *undo;	/* --undo: the layer in it */
	struct fat_dev *verify; /* --verify: likewise */
	bool can_discard;
	bool is_created;	/* by us: to be removed when something fails */
	uint64_t size_bytes;	/* of the whole target */
	uint32_t block_bytes;	/* the smallest sector that it takes; 1: any */
	uint64_t volume_off;	/* where the volume begins in it */
};

struct mkfs_preflight;

/*
 * Finds out what there is to know of the target, completes options->ask, and collects what speaks
 * against formatting. Opens nothing for writing and creates nothing. false: the reason was told.
 */
bool mkfs_target_look(struct mkfs_options *options, struct mkfs_target *target,
		      struct mkfs_preflight *preflight);

/*
 * What the planner is told of a volume of size_bytes in a new file, as -C makes it: everything that
 * options->ask has, and what follows from --offset.
 */
void mkfs_target_imagine(const struct mkfs_options *options, uint64_t size_bytes,
			 struct fat_layout_request *ask);

/* Opens or creates it for writing. false: told. */
bool mkfs_target_open(const struct mkfs_options *options, struct mkfs_target *target);

/* --verify: reads back what was written. false: told. */
bool mkfs_target_verify(const struct mkfs_options *options, struct mkfs_target *target);

/* Closes; removes what was created if the work failed. */
void mkfs_target_close(const struct mkfs_options *options, struct mkfs_target *target, bool failed);

/* Time and serial number: the clock, SOURCE_DATE_EPOCH or --invariant. false: told why. */
struct mkfs_moment {
	struct cli_clock clock;
	uint32_t volume_id;
	uint16_t date_dos, time_dos;
};
bool mkfs_moment_find(const struct mkfs_options *options, struct mkfs_moment *moment);

/* A label as it is on the disk. *has_label is false for "NO NAME" and blanks. false: told why. */
bool mkfs_label_encode(const char *text, unsigned codepage, uint8_t label[11], bool *has_label);

/* The boot message of a file: CR LF, no tabs, cut to max_bytes. false: there is none; told why. */
bool mkfs_message_read(const char *path, size_t max_bytes, uint8_t *message, size_t *n_bytes);

/* What cannot be right, or could surprise, in a plan that can be made. One line each on stderr. */
void mkfs_report_warnings(const struct mkfs_options *options, const struct fat_layout *layout);

/* -v: every number; and the line that sums up. */
void mkfs_report_volume(const struct mkfs_options *options, const struct fat_layout *layout,
			const struct fat_format_options *format, FILE *out);

/* --json: the plan, for programs. */
void mkfs_report_json(const struct mkfs_options *options, const struct fat_layout *layout,
		      const struct fat_format_options *format, FILE *out);

/* Why there is no plan, and what to do. */
void mkfs_report_problem(const struct mkfs_options *options, const struct fat_layout *layout);

/* The whole program. */
int mkfs_main(int argc, char **argv);

#endif
