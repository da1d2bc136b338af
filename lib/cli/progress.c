/* SPDX-License-Identifier: MIT */
/*
 * progress: a bar at a terminal, for work that takes a while.
 *
 * Nothing for the first second, nothing where standard error is no terminal; four times a second at
 * most after that. Leaves no trace when the work is done.
 */
#include "cli.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SILENT_MS   1000
#define STEP_MS     250
#define MIN_COLUMNS 40
#define MAX_COLUMNS 100

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cli_progress_begin(struct cli_progress *progress, const char *what, uint64_t total_bytes)
{
	*progress = (struct cli_progress){
		.what = what,
		.total_bytes = total_bytes,
		.start_ms = now_ms(),
		.is_wanted = isatty(STDERR_FILENO) == 1,
	};
	progress->next_ms = progress->start_ms + SILENT_MS;
}

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < MIN_COLUMNS)
		return MIN_COLUMNS;
	return size.ws_col < MAX_COLUMNS ? size.ws_col : MAX_COLUMNS;
}

static void print_left(const struct cli_progress *progress, uint64_t done_bytes, int64_t ms)
{
	uint64_t left = progress->total_bytes - done_bytes;
	double seconds = done_bytes ? (double)ms / 1000 * (double)left / (double)done_bytes : 0;

	if (seconds < 6000)
		fprintf(stderr, " %2u:%02u left", (unsigned)seconds / 60, (unsigned)seconds % 60);
	else
		fprintf(stderr, " %3.0f h left", seconds / 3600);
}

/* "filling the volume [#####     ]  50%  0:12 left" */
static void draw(const struct cli_progress *progress, uint64_t done_bytes, int64_t ms)
{
	double part =
		progress->total_bytes ? (double)done_bytes / (double)progress->total_bytes : 1;
	int width = columns() - 22 - (int)strlen(progress->what);

	fprintf(stderr, "\r%s [", progress->what);
	for (int i = 0; i < width; i++)
		fputc(i < (int)(part * width) ? '#' : ' ', stderr);
	fprintf(stderr, "] %3d%%", (int)(part * 100));
	print_left(progress, done_bytes, ms);
	fputs("\033[K", stderr);
	fflush(stderr);
}

void cli_progress_show(struct cli_progress *progress, uint64_t done_bytes)
{
	int64_t now;

	if (!progress->is_wanted)
		return;
	now = now_ms();
	if (now < progress->next_ms)
		return;
	progress->next_ms = now + STEP_MS;
	progress->is_shown = true;
	if (done_bytes > progress->total_bytes)
		done_bytes = progress->total_bytes;
	draw(progress, done_bytes, now - progress->start_ms);
}

void cli_progress_end(struct cli_progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
