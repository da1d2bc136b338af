/* SPDX-License-Identifier: MIT */
/*
 * survey: a strict reader of FAT volumes, the judge of what fsck leaves behind.
 *
 * Independent of libfat (device layer apart). Whatever is not exactly as the format wants it is a
 * problem, one line each. It never writes, and it ends on any input.
 */
#ifndef RECIPES_SURVEY_H
#define RECIPES_SURVEY_H

#include "recipe.h"

struct found {
	char *path;
	size_t parent; /* index; 0 is the root, whose parent it is itself */
	bool is_dir;
	uint32_t size;
	uint8_t entry[DIRENT_BYTES];
	uint64_t entry_off;
	size_t n_lfn;
	uint32_t *chain;
	size_t n_chain;
};

struct survey {
	struct fat_dev *dev;
	struct shape shape;
	struct notes problems;
	struct found *found; /* [0] is the root; folders before what they hold */
	size_t n_found;
	uint32_t *fat;           /* of the active copy; value bits */
	uint32_t *owner;         /* index of found + 1; 0: nobody */
	uint32_t n_free, n_lost; /* clusters */
	uint8_t boot[512];
	uint8_t root_label[11];
	bool has_root_label;
};

/* Reads and judges all. false: there is no volume to speak of (problems has the reason). */
bool survey_read(struct survey *survey, struct fat_dev *dev);
void survey_free(struct survey *survey);
/* The layout alone, from a boot sector's bytes; false where it has none. */
bool survey_shape(const uint8_t boot[512], uint64_t device_bytes, struct shape *shape,
		  struct notes *problems);
const struct found *survey_find(const struct survey *survey, const char *path);
/* Bytes [off, off + len) of a file; false where its chain is too short. */
bool survey_content(const struct survey *survey, const struct found *file, uint64_t off,
		    uint8_t *buf, size_t len);
/* A hash of a file's bytes up to its size (holes count as zeros). */
uint64_t survey_hash(const struct survey *survey, const struct found *file);

#endif
