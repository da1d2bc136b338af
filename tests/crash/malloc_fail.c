/* SPDX-License-Identifier: MIT */
/*
 * malloc_fail: makes the nth allocation of the code under test fail.
 *
 * Works in programs linked with --wrap=malloc,calloc,realloc (tests.mk: those of tests/crash);
 * elsewhere nothing calls the wrappers.
 */
#include <errno.h>

#include "crash.h"

void *__real_malloc(size_t bytes) __attribute__((weak));
void *__real_calloc(size_t n, size_t bytes) __attribute__((weak));
void *__real_realloc(void *old, size_t bytes) __attribute__((weak));
/* Weak ones, for the fuzz targets have their own (tests/fuzz/big_blocks.c). */
void *__wrap_malloc(size_t bytes) __attribute__((weak));
void *__wrap_calloc(size_t n, size_t bytes) __attribute__((weak));
void *__wrap_realloc(void *old, size_t bytes);

static struct {
	bool armed;
	unsigned suspended;
	uint64_t count, nth;
} state;

void malloc_fail_arm(uint64_t nth)
{
	state.armed = true;
	state.suspended = 0;
	state.count = 0;
	state.nth = nth;
}

uint64_t malloc_fail_disarm(void)
{
	state.armed = false;
	return state.count;
}

void malloc_fail_suspend(void)
{
	state.suspended++;
}

void malloc_fail_resume(void)
{
	state.suspended--;
}

static bool fails_now(void)
{
	if (!state.armed || state.suspended > 0 || ++state.count != state.nth)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(old, bytes);
}
