/* SPDX-License-Identifier: MIT */
/*
 * measure_write: the steps that write back what they have read.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "probe.h"

#define SLOW_NS       50000000u
#define LEAST_WAIT_NS 5000000 /* for a cache: less may be this machine's own doing */
#define N_ROUNDS      3       /* of a rehearsal */
#define FEW_FAR       3
#define MANY_FAR      9

/* Of a page that may be the last one of a block. */
#define MOST_PIECES  2
#define FEW_PAGES    6
#define LARGEST_PAGE (48u << 10)

/* Of each size, on a slow device: fewer by so many parts of all, down to this. */
#define PARTS        8
#define LEAST_PIECES 2

/*
 * Writes that give the inside of a device much to do for few bytes: a row of them, and some here
 * and there, each in another erase block. *off: where the row lies, its len bytes in p->buf.
 */
static enum fat_status write_burst(struct probe *p, uint64_t off, size_t len, size_t n_far,
				   uint64_t *ns)
{
	const size_t piece = 64u << 10;
	uint64_t far[MANY_FAR], piece_ns;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < n_far; i++) {
		if (!probe_find_run(p, 4096, 4096, &far[i]) ||
		    probe_read(p, far[i], p->check + i * 4096, 4096, &piece_ns) != FAT_OK) {
			far[i] = off; /* the row's first block once more */
			memcpy(p->check + i * 4096, p->buf, 4096);
		}
	}
	*ns = 0;
	for (size_t at = 0; at < len && status == FAT_OK; at += piece) {
		status = probe_write(p, off + at, p->buf + at, piece, &piece_ns);
		*ns += piece_ns;
	}
	/* what takes long is not hidden by any cache: enough */
	for (size_t i = 0; i < n_far && status == FAT_OK && piece_ns < SLOW_NS; i++) {
		status = probe_write(p, far[i], p->check + i * 4096, 4096, &piece_ns);
		*ns += piece_ns;
	}
	return status;
}

/* A burst at a new place; what waited afterwards says how it may be settled. */
static enum fat_status try_cache(struct probe *p, size_t n_far, enum advise_settle *settle)
{
	const size_t len = 256u << 10;
	uint64_t off, write_ns, full_ns, empty_ns, waited_ns = 0;
	unsigned n_before;
	enum fat_status status;

	*settle = ADVISE_SETTLED;
	probe_begin_step(p, "cache", 15);
	if (!probe_affords_dear(p, 1) || !probe_may_write(p, 2 * len) ||
	    !probe_find_run(p, len, len, &off) || !probe_load(p, off, len))
		return FAT_OK;
	status = write_burst(p, off, len, n_far, &write_ns);
	if (status == FAT_OK)
		status = probe_flush(p, &full_ns);
	if (status == FAT_OK)
		status = probe_flush(p, &empty_ns);
	if (status != FAT_OK)
		return status;
	p->dearest_ns = max_u64(p->dearest_ns, full_ns); /* the writes, however they were hidden */
	if (full_ns > 2 * empty_ns && full_ns > write_ns / 5) {
		*settle = ADVISE_SETTLE_BY_FLUSH;
		probe_note_settled(p, full_ns);
	} else {
		probe_settle_by_reading(p, 4, &waited_ns, &n_before);
		if (n_before < 2 && waited_ns > write_ns / 5 && waited_ns > LEAST_WAIT_NS) {
			*settle = ADVISE_SETTLE_BY_READ;
			probe_note_settled(p, waited_ns);
		}
	}
	probe_verify(p, off, len);
	return FAT_OK;
}

/*
 * Is there a cache? If a flush empties it, the first one after some writes takes its time and a
 * second one none. If it ignores flushes, the first reads after the writes wait for it: often one
 * alone, for everything. That happens by chance as well, so a cache is seen twice or not at all.
 * A device that keeps many blocks open gets more to do, unless a write has shown what that takes.
 */
static enum fat_status find_cache(struct probe *p)
{
	enum advise_settle first, second;
	size_t n_far = FEW_FAR;
	enum fat_status status = try_cache(p, n_far, &first);

