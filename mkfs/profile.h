/* SPDX-License-Identifier: MIT */
/* profile: what a kind of reader wants of a volume, by its public rules. */
#ifndef FATWISE_MKFS_PROFILE_H
#define FATWISE_MKFS_PROFILE_H

#include "mkfs.h"

struct mkfs_profile;

/* NULL: there is none of that name. */
const struct mkfs_profile *mkfs_profile_find(const char *name);

/* "esp, rpi-boot, ..." */
const char *mkfs_profile_names(void);

/* Why a profile takes no plan, and what to do. */
struct mkfs_profile_refusal {
	char why[128];
	const char *advice;
};

/*
 * Plans by the options' profile: fills in what ask leaves open, asks the planner, and checks what
 * comes of it. FAT_ERR_ARGUMENT and *refusal where it takes none. Says nothing.
 */
enum fat_status mkfs_profile_plan(const struct mkfs_options *options,
				  const struct fat_layout_request *ask, fat_planner planner,
				  void *ctx, struct fat_layout *layout,
				  struct mkfs_profile_refusal *refusal);
/* Tells a refusal. */
void mkfs_profile_tell(const struct mkfs_options *options,
		       const struct mkfs_profile_refusal *refusal);

#endif
