/* SPDX-License-Identifier: MIT */
/* fuzz: what the fuzz targets share. A target is one LLVMFuzzerTestOneInput() a file. */
#ifndef FATWISE_FUZZ_H
#define FATWISE_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* A condition that no input may break. */
static inline void must(bool condition)
{
	if (!condition)
		abort();
}

#endif
