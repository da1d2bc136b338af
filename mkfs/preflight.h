/* SPDX-License-Identifier: MIT */
/*
 * preflight: what speaks against formatting a target.
 *
 * Finds all objections at once; whether they stand is one decision at the end.
 */
#ifndef FATWISE_MKFS_PREFLIGHT_H
#define FATWISE_MKFS_PREFLIGHT_H

#include "host.h"
#include "mkfs.h"

#define MKFS_MAX_OBJECTIONS 8

struct mkfs_objection {
	char what[2 * HOST_TEXT_BYTES];
	const char *advice;
	bool can_override; /* with -I, or by an answer at a terminal */
};

struct mkfs_preflight {
	struct mkfs_objection objection[MKFS_MAX_OBJECTIONS];
	size_t n_objections;
};

/* Looks. place is the target; dev is it, open for reading. volume_off: where the volume begins. */
void mkfs_preflight_look(const struct host_target *place, struct fat_dev *dev, uint64_t volume_off,
			 struct mkfs_preflight *preflight);

/*
 * Tells the objections that stand (with -I only those that it cannot override). At a terminal, if
 * all can be overridden, asks. true: go on.
 */
bool mkfs_preflight_pass(const struct mkfs_options *options,
			 const struct mkfs_preflight *preflight);

#endif
