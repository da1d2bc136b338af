/* SPDX-License-Identifier: MIT */
/* advice: options from what fatadvise --json has measured. */
#ifndef FATWISE_MKFS_ADVICE_H
#define FATWISE_MKFS_ADVICE_H

#include "mkfs.h"

/* Takes an option by its name ("-F") and value, as the command line would. false: told why. */
typedef bool (*mkfs_take)(struct mkfs_options *options, const char *name, const char *value);

/* Takes the options that a file recommends. false: told why. */
bool mkfs_advice_read(const char *path, struct mkfs_options *options, mkfs_take take);

#endif
