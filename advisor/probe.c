/* SPDX-License-Identifier: MIT */
/*
 * probe: requests, budget and record of one measurement. See probe.h.
 */
#include "probe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define MOST_SETTLING 4096
#define N_QUICK       3
#define MOST_PLACES   1024 /* that are looked at for one that may be written to */

/* ---- budget -------------------------------------------------------------------------------- */

uint64_t probe_now(struct probe *p)
{
	return p->target->now_ns(p->target);
}

bool probe_is_over(struct probe *p)
{
	uint64_t t = probe_now(p);

	if (p->watch->stop(p->watch->ctx))
		p->measured->interrupted = true;
	if (p->measured->interrupted || p->measured->content_differs)
		return true;
	if (t >= p->begin_ns + p->budget->max_ns)
		p->measured->out_of_budget = true;
	return t >= p->step_end_ns || t >= p->begin_ns + p->budget->max_ns;
}

bool probe_may_write(struct probe *p, uint64_t len_bytes)
{
	if (p->measured->written_bytes + len_bytes <= p->budget->max_bytes)
		return true;
	p->measured->out_of_budget = true;
	return false;
}

void probe_begin_step(struct probe *p, const char *name, unsigned percent)
{
	p->step_end_ns = probe_now(p) + p->budget->max_ns / 100 * percent;
	p->step++;
	p->watch->step(p->watch->ctx, name,
		       p->begin_ns + p->budget->max_ns -
			       min_u64(probe_now(p), p->begin_ns + p->budget->max_ns));
}

/*
 * ns of a byte in a row of requests of this size, or of the nearest that was timed; 0 where none
 * was.
 */
static double ns_per_byte(const struct advise_samples *samples, uint32_t piece_bytes)
{
	size_t i = 0;

	while (i + 1 < ADVISE_N_SIZES && advise_size_bytes(i) < piece_bytes)
		i++;
	for (size_t far = 0; far < ADVISE_N_SIZES; far++) {
		if (i >= far && samples[i - far].n > 0)
			return advise_median(&samples[i - far]) / advise_size_bytes(i - far);
		if (i + far < ADVISE_N_SIZES && samples[i + far].n > 0)
			return advise_median(&samples[i + far]) / advise_size_bytes(i + far);
	}
	return 0;
}

bool probe_affords(struct probe *p, uint64_t len_bytes, uint32_t piece_bytes)
{
	double read_ns = ns_per_byte(p->measured->read, p->target->max_bytes);
	double write_ns = ns_per_byte(p->measured->write, piece_bytes);
	uint64_t end_ns = min_u64(p->step_end_ns, p->begin_ns + p->budget->max_ns);

	return write_ns > 0 &&
	       (double)probe_now(p) + (double)len_bytes * (read_ns + write_ns) <= (double)end_ns;
}

bool probe_affords_dear(struct probe *p, unsigned n)
{
	return probe_now(p) + n * p->dearest_ns <= p->begin_ns + p->budget->max_ns;
}

/* ---- requests ------------------------------------------------------------------------------ */

enum fat_status probe_read(struct probe *p, uint64_t off, void *buf, size_t len_bytes, uint64_t *ns)
{
	uint64_t start = probe_now(p);
	enum fat_status status = fat_dev_read(p->dev, off, buf, len_bytes);

	*ns = probe_now(p) - start;
	if (status == FAT_OK)
		p->measured->read_bytes += len_bytes;
	else
		p->measured->n_read_errors++;
	return status;
}

/* A record that does not fit into memory is a shorter record. */
static void record(struct probe *p, uint64_t off, size_t len_bytes, uint64_t ns)
{
	const struct advise_request r = { off, ns, (uint32_t)len_bytes, p->step };

	advise_trace_add(&p->measured->trace, &r);
}

