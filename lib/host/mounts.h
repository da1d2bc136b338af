/* SPDX-License-Identifier: MIT */
/*
 * mounts: the list of mounts, and the loop devices. Private to lib/host.
 */
#ifndef FATWISE_HOST_MOUNTS_H
#define FATWISE_HOST_MOUNTS_H

#include <stdio.h>

#include "host.h"

struct host_mount {
	dev_t number;      /* of the mounted file system; not a real device's for some kinds */
	const char *point; /* these two are valid until the next call */
	const char *source;
};

/* For reading with host_mount_next(); NULL: there is no list. The caller closes it. */
FILE *host_mounts_open(const struct host_roots *roots);

/* The next mount; *line is getline()'s. false: no more. */
bool host_mount_next(FILE *mounts, char **line, size_t *line_bytes, struct host_mount *mount);

/* Where a block device is mounted, into use->by. */
enum host_answer host_number_mounted(const struct host_roots *roots, dev_t number,
				     struct host_use *use);

/*
 * Calls visit for each partition that sysfs knows of the disk in dir, until it returns true.
 * Returns whether it did.
 */
bool host_each_partition(const char *dir,
			 bool (*visit)(void *context, dev_t number, const char *name),
			 void *context);

/* Calls visit for each loop device that has the image as its backing file, in the same way. */
bool host_each_loop(const struct host_roots *roots, const struct host_target *image,
		    bool (*visit)(void *context, dev_t number, const char *name), void *context);

#endif
