/* SPDX-License-Identifier: MIT */
/*
 * tsc: prints the rate of the processor's time stamp counter in kHz. Under emulation the guest sees
 * the host's counter, and measuring its rate against an emulated timer goes wrong at times: so the
 * guest's kernel is told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
	uint64_t start_ns = now_ns(), start = __rdtsc(), ns;

	do
		ns = now_ns() - start_ns;
	while (ns < 200000000);
	printf("%" PRIu64 "\n", (uint64_t)((double)(__rdtsc() - start) * 1e6 / (double)ns));
	return 0;
}