	if (status == FAT_OK && first == ADVISE_SETTLED && p->dearest_ns < SLOW_NS) {
		n_far = MANY_FAR;
		status = try_cache(p, n_far, &first);
	}
	if (status == FAT_OK && first != ADVISE_SETTLED) {
		status = try_cache(p, n_far, &second);
		if (second == first)
			p->measured->settle = first;
	}
	return status;
}

/* How much does the cache take before the writes slow down to what the medium does? */
static enum fat_status measure_cache(struct probe *p)
{
	const size_t piece = ADVISE_CACHE_PIECE_BYTES, len = 4u << 20;
	uint64_t off, ns, fastest = UINT64_MAX;
	unsigned n_slow = 0;

	if (p->measured->settle == ADVISE_SETTLED || !probe_find_run(p, 3 * len, len, &off))
		return FAT_OK;
	probe_begin_step(p, "cache size", 15);
	for (uint64_t done = 0; done < 3 * len && n_slow < ADVISE_CACHE_SLOW; done += piece) {
		enum fat_status status;

		if (probe_is_over(p) || !probe_may_write(p, piece) ||
		    (done % len == 0 && !probe_load(p, off + done, len)))
			break;
		status = probe_write(p, off + done, p->buf + done % len, piece, &ns);
		if (status != FAT_OK)
			return status;
		p->measured->cache_stream.bytes += piece;
		p->measured->cache_stream.ns += ns;
		fastest = min_u64(fastest, ns);
		n_slow = 2 * ns > 3 * fastest ? n_slow + 1 : 0;
		p->measured->cache_bytes = done + piece - n_slow * piece;
	}
	return probe_settle(p, &p->measured->cache_stream.ns);
}

/*
 * Writes a loaded stretch back in pieces, from *done on, until `end`; of each page (0: not known)
 * no more than two. Where a cache hides what a single piece takes, the sample is the mean of all.
 */
static enum fat_status write_pieces(struct probe *p, uint64_t off, size_t *done, size_t end,
				    size_t piece, size_t page, struct advise_samples *samples)
{
	uint64_t total_ns = 0, n = 0;
	enum fat_status status = FAT_OK;

	while (*done < end && status == FAT_OK && !probe_is_over(p) && probe_affords_dear(p, 1) &&
	       probe_may_write(p, piece)) {
		uint64_t ns;

		status = probe_write(p, off + *done, p->buf + *done, piece, &ns);
		probe_keep(samples, ns);
		total_ns += ns;
		*done += piece;
		n++;
		if (page > piece && *done % page >= MOST_PIECES * piece)
			*done = (size_t)round_up(*done, page);
	}
	if (status != FAT_OK || n == 0 || p->measured->settle == ADVISE_SETTLED)
		return status;
	status = probe_settle(p, &total_ns);
	samples->n = 1;
	samples->ns[0] = total_ns / n;
	return status;
}

/*
 * Where blocks are not known, pieces of a page may fall into the last one of a block, and close it
 * each time: so large a page is left after two of them. 0: no need to.
 */
static size_t careful_page(const struct probe *p)
{
	struct advise_inferred inferred;

	advise_infer(p->measured, &inferred);
	if (p->wear.block_bytes || inferred.heads_move)
		return 0;
	return p->page_bytes ? (size_t)p->page_bytes : LARGEST_PAGE;
}

/* How many bytes of each size, of `part` PARTS of the usual number of pieces; returns the sum. */
static size_t plan_sizes(uint32_t part, size_t page, size_t len[ADVISE_N_SIZES])
{
	static const uint8_t n_pieces[ADVISE_N_SIZES] = { 24, 24, 24, 24, 16, 16, 16, 12, 8 };
	size_t all = 0;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		size_t piece = advise_size_bytes(i);

		len[i] = max_u32(n_pieces[i] * part / PARTS, LEAST_PIECES) * piece;
		if (page > MOST_PIECES * piece)
			len[i] = max_u32(FEW_PAGES * part / PARTS, LEAST_PIECES) * page;
		all += len[i];
	}
	return all;
}

