/* SPDX-License-Identifier: MIT */
/*
 * report: what the user sees.
 */
#ifndef FATWISE_FSCK_REPORT_H
#define FATWISE_FSCK_REPORT_H

#include "engine.h"

enum report_action { REPORT_FOUND, REPORT_REPAIRED, REPORT_LEFT };

/* A fault, and what was done about it (done: as faults.def has it). */
void report_fault(const struct fsck_options *options, const struct fault *fault,
		  enum report_action action, const char *done);
/* "Checking file PATH (ALIAS)", of -l. */
void report_entry(const struct fsck_options *options, const char *path, const char *alias);
/* Nothing was written although there were faults. */
void report_unchanged(const struct fsck_options *options);
/* "DEVICE: N files, USED/TOTAL clusters", the last line [COMPAT 1.4]. */
void report_summary(const struct fsck *fsck);
/* The boot sector's numbers, with -v or as JSON. */
void report_geometry(const struct fsck *fsck);
void report_stats(const struct fsck_options *options, struct fat_dev *dev);
/* The last object of JSON; nothing for people. engine NULL: it did not come to a check. */
void report_end(const struct fsck_options *options, const struct engine *engine, int exit_status);

#endif
