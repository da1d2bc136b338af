/* SPDX-License-Identifier: MIT */
/*
 * measure: asks the device. The only part of fatadvise that does I/O or looks at a clock.
 *
 * Invariant: a byte is written only where the same byte has just been read, so the content is right
 * at every moment and nothing has to be restored, whatever ends the program. A stretch is read
 * first and then written in pieces, and only the writes are timed: a read directly before each
 * write would cost a disk a full turn and hide everything [PROBING 4].
 */
#include "advise.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define STRETCH_BYTES  (4u << 20)
#define CHECK_BYTES    (64u << 10)

struct probe {
	struct advise_target *target;
	struct fat_dev *dev;
	const struct advise_budget *budget;
	const struct advise_watch *watch;
	struct advise_measured *measured;
	uint8_t *buf, *check; /* a stretch as it was read; a part of it read again */
	uint64_t begin_ns;
	uint64_t step_end_ns; /* of the step that runs */
	uint32_t n_places;
	uint64_t rng;
};

/* ---- budget -------------------------------------------------------------------------------- */

static uint64_t now(struct probe *p)
{
	return p->target->now_ns(p->target);
}

/* No more requests in this step. */
static bool is_over(struct probe *p)
{
	uint64_t t = now(p);

	if (p->watch->stop(p->watch->ctx))
		p->measured->interrupted = true;
	if (p->measured->interrupted || p->measured->content_differs)
		return true;
	if (t >= p->begin_ns + p->budget->max_ns)
		p->measured->out_of_budget = true;
	return t >= p->step_end_ns || t >= p->begin_ns + p->budget->max_ns;
}

static bool may_write(struct probe *p, uint64_t len_bytes)
{
	if (p->measured->written_bytes + len_bytes <= p->budget->max_bytes)
		return true;
	p->measured->out_of_budget = true;
	return false;
}

/* A step may take a part of the budget's time, in percent. */
static void begin_step(struct probe *p, const char *name, unsigned percent)
{
	p->step_end_ns = now(p) + p->budget->max_ns / 100 * percent;
	p->watch->step(p->watch->ctx, name);
}

/* ---- requests ------------------------------------------------------------------------------ */

static enum fat_status timed_read(struct probe *p, uint64_t off, void *buf, size_t len_bytes,
				  uint64_t *ns)
{
	uint64_t start = now(p);
	enum fat_status status = fat_dev_read(p->dev, off, buf, len_bytes);

	*ns = now(p) - start;
	if (status == FAT_OK)
		p->measured->read_bytes += len_bytes;
	else
		p->measured->n_read_errors++;
	return status;
}

static enum fat_status timed_write(struct probe *p, uint64_t off, const void *buf,
				   size_t len_bytes, uint64_t *ns)
{
	uint64_t start = now(p);
	enum fat_status status = fat_dev_write(p->dev, off, buf, len_bytes);

	*ns = now(p) - start;
	p->measured->written_bytes += len_bytes;
	return status;
}

static void keep(struct advise_samples *samples, uint64_t ns)
{
	if (samples->n < ADVISE_MAX_SAMPLES)
		samples->ns[samples->n++] = ns;
}

static uint64_t random_below(struct probe *p, uint64_t limit)
{
	p->rng ^= p->rng >> 12;
	p->rng ^= p->rng << 25;
	p->rng ^= p->rng >> 27;
	return (p->rng * 0x2545F4914F6CDD1Du >> 11) % limit;
}

/*
 * Another part of the device each time, len_bytes long: steps of the golden ratio, so that places
 * lie far apart and fall into step with nothing inside.
 */
static uint64_t next_place(struct probe *p, uint64_t len_bytes)
{
	double part = 0.31 + 0.6180339887498949 * p->n_places++;
	uint64_t room = p->dev->size_bytes - len_bytes;
	uint64_t align = room > 64u * STRETCH_BYTES ? STRETCH_BYTES : CHECK_BYTES;

	part -= (double)(uint64_t)part;
	return (uint64_t)((double)room * part) / align * align;
}

