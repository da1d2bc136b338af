/* SPDX-License-Identifier: MIT */
/*
 * stats: what the device layer counted, for --stats.
 */
#include "cli.h"

#include <inttypes.h>
#include <sys/resource.h>

void cli_resources(uint64_t *memory_kib, uint64_t *cpu_us)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	*memory_kib = (uint64_t)usage.ru_maxrss;
	*cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void cli_print_stats(FILE *out, struct fat_dev *dev)
{
	const struct fat_dev_stats *s = &fat_dev_base(dev)->stats;
	uint64_t memory_kib, cpu_us;

	fprintf(out, "reads: %" PRIu64 " requests, %" PRIu64 " bytes\n", s->n_reads, s->read_bytes);
	fprintf(out, "read-ahead: %" PRIu64 " requests, %" PRIu64 " bytes\n", s->n_readaheads,
		s->readahead_bytes);
	fprintf(out, "writes: %" PRIu64 " requests, %" PRIu64 " bytes\n", s->n_writes,
		s->write_bytes);
	fprintf(out, "zeroed: %" PRIu64 " requests, %" PRIu64 " bytes\n", s->n_zeroes,
		s->zero_bytes);
	fprintf(out, "discarded: %" PRIu64 " requests, %" PRIu64 " bytes\n", s->n_discards,
		s->discard_bytes);
	fprintf(out, "flushes: %" PRIu64 "\nerrors: %" PRIu64 "\n", s->n_flushes, s->n_errors);
	cli_resources(&memory_kib, &cpu_us);
	fprintf(out, "memory: %" PRIu64 " KiB at most\ncpu: %.3f s\n", memory_kib,
		(double)cpu_us / 1e6);
}
