/* SPDX-License-Identifier: MIT */
/*
 * measure_disk: what a disk needs between two writes. Sectors go by meanwhile: a write that begins
 * too close behind the last one waits a whole turn for them to come round again, so the shortest
 * gap that needs no turn is the time that a command takes. Small files with gaps between them
 * depend on it by factors. How long the heads take from FAT to data: of many reads at any angle the
 * shortest hardly waited for the platter. And what the angle between FAT and data is.
 */
#include "bytes.h"
#include "probe.h"

#define N_STEPS       12
#define N_SEEKS       40
#define N_ANGLES      16
#define NEAR_BYTES    (2u << 20)
#define SPREAD_BYTES  (4u << 20)
#define ENOUGH_CAUGHT 2
#define ENOUGH_MISSED 6

/* Writes twice, with a gap between; was the second one caught in the same turn? */
static enum fat_status write_behind(struct probe *p, uint64_t off, size_t at, uint32_t len_bytes,
				    uint64_t gap, double turn_ns, bool *caught)
{
	size_t second = at + len_bytes + (size_t)gap;
	uint64_t ns;
	enum fat_status status = probe_write(p, off + at, p->buf + at, len_bytes, &ns);

	if (status == FAT_OK)
		status = probe_write(p, off + second, p->buf + second, len_bytes, &ns);
	*caught = (double)ns < 0.9 * turn_ns;
	return status;
}

/*
 * Is the second of two writes caught in the same turn? Tracks end somewhere, and what a disk needs
 * varies: most tries count, until some agree.
 */
static enum fat_status try_gap(struct probe *p, uint64_t off, uint32_t len_bytes, uint64_t gap,
			       double turn_ns, bool *most_caught)
{
	size_t room = PROBE_STRETCH_BYTES - 2 * len_bytes - (size_t)gap;
	enum fat_status status = FAT_OK;
	unsigned n_caught = 0, n_missed = 0;

	while (status == FAT_OK && n_caught < ENOUGH_CAUGHT && n_missed < ENOUGH_MISSED) {
		size_t at = (size_t)probe_random_below(p, room / 4096) * 4096;
		bool caught = false;

		if (probe_is_over(p) || !probe_may_write(p, 2 * (uint64_t)len_bytes))
			break;
		status = write_behind(p, off, at, len_bytes, gap, turn_ns, &caught);
		n_caught += caught;
		n_missed += !caught;
	}
	*most_caught = n_caught == ENOUGH_CAUGHT;
	return status;
}

/* By halving. */
static enum fat_status find_gap(struct probe *p, uint64_t off, uint32_t len_bytes, uint64_t most,
				double turn_ns, uint64_t *gap)
{
	uint64_t low = 0, high = most;
	enum fat_status status = FAT_OK;

	for (int i = 0; i < N_STEPS && high - low > 512 && status == FAT_OK; i++) {
		uint64_t middle = (low + high) / 2 / 512 * 512;
		bool caught;

		status = try_gap(p, off, len_bytes, middle, turn_ns, &caught);
		*(caught ? &high : &low) = middle;
	}
	if (status == FAT_OK && high < most)
		*gap = high;
	return status;
}

/* Reads so far behind one elsewhere, and a bit, at any angle. */
static void measure_seek(struct probe *p, uint64_t distance, struct advise_samples *samples)
{
	uint64_t room = p->dev->size_bytes - distance - SPREAD_BYTES, ns;

	for (int i = 0; i < N_SEEKS && !probe_is_over(p); i++) {
		uint64_t from = probe_random_below(p, room / 4096) * 4096;
		uint64_t to = from + distance + probe_random_below(p, SPREAD_BYTES / 4096) * 4096;

		if (probe_read(p, from, p->check, 4096, &ns) == FAT_OK &&
		    probe_read(p, to, p->check, 4096, &ns) == FAT_OK)
			probe_keep(samples, ns);
	}
}

/*
 * Reads exactly so far behind one elsewhere: the time from the end of one to the end of the other
 * is whole turns and the angle between them, whatever the heads do meanwhile. The angle of a short
 * distance says about how long a track is, that of a longer one more exactly.
 */
static void measure_angles(struct probe *p)
{
	uint64_t size = p->dev->size_bytes, ns;

	for (size_t k = 0; k < ADVISE_N_APART; k++) {
		uint64_t apart = advise_apart_bytes(k, size);

		for (int i = 0; i < N_ANGLES && !probe_is_over(p); i++) {
			uint64_t from = probe_random_below(p, (size - apart) / 4096 - 1) * 4096;

			if (probe_read(p, from, p->check, 4096, &ns) == FAT_OK &&
			    probe_read(p, from + apart, p->check, 4096, &ns) == FAT_OK)
				probe_keep(&p->measured->apart[k], ns);
		}
		if (apart == advise_apart_bytes(ADVISE_N_APART - 1, size))
			return;
	}
}

enum fat_status probe_disk(struct probe *p)
{
	struct advise_inferred inferred;
	uint64_t off, most;
	enum fat_status status = FAT_OK;

	advise_infer(p->measured, &inferred);
	if (!inferred.heads_move || p->dev->size_bytes < 16ull * SPREAD_BYTES)
		return FAT_OK;
	probe_begin_step(p, "seeks", 15);
	measure_seek(p, NEAR_BYTES, &p->measured->seek_near);
	measure_seek(p, p->dev->size_bytes / 3 / 4096 * 4096, &p->measured->seek_third);
	probe_begin_step(p, "angles", 15);
	measure_angles(p);
	if (p->measured->settle != ADVISE_SETTLED || inferred.ns_per_byte <= 0)
		return FAT_OK;
	most = (uint64_t)(0.75 * inferred.command_ns / inferred.ns_per_byte);
	if (most > PROBE_STRETCH_BYTES / 2)
		return FAT_OK;
	probe_begin_step(p, "gaps between writes", 20);
	if (!probe_find_run(p, PROBE_STRETCH_BYTES, PROBE_STRETCH_BYTES, &off) ||
	    !probe_load(p, off, PROBE_STRETCH_BYTES))
		return FAT_OK;
	for (size_t i = 0; i < ADVISE_N_GAPS && status == FAT_OK; i++)
		status = find_gap(p, off, advise_gap_len_bytes(i), most, inferred.command_ns,
				  &p->measured->gap_bytes[i]);
	return status;
}