/* Reads a stretch into p->buf. false if it cannot be read: another place, then. */
static bool load(struct probe *p, uint64_t off, size_t len_bytes)
{
	size_t done = 0;
	uint64_t ns;

	while (done < len_bytes) {
		size_t n = (size_t)min_u64(len_bytes - done, 1u << 20);

		if (timed_read(p, off + done, p->buf + done, n, &ns) != FAT_OK)
			return false;
		done += n;
	}
	return true;
}

/* Reads a part of a stretch again and compares. */
static void verify(struct probe *p, uint64_t off, size_t len_bytes)
{
	size_t n = (size_t)min_u64(len_bytes, CHECK_BYTES);
	size_t at = (size_t)random_below(p, (len_bytes - n) / p->target->block_bytes + 1) *
		    p->target->block_bytes;
	uint64_t ns;

	if (timed_read(p, off + at, p->check, n, &ns) == FAT_OK &&
	    memcmp(p->check, p->buf + at, n) != 0) {
		p->measured->content_differs = true;
		p->measured->differs_off = off + at;
	}
}

/* ---- steps that only read ------------------------------------------------------------------ */

static void measure_seek(struct probe *p)
{
	uint64_t n_blocks = p->dev->size_bytes / 4096, ns;

	begin_step(p, "random reads", 5);
	for (int i = 0; i < 24 && !is_over(p); i++)
		if (timed_read(p, random_below(p, n_blocks) * 4096, p->buf, 4096, &ns) == FAT_OK)
			keep(&p->measured->seek, ns);
	for (int i = 0; i < 48 && !is_over(p); i++)
		if (timed_read(p, n_blocks / 2 * 4096, p->buf, 4096, &ns) == FAT_OK)
			keep(&p->measured->again, ns);
}

static void measure_reads(struct probe *p)
{
	begin_step(p, "reads by size", 8);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		uint32_t len = advise_size_bytes(i);
		uint64_t off = next_place(p, 12 * (uint64_t)len), ns;

		if (len < p->target->block_bytes)
			continue;
		for (int k = 0; k < 12 && !is_over(p); k++, off += len)
			if (timed_read(p, off, p->buf, len, &ns) == FAT_OK)
				keep(&p->measured->read[i], ns);
	}
}

/* One read across a multiple of the scan's step. */
static bool read_across(struct probe *p, uint64_t off, uint64_t *ns)
{
	uint32_t half = p->target->block_bytes;

	return timed_read(p, off - half, p->buf, (size_t)2 * half, ns) == FAT_OK;
}

static void scan_pages(struct probe *p, struct advise_scan *scan)
{
	const int n_passes = 3;

	scan->step_bytes = max_u64(2048, 2 * (uint64_t)p->target->block_bytes);
	scan->off = next_place(p, (ADVISE_SCAN_POINTS + 1) * scan->step_bytes) + scan->step_bytes;
	for (int pass = 0; pass < n_passes; pass++) {
		for (size_t i = 0; i < ADVISE_SCAN_POINTS; i++) {
			uint64_t ns;

			if (is_over(p) || !read_across(p, scan->off + i * scan->step_bytes, &ns))
				return;
			if (pass == 0 || ns < scan->ns[i])
				scan->ns[i] = ns;
		}
		scan->n = ADVISE_SCAN_POINTS;
	}
}

