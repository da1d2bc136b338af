/* SPDX-License-Identifier: MIT */
/* tool: see tool.h. */
#include "tool.h"

#include <getopt.h>
#include <stdlib.h>

#include "fsck/engine.h"
#include "fsck/options.h"
#include "tests/crash/crash.h"

static void on_found(void *context, const struct fault *fault)
{
	struct tool_result *result = context;

	malloc_fail_suspend();
	notes_add(&result->codes, "%s", fault_kind(fault->id)->code);
	malloc_fail_resume();
}

static int run(const struct fsck_options *options, struct fat_dev *dev, struct tool_result *result)
{
	struct engine_user user = { .context = result, .found = on_found };
	uint32_t sector = dev->block_bytes > 512 ? dev->block_bytes : 512;
	struct engine engine;
	struct fat_dev *salvage, *txn;
	enum fat_status status;
	int exit_status;

	if (fat_dev_salvage_open(dev, sector, &salvage) != FAT_OK)
		return EXIT_OPERATION;
	if (fat_txn_open(salvage, sector, ENGINE_EDIT_BYTES, &txn) != FAT_OK) {
		salvage->below = NULL;
		fat_dev_close(salvage);
		return EXIT_OPERATION;
	}
	status = engine_init(&engine, options, txn, &user);
	if (status == FAT_OK)
		status = engine_run(&engine);
	if (status == FAT_OK && options->mode == MODE_AUTO && !engine.not_clean)
		status = engine_commit(&engine, NULL);
	exit_status = status == FAT_OK ? (int)engine_exit(&engine) : EXIT_OPERATION;
	engine_fini(&engine);
	salvage->below = NULL; /* dev is the caller's */
	fat_dev_close(txn);
	return exit_status;
}

/* Only what fsck itself allocates while it runs may fail. */
static void parse_and_run(struct fat_dev *dev, const char *mode, char *const *words, size_t n_words,
			  struct tool_result *result)
{
	struct fsck_options options;
	char **argv;
	int argc = 0;

	malloc_fail_suspend();
	argv = xalloc(n_words + 4, sizeof *argv);
	*result = (struct tool_result){ 0 };
	argv[argc++] = xstrdup("fsck.fat");
	argv[argc++] = xstrdup(mode);
	for (size_t i = 0; i < n_words; i++)
		argv[argc++] = xstrdup(words[i]);
	argv[argc++] = xstrdup("recipe");
	optind = 0; /* getopt starts anew */
	result->status = options_parse(&options, argc, argv);
	malloc_fail_resume();
	if (result->status < 0)
		result->status = run(&options, dev, result);
	malloc_fail_suspend();
	options_fini(&options);
	while (argc > 0)
		free(argv[--argc]);
	free(argv);
	malloc_fail_resume();
}

void tool_check(struct fat_dev *dev, char *const *words, size_t n_words, struct tool_result *result)
{
	parse_and_run(dev, "-n", words, n_words, result);
}

void tool_repair(struct fat_dev *dev, char *const *words, size_t n_words,
		 struct tool_result *result)
{
	parse_and_run(dev, "-a", words, n_words, result);
}

void tool_result_free(struct tool_result *result)
{
	notes_free(&result->codes);
}
