/* SPDX-License-Identifier: MIT */
/*
 * mkfs: from options to a volume: plan, report, apply.
 *
 * Everything that can be refused is refused before the first byte is written.
 */
#include <stdlib.h>

#include "badblocks.h"
#include "mkfs.h"
#include "preflight.h"

#define MAX_MESSAGE_BYTES 512u

/* What a run works on. */
struct job {
	struct mkfs_options options;
	struct mkfs_target target;
	struct mkfs_preflight preflight;
	struct fat_layout layout;
	struct fat_format_options format;
	struct mkfs_bad bad;
	struct fat_run *runs;
	uint8_t message[MAX_MESSAGE_BYTES];
};

/* What the volume gets besides its layout. */
static bool find_contents(struct job *job)
{
	const struct mkfs_options *options = &job->options;
	struct fat_format_options *format = &job->format;
	struct mkfs_moment moment;
	size_t max_bytes;

	format->has_table = options->table == MKFS_TABLE_YES;
	if (!mkfs_moment_find(options, &moment))
		return false;
	format->volume_id = moment.volume_id;
	format->disk_id = moment.volume_id;
	format->date_dos = moment.date_dos;
	format->time_dos = moment.time_dos;
	max_bytes = fat_boot_message_max(job->layout.geometry.type, format->has_table);
	if (options->message_path && mkfs_message_read(options->message_path, max_bytes,
						       job->message, &format->message_bytes))
		format->message = job->message;
	return true;
}

static bool plan(struct job *job)
{
	struct mkfs_options *options = &job->options;

	if (!mkfs_label_encode(options->label, options->codepage, job->format.label,
			       &job->format.has_label) ||
	    !mkfs_target_look(options, &job->target, &job->preflight))
		return false;
	if (fat_layout_plan(&options->ask, &job->layout) != FAT_OK) {
		mkfs_report_problem(options, &job->layout);
		return false;
	}
	if (!find_contents(job) ||
	    (options->bad_path &&
	     !mkfs_bad_read_list(options->bad_path, &job->layout.geometry, &job->bad)))
		return false;
	mkfs_report_warnings(options, &job->layout);
	return true;
}

static void report(const struct job *job)
{
	const struct mkfs_options *options = &job->options;

	if (options->json)
		mkfs_report_json(options, &job->layout, &job->format, stdout);
	else
		mkfs_report_volume(options, &job->layout, &job->format, stdout);
	if (options->stats && job->target.dev)
		cli_print_stats(stdout, job->target.dev);
}

/* Bad clusters become runs, and FAT32's root directory keeps off them. */
static bool place_bad(struct job *job)
{
	struct fat_geometry *geometry = &job->layout.geometry;
	uint32_t first_good = mkfs_bad_first_good(&job->bad, geometry);

	job->runs = mkfs_bad_runs(&job->bad, &job->format.n_runs);
	job->format.runs = job->runs;
	if (!job->runs || first_good == 0) {
		cli_error(&mkfs_program, "%s: %s", job->options.path,
			  job->runs ? "every cluster is bad; take another device" :
				      "out of memory; free some");
		return false;
	}
	if (geometry->type == FAT_TYPE_32)
		geometry->root_clus = first_good;
	return true;
}

static bool apply(struct job *job)
{
	struct mkfs_target *target = &job->target;

	if (!mkfs_target_open(&job->options, target))
		return false;
	if (job->options.scan && !mkfs_bad_scan(job->options.path, target->dev,
						&job->layout.geometry, &job->bad))
		return false;
	if (!place_bad(job))
		return false;
	if (fat_format(target->dev, &job->layout, &job->format) == FAT_OK &&
	    (!target->undo || fat_undo_finish(target->undo) == FAT_OK))
		return true;
	cli_device_error(&mkfs_program, job->options.path,
			 target->dev->error.status != FAT_OK ? &target->dev->error :
							       &target->undo->error);
	return false;
}

static bool work(struct job *job)
{
	if (!plan(job))
		return false;
	if (job->options.dry_run)
		report(job);
	if (!mkfs_preflight_pass(&job->options, &job->preflight))
		return false;
	if (job->options.dry_run)
		return true;
	if (!apply(job))
		return false;
	report(job);
	return true;
}

int mkfs_main(int argc, char **argv)
{
	struct job job = { .target = { .dev = NULL } };
	int status;
	bool done;

	if (!mkfs_options_read(argc, argv, &job.options, &status))
		return status;
	if (!job.options.quiet && !job.options.json)
		cli_banner(&mkfs_program, stdout);
	done = work(&job);
	mkfs_target_close(&job.options, &job.target, !done);
	mkfs_bad_free(&job.bad);
	free(job.runs);
	return cli_close_stdout(&mkfs_program, done ? MKFS_DONE : MKFS_FAILED, MKFS_FAILED);
}