/*
 * As many pieces of each size as a slow device can read and write back in this step, and as a
 * small one has room for; loaded from *off on. 0: there is neither time nor room.
 */
static size_t load_sizes(struct probe *p, size_t page, size_t len[ADVISE_N_SIZES], uint64_t *off)
{
	for (uint32_t part = PARTS; part > 0; part--) {
		size_t all = plan_sizes(part, page, len);

		if (all <= PROBE_STRETCH_BYTES &&
		    (part == 1 || probe_can_read(p, 2 * all, p->step_end_ns)) &&
		    probe_find_run(p, all, advise_size_bytes(ADVISE_N_SIZES - 1), off))
			return probe_load(p, *off, all) ? all : 0;
	}
	return 0;
}

/*
 * Writes of all sizes, falling, one after the other: every piece lies at a multiple of its size,
 * and the device sees one rising stream, so that no size pays for moving somewhere else.
 */
static enum fat_status write_sizes(struct probe *p)
{
	size_t len[ADVISE_N_SIZES], all, done = 0, end = 0, page = careful_page(p);
	uint64_t off;
	enum fat_status status = FAT_OK;

	probe_begin_step(p, "writes by size", 20);
	all = load_sizes(p, page, len, &off);
	if (all == 0)
		return FAT_OK;
	for (size_t i = ADVISE_N_SIZES; i-- > 0 && status == FAT_OK;) {
		size_t piece = advise_size_bytes(i);

		if (piece < p->target->block_bytes)
			break;
		end += len[i];
		status = write_pieces(p, off, &done, end, piece, page, &p->measured->write[i]);
	}
	if (status == FAT_OK)
		probe_verify(p, off, all);
	return status;
}

/* A stretch after the other at the largest request, up to 8 MiB, each with its flush. */
static enum fat_status write_stream(struct probe *p)
{
	const size_t stretch = 1u << 20, len = 8u << 20;
	size_t max = min_u32(p->target->max_bytes, (uint32_t)stretch);
	struct advise_stream *stream = &p->measured->write_stream;
	uint64_t off, ns;
	enum fat_status status = FAT_OK;

	probe_begin_step(p, "write stream", 20);
	if (!probe_find_run(p, len, stretch, &off))
		return FAT_OK;
	for (uint64_t at = off; at < off + len && status == FAT_OK; at += stretch) {
		if (probe_is_over(p) || !probe_affords_dear(p, 1) ||
		    !probe_affords(p, stretch, p->target->max_bytes) ||
		    !probe_may_write(p, stretch) || !probe_load(p, at, stretch))
			break;
		for (size_t k = 0; k < stretch && status == FAT_OK; k += max) {
			size_t n = (size_t)min_u64(max, stretch - k);

			status = probe_write(p, at + k, p->buf + k, n, &ns);
			if (status == FAT_OK && k + max >= stretch)
				status = probe_settle(p, &ns);
			stream->ns += ns;
			stream->bytes += n;
			if (at == off && (k > 0 || max == stretch)) {
				p->measured->burst.ns += ns;
				p->measured->burst.bytes += n;
			}
		}
		if (status == FAT_OK)
			probe_verify(p, at, stretch);
	}
	return status;
}

/* What is fast only for a while may slow down when more is written. */
static enum fat_status write_long_stream(struct probe *p)
{
	const size_t stretch = 1u << 20, len = 40u << 20;
	size_t max = min_u32(p->target->max_bytes, (uint32_t)stretch);
	uint64_t off;
	enum fat_status status = FAT_OK;

	probe_begin_step(p, "long stream", 20);
	if (!probe_find_run(p, len, stretch, &off))
		return FAT_OK;
	for (uint64_t at = off; at < off + len && status == FAT_OK; at += stretch) {
		uint64_t ns = 0, piece_ns;

		if (probe_is_over(p) || !probe_affords_dear(p, 2) ||
		    !probe_affords(p, stretch, p->target->max_bytes) ||
		    !probe_may_write(p, stretch) || !probe_load(p, at, stretch))
			break;
		for (size_t k = 0; k < stretch && status == FAT_OK; k += max) {
			status = probe_write(p, at + k, p->buf + k,
					     (size_t)min_u64(max, stretch - k), &piece_ns);
			ns += piece_ns;
		}
		if (status == FAT_OK)
			status = probe_settle(p, &ns);
		probe_keep(&p->measured->long_stream, ns);
	}
	return status;
}

