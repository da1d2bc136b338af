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
#define must(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_fail(const char *condition, const char *file, int line);

/* An input as a sequence of decisions; behind its end all are 0. */
struct fuzz_input {
	const uint8_t *data;
	size_t n_bytes;
};

static inline uint64_t fuzz_take(struct fuzz_input *input, unsigned n_bits)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n_bits; i += 8) {
		v = v << 8 | (input->n_bytes ? *input->data : 0);
		if (input->n_bytes) {
			input->data++;
			input->n_bytes--;
		}
	}
	return v;
}

/* The input as a file for functions that take a path; the path is good until the next call. */
const char *fuzz_file(const uint8_t *data, size_t n_bytes);

#endif
