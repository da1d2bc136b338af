/* SPDX-License-Identifier: MIT */
/*
 * clock: the time for what a tool writes: the system's, or SOURCE_DATE_EPOCH's.
 *
 * FAT keeps local time. Where the time was given, for results that can be made again anywhere, it
 * is UTC, and no time later than that one is written.
 */
#include "cli.h"

#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

bool cli_clock_read(const struct cli_program *program, struct cli_clock *clock)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	struct timeval now;
	uint64_t seconds;

	gettimeofday(&now, NULL);
	*clock = (struct cli_clock){
		.seconds = now.tv_sec,
		.volume_id = (uint32_t)now.tv_sec << 20 | (uint32_t)now.tv_usec,
	};
	if (!epoch)
		return true;
	if (!cli_parse_u64(epoch, 10, 0, INT64_MAX, &seconds)) {
		cli_error(program,
			  "SOURCE_DATE_EPOCH is no number: %s; "
			  "set it to seconds since 1970, or unset it",
			  epoch);
		return false;
	}
	cli_clock_fix(clock, (int64_t)seconds, (uint32_t)seconds);
	return true;
}

void cli_clock_fix(struct cli_clock *clock, int64_t seconds, uint32_t volume_id)
{
	*clock = (struct cli_clock){ .seconds = seconds, .volume_id = volume_id, .is_fixed = true };
}

void cli_clock_datetime(const struct cli_clock *clock, int64_t seconds, uint32_t nanoseconds,
			struct fat_datetime *at)
{
	bool is_later = clock->is_fixed && seconds >= clock->seconds;
	time_t time = (time_t)(is_later ? clock->seconds : seconds);
	struct tm tm;

	*at = (struct fat_datetime){ 1980, 1, 1, 0, 0, 0, 0 };
	if (!(clock->is_fixed ? gmtime_r(&time, &tm) : localtime_r(&time, &tm)) || tm.tm_year < 80)
		return;
	if (tm.tm_year > 207) {
		*at = (struct fat_datetime){ 2107, 12, 31, 23, 59, 59, 99 };
		return;
	}
	at->year = (uint16_t)(tm.tm_year + 1900);
	at->month = (uint8_t)(tm.tm_mon + 1);
	at->day = (uint8_t)tm.tm_mday;
	at->hour = (uint8_t)tm.tm_hour;
	at->minute = (uint8_t)tm.tm_min;
	at->second = (uint8_t)(tm.tm_sec < 60 ? tm.tm_sec : 59); /* a leap second */
	at->hundredths = (uint8_t)(is_later ? 0 : nanoseconds / 10000000);
}
