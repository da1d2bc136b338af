/* SPDX-License-Identifier: MIT */
/*
 * fsck.fat: checks a FAT volume.
 *
 * Opens the device, lets the engine look and repair in an overlay, tells what it found, and
 * commits. Exit status: the mask of fsck(8).
 */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "host.h"
#include "progress.h"
#include "prompt.h"
#include "report.h"
#include "report_json.h"

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

static uint32_t unit_bytes(const struct fat_dev *dev)
{
	return dev->block_bytes > FAT_BOOT_BYTES ? dev->block_bytes : FAT_BOOT_BYTES;
}

/* The device, and the window on it with --offset. Returns an exit status; 0: *dev is open. */
static int open_device(const struct fsck_options *options, struct fat_dev **dev)
{
	unsigned flags = options->mode == MODE_LOOK ? 0 : FAT_DEV_WRITE | FAT_DEV_EXCLUSIVE;
	struct fat_error error = { .status = FAT_OK };
	struct fat_dev *window;

	if (fat_dev_file_open(options->device, flags, dev, &error) != FAT_OK) {
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

/* What cannot be read is left out from here on, and told. Takes over *dev. */
static int open_salvage(const struct fsck_options *options, struct fat_dev **dev)
{
	struct fat_dev *salvage;

	if (fat_dev_salvage_open(*dev, unit_bytes(*dev), &salvage) != FAT_OK) {
		fat_dev_close(*dev);
		return refuse(options, "out of memory");
	}
	*dev = salvage;
	return EXIT_CLEAN;
}

/* ---- what the engine tells and asks ---- */

struct user {
	const struct fsck_options *options;
	struct fat_dev *undo; /* NULL: none */
	struct prompt prompt;
	struct progress progress;
};

static void on_found(void *context, const struct fault *fault)
{
	struct user *user = context;

	progress_hide(&user->progress);
	if (user->options->mode == MODE_LOOK)
		report_fault(user->options, fault, REPORT_FOUND, NULL);
}

static void on_done(void *context, const struct fault *fault, const char *done)
{
	struct user *user = context;

	progress_hide(&user->progress);
	if (user->options->mode == MODE_AUTO)
		report_fault(user->options, fault, done ? REPORT_REPAIRED : REPORT_LEFT, done);
}

static bool on_ask(void *context, const struct fault *fault)
{
	struct user *user = context;

	progress_hide(&user->progress);
	return prompt_ask(&user->prompt, fault);
}

static bool on_tick(void *context, enum fsck_tick tick, uint64_t done, uint64_t max)
{
	progress_tick(&((struct user *)context)->progress, tick, done, max);
	return cli_signal() == 0;
}

static void on_entry(void *context, const char *path, const char *alias)
{
	report_entry(((struct user *)context)->options, path, alias);
}

/* ---- the check ---- */

static int check_failed(const struct engine *engine, enum fat_status status)
{
	const struct fsck_options *options = engine->options;

	if (status == FAT_ERR_CANCELLED) {
		refuse(options, "stopped by a signal; nothing was written");
		return EXIT_CANCELLED;
	}
	if (status == FAT_ERR_FORMAT && fat_dev_unreadable(engine->txn, 0, FAT_BOOT_BYTES))
		return refuse(options,
			      "the boot sector cannot be read: Input/output error, and there is "
			      "no backup of it; copy the device with ddrescue(1) first");
	if (status == FAT_ERR_FORMAT)
		return refuse(options, "not a FAT volume: no boot sector that can be believed");
	if (status == FAT_ERR_ARGUMENT && options->fat_number)
		return refuse(options, "has no such FAT (-F)");
	if (engine->txn->error.status != FAT_OK)
		cli_device_error(&fsck_program, options->device, &engine->txn->error);
	else
		cli_error(&fsck_program, "%s: %s", options->device, fat_status_text(status));
	return EXIT_OPERATION;
}

/* Sends the repairs down. Returns an exit status. */
static int commit(struct engine *engine, struct user *user)
{
	const struct fsck_options *options = engine->options;

	if (engine->not_clean)
		cli_error(&fsck_program,
			  "%s: the repaired volume would not be clean; nothing was written",
			  options->device);
	if (engine->not_clean || (options->mode == MODE_ASK && !prompt_write(&user->prompt))) {
		report_unchanged(options);
		return EXIT_LEFT;
	}
	if (engine_commit(engine, user->undo) != FAT_OK ||
	    (user->undo && fat_undo_finish(user->undo) != FAT_OK)) {
		cli_device_error(&fsck_program, options->device, &engine->txn->error);
		cli_error(&fsck_program, "%s: only in part repaired; run it again",
			  options->device);
		return EXIT_OPERATION;
	}
	if (fat_dev_unhealed_units(engine->txn))
		cli_error(&fsck_program,
			  "%s: %" PRIu64 " sectors that cannot be read cannot be written either",
			  options->device, fat_dev_unhealed_units(engine->txn));
	return (int)engine_exit(engine);
}

static int conclude(struct engine *engine, struct user *user)
{
	int exit_status = (int)engine_exit(engine);

	if (engine->options->mode != MODE_LOOK && engine_has_work(engine))
		exit_status = commit(engine, user);
	else if (exit_status != EXIT_CLEAN)
		report_unchanged(engine->options);
	if (!engine->options->boot_only)
		report_summary(&engine->fsck);
	return cli_signal() ? exit_status | EXIT_CANCELLED : exit_status;
}

static int check(const struct fsck_options *options, struct fat_dev *txn, struct fat_dev *undo)
{
	struct user user = { .options = options, .undo = undo, .prompt = { .options = options } };
	const struct engine_user calls = { &user, on_found, on_done, on_ask, on_tick, on_entry };
	enum fat_status status;
	struct engine engine;
	int exit_status;

	progress_init(&user.progress, options);
	engine_init(&engine, options, txn, &calls);
	status = engine_run(&engine);
	progress_hide(&user.progress);
	if (status != FAT_OK) {
		exit_status = check_failed(&engine, status);
	} else {
		report_geometry(&engine.fsck);
		exit_status = conclude(&engine, &user);
		progress_end(&user.progress);
	}
	if (options->stats)
		report_stats(options, txn);
	report_end(options, &engine, exit_status);
	engine_fini(&engine);
	return exit_status;
}

/* The layer that saves what is overwritten. It takes over *dev, and becomes it. */
static int open_undo(const struct fsck_options *options, struct fat_dev **dev,
		     struct fat_dev **undo)
{
	struct fat_undo_origin origin = { .program = "fsck.fat",
					  .created_unix = (uint64_t)time(NULL) };
	struct fat_dev *store;

	*undo = NULL;
	if (!options->undo_path || options->mode == MODE_LOOK)
		return EXIT_CLEAN;
	if (!cli_create_undo_store(&fsck_program, options->undo_path, options->device, &store))
		return EXIT_OPERATION;
	if (fat_undo_create(*dev, store, &origin, undo) != FAT_OK) {
		fat_dev_close(store);
		unlink(options->undo_path);
		return refuse(options, "the undo file cannot be written");
	}
	*dev = *undo;
	return EXIT_CLEAN;
}

/* Whether anything may have been written, by the exit status. */
static bool may_have_written(int exit_status)
{
	return exit_status & (EXIT_CORRECTED | EXIT_OPERATION);
}

/* The layers between the check and the medium. Returns an exit status; 0: *txn is the top. */
static int open_stack(const struct fsck_options *options, struct fat_dev **txn,
		      struct fat_dev **undo)
{
	struct fat_dev *dev;
	int exit_status = open_device(options, &dev);

	if (exit_status == EXIT_CLEAN)
		exit_status = open_salvage(options, &dev);
	if (exit_status != EXIT_CLEAN)
		return exit_status;
	exit_status = open_undo(options, &dev, undo);
	if (exit_status == EXIT_CLEAN &&
	    fat_txn_open(dev, unit_bytes(dev), ENGINE_EDIT_BYTES, txn) != FAT_OK)
		exit_status = refuse(options, "out of memory");
	if (exit_status != EXIT_CLEAN)
		fat_dev_close(dev);
	return exit_status;
}

static int run(const struct fsck_options *options)
{
	struct fat_dev *txn, *undo;
	int exit_status = is_mounted(options) ? EXIT_OPERATION : open_stack(options, &txn, &undo);

	if (exit_status != EXIT_CLEAN) {
		report_end(options, NULL, exit_status);
		return exit_status;
	}
	exit_status = check(options, txn, undo);
	fat_dev_close(txn);
	if (undo && !may_have_written(exit_status))
		unlink(options->undo_path); /* there is nothing to undo */
	return exit_status;
}

int main(int argc, char **argv)
{
	struct fsck_options options;
	int exit_status = options_parse(&options, argc, argv);

	if (exit_status < 0) {
		if (!options.json)
			cli_banner(&fsck_program, stdout);
		cli_catch_signals();
		exit_status = run(&options);
	}
	options_fini(&options);
	return cli_close_stdout(&fsck_program, exit_status, EXIT_OPERATION);
}