/* Holds what a scan seems to show against places that it has not seen. */
static void confirm_scan(struct probe *p, struct advise_scan *scan)
{
	struct advise_comb comb = advise_find_comb(scan->ns, scan->n, advise_noise(p->measured));
	uint64_t period = comb.period * scan->step_bytes;
	uint64_t phase = (scan->off + comb.first * scan->step_bytes) % max_u64(period, 1);

	if (comb.period < 2)
		return;
	while (scan->n_pairs < ADVISE_MAX_PAIRS && !is_over(p)) {
		uint64_t off = random_below(p, p->dev->size_bytes / period - 1) * period + phase;
		uint64_t across, beside;

		off += off == 0 ? period : 0;
		if (!read_across(p, off, &across) ||
		    !read_across(p, off + scan->step_bytes, &beside))
			return;
		scan->across_ns[scan->n_pairs] = across;
		scan->beside_ns[scan->n_pairs++] = beside;
	}
}

static void measure_pages(struct probe *p)
{
	begin_step(p, "page size", 8);
	scan_pages(p, &p->measured->page_scan);
	confirm_scan(p, &p->measured->page_scan);
}

static void measure_read_stream(struct probe *p)
{
	size_t max = min_u32(p->target->max_bytes, STRETCH_BYTES);
	uint64_t off = next_place(p, 2 * STRETCH_BYTES), ns;
	struct advise_stream *stream = &p->measured->read_stream;

	begin_step(p, "read stream", 5);
	while (stream->bytes + max <= STRETCH_BYTES && !is_over(p)) {
		if (timed_read(p, off + stream->bytes, p->buf, max, &ns) != FAT_OK)
			return;
		stream->bytes += max;
		stream->ns += ns;
	}
}

/* ---- steps that write ---------------------------------------------------------------------- */

/* Writes a loaded stretch back in pieces, from *done on, until `end`. */
static enum fat_status write_pieces(struct probe *p, uint64_t off, size_t *done, size_t end,
				    size_t piece, struct advise_samples *samples)
{
	while (*done < end && !is_over(p) && may_write(p, piece)) {
		uint64_t ns;
		enum fat_status status = timed_write(p, off + *done, p->buf + *done, piece, &ns);

		if (status != FAT_OK)
			return status;
		keep(samples, ns);
		*done += piece;
	}
	return FAT_OK;
}

/*
 * Writes of all sizes, falling, one after the other: every piece lies at a multiple of its size,
 * and the device sees one rising stream, so that no size pays for moving somewhere else.
 */
static enum fat_status measure_writes(struct probe *p)
{
	static const uint8_t n_pieces[ADVISE_N_SIZES] = { 24, 24, 24, 24, 16, 16, 16, 12, 8 };
	size_t len = 0, done = 0, end = 0;
	uint64_t off;
	enum fat_status status = FAT_OK;

	begin_step(p, "writes by size", 20);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		len += n_pieces[i] * advise_size_bytes(i);
	off = next_place(p, STRETCH_BYTES);
	if (!load(p, off, len))
		return FAT_OK;
	for (size_t i = ADVISE_N_SIZES; i-- > 0 && status == FAT_OK;) {
		size_t piece = advise_size_bytes(i);

		if (piece < p->target->block_bytes)
			break;
		end += n_pieces[i] * piece;
		status = write_pieces(p, off, &done, end, piece, &p->measured->write[i]);
	}
	if (status == FAT_OK)
		verify(p, off, len);
	return status;
}

static enum fat_status timed_flush(struct probe *p, uint64_t *ns)
{
	uint64_t start = now(p);
	enum fat_status status = fat_dev_flush(p->dev);

	*ns = now(p) - start;
	keep(&p->measured->flush, *ns);
	return status;
}

/* Two stretches in a row at the largest request, then a flush. */
static enum fat_status measure_write_stream(struct probe *p)
{
	size_t max = min_u32(p->target->max_bytes, STRETCH_BYTES);
	struct advise_stream *stream = &p->measured->write_stream;
	uint64_t off = next_place(p, 2 * (uint64_t)STRETCH_BYTES), ns;
	enum fat_status status;

