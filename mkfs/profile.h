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

typedef enum fat_status (*mkfs_planner)(void *ctx, const struct fat_layout_request *ask,
					struct fat_layout *layout);

/*
 * Plans a volume of options->ask.size_bytes by the profile's rules: fills in what the options leave
 * open, and checks the rest. false: told why.
 */
bool mkfs_profile_plan(const struct mkfs_profile *profile, const struct mkfs_options *options,
		       mkfs_planner plan, void *ctx, struct fat_layout *layout);

#endif
