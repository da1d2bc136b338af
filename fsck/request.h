/* SPDX-License-Identifier: MIT */
/*
 * request: -d and -u, as faults that were asked for: F_DROP, F_UNDELETE, F_REQUEST_REFUSED, or
 * F_REQUEST_MOOT where it is so already; the latter two have the reason in their text.
 * request_free() in any case.
 */
#ifndef FATWISE_FSCK_REQUEST_H
#define FATWISE_FSCK_REQUEST_H

#include "repair.h"

enum fat_status request_drop(struct fsck *fsck, const char *path, struct fault *fault);
enum fat_status request_undelete(struct fsck *fsck, const char *path, struct fault *fault);

/* Makes the chain and the entry of a F_UNDELETE anew. */
enum fat_status request_bring_back(struct repair *repair, const char *path);

void request_free(struct fault *fault);

#endif