	begin_step(p, "write stream", 20);
	for (uint64_t at = off; at < off + 2 * (uint64_t)STRETCH_BYTES; at += STRETCH_BYTES) {
		if (at + STRETCH_BYTES > p->dev->size_bytes || is_over(p) ||
		    !load(p, at, STRETCH_BYTES))
			break;
		for (size_t k = 0; k < STRETCH_BYTES && !is_over(p); k += max) {
			size_t n = (size_t)min_u64(max, STRETCH_BYTES - k);

			if (!may_write(p, n))
				break;
			status = timed_write(p, at + k, p->buf + k, n, &ns);
			if (status != FAT_OK)
				return status;
			stream->bytes += n;
			stream->ns += ns;
		}
		verify(p, at, STRETCH_BYTES);
	}
	status = timed_flush(p, &ns);
	stream->ns += ns; /* or a cache would be measured */
	return status;
}

/* 64 KiB here, 64 KiB there, in turn, from one thread. */
static enum fat_status measure_two_streams(struct probe *p)
{
	const size_t half = 1u << 20, piece = 64u << 10;
	struct advise_stream *stream = &p->measured->two_streams;
	uint64_t off[2] = { next_place(p, half), next_place(p, half) }, ns;

	begin_step(p, "two streams", 8);
	for (size_t k = 0; k < 2; k++) {
		if (!load(p, off[k], half))
			return FAT_OK;
		if (k == 0)
			memcpy(p->buf + half, p->buf, half);
	}
	for (size_t at = 0; at < half; at += piece) {
		for (size_t k = 0; k < 2; k++) {
			enum fat_status status;

			if (is_over(p) || !may_write(p, piece))
				return FAT_OK;
			status = timed_write(p, off[k] + at, p->buf + (k == 0 ? half : 0) + at,
					     piece, &ns);
			if (status != FAT_OK)
				return status;
			stream->bytes += piece;
			stream->ns += ns;
		}
	}
	if (timed_flush(p, &ns) != FAT_OK)
		return FAT_ERR_IO;
	stream->ns += ns;
	verify(p, off[1], half);
	return FAT_OK;
}

/* ---- rehearsal: the file system's own interleaving, at the places of a layout -------------- */

/* The blocks that hold a cluster's entry in both FATs, and the directory. */
struct meta_places {
	uint64_t off[3];
	uint8_t *content; /* three blocks */
};

static bool load_meta(struct probe *p, const struct advise_layout *l, uint64_t cluster,
		      struct meta_places *meta)
{
	uint32_t block = p->target->block_bytes;
	uint64_t entry_off = cluster * (uint64_t)l->fat_bits / 8, ns;

	meta->off[0] = (l->fat1_off + entry_off) / block * block;
	meta->off[1] = (l->fat2_off + entry_off) / block * block;
	meta->off[2] = l->root_off / block * block;
	for (size_t i = 0; i < 3; i++)
		if (timed_read(p, meta->off[i], meta->content + i * block, block, &ns) != FAT_OK)
			return false;
	return true;
}

/* One round: n_data clusters, then the metadata. Counts only rounds that were completed. */
static enum fat_status rehearse_round(struct probe *p, struct advise_rehearsal *r, uint64_t off,
				      size_t at, size_t n_data, const struct meta_places *meta)
{
	uint32_t c = r->cluster_bytes, block = p->target->block_bytes;
	uint64_t ns, first_ns = 0, data_ns = 0, meta_ns = 0;

	for (size_t i = 0; i < n_data; i++) {
		enum fat_status status =
			timed_write(p, off + at + i * c, p->buf + at + i * c, c, &ns);

		if (status != FAT_OK)
			return status;
		*(i == 0 ? &first_ns : &data_ns) += ns;
	}
	for (size_t i = 0; i < 3; i++) {
		enum fat_status status =
			timed_write(p, meta->off[i], meta->content + i * block, block, &ns);

		if (status != FAT_OK)
			return status;
		meta_ns += ns;
	}
	r->n_rounds++;
	r->n_data += n_data - 1;
	r->first_ns += first_ns;
	r->data_ns += data_ns;
	r->meta_ns += meta_ns;
	return FAT_OK;
}

