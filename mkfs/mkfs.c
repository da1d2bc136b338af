/* SPDX-License-Identifier: MIT */
/*
 * mkfs: from options to a volume: plan, report, apply.
 *
 * Everything that can be refused is refused before the first byte is written.
 */
#include "mkfs.h"

#include <string.h>

#define MAX_MESSAGE_BYTES 512u

/* What the volume gets besides its layout; message is where the boot message is to be kept. */
static bool find_contents(const struct mkfs_options *options, const struct fat_layout *layout,
			  uint8_t message[MAX_MESSAGE_BYTES], struct fat_format_options *format)
{
	struct mkfs_moment moment;
	size_t max_bytes;

	format->has_table = options->table == MKFS_TABLE_YES;
	if (!mkfs_moment_find(options, &moment))
		return false;
	format->volume_id = moment.volume_id;
	format->disk_id = moment.volume_id;
	format->date_dos = moment.date_dos;
	format->time_dos = moment.time_dos;
	max_bytes = fat_boot_message_max(layout->geometry.type, format->has_table);
	if (options->message_path && mkfs_message_read(options->message_path, max_bytes, message,
						       &format->message_bytes))
		format->message = message;
	return true;
}

static bool apply(const struct mkfs_options *options, struct mkfs_target *target,
		  const struct fat_layout *layout, const struct fat_format_options *format)
{
	if (fat_format(target->dev, layout, format) == FAT_OK)
		return true;
	cli_device_error(&mkfs_program, options->path, &target->dev->error);
	return false;
}

static bool work(struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_layout layout;
	struct fat_format_options format = { .has_label = false };
	uint8_t message[MAX_MESSAGE_BYTES];

	if (!mkfs_label_encode(options->label, options->codepage, format.label, &format.has_label) ||
	    !mkfs_target_open(options, target))
		return false;
	if (fat_layout_plan(&options->ask, &layout) != FAT_OK) {
		mkfs_report_problem(options, &layout);
		return false;
	}
	if (!find_contents(options, &layout, message, &format))
		return false;
	mkfs_report_warnings(options, &layout);
	if (!apply(options, target, &layout, &format))
		return false;
	mkfs_report_volume(options, &layout, &format, stdout);
	if (options->stats)
		cli_print_stats(stdout, target->dev);
	return true;
}

int mkfs_main(int argc, char **argv)
{
	struct mkfs_options options;
	struct mkfs_target target = { .dev = NULL };
	int status;
	bool done;

	if (!mkfs_options_read(argc, argv, &options, &status))
		return status;
	if (!options.quiet)
		cli_banner(&mkfs_program, stdout);
	done = work(&options, &target);
	mkfs_target_close(&options, &target, !done);
	return cli_close_stdout(&mkfs_program, done ? MKFS_DONE : MKFS_FAILED, MKFS_FAILED);
}
