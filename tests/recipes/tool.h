/* SPDX-License-Identifier: MIT */
/*
 * tool: fsck.fat in process, on any device: what the recipes and the crash harness run.
 *
 * The only file here that knows fsck.
 */
#ifndef RECIPES_TOOL_H
#define RECIPES_TOOL_H

#include "recipe.h"

struct tool_result {
	int status;         /* exit status */
	struct notes codes; /* "F2103", in the order found, once for each fault */
};

/* words: options beyond the mode, as on the command line. dev stays the caller's. */
void tool_check(struct fat_dev *dev, char *const *words, size_t n_words,
		struct tool_result *result);
void tool_repair(struct fat_dev *dev, char *const *words, size_t n_words,
		 struct tool_result *result);
void tool_result_free(struct tool_result *result);

#endif
