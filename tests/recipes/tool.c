/* SPDX-License-Identifier: MIT */
/* tool: see tool.h. */
#include "tool.h"

#include <getopt.h>
#include <stdlib.h>

#include "fsck/engine.h"
#include "fsck/options.h"
#include "tests/crash/crash.h"

#define MAX_EDIT_BYTES (48u << 20)

static void on_report(void *context, const struct fault *fault, enum fault_outcome outcome)
{
	struct tool_result *result = context;

	(void)outcome;
	malloc_fail_suspend();
	notes_add(&result->codes, "%s", fault_kind(fault->id)->code);
	malloc_fail_resume();
}

/* The exit status of what the engine found, and the commit. */
static int conclude(struct engine *engine)
{
	enum fat_stage stage;

	if (engine->not_clean)
		return EXIT_LEFT;
	if (engine->options->mode == MODE_LOOK || !fat_txn_has_edits(engine->txn, FAT_N_STAGES))
		return engine->n_left > 0    ? EXIT_LEFT
		       : engine->n_fixed > 0 ? EXIT_CORRECTED
					     : EXIT_CLEAN;
	if (fat_txn_commit(engine->txn, NULL, &stage) != FAT_OK)
		return EXIT_OPERATION;
	return EXIT_CORRECTED | (engine->n_left ? EXIT_LEFT : 0);
}

static void run(struct fat_dev *dev, const struct fsck_options *options, struct tool_result *result)
{
	const struct engine_user user = { .context = result, .report = on_report };
	struct engine engine;
	struct fat_dev *txn;
	uint32_t sector = dev->block_bytes > 512 ? dev->block_bytes : 512;

	result->status = EXIT_OPERATION;
	if (fat_txn_open(dev, sector, MAX_EDIT_BYTES, &txn) != FAT_OK)
		return;
	if (engine_init(&engine, options, txn, &user) == FAT_OK && engine_run(&engine) == FAT_OK)
		result->status = conclude(&engine);
	engine_fini(&engine);
	txn->below = NULL; /* dev is the caller's */
	fat_dev_close(txn);
}

static void parse_and_run(struct fat_dev *dev, const char *mode, char *const *words, size_t n_words,
			  struct tool_result *result)
{
	struct fsck_options options;
	int argc = 0, status;
	char **argv;

	malloc_fail_suspend(); /* only what fsck allocates may fail */
	argv = xalloc(n_words + 4, sizeof *argv);
	*result = (struct tool_result){ 0 };
	argv[argc++] = xstrdup("fsck.fat");
	argv[argc++] = xstrdup(mode);
	for (size_t i = 0; i < n_words; i++)
		argv[argc++] = xstrdup(words[i]);
	argv[argc++] = xstrdup("recipe");
	optind = 0; /* getopt starts anew */
	status = options_parse(&options, argc, argv);
	malloc_fail_resume();
	if (status >= 0)
		result->status = status;
	else
		run(dev, &options, result);
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