enum fat_status probe_write(struct probe *p, uint64_t off, const void *buf, size_t len_bytes,
			    uint64_t *ns)
{
	uint64_t start = probe_now(p);
	enum fat_status status = fat_dev_write(p->dev, off, buf, len_bytes);

	*ns = probe_now(p) - start;
	p->measured->written_bytes += len_bytes;
	p->dearest_ns = max_u64(p->dearest_ns, *ns);
	record(p, off, len_bytes, *ns);
	return status;
}

void probe_keep(struct advise_samples *samples, uint64_t ns)
{
	if (samples->n < ADVISE_MAX_SAMPLES)
		samples->ns[samples->n++] = ns;
}

uint64_t probe_random_below(struct probe *p, uint64_t limit)
{
	p->rng ^= p->rng >> 12;
	p->rng ^= p->rng << 25;
	p->rng ^= p->rng >> 27;
	return (p->rng * 0x2545F4914F6CDD1Du >> 11) % limit;
}

uint64_t probe_next_place(struct probe *p, uint64_t len_bytes)
{
	double part = 0.31 + 0.6180339887498949 * p->n_places++;
	uint64_t room = p->dev->size_bytes - len_bytes;
	uint64_t align =
		room > 64ull * PROBE_STRETCH_BYTES ? PROBE_STRETCH_BYTES : PROBE_CHECK_BYTES;

	part -= (double)(uint64_t)part;
	return (uint64_t)((double)room * part) / align * align;
}

void probe_learn(struct probe *p)
{
	struct advise_inferred inferred;

	advise_infer(p->measured, &inferred);
	p->page_bytes = inferred.page.value;
	wear_set_blocks(&p->wear, inferred.block.value, inferred.block_off);
}

static uint64_t align_up(const struct probe_want *want, uint64_t off)
{
	return off <= want->base_off
		       ? want->base_off
		       : round_up(off - want->base_off, want->align_bytes) + want->base_off;
}

/*
 * Where in the block that holds off, or from it on, the writes can begin: at its start where blocks
 * are to be closed often, else anywhere but at the end. Past the end of the device: nowhere.
 */
static uint64_t place_in_block(const struct probe *p, const struct probe_want *want, uint64_t off)
{
	uint64_t block = p->wear.block_bytes, need = want->len_bytes + p->page_bytes;
	uint64_t start = off - (off + block - p->wear.block_off) % block;
	uint64_t last = start + round_up(need, block) - need, place = align_up(want, start);
	bool is_at_start = want->n_erases == WEAR_MOST &&
			   (place == start || place + want->len_bytes <= start + block);

	if (!is_at_start && off + want->align_bytes <= last)
		place = align_up(want, off);
	else if (!is_at_start)
		place = align_up(want, last - min_u64(last, want->align_bytes));
	return place >= start && place <= last ? place : p->dev->size_bytes;
}

bool probe_find_place(struct probe *p, const struct probe_want *want, uint64_t *off)
{
	uint64_t size = p->dev->size_bytes, block = p->wear.block_bytes;
	/* the first blocks, which may be made for FATs, are looked at by themselves */
	uint64_t longest = block ? block : WEAR_LONGEST_BLOCK;
	uint64_t front = max_u64(p->front_off, min_u64(PROBE_FRONT_BLOCKS * longest, size / 8));

	for (int i = 0; i < MOST_PLACES && front + want->len_bytes < size; i++) {
		double part = 0.31 + 0.6180339887498949 * p->n_places++;
		uint64_t room = size - front - want->len_bytes;

		part -= (double)(uint64_t)part;
		*off = front + (uint64_t)((double)room * part);
		*off = block && *off >= block ? place_in_block(p, want, *off)
					      : align_up(want, *off);
		if (*off >= front && *off + want->len_bytes <= size &&
		    wear_claim(&p->wear, *off, *off + want->len_bytes, want->n_erases))
			return true;
	}
	p->measured->out_of_budget = true;
	return false;
}

bool probe_find_run(struct probe *p, uint64_t len_bytes, uint64_t align_bytes, uint64_t *off)
{
	const struct probe_want want = { len_bytes, align_bytes, 0, WEAR_RUN };

	return probe_find_place(p, &want, off);
}

