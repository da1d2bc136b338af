/* SPDX-License-Identifier: MIT */
/*
 * fsck.fat: checks a FAT volume.
 *
 * Opens the device, runs the passes, tells what they found. Exit status: the mask of fsck(8).
 */
#include "cli.h"
#include "host.h"
#include "report.h"

static int refuse(const struct fsck_options *options, const char *why)
{
	cli_error(&fsck_program, "%s: %s", options->device, why);
	return EXIT_OPERATION;
}

static bool is_mounted(const struct fsck_options *options)
{
	struct host_target target;
	struct host_use use;
	char text[HOST_TEXT_BYTES];

	if (host_target_init(&target, options->device) != 0 ||
	    host_mount_find(NULL, &target, &use) != HOST_YES)
		return false;
	cli_error(&fsck_program, "%s: is %s; unmount it first", options->device,
		  host_use_text(&use, text, sizeof text));
	return true;
}

/* The device, and the window on it with --offset. Returns an exit status; 0: *dev is open. */
static int open_device(const struct fsck_options *options, struct fat_dev **dev)
{
	struct fat_dev *window;
	struct fat_error error = { .status = FAT_OK };

	if (fat_dev_file_open(options->device, 0, dev, &error) != FAT_OK) {
		cli_device_error(&fsck_program, options->device, &error);
		return EXIT_OPERATION;
	}
	if (options->offset_sec == 0)
		return EXIT_CLEAN;
	if (fat_dev_window_open(*dev, (uint64_t)options->offset_sec * 512, 0, &window) != FAT_OK) {
		fat_dev_close(*dev);
		return refuse(options, "ends before the volume begins (--offset)");
	}
	*dev = window;
	return EXIT_CLEAN;
}

static enum fat_status run_passes(struct fsck *fsck)
{
	enum fat_status status = pass_boot(fsck);

	if (status != FAT_OK || fsck->options->boot_only)
		return status;
	status = pass_fat(fsck);
	if (status == FAT_OK)
		status = pass_tree(fsck);
	if (status == FAT_OK)
		status = pass_lost(fsck);
	if (status == FAT_OK)
		status = pass_summary(fsck);
	return status;
}

static int report_faults(const struct fsck *fsck)
{
	int exit_status = EXIT_CLEAN;

	for (size_t i = 0; i < fsck->faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck->faults, i);

		report_fault(fsck->options, fault, NULL);
		exit_status |= fault_kind(fault->id)->automatic == AUTO_FIX ? EXIT_CORRECTED :
									      EXIT_LEFT;
	}
	if (exit_status & EXIT_LEFT)
		return EXIT_LEFT;
	return exit_status;
}

static int check_failed(struct fsck *fsck, enum fat_status status)
{
	const struct fsck_options *options = fsck->options;

	if (status == FAT_ERR_FORMAT)
		return refuse(options, "not a FAT volume: no boot sector that can be believed");
	if (fsck->dev->error.status != FAT_OK)
		cli_device_error(&fsck_program, options->device, &fsck->dev->error);
	else
		cli_error(&fsck_program, "%s: %s", options->device, fat_status_text(status));
	return EXIT_OPERATION;
}

static int check(const struct fsck_options *options, struct fat_dev *dev)
{
	enum fat_status status;
	struct fsck fsck;
	int exit_status;

	fsck_init(&fsck, options, dev);
	status = run_passes(&fsck);
	if (status != FAT_OK) {
		exit_status = check_failed(&fsck, status);
	} else {
		if (options->verbose)
			report_geometry(&fsck);
		exit_status = report_faults(&fsck);
		if (exit_status != EXIT_CLEAN)
			printf("\nLeaving filesystem unchanged.\n");
		if (!options->boot_only)
			report_summary(&fsck);
	}
	fsck_fini(&fsck);
	return exit_status;
}

static int run(const struct fsck_options *options)
{
	struct fat_dev *dev;
	int exit_status;

	if (options->mode != MODE_LOOK)
		return refuse(options, "repairing does not work yet; -n looks and changes nothing");
	if (is_mounted(options))
		return EXIT_OPERATION;
	exit_status = open_device(options, &dev);
	if (exit_status != EXIT_CLEAN)
		return exit_status;
	exit_status = check(options, dev);
	if (options->stats)
		cli_print_stats(stdout, dev);
	fat_dev_close(dev);
	return exit_status;
}

int main(int argc, char **argv)
{
	struct fsck_options options;
	int exit_status = options_parse(&options, argc, argv);

	if (exit_status < 0) {
		cli_banner(&fsck_program, stdout);
		cli_catch_signals();
		exit_status = run(&options);
	}
	options_fini(&options);
	return cli_close_stdout(&fsck_program, exit_status, EXIT_OPERATION);
}