static enum fat_status rehearse(struct probe *p, const struct advise_layout *l, size_t index,
				struct meta_places *meta)
{
	struct advise_rehearsal *r = &p->measured->rehearsal[index];
	const size_t n_data = 12, n_rounds = 4;
	size_t round_bytes = n_data * l->cluster_bytes, len = round_bytes * n_rounds;
	uint64_t cluster = l->n_clusters / 3, off = l->data_off + cluster * l->cluster_bytes;
	enum fat_status status = FAT_OK;

	off = off / p->target->block_bytes * p->target->block_bytes;
	begin_step(p, "rehearsal", 8);
	if (off + len > p->dev->size_bytes || !load(p, off, len) ||
	    !load_meta(p, l, cluster + 2, meta))
		return FAT_OK;
	r->cluster_bytes = l->cluster_bytes;
	for (size_t i = 0; i < n_rounds && status == FAT_OK; i++) {
		if (is_over(p) || !may_write(p, round_bytes + 3 * p->target->block_bytes))
			break;
		status = rehearse_round(p, r, off, i * round_bytes, n_data, meta);
	}
	if (r->n_rounds == 0)
		r->cluster_bytes = 0;
	if (status == FAT_OK && r->n_rounds > 0) {
		status = timed_flush(p, &r->flush_ns);
		verify(p, off, round_bytes);
	}
	return status;
}

static enum fat_status rehearse_all(struct probe *p, const struct advise_layout *layouts)
{
	/* What people choose between comes first: 32 KiB, 4 KiB, 64 KiB ... */
	static const uint8_t order[ADVISE_N_CLUSTERS] = { 6, 3, 7, 5, 4, 2, 1, 0 };
	struct meta_places meta = { .content = aligned_alloc(4096, (size_t)3 * 4096) };
	enum fat_status status = meta.content ? FAT_OK : FAT_ERR_MEMORY;

	for (size_t i = 0; i < ADVISE_N_CLUSTERS && status == FAT_OK; i++) {
		const struct advise_layout *l = &layouts[order[i]];

		p->step_end_ns = UINT64_MAX;
		if (is_over(p))
			break;
		if (l->fat_bits != 0 && l->cluster_bytes >= p->target->block_bytes)
			status = rehearse(p, l, order[i], &meta);
	}
	free(meta.content);
	return status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static enum fat_status run_steps(struct probe *p, const struct advise_layout *layouts)
{
	enum fat_status status;

	measure_seek(p);
	measure_reads(p);
	measure_read_stream(p);
	measure_pages(p);
	status = measure_writes(p);
	if (status == FAT_OK)
		status = measure_write_stream(p);
	if (status == FAT_OK)
		status = rehearse_all(p, layouts);
	if (status == FAT_OK)
		status = measure_two_streams(p);
	return status;
}

enum fat_status advise_measure(struct advise_target *target, const struct advise_layout *layouts,
			       const struct advise_budget *budget, const struct advise_watch *watch,
			       struct advise_measured *measured)
{
	struct probe p = { .target = target,
			   .dev = target->dev,
			   .budget = budget,
			   .watch = watch,
			   .measured = measured,
			   .rng = 0x9E3779B97F4A7C15u };
	enum fat_status status = FAT_ERR_MEMORY;

	*measured = (struct advise_measured){ .block_bytes = target->block_bytes,
					      .max_bytes = target->max_bytes };
	if (target->dev->size_bytes < ADVISE_SMALLEST_BYTES)
		return FAT_ERR_SIZE;
	p.begin_ns = now(&p);
	p.buf = aligned_alloc(4096, STRETCH_BYTES);
	p.check = aligned_alloc(4096, CHECK_BYTES);
	if (p.buf && p.check)
		status = run_steps(&p, layouts);
	measured->elapsed_ns = now(&p) - p.begin_ns;
	free(p.buf);
	free(p.check);
	return status;
}
