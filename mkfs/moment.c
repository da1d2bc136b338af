/* SPDX-License-Identifier: MIT */
/*
 * moment: the clock's part in a new volume: the label's date and the volume id.
 *
 * The only place of this tool that asks for the time or the environment.
 */
#include <stdlib.h>
#include <sys/time.h>

#include "mkfs.h"

#define INVARIANT_ID   0x1234ABCDu
#define INVARIANT_TIME 1426325213 /* 2015-03-14 09:26:53 UTC */

static bool read_epoch(const char *text, time_t *at)
{
	uint64_t seconds;

	if (!cli_parse_u64(text, 10, 0, INT64_MAX, &seconds)) {
		cli_error(&mkfs_program, "SOURCE_DATE_EPOCH is no number: %s; "
					 "set it to seconds since 1970, or unset it", text);
		return false;
	}
	*at = (time_t)seconds;
	return true;
}

/* What FAT can tell ends at both sides; the nearest time that it can stands for the rest. */
static void put_dos_time(const struct tm *tm, struct mkfs_moment *moment)
{
	struct fat_datetime at = { .year = 1980, .month = 1, .day = 1 };
	uint8_t fine;

	if (tm->tm_year >= 80 && tm->tm_year <= 207)
		at = (struct fat_datetime){
			.year = (uint16_t)(tm->tm_year + 1900),
			.month = (uint8_t)(tm->tm_mon + 1),
			.day = (uint8_t)tm->tm_mday,
			.hour = (uint8_t)tm->tm_hour,
			.minute = (uint8_t)tm->tm_min,
			.second = (uint8_t)(tm->tm_sec < 60 ? tm->tm_sec : 59),
		};
	else if (tm->tm_year > 207)
		at = (struct fat_datetime){ 2107, 12, 31, 23, 59, 58, 0 };
	fat_datetime_encode(&at, &moment->date_dos, &moment->time_dos, &fine);
}

bool mkfs_moment_find(const struct mkfs_options *options, struct mkfs_moment *moment)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	struct timeval now;
	struct tm tm;
	bool is_fixed = options->invariant || epoch;

	gettimeofday(&now, NULL);
	moment->volume_id = (uint32_t)now.tv_sec << 20 | (uint32_t)now.tv_usec;
	if (options->invariant) {
		now.tv_sec = INVARIANT_TIME;
		moment->volume_id = INVARIANT_ID;
	} else if (epoch) {
		if (!read_epoch(epoch, &now.tv_sec))
			return false;
		moment->volume_id = (uint32_t)now.tv_sec;
	}
	if (!(is_fixed ? gmtime_r(&now.tv_sec, &tm) : localtime_r(&now.tv_sec, &tm))) {
		cli_error(&mkfs_program, "the time cannot be told; set SOURCE_DATE_EPOCH");
		return false;
	}
	put_dos_time(&tm, moment);
	if (options->has_volume_id)
		moment->volume_id = options->volume_id;
	return true;
}
