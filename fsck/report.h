/* SPDX-License-Identifier: MIT */
/*
 * report: what the user sees.
 */
#ifndef FATWISE_FSCK_REPORT_H
#define FATWISE_FSCK_REPORT_H

#include "options.h"

/* One line of a fault. done: what was done about it, or NULL. */
void report_fault(const struct fsck_options *options, const struct fault *fault, const char *done);
/* "DEVICE: N files, USED/TOTAL clusters", the last line [COMPAT 1.4]. */
void report_summary(const struct fsck *fsck);
/* The boot sector's numbers, with -v. */
void report_geometry(const struct fsck *fsck);

#endif