bool probe_can_read(struct probe *p, uint64_t len_bytes, uint64_t end_ns)
{
	double read_ns = ns_per_byte(p->measured->read, advise_size_bytes(ADVISE_N_SIZES - 1));

	return (double)probe_now(p) + 1.3 * (double)len_bytes * read_ns <= (double)end_ns;
}

bool probe_load(struct probe *p, uint64_t off, uint64_t len_bytes)
{
	uint64_t done = 0;
	uint64_t ns;

	if (len_bytes > PROBE_STRETCH_BYTES)
		return false;
	if (!probe_can_read(p, len_bytes, p->begin_ns + p->budget->max_ns)) {
		p->measured->out_of_budget = true;
		return false;
	}
	while (done < len_bytes) {
		size_t n = (size_t)min_u64(len_bytes - done, 1u << 20);

		if (probe_read(p, off + done, p->buf + done, n, &ns) != FAT_OK)
			return false;
		done += n;
	}
	return true;
}

void probe_verify(struct probe *p, uint64_t off, size_t len_bytes)
{
	size_t n = (size_t)min_u64(len_bytes, PROBE_CHECK_BYTES);
	size_t at = (size_t)probe_random_below(p, (len_bytes - n) / p->target->block_bytes + 1) *
		    p->target->block_bytes;
	uint64_t ns;

	if (probe_read(p, off + at, p->check, n, &ns) == FAT_OK &&
	    memcmp(p->check, p->buf + at, n) != 0) {
		p->measured->content_differs = true;
		p->measured->differs_off = off + at;
	}
}

enum fat_status probe_flush(struct probe *p, uint64_t *ns)
{
	uint64_t start = probe_now(p);
	enum fat_status status = fat_dev_flush(p->dev);

	*ns = probe_now(p) - start;
	probe_keep(&p->measured->flush, *ns);
	return status;
}

void probe_note_settled(struct probe *p, uint64_t ns)
{
	struct fat_vec *trace = &p->measured->trace;
	struct advise_request *last = trace->n > 0 ? fat_vec_at(trace, trace->n - 1) : NULL;

	if (last && last->len_bytes == 0)
		last->ns += ns;
	else
		record(p, 0, 0, ns);
}

/*
 * Reads until some in a row are as fast as ever: then nothing goes on inside any more. The device
 * works on while a read's command is under way: what a slow read waited is that much less.
 */
void probe_settle_by_reading(struct probe *p, unsigned n_least, uint64_t *ns, unsigned *n_before)
{
	uint64_t hidden_ns = (uint64_t)(0.8 * advise_median(&p->measured->read[0]));
	unsigned n_quick = 0;

	*n_before = UINT_MAX;
	for (unsigned i = 0; i < MOST_SETTLING && (n_quick < N_QUICK || i < n_least); i++) {
		uint64_t off = probe_random_below(p, p->dev->size_bytes / 4096) * 4096, read_ns;

		if (probe_is_over(p) || probe_read(p, off, p->check, 4096, &read_ns) != FAT_OK)
			return;
		if (read_ns < p->slow_read_ns) {
			n_quick++;
			continue;
		}
		n_quick = 0;
		if (*n_before == UINT_MAX)
			*n_before = i;
		*ns += read_ns - p->usual_read_ns + hidden_ns;
	}
}

enum fat_status probe_settle(struct probe *p, uint64_t *ns)
{
	uint64_t more_ns = 0;
	unsigned n_before;
	enum fat_status status = FAT_OK;

	if (p->measured->settle == ADVISE_SETTLED)
		return FAT_OK;
	if (p->measured->settle == ADVISE_SETTLE_BY_FLUSH)
		status = probe_flush(p, &more_ns);
	else
		probe_settle_by_reading(p, 0, &more_ns, &n_before);
	probe_note_settled(p, more_ns);
	p->dearest_ns = max_u64(p->dearest_ns, more_ns);
	*ns += more_ns;
	return status;
}
