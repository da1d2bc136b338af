/* SPDX-License-Identifier: MIT */
/*
 * progress: how far a check is, at a terminal or as lines for another program (-C FD).
 */
#ifndef FATWISE_FSCK_PROGRESS_H
#define FATWISE_FSCK_PROGRESS_H

#include "options.h"

struct progress {
	const struct fsck_options *options;
	struct cli_progress bar;
	enum fsck_tick tick; /* the bar's */
	bool has_bar;
	unsigned pass; /* the line written last: its pass, and thousandths of that */
	uint64_t thousandths;
	bool fd_failed;
};

void progress_init(struct progress *progress, const struct fsck_options *options);
void progress_tick(struct progress *progress, enum fsck_tick tick, uint64_t done, uint64_t max);
/* Takes the bar away, before anything else is printed or asked. */
void progress_hide(struct progress *progress);
/* The last line: all is done. */
void progress_end(struct progress *progress);

#endif
