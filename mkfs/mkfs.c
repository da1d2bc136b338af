/* SPDX-License-Identifier: MIT */
/*
 * mkfs: from options to a volume: plan, report, apply.
 *
 * Everything that can be refused is refused before the first byte is written.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "badblocks.h"
#include "mkfs.h"
#include "preflight.h"
#include "profile.h"
#include "tree.h"

#define MAX_MESSAGE_BYTES 512u

/* What a run works on. */
struct job {
	struct mkfs_options options;
	struct mkfs_moment moment;
	struct mkfs_tree *tree; /* -d; NULL: none */
	struct mkfs_target target;
	struct mkfs_preflight preflight;
	struct fat_layout layout;
	struct fat_format_options format;
	struct mkfs_bad bad;
	struct fat_run *runs;
	uint8_t message[MAX_MESSAGE_BYTES];
};

/* With a tree, a volume has to hold it. */
static enum fat_status plan_contents(void *ctx, const struct fat_layout_request *ask,
				     struct fat_layout *layout)
{
	const struct job *job = ctx;

	if (job->tree)
		return fat_populate_plan(job->tree->populate, ask, layout);
	return fat_layout_plan(ask, layout);
}

/* A volume of ask's size in a new file, by the profile if there is one: for fat_populate_fit(). */
static enum fat_status plan_new_file(void *ctx, const struct fat_layout_request *ask,
				     struct fat_layout *layout)
{
	const struct job *job = ctx;
	struct mkfs_profile_refusal refusal;
	struct fat_layout_request full;

	mkfs_target_imagine(&job->options, ask->size_bytes, &full);
	if (!job->options.profile)
		return plan_contents(ctx, &full, layout);
	return mkfs_profile_plan(&job->options, &full, plan_contents, ctx, layout, &refusal);
}

/* -C without BLOCKS makes the smallest volume that holds the tree. */
static bool choose_size(struct job *job)
{
	struct mkfs_options *options = &job->options;
	uint64_t size_bytes;

	if (!options->size_for && (!options->create || options->has_blocks))
		return true;
	if (!mkfs_tree_fit(job->tree, &options->ask, plan_new_file, job, &size_bytes))
		return false;
	options->has_blocks = true;
	options->n_blocks = size_bytes / 1024;
	return true;
}

static bool read_tree(struct job *job)
{
	if (!job->options.tree_path)
		return true;
	cli_catch_signals(); /* long work: what was created is to be removed */
	job->tree = mkfs_tree_open(&job->options, &job->moment);
	if (!job->tree)
		return false;
	mkfs_tree_set_label(job->tree, &job->format, &job->moment);
	return choose_size(job);
}

/* All that needs no look at the target. */
static bool prepare(struct job *job)
{
	const struct mkfs_options *options = &job->options;

	return mkfs_label_encode(options->label, options->codepage, job->format.label,
				 &job->format.has_label) &&
	       mkfs_moment_find(options, &job->moment) && read_tree(job);
}

/* What the volume gets besides its layout. */
static void find_contents(struct job *job)
{
	const struct mkfs_options *options = &job->options;
	struct fat_format_options *format = &job->format;
	size_t max_bytes;

	format->has_table = options->table == MKFS_TABLE_YES;
	format->volume_id = job->moment.volume_id;
	format->disk_id = job->moment.volume_id;
	format->date_dos = job->moment.date_dos;
	format->time_dos = job->moment.time_dos;
	max_bytes = fat_boot_message_max(job->layout.geometry.type, format->has_table);
	if (options->message_path && mkfs_message_read(options->message_path, max_bytes,
						       job->message, &format->message_bytes))
		format->message = job->message;
}

static bool plan_layout(struct job *job)
{
	const struct mkfs_options *options = &job->options;
	struct mkfs_profile_refusal refusal;

	if (options->profile) {
		if (mkfs_profile_plan(options, &options->ask, plan_contents, job, &job->layout,
				      &refusal) == FAT_OK)
			return true;
		mkfs_profile_tell(options, &refusal);
		return false;
	}
	if (plan_contents(job, &options->ask, &job->layout) == FAT_OK)
		return true;
	mkfs_report_problem(options, &job->layout);
	return false;
}

/*
 * What goes where: bad clusters become runs, FAT32's root directory keeps off them, and so does
 * what is in the tree. Done again after a scan has found more of them.
 */
static bool place(struct job *job)
{
	struct fat_geometry *geometry = &job->layout.geometry;
	uint32_t first_good = mkfs_bad_first_good(&job->bad, geometry);

	free(job->runs);
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
	return !job->tree ||
	       mkfs_tree_place(job->tree, geometry, job->bad.clus, job->bad.n, &job->format);
}

static bool plan(struct job *job)
{
	struct mkfs_options *options = &job->options;

	if (!mkfs_target_look(options, &job->target, &job->preflight) || !plan_layout(job))
		return false;
	find_contents(job);
	if (options->bad_path &&
	    !mkfs_bad_read_list(options->bad_path, &job->layout.geometry, &job->bad))
		return false;
	mkfs_report_warnings(options, &job->layout);
	return place(job);
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

static bool device_failed(const struct job *job)
{
	const struct mkfs_target *target = &job->target;

	cli_device_error(&mkfs_program, job->options.path,
			 target->dev->error.status != FAT_OK || !target->undo ?
				 &target->dev->error :
				 &target->undo->error);
	return false;
}

static bool write_volume(struct job *job)
{
	struct mkfs_target *target = &job->target;

	if (fat_format_begin(target->dev, &job->layout, &job->format) != FAT_OK)
		return device_failed(job);
	if (job->tree && !mkfs_tree_write(job->tree, job->options.path, target->dev))
		return false;
	if (fat_format_finish(target->dev, &job->layout, &job->format) != FAT_OK ||
	    (target->undo && fat_undo_finish(target->undo) != FAT_OK))
		return device_failed(job);
	return mkfs_target_verify(&job->options, target);
}

/* By default block devices that can; what --undo is to bring back must not be discarded. */
static bool should_discard(const struct job *job)
{
	return job->options.discard == MKFS_DISCARD_YES ||
	       (job->options.discard == MKFS_DISCARD_AUTO && job->target.can_discard);
}

static bool apply(struct job *job)
{
	if (!mkfs_target_open(&job->options, &job->target))
		return false;
	if (job->options.scan &&
	    (!mkfs_bad_scan(job->options.path, job->target.dev, &job->layout.geometry, &job->bad) ||
	     !place(job)))
		return false;
	job->format.discard = should_discard(job) && !job->target.undo;
	return write_volume(job);
}

static bool work(struct job *job)
{
	if (!prepare(job))
		return false;
	if (job->options.size_for) {
		printf("%" PRIu64 "\n", job->options.n_blocks);
		return true;
	}
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
	if (!job.options.quiet && !job.options.json && !job.options.size_for)
		cli_banner(&mkfs_program, stdout);
	done = work(&job);
	mkfs_target_close(&job.options, &job.target, !done);
	mkfs_tree_close(job.tree);
	mkfs_bad_free(&job.bad);
	free(job.runs);
	return cli_close_stdout(&mkfs_program, done ? MKFS_DONE : MKFS_FAILED, MKFS_FAILED);
}
