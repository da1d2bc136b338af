/* SPDX-License-Identifier: MIT */
/*
 * moment: the clock's part in a new volume: the label's date and the volume id.
 *
 * The only place of this tool that asks for the time.
 */
#include "mkfs.h"

#define INVARIANT_ID   0x1234ABCDu
#define INVARIANT_TIME 1426325213 /* 2015-03-14 09:26:53 UTC */

bool mkfs_moment_find(const struct mkfs_options *options, struct mkfs_moment *moment)
{
	struct fat_datetime at;
	uint8_t fine;

	if (options->invariant)
		cli_clock_fix(&moment->clock, INVARIANT_TIME, INVARIANT_ID);
	else if (!cli_clock_read(&mkfs_program, &moment->clock))
		return false;
	cli_clock_datetime(&moment->clock, moment->clock.seconds, 0, &at);
	fat_datetime_encode(&at, &moment->date_dos, &moment->time_dos, &fine);
	moment->volume_id = options->has_volume_id ? options->volume_id : moment->clock.volume_id;
	return true;
}
