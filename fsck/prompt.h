/* SPDX-License-Identifier: MIT */
/*
 * prompt: questions at a terminal, or answers from a pipe.
 */
#ifndef FATWISE_FSCK_PROMPT_H
#define FATWISE_FSCK_PROMPT_H

#include "options.h"

struct prompt {
	const struct fsck_options *options;
	bool over; /* end of input, or q: everything else is left */
};

/* Shows a fault and asks whether to repair it. */
bool prompt_ask(struct prompt *prompt, const struct fault *fault);

/* "Write changes?" at the end. */
bool prompt_write(struct prompt *prompt);

#endif
