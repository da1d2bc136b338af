/* SPDX-License-Identifier: MIT */
/*
 * badblocks: clusters that are to be marked bad: from a list (-l) or found by reading (-c).
 *
 * Blocks are of 1 KiB and count from the start of the volume, as badblocks(8) prints them. A bad
 * block in front of the data area leaves no volume to be made.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "badblocks.h"
#include "bytes.h"

#define BLOCK_BYTES 1024u
#define LARGE_BYTES (1u << 20)
#define SMALL_BYTES 16384u /* read again in these where a large read fails, then block by block */

static bool add_clus(struct mkfs_bad *bad, uint32_t clus)
{
	uint32_t *grown;
	size_t cap;

	if (bad->n > 0 && bad->clus[bad->n - 1] == clus)
		return true;
	if (bad->n == bad->cap) {
		cap = bad->cap ? 2 * bad->cap : 256;
		grown = realloc(bad->clus, cap * sizeof *grown);
		if (!grown)
			return false;
		bad->clus = grown;
		bad->cap = cap;
	}
	bad->clus[bad->n++] = clus;
	return true;
}

/* All clusters that the block touches. */
enum mkfs_bad_verdict mkfs_bad_add(struct mkfs_bad *bad, const struct fat_geometry *geometry,
				   uint64_t block)
{
	uint64_t data_off = fat_geometry_data_off(geometry);
	uint64_t end_off = data_off + (uint64_t)geometry->n_clus * geometry->cluster_bytes;
	uint64_t from, to;

	if (!mul_u64(block, BLOCK_BYTES, &from) || from >= end_off)
		return MKFS_BAD_BEHIND;
	to = min_u64(from + BLOCK_BYTES, end_off);
	if (from < data_off)
		return MKFS_BAD_BEFORE;
	for (uint64_t clus = (from - data_off) / geometry->cluster_bytes;
	     clus <= (to - 1 - data_off) / geometry->cluster_bytes; clus++)
		if (!add_clus(bad, (uint32_t)clus + FAT_FIRST_CLUS))
			return MKFS_BAD_MEMORY;
	return MKFS_BAD_TAKEN;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void mkfs_bad_sort(struct mkfs_bad *bad)
{
	size_t n = 0;

	if (bad->n == 0)
		return;
	qsort(bad->clus, bad->n, sizeof *bad->clus, by_number);
	for (size_t i = 0; i < bad->n; i++)
		if (n == 0 || bad->clus[n - 1] != bad->clus[i])
			bad->clus[n++] = bad->clus[i];
	bad->n = n;
}

uint32_t mkfs_bad_first_good(const struct mkfs_bad *bad, const struct fat_geometry *geometry)
{
	uint32_t clus = FAT_FIRST_CLUS;

	for (size_t i = 0; i < bad->n && bad->clus[i] == clus; i++)
		clus++;
	return fat_geometry_has_clus(geometry, clus) ? clus : 0;
}

struct fat_run *mkfs_bad_runs(const struct mkfs_bad *bad, size_t *n_runs)
{
	struct fat_run *runs = calloc(bad->n + 1, sizeof *runs);
	size_t n = 0;

	for (size_t i = 0; runs && i < bad->n; i++) {
		if (n > 0 && runs[n - 1].first_clus + runs[n - 1].n_clus == bad->clus[i])
			runs[n - 1].n_clus++;
		else
			runs[n++] = (struct fat_run){ bad->clus[i], 1, 0, true };
	}
	*n_runs = n;
	return runs;
}

void mkfs_bad_free(struct mkfs_bad *bad)
{
	free(bad->clus);
	*bad = (struct mkfs_bad){ .n = 0 };
}

/* ---- a list ---- */

static bool refuse_block(const char *path, uint64_t block, enum mkfs_bad_verdict verdict)
{
	const char *why =
		verdict == MKFS_BAD_BEFORE ? "before data area" : "behind end of filesystem";

	if (verdict == MKFS_BAD_MEMORY)
		cli_error(&mkfs_program, "%s: out of memory; free some", path);
	else
		cli_error(&mkfs_program, "%s: Block number %" PRIu64 " is %s; %s", path, block, why,
			  verdict == MKFS_BAD_BEFORE ? "this device cannot hold the volume there" :
						       "check the list's block size: 1 KiB");
	return false;
}

static bool read_line(const char *path, char *line, unsigned n_line,
		      const struct fat_geometry *geometry, struct mkfs_bad *bad)
{
	char *text = line + strspn(line, " \t\r\n");
	enum mkfs_bad_verdict verdict;
	uint64_t block;

	for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
		text[n - 1] = '\0';
	if (!*text)
		return true;
	if (!cli_parse_u64(text, 10, 0, UINT64_MAX, &block)) {
		cli_error(&mkfs_program, "%s: Badly formed number in bad blocks file line %u; "
					 "give one block number a line", path, n_line);
		return false;
	}
	verdict = mkfs_bad_add(bad, geometry, block);
	return verdict == MKFS_BAD_TAKEN || refuse_block(path, block, verdict);
}

bool mkfs_bad_read_list(const char *path, const struct fat_geometry *geometry,
			struct mkfs_bad *bad)
{
	FILE *in = fopen(path, "re");
	char line[256];
	bool is_right = true;

	if (!in) {
		cli_error(&mkfs_program, "%s: Can't open file of bad blocks: %s; check its name",
			  path, strerror(errno));
		return false;
	}
	for (unsigned n = 1; is_right && fgets(line, sizeof line, in); n++)
		is_right = read_line(path, line, n, geometry, bad);
	if (is_right && ferror(in)) {
		cli_error(&mkfs_program, "%s: cannot read the file of bad blocks: %s; check it",
			  path, strerror(errno));
		is_right = false;
	}
	fclose(in);
	mkfs_bad_sort(bad);
	return is_right;
}

/* ---- reading ---- */

struct scan {
	struct fat_dev *dev;
	const struct fat_geometry *geometry;
	struct mkfs_bad *bad;
	uint8_t *buf;
	struct cli_progress progress;
	uint64_t refused_block;
	enum mkfs_bad_verdict verdict;
};

/* Reads a range in steps; a step that fails is read again in smaller ones, down to blocks. */
static bool scan_range(struct scan *scan, uint64_t off, uint64_t end_off, uint32_t step)
{
	for (; off < end_off; off += step) {
		size_t n = (size_t)min_u64(step, end_off - off);

		cli_progress_show(&scan->progress, off);
		if (fat_dev_read(scan->dev, off, scan->buf, n) == FAT_OK)
			continue;
		if (step > BLOCK_BYTES) {
			if (!scan_range(scan, off, off + n,
					step == LARGE_BYTES ? SMALL_BYTES : BLOCK_BYTES))
				return false;
			continue;
		}
		scan->refused_block = off / BLOCK_BYTES;
		scan->verdict = mkfs_bad_add(scan->bad, scan->geometry, off / BLOCK_BYTES);
		if (scan->verdict != MKFS_BAD_TAKEN && scan->verdict != MKFS_BAD_BEHIND)
			return false;
	}
	return true;
}

bool mkfs_bad_scan(const char *path, struct fat_dev *dev, const struct fat_geometry *geometry,
		   struct mkfs_bad *bad)
{
	struct scan scan = { .dev = dev, .geometry = geometry, .bad = bad,
			     .buf = malloc(LARGE_BYTES), .verdict = MKFS_BAD_MEMORY };
	uint64_t total_bytes = fat_geometry_total_bytes(geometry);
	bool is_right;

	cli_progress_begin(&scan.progress, "reading", total_bytes);
	is_right = scan.buf && scan_range(&scan, 0, total_bytes, LARGE_BYTES);
	cli_progress_end(&scan.progress);
	free(scan.buf);
	mkfs_bad_sort(bad);
	return is_right || refuse_block(path, scan.refused_block, scan.verdict);
}
