/* SPDX-License-Identifier: MIT */
/*
 * report_json: what report.h tells, as JSON: an object a line. fsck.fat(8) has the schema.
 */
#ifndef FATWISE_FSCK_REPORT_JSON_H
#define FATWISE_FSCK_REPORT_JSON_H

#include "engine.h"

void report_json_volume(const struct fsck *fsck);
void report_json_fault(const struct fault *fault, const char *action, const char *done);
void report_json_entry(const char *path, const char *alias);
void report_json_stats(struct fat_dev *dev);
void report_json_summary(const struct fsck_options *options, const struct engine *engine,
			 int exit_status);

#endif
