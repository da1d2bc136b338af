/* SPDX-License-Identifier: MIT */
/*
 * big_blocks: what the code under test frees of BIG_BYTES and more is kept for the next of its
 * size.
 *
 * ASan maps such blocks and gives them back one by one, which was half of a run's time. Only blocks
 * of the same size take a block's place, so that its red zones stay where they belong; a kept one
 * is poisoned, and filled with junk before it is used again. The linker puts these in front of
 * malloc, calloc and free (--wrap); realloc moves big blocks as it always did.
 */
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>
#include <string.h>

#include "fuzz.h"

#define BIG_BYTES (64u << 10)
#define N_KEPT    32u
#define JUNK      0xBE

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void __wrap_free(void *block);

static struct {
	void *block;
	size_t n_bytes;
} kept[N_KEPT];

/* NULL: none of that size. */
static void *take_kept(size_t n_bytes)
{
	for (size_t i = 0; i < N_KEPT; i++)
		if (kept[i].block && kept[i].n_bytes == n_bytes) {
			void *block = kept[i].block;

			kept[i].block = NULL;
			__asan_unpoison_memory_region(block, n_bytes);
			return block;
		}
	return NULL;
}

void *__wrap_malloc(size_t n_bytes)
{
	void *block = n_bytes >= BIG_BYTES ? take_kept(n_bytes) : NULL;

	if (!block)
		return __real_malloc(n_bytes);
	return memset(block, JUNK, n_bytes);
}

void *__wrap_calloc(size_t n, size_t n_bytes)
{
	size_t all_bytes;
	void *block = NULL;

	if (!__builtin_mul_overflow(n, n_bytes, &all_bytes) && all_bytes >= BIG_BYTES)
		block = take_kept(all_bytes);
	return block ? memset(block, 0, all_bytes) : __real_calloc(n, n_bytes);
}

void __wrap_free(void *block)
{
	size_t n_bytes =
		__sanitizer_get_ownership(block) ? __sanitizer_get_allocated_size(block) : 0;
	size_t room = N_KEPT;

	if (n_bytes < BIG_BYTES) {
		__real_free(block);
		return;
	}
	for (size_t i = 0; i < N_KEPT; i++) {
		must(kept[i].block != block); /* freed twice */
		if (!kept[i].block)
			room = i;
	}
	if (room == N_KEPT) {
		__real_free(kept[0].block);
		room = 0;
	}
	kept[room].block = block;
	kept[room].n_bytes = n_bytes;
	__asan_poison_memory_region(block, n_bytes);
}
