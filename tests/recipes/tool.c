/* SPDX-License-Identifier: MIT */
/* tool: see tool.h. */
#include "tool.h"

#include <string.h>

#include "fsck/options.h"

static enum fat_status run_passes(struct fsck *fsck)
{
	enum fat_status status = pass_boot(fsck);

	if (status == FAT_OK)
		status = pass_fat(fsck);
	if (status == FAT_OK)
		status = pass_tree(fsck);
	if (status == FAT_OK)
		status = pass_lost(fsck);
	if (status == FAT_OK)
		status = pass_summary(fsck);
	return status;
}

void tool_check(struct fat_dev *dev, char *const *words, size_t n_words, struct tool_result *result)
{
	struct fsck_options options = { .device = "recipe", .mode = MODE_LOOK, .progress_fd = -1 };
	struct fsck fsck;

	(void)words;
	(void)n_words;
	*result = (struct tool_result){ 0 };
	fsck_init(&fsck, &options, dev);
	if (run_passes(&fsck) != FAT_OK)
		result->status = EXIT_OPERATION;
	for (size_t i = 0; i < fsck.faults.n; i++) {
		const struct fault *fault = fat_vec_at(&fsck.faults, i);

		notes_add(&result->codes, "%s", fault_kind(fault->id)->code);
		result->status |=
			fault_kind(fault->id)->automatic == AUTO_FIX ? EXIT_CORRECTED : EXIT_LEFT;
	}
	fsck_fini(&fsck);
}

void tool_repair(struct fat_dev *dev, char *const *words, size_t n_words,
		 struct tool_result *result)
{
	tool_check(dev, words, n_words, result);
}

void tool_result_free(struct tool_result *result)
{
	notes_free(&result->codes);
}