/* 64 KiB here, 64 KiB there, in turn. */
struct streams {
	uint64_t off[4];
	size_t n, part_bytes; /* of each, one behind the other from the second place in p->buf on */
};

static bool load_streams(struct probe *p, struct streams *s)
{
	/* at the start of a block; come back to once, if it is not open all the time */
	const struct probe_want want = { s->part_bytes, p->target->block_bytes, 0, WEAR_MOST };

	for (size_t k = 0; k < s->n; k++) {
		if (!probe_find_place(p, &want, &s->off[k]) ||
		    !probe_load(p, s->off[k], s->part_bytes))
			return false;
		memcpy(p->buf + (k + 1) * s->part_bytes, p->buf, s->part_bytes);
	}
	return true;
}

/* One piece of each. */
static enum fat_status write_round(struct probe *p, const struct streams *s, size_t at,
				   size_t piece, uint64_t *ns)
{
	enum fat_status status = FAT_OK;

	*ns = 0;
	for (size_t k = 0; k < s->n && status == FAT_OK; k++) {
		const uint8_t *from = p->buf + (k + 1) * s->part_bytes + at;
		uint64_t piece_ns;

		status = probe_write(p, s->off[k] + at, from, piece, &piece_ns);
		if (status == FAT_OK && k + 1 == s->n)
			status = probe_settle(p, &piece_ns);
		*ns += piece_ns;
	}
	return status;
}

/*
 * From one thread, n streams, 2 MiB in all. Where each turn may cost a block, twice must do: a
 * block that is closed out of order costs two erases. Where that cannot be helped it is left out.
 */
static enum fat_status write_streams(struct probe *p, size_t n, struct advise_stream *stream)
{
	const size_t all = 2u << 20;
	const uint32_t piece = 64u << 10;
	const struct advise_inside *inside = &p->measured->inside;
	bool all_open = p->erases_show && inside->open_at_least >= n;
	struct streams s = { .n = n, .part_bytes = all_open ? all / n : (size_t)2 * piece };
	enum fat_status status = FAT_OK;

	probe_begin_step(p, n == 2 ? "two streams" : "four streams", 8);
	if ((inside->costs && p->wear.block_bytes == 0) ||
	    !probe_affords(p, n * s.part_bytes, piece) || !load_streams(p, &s))
		return FAT_OK;
	for (size_t at = 0; at < s.part_bytes; at += piece) {
		uint64_t ns;

		if (probe_is_over(p) || !probe_affords_dear(p, (unsigned)n) ||
		    !probe_may_write(p, n * piece))
			return FAT_OK;
		status = write_round(p, &s, at, piece, &ns);
		if (status != FAT_OK)
			return status;
		stream->bytes += n * piece;
		stream->ns += ns;
	}
	probe_verify(p, s.off[n - 1], s.part_bytes);
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
		if (probe_read(p, meta->off[i], meta->content + i * block, block, &ns) != FAT_OK)
			return false;
	return true;
}

/* One round: n_data clusters, then the metadata. Counts only rounds that were completed. */
static enum fat_status rehearse_round(struct probe *p, struct advise_rehearsal *r, uint64_t off,
				      uint32_t c, size_t n_data, const struct meta_places *meta)
{
	uint32_t block = p->target->block_bytes;
	uint64_t ns, first_ns = 0, data_ns = 0, meta_ns = 0;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < n_data && status == FAT_OK; i++) {
		status = probe_write(p, off + i * c, p->buf + i * c, c, &ns);
		if (status == FAT_OK && (i == 0 || i + 1 == n_data))
			status = probe_settle(p, &ns);
		*(i == 0 ? &first_ns : &data_ns) += ns;
	}
	for (size_t i = 0; i < 3 && status == FAT_OK; i++) {
		status = probe_write(p, meta->off[i], meta->content + i * block, block, &ns);
		if (status == FAT_OK)
			status = probe_settle(p, &ns);
		meta_ns += ns;
	}
	if (status != FAT_OK)
		return status;
	r->n_rounds++;
	r->n_data += n_data - 1;
	r->first_ns += first_ns;
	r->data_ns += data_ns;
	r->meta_ns += meta_ns;
	return FAT_OK;
}

