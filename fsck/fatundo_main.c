/* SPDX-License-Identifier: MIT */
/*
 * fatundo: rolls a device back to what it was before mkfs.fat or fsck.fat ran with --undo.
 *
 * Verifies the whole undo file and matches it with the device before the first write. Knows nothing
 * of FAT: bytes come back as they were.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "host.h"

enum exit_status { EXIT_DONE = 0, EXIT_REFUSED = 1 };

enum option_code { OPT_HELP = CLI_LONG, OPT_STATS };

static const struct cli_option option_list[] = {
	{ 'n', 'n', "dry-run", NULL, "verify and say what would be done; write nothing" },
	{ 'f', 'f', "force", NULL, "roll back although the device does not match the file" },
	{ OPT_STATS, 0, "stats", NULL, "print what was read and written" },
	{ 'V', 'V', "version", NULL, "print the version" },
	{ OPT_HELP, 'h', "help", NULL, "print this help" },
};

static const struct cli_program program = {
	.name = "fatundo",
	.synopsis = "[OPTIONS] UNDO-FILE DEVICE",
	.purpose = "Rolls DEVICE back to what it was before the run that wrote UNDO-FILE.",
	.options = option_list,
	.n_options = sizeof option_list / sizeof *option_list,
};

struct request {
	const char *undo_path, *device_path;
	bool dry_run, force, stats;
};

static int refuse(const char *path, const char *why)
{
	cli_error(&program, "%s: %s", path, why);
	return EXIT_REFUSED;
}

static int device_failed(const char *path, const struct fat_error *error)
{
	cli_device_error(&program, path, error);
	return EXIT_REFUSED;
}

static const char *verdict_text(enum fat_undo_verdict verdict)
{
	switch (verdict) {
	case FAT_UNDO_SOUND:
		break;
	case FAT_UNDO_NOT_UNDO:
		return "not an undo file";
	case FAT_UNDO_VERSION:
		return "an undo file of a version that this program does not know";
	case FAT_UNDO_CORRUPT:
		return "the undo file is damaged: rolled back, the device would be neither old nor "
		       "new; nothing was written";
	case FAT_UNDO_OTHER_SIZE:
		return "has another size than the device the undo file was made for";
	case FAT_UNDO_OTHER_DATA:
		return "is not the device the undo file was made for, or has been written to "
		       "since; "
		       "--force rolls back all the same, and loses what was written";
	}
	return "sound";
}

static void describe(const struct fat_undo_info *info)
{
	char when[40] = "at an unknown time";
	char program_name[sizeof info->origin.program + 1];
	char size[32];
	time_t created = (time_t)info->origin.created_unix;
	struct tm utc;

	if (created && gmtime_r(&created, &utc))
		strftime(when, sizeof when, "on %Y-%m-%d %H:%M:%S UTC", &utc);
	snprintf(program_name, sizeof program_name, "%.16s", info->origin.program);
	printf("made by ");
	cli_put_text(stdout, program_name);
	printf(" %s; the run %s%s\n", when,
	       info->finished ? "came to its end" : "was interrupted",
	       info->rolled_back ? "; a rollback was begun before" : "");
	printf("%" PRIu64 " records restore %s\n", info->n_records,
	       cli_size_text(info->saved_bytes, size, sizeof size));
}

static bool is_mounted(const char *path)
{
	struct host_target target;
	struct host_use use;
	char text[HOST_TEXT_BYTES];

	if (host_target_init(&target, path) != 0 ||
	    host_mount_find(NULL, &target, &use) != HOST_YES)
		return false;
	cli_error(&program, "%s: is %s; unmount it first", path,
		  host_use_text(&use, text, sizeof text));
	return true;
}

/* Everything is known to be right, or the user insists. */
static int roll_back(const struct request *request, struct fat_dev *store, struct fat_dev *dev)
{
	if (fat_undo_rollback(store, dev) != FAT_OK) {
		bool store_failed = store->error.status != FAT_OK;

		device_failed(store_failed ? request->undo_path : request->device_path,
			      store_failed ? &store->error : &dev->error);
		return refuse(request->device_path,
			      "only in part rolled back; run the same command again");
	}
	cli_put_text(stdout, request->device_path);
	printf(": rolled back\n");
	return EXIT_DONE;
}

static int work(const struct request *request, struct fat_dev *store, struct fat_dev *dev)
{
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;

	if (fat_undo_verify(store, &info, &verdict) != FAT_OK)
		return device_failed(request->undo_path, &store->error);
	if (verdict != FAT_UNDO_SOUND)
		return refuse(request->undo_path, verdict_text(verdict));
	describe(&info);
	if (fat_undo_match(store, dev, &verdict) != FAT_OK)
		return device_failed(request->device_path, &dev->error);
	if (verdict != FAT_UNDO_SOUND && !(request->force && verdict == FAT_UNDO_OTHER_DATA))
		return refuse(request->device_path, verdict_text(verdict));
	if (request->dry_run) {
		cli_put_text(stdout, request->device_path);
		printf(": can be rolled back; nothing was written\n");
		return EXIT_DONE;
	}
	return roll_back(request, store, dev);
}

static int open_and_work(const struct request *request)
{
	struct fat_dev *store, *dev;
	struct fat_error error;
	unsigned flags = FAT_DEV_EXCLUSIVE | (request->dry_run ? 0 : FAT_DEV_WRITE);
	int result;

	if (is_mounted(request->device_path))
		return EXIT_REFUSED;
	if (fat_dev_file_open(request->undo_path, flags, &store, &error) != FAT_OK)
		return device_failed(request->undo_path, &error);
	if (fat_dev_file_open(request->device_path, flags, &dev, &error) != FAT_OK) {
		fat_dev_close(store);
		return device_failed(request->device_path, &error);
	}
	result = work(request, store, dev);
	if (request->stats)
		cli_print_stats(stdout, dev);
	fat_dev_close(dev);
	fat_dev_close(store);
	return result;
}

static int usage_error(const char *what)
{
	cli_error(&program, "%s; see fatundo --help", what);
	return EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	struct cli_args args = { .argc = argc, .argv = argv };
	struct request request = { 0 };
	int code;

	while ((code = cli_next(&program, &args)) != -1) {
		switch (code) {
		case 'n':
			request.dry_run = true;
			break;
		case 'f':
			request.force = true;
			break;
		case OPT_STATS:
			request.stats = true;
			break;
		case 'V':
			cli_banner(&program, stdout);
			return cli_close_stdout(&program, EXIT_DONE, EXIT_REFUSED);
		case OPT_HELP:
			cli_usage(&program, stdout);
			return cli_close_stdout(&program, EXIT_DONE, EXIT_REFUSED);
		default:
			return EXIT_REFUSED;
		}
	}
	if (argc - args.first_operand != 2)
		return usage_error("needs an undo file and a device");
	request.undo_path = argv[args.first_operand];
	request.device_path = argv[args.first_operand + 1];
	if (strcmp(request.undo_path, request.device_path) == 0)
		return usage_error("the undo file and the device are the same");
	return cli_close_stdout(&program, open_and_work(&request), EXIT_REFUSED);
}
