/* SPDX-License-Identifier: MIT */
/*
 * pattern: a device whose content follows from the place, so that it needs no memory, and that
 * notices every write of anything else.
 */
#ifndef FATWISE_TESTS_PATTERN_H
#define FATWISE_TESTS_PATTERN_H

#include "lib/libfat.h"

/* NULL without memory. */
struct fat_dev *pattern_open(uint64_t size_bytes);

/* So many writes had other bytes than belong there, or reads were not of whole blocks. */
uint64_t pattern_differences(const struct fat_dev *dev);

#endif
