/* SPDX-License-Identifier: MIT */
/*
 * label: what the files of fatlabel share.
 *
 * options.c and value.c read the command line, volume.c opens the device and edits boot sectors,
 * root.c finds and edits the root directory's label entry, main.c goes from one to the other.
 */
#ifndef FATWISE_LABEL_H
#define FATWISE_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "libfat.h"

enum label_exit { LABEL_DONE = 0, LABEL_FAILED = 1 };

extern const struct cli_program label_program;

/* ---- options.c ---- */

enum label_action { LABEL_SHOW, LABEL_SET, LABEL_RESET };

struct label_options {
	const char *path;
	const char *value; /* LABEL_SET */
	enum label_action action;
	bool volume_id; /* -i: it is about the id, not the label */
	bool force;
	bool json;
	bool stats;
	unsigned codepage;
};

/* true: go on. false: all is said, and *exit_status is to be returned. */
bool label_options_read(int argc, char **argv, struct label_options *options, int *exit_status);

/* ---- value.c ---- */

struct label_change {
	struct fat_codepage codepage;
	uint8_t label[FAT_SHORT_BYTES]; /* the new one, or "NO NAME" */
	uint32_t volume_id;             /* the new one */
	struct fat_datetime now;
};

/* false: told why. */
bool label_change_read(const struct label_options *options, struct label_change *change);

/* ---- volume.c ---- */

/* An open volume; what is written to it is staged until label_volume_commit(). */
struct label_volume {
	const char *path;
	struct fat_dev *dev; /* the staging layer, on top of the medium */
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;
	struct fat_geometry geometry;
};

/* Refuses what is mounted or busy, unless forced or only to be read. false: told why. */
bool label_volume_open(const struct label_options *options, struct label_volume *volume);
void label_volume_close(struct label_volume *volume);

bool label_volume_has_id(const struct label_volume *volume);
bool label_volume_has_label(const struct label_volume *volume); /* in the boot sector */

/* Stages volume->boot into the boot sector, and id and label of it into the backup. */
enum fat_status label_volume_stage_boot(struct label_volume *volume);
/* Puts everything that is staged onto the medium. false: told why. */
bool label_volume_commit(struct label_volume *volume);

/* Reports the device's last error. Returns false. */
bool label_volume_failed(const struct label_volume *volume);

/* ---- root.c ---- */

/* What there is in the root directory for a label. An offset of 0 is none. */
struct label_root {
	uint64_t label_off;           /* the slot of the first label */
	uint8_t slot[FAT_SLOT_BYTES]; /* its bytes */
	uint64_t deleted_off;         /* the first deleted slot */
	uint64_t end_off;             /* the end mark */
	uint64_t behind_off;          /* the slot behind the end mark */
	uint32_t last_clus;           /* FAT32: where the chain ends, if it was followed so far */
	bool is_broken;               /* the chain leads nowhere */
};

/*
 * Looks for the first label, as far as needed. Reads the root's content, and of FAT32's FAT the
 * part that holds the root's chain, where the label is not in its first cluster.
 */
enum fat_status label_root_find(struct label_volume *volume, struct label_root *root);

/* Stages a label into the root directory. false: told why. */
bool label_root_set(struct label_volume *volume, const uint8_t label[FAT_SHORT_BYTES],
		    const struct fat_datetime *now);

/* Stages the removal of all labels. false: told why. */
bool label_root_remove(struct label_volume *volume);

#endif
