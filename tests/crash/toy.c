/* SPDX-License-Identifier: MIT */
/* toy: see toy.h. FAT16 with a fixed root of one sector, two FATs. */
#include "toy.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"

#define STATE_OFF 37u
#define N_ENTRIES 16u

struct job {
	struct fat_dev *dev;
	const struct toy *toy;
	uint8_t boot[512], root[512];
	uint8_t *table;   /* as it shall be */
	uint8_t *disk[2]; /* the two copies as they are */
	uint8_t *reached; /* bit 0: from an entry; bit 1: some entry of the table points to it */
	size_t table_bytes;
	bool failed;
	unsigned second; /* the entry that gets a copy; 0: none */
};

static void job_read(struct job *job, uint64_t off, void *buf, size_t len)
{
	if (!job->failed)
		job->failed = fat_dev_read(job->dev, off, buf, len) != FAT_OK;
}

static void job_write(struct job *job, uint64_t off, const void *buf, size_t len)
{
	if (!job->failed)
		job->failed = fat_dev_write(job->dev, off, buf, len) != FAT_OK;
}

static void job_flush(struct job *job)
{
	if (!job->failed && job->toy->manners != TOY_NEVER_FLUSHES)
		job->failed = fat_dev_flush(job->dev) != FAT_OK;
}

static uint8_t *entry(struct job *job, unsigned i)
{
	return job->root + (size_t)i * DIRENT_BYTES;
}

static uint16_t start_of(struct job *job, unsigned i)
{
	return *entry(job, i) == 0xE5 || *entry(job, i) == 0 ? 0 : get_le16(entry(job, i) + 26);
}

static uint16_t next_of(const struct job *job, uint16_t clus)
{
	return get_le16(job->table + 2u * clus);
}

static bool in_volume(const struct job *job, uint16_t clus)
{
	return clus >= 2 && clus < job->toy->shape.n_clus + 2;
}

/* What anything points to is not free to be taken, be it marked free. */
static bool is_free(const struct job *job, uint16_t clus)
{
	return next_of(job, clus) == 0 && !job->reached[clus];
}

static void look(struct job *job)
{
	const struct shape *shape = &job->toy->shape;

	job_read(job, 0, job->boot, 512);
	job_read(job, shape_root_off(shape), job->root, 512);
	for (uint32_t copy = 0; copy < 2; copy++)
		job_read(job, shape_fat_off(shape, copy), job->disk[copy], job->table_bytes);
	memcpy(job->table, job->disk[0], job->table_bytes);
	for (unsigned j = 1; j < N_ENTRIES && !job->second; j++)
		for (unsigned i = 0; i < j; i++)
			if (start_of(job, j) && start_of(job, i) == start_of(job, j))
				job->second = j;
	for (unsigned i = 0; i < N_ENTRIES; i++)
		for (uint16_t c = start_of(job, i); in_volume(job, c) && !(job->reached[c] & 1);
		     c = next_of(job, c))
			job->reached[c] |= 1;
	for (uint16_t c = 2; in_volume(job, c); c++)
		if (in_volume(job, next_of(job, c)))
			job->reached[next_of(job, c)] |= 2;
}

static bool has_lost(const struct job *job)
{
	for (uint16_t c = 2; in_volume(job, c); c++)
		if (next_of(job, c) && !(job->reached[c] & 1))
			return true;
	return false;
}

static bool is_clean(const struct job *job)
{
	return !job->second && !has_lost(job) && !(job->boot[STATE_OFF] & 1) &&
	       memcmp(job->disk[0], job->disk[1], job->table_bytes) == 0;
}

static void set_state(struct job *job, uint8_t dirty)
{
	job->boot[STATE_OFF] = (uint8_t)((job->boot[STATE_OFF] & ~1u) | dirty);
	job_write(job, 0, job->boot, 512);
	job_flush(job);
}

static void write_table(struct job *job, uint32_t copy)
{
	const struct shape *shape = &job->toy->shape;

	for (size_t at = 0; at < job->table_bytes; at += 512)
		if (memcmp(job->table + at, job->disk[copy] + at, 512) != 0) {
			job_write(job, shape_fat_off(shape, copy) + at, job->table + at, 512);
			memcpy(job->disk[copy] + at, job->table + at, 512);
		}
}

/* A chain of free clusters with the second entry's content; its start. */
static uint16_t copy_chain(struct job *job)
{
	uint16_t first = 0, last = 0, to = 2;
	uint8_t buf[512];

	for (uint16_t c = start_of(job, job->second); in_volume(job, c); c = next_of(job, c)) {
		while (in_volume(job, to) && !is_free(job, to))
			to++;
		job_read(job, shape_cluster_off(&job->toy->shape, c), buf, 512);
		job_write(job, shape_cluster_off(&job->toy->shape, to), buf, 512);
		if (last)
			put_le16(job->table + 2u * last, to);
		put_le16(job->table + 2u * to, 0xFFFF);
		job->reached[to] = 1;
		first = first ? first : to;
		last = to;
	}
	return first;
}

static void write_root(struct job *job)
{
	job_write(job, shape_root_off(&job->toy->shape), job->root, 512);
	job_flush(job);
}

static void separate(struct job *job)
{
	bool entry_first = job->toy->manners == TOY_ATTACHES_FIRST;
	uint16_t first;

	if (!job->second)
		return;
	first = copy_chain(job);
	put_le16(entry(job, job->second) + 26, first);
	if (entry_first)
		write_root(job);
	if (job->toy->manners == TOY_MIRRORS_FIRST) {
		write_table(job, 1);
		job_flush(job);
	}
	write_table(job, 0);
	job_flush(job);
	if (!entry_first)
		write_root(job);
}

static void release_lost(struct job *job)
{
	bool any = false;

	for (uint16_t c = 2; in_volume(job, c); c++)
		if (next_of(job, c) && !(job->reached[c] & 1)) {
			put_le16(job->table + 2u * c, 0);
			any = true;
		}
	if (!any)
		return;
	write_table(job, 0);
	job_flush(job);
}

static int repair(struct job *job)
{
	look(job);
	if (job->failed)
		return 8;
	if (is_clean(job))
		return job->toy->manners == TOY_FORGETS ? 1 : 0;
	if (!(job->boot[STATE_OFF] & 1) && job->toy->manners != TOY_NO_MARK)
		set_state(job, 1);
	separate(job);
	release_lost(job);
	write_table(job, 1);
	job_flush(job);
	if (job->boot[STATE_OFF] & 1)
		set_state(job, 0);
	return job->failed && job->toy->manners != TOY_HIDES_ERRORS ? 8 : 1;
}

int toy_run(void *ctx, struct fat_dev *dev)
{
	struct job job = { .dev = dev, .toy = ctx };
	int status = 8;

	job.table_bytes = (size_t)job.toy->shape.fat_sec * 512;
	job.table = malloc(job.table_bytes);
	job.disk[0] = malloc(job.table_bytes);
	job.disk[1] = malloc(job.table_bytes);
	job.reached = calloc((size_t)job.toy->shape.n_clus + 2, 1);
	if (job.table && job.disk[0] && job.disk[1] && job.reached)
		status = repair(&job);
	free(job.table);
	free(job.disk[0]);
	free(job.disk[1]);
	free(job.reached);
	return status;
}