/* What a round needs: a place, bytes and time for it. */
static bool prepare_round(struct probe *p, const struct advise_layout *l, uint64_t round_bytes,
			  struct meta_places *meta, uint64_t *off)
{
	uint32_t block = p->target->block_bytes, cluster = l->cluster_bytes;
	const struct probe_want want = { round_bytes, cluster, l->data_off / block * block,
					 WEAR_RUN };

	return !probe_is_over(p) && probe_affords_dear(p, 4) &&
	       probe_affords(p, round_bytes, cluster) &&
	       probe_may_write(p, round_bytes + 3ull * block) && probe_find_place(p, &want, off) &&
	       probe_load(p, *off, round_bytes) &&
	       load_meta(p, l, (*off - want.base_off) / cluster + 2, meta);
}

/* Each round with its data elsewhere, so that no block is erased again and again. */
static enum fat_status rehearse(struct probe *p, const struct advise_layout *l, size_t index,
				struct meta_places *meta)
{
	struct advise_rehearsal *r = &p->measured->rehearsal[index];
	const size_t n_data = 12, round_bytes = n_data * l->cluster_bytes, page = careful_page(p);
	enum fat_status status = FAT_OK;
	uint64_t off;

	if (page > (uint64_t)MOST_PIECES * l->cluster_bytes && p->measured->inside.costs)
		return FAT_OK; /* it might close a block with each of them */
	probe_begin_step(p, "rehearsal", 8);
	for (size_t i = 0; i < N_ROUNDS && status == FAT_OK; i++) {
		if (!prepare_round(p, l, round_bytes, meta, &off))
			break;
		status = rehearse_round(p, r, off, l->cluster_bytes, n_data, meta);
		if (status == FAT_OK)
			probe_verify(p, off, round_bytes);
	}
	r->cluster_bytes = r->n_rounds ? l->cluster_bytes : 0;
	return status;
}

static enum fat_status rehearse_all(struct probe *p, const struct advise_layout *layouts)
{
	/* What people choose between: 32 KiB, 4 KiB, 64 KiB; all would wear out the FAT's place. */
	static const uint8_t order[] = { 6, 3, 7 };
	struct meta_places meta = { .content = aligned_alloc(4096, (size_t)3 * 4096) };
	enum fat_status status = meta.content ? FAT_OK : FAT_ERR_MEMORY;

	for (size_t i = 0; i < sizeof order && status == FAT_OK; i++) {
		const struct advise_layout *l = &layouts[order[i]];

		p->step_end_ns = UINT64_MAX;
		if (probe_is_over(p))
			break;
		if (l->fat_bits != 0 && l->cluster_bytes >= p->target->block_bytes)
			status = rehearse(p, l, order[i], &meta);
	}
	free(meta.content);
	return status;
}

enum fat_status probe_writes(struct probe *p, const struct advise_layout *layouts)
{
	enum fat_status status = find_cache(p);

	if (status == FAT_OK)
		status = measure_cache(p);
	if (status == FAT_OK)
		status = write_sizes(p);
	if (status == FAT_OK)
		status = write_stream(p);
	if (status == FAT_OK)
		status = probe_block_stream(p);
	if (status == FAT_OK)
		status = probe_inside(p);
	if (status == FAT_OK)
		status = probe_disk(p);
	if (status == FAT_OK)
		status = rehearse_all(p, layouts);
	if (status == FAT_OK)
		status = write_streams(p, 2, &p->measured->two_streams);
	if (status == FAT_OK)
		status = write_streams(p, 4, &p->measured->four_streams);
	if (status == FAT_OK)
		status = write_long_stream(p);
	return status;
}
