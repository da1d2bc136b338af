/* SPDX-License-Identifier: MIT */
/*
 * The write patterns, against counts from a traced Linux 6.1 kernel (a FAT32 volume).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "advisor/play.h"

#define MIB (1ull << 20)

struct count {
	unsigned n_reads, n_writes, n_flushes;
	uint64_t written_bytes, shortest_data_bytes, data_off;
};

static void count_request(void *ctx, enum sim_op op, uint64_t off, uint64_t len_bytes)
{
	struct count *count = ctx;

	count->n_reads += op == SIM_READ;
	count->n_writes += op == SIM_WRITE;
	count->n_flushes += op == SIM_FLUSH;
	if (op != SIM_WRITE)
		return;
	count->written_bytes += len_bytes;
	if (off > count->data_off &&
	    (!count->shortest_data_bytes || len_bytes < count->shortest_data_bytes))
		count->shortest_data_bytes = len_bytes;
}

static struct count play_on(uint32_t cluster_bytes, enum advise_writer writer,
			    enum advise_workload workload, uint64_t bytes)
{
	const struct advise_facts facts = { .size_bytes = 8192 * MIB };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct count count = { 0 };
	const struct play_sink sink = { count_request, &count };
	size_t i = 0;

	advise_layouts(&facts, 512, layouts);
	while (layouts[i].cluster_bytes != cluster_bytes)
		i++;
	count.data_off = layouts[i].data_off;
	play_workload(&layouts[i], writer, workload, 1000, bytes, &sink);
	return count;
}

/* -o sync: writes for 8 MiB. */
static void sync_writes_as_traced(void **state)
{
	static const struct {
		uint32_t cluster_bytes;
		unsigned traced;
	} cases[] = { { 512, 65669 }, { 4096, 8332 }, { 65536, 772 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct count count =
			play_on(cases[i].cluster_bytes, ADVISE_SYNC, ADVISE_LARGE, 8 * MIB);

		assert_in_range(count.n_writes, cases[i].traced * 8 / 10,
				cases[i].traced * 11 / 10);
		assert_int_equal(count.n_flushes, 64);
	}
}

/* Through the page cache: FAT sectors read while 64 MiB are written. */
static void fat_reads_as_traced(void **state)
{
	static const struct {
		uint32_t cluster_bytes;
		unsigned traced;
	} cases[] = { { 4096, 128 }, { 16384, 32 }, { 32768, 16 }, { 65536, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct count count =
			play_on(cases[i].cluster_bytes, ADVISE_CACHED, ADVISE_LARGE, 64 * MIB);

		assert_in_range(count.n_reads, cases[i].traced, cases[i].traced + 1);
		assert_in_range(count.n_writes, 5, 6);
	}
}

/* Free space in pieces: no request is longer than a cluster, and none is shorter. */
static void aged_requests_are_clusters(void **state)
{
	struct count count = play_on(16384, ADVISE_AGED, ADVISE_LARGE, 4 * MIB);

	(void)state;
	assert_int_equal(count.shortest_data_bytes, 16384);
	assert_in_range(count.n_writes, 256, 262);
}

/* Small files: a request a file, cut off at the sector its end is in. */
static void small_files_leave_the_slack(void **state)
{
	struct count count = play_on(32768, ADVISE_CACHED, ADVISE_SMALL, 0);

	(void)state;
	assert_in_range(count.n_writes, 400 + 20 + 20, 400 + 20 + 20 + 6);
	assert_in_range(count.written_bytes, 400 * 6144 + 20 * 32768,
			400 * 6144 + 20 * 32768 + 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_writes_as_traced),
		cmocka_unit_test(fat_reads_as_traced),
		cmocka_unit_test(aged_requests_are_clusters),
		cmocka_unit_test(small_files_leave_the_slack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
