/* SPDX-License-Identifier: MIT */
/*
 * progress: a bar at a terminal, or lines "PASS DONE MAX DEVICE" as e2fsck writes them, which
 * systemd-fsck and others read [COMPAT 1.1].
 *
 * A check looks at the volume several times where it repairs; what is written never goes back. The
 * passes are 1 to 5, as readers expect: FATs (or the read test), directories, lost clusters, and
 * the look at the result.
 */
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
	unsigned pass;
	const char *what;
} ticks[] = {
	[TICK_FAT] = { 1, "reading the FATs" },       [TICK_READ] = { 1, "reading all clusters" },
	[TICK_TREE] = { 2, "reading directories" },   [TICK_LOST] = { 4, "finding lost clusters" },
	[TICK_VERIFY] = { 5, "checking the result" },
};

void progress_init(struct progress *progress, const struct fsck_options *options)
{
	*progress = (struct progress){ .options = options };
}

/* A reader that is gone, or does not read, must not stop the check. */
static void write_line(struct progress *progress, uint64_t done, uint64_t max)
{
	char *line;
	int n = asprintf(&line, "%u %" PRIu64 " %" PRIu64 " %s\n", progress->pass, done, max,
			 progress->options->device);

	if (n < 0)
		return;
	if (write(progress->options->progress_fd, line, (size_t)n) < 0 && errno != EAGAIN &&
	    errno != EINTR)
		progress->fd_failed = true;
	free(line);
}

static void tell_fd(struct progress *progress, enum fsck_tick tick, uint64_t done, uint64_t max)
{
	unsigned pass = ticks[tick].pass;
	uint64_t thousandths = max ? done * 1000 / max : 1000;

	if (progress->fd_failed || pass < progress->pass ||
	    (tick == TICK_FAT && progress->options->read_test) ||
	    (pass == progress->pass && thousandths <= progress->thousandths))
		return;
	progress->pass = pass;
	progress->thousandths = thousandths;
	write_line(progress, done, max);
}

static void draw(struct progress *progress, enum fsck_tick tick, uint64_t done, uint64_t max)
{
	if (!progress->has_bar || progress->tick != tick) {
		progress_hide(progress);
		cli_progress_begin(&progress->bar, ticks[tick].what, max);
		progress->has_bar = true;
		progress->tick = tick;
	}
	progress->bar.total_bytes = max;
	cli_progress_show(&progress->bar, done);
}

void progress_tick(struct progress *progress, enum fsck_tick tick, uint64_t done, uint64_t max)
{
	if (progress->options->progress_fd > 0)
		tell_fd(progress, tick, done, max);
	else
		draw(progress, tick, done, max);
}

void progress_hide(struct progress *progress)
{
	if (progress->has_bar)
		cli_progress_end(&progress->bar);
}

void progress_end(struct progress *progress)
{
	progress_hide(progress);
	if (progress->options->progress_fd > 0 && progress->pass > 0)
		tell_fd(progress, TICK_VERIFY, 1, 1);
}
