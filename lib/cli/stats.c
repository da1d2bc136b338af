/* SPDX-License-Identifier: MIT */
/*
 * stats: what the device layer counted, for --stats.
 */
#include "cli.h"

#include <inttypes.h>
#include <sys/resource.h>

void cli_print_stats(FILE *out, struct fat_dev *dev)
{
	const struct fat_dev_stats *s = &fat_dev_base(dev)->stats;
	struct rusage usage;

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
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		fprintf(out, "memory: %ld KiB at most\ncpu: %.3f s\n", usage.ru_maxrss,
			(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}
