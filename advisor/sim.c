/* SPDX-License-Identifier: MIT */
/*
 * sim: the device model. See sim.h.
 *
 * Invariants: the medium does one thing at a time (medium_free_ns), the host sends one command at a
 * time; equal parameters, seed and requests give equal times.
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define NO_BLOCK    UINT64_MAX
#define CACHE_ITEMS 4096

struct segment {
	uint64_t block; /* NO_BLOCK: free */
	uint64_t used;  /* linear: pages 0..used-1 are there; log: pages taken */
	uint64_t last_page;
	uint64_t kept_page, kept_from, kept_to; /* page buffer: part of a page not programmed yet */
	uint64_t stamp;                         /* of the last use */
	bool in_order;
};

struct sim {
	struct sim_params p;
	uint64_t pages_per_block, n_blocks;
	struct segment *segments;
	uint16_t *wear;
	uint64_t *filled; /* of a fresh device: bit per page that was written */
	uint64_t stamp, rng;
	uint64_t medium_free_ns;
	struct {
		uint64_t len_bytes, done_ns;
	} cache[CACHE_ITEMS];
	size_t cache_head, n_cache;
	uint64_t cached_bytes;
	uint64_t track, read_end_off; /* disk: where the heads are, where the last read ended */
	uint64_t written_bytes, since_stall_bytes;
	struct sim_stats stats;
};

static bool uses_blocks(const struct sim_params *p)
{
	return p->kind == SIM_LOG || p->kind == SIM_LINEAR;
}

static bool params_are_sound(const struct sim_params *p)
{
	if (p->size_bytes < 512 || p->page_bytes == 0 || p->block_bytes == 0)
		return false;
	if (p->kind == SIM_DISK)
		return p->rpm > 0 && p->track_bytes > 0;
	return p->block_bytes % p->page_bytes == 0 && p->block_off < p->block_bytes &&
	       (!uses_blocks(p) || p->open_segments > 0);
}

static bool alloc_segments(struct sim *sim)
{
	uint64_t n_pages = sim->n_blocks * sim->pages_per_block;

	sim->wear = calloc((size_t)sim->n_blocks, sizeof *sim->wear);
	sim->segments = calloc(sim->p.open_segments, sizeof *sim->segments);
	if (sim->p.fresh)
		sim->filled = calloc((size_t)div_ceil(n_pages, 64), sizeof *sim->filled);
	if (!sim->wear || !sim->segments || (sim->p.fresh && !sim->filled))
		return false;
	for (uint32_t i = 0; i < sim->p.open_segments; i++) {
		sim->segments[i].block = NO_BLOCK;
		sim->segments[i].kept_page = UINT64_MAX;
	}
	return true;
}

struct sim *sim_new(const struct sim_params *params)
{
	struct sim *sim;

	if (!params_are_sound(params))
		return NULL;
	sim = calloc(1, sizeof *sim);
	if (!sim)
		return NULL;
	sim->p = *params;
	sim->rng = params->seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
	sim->read_end_off = UINT64_MAX;
	sim->pages_per_block = params->block_bytes / params->page_bytes;
	sim->n_blocks = params->size_bytes / params->block_bytes + 3;
	if (uses_blocks(params) && !alloc_segments(sim)) {
		sim_free(sim);
		return NULL;
	}
	return sim;
}

void sim_free(struct sim *sim)
{
	if (!sim)
		return;
	free(sim->segments);
	free(sim->wear);
	free(sim->filled);
	free(sim);
}

struct sim_stats sim_stats(const struct sim *sim)
{
	return sim->stats;
}

/* Places count from the first boundary, moved up by one block so that none is negative. */
static uint64_t place_of(const struct sim *sim, uint64_t off)
{
	return off + (sim->p.block_off ? sim->p.block_bytes - sim->p.block_off : 0);
}

unsigned sim_worst_erases(const struct sim *sim, uint64_t from_off)
{
	unsigned worst = 0;

	for (uint64_t i = 0; sim->wear && i < sim->n_blocks; i++)
		if (i * sim->p.block_bytes >= place_of(sim, from_off) && sim->wear[i] > worst)
			worst = sim->wear[i];
	return worst;
}

/* xorshift64*: 0 <= x < 1 */
static double random_unit(struct sim *sim)
{
	sim->rng ^= sim->rng >> 12;
	sim->rng ^= sim->rng << 25;
	sim->rng ^= sim->rng >> 27;
	return (double)(sim->rng * 0x2545F4914F6CDD1Du >> 11) * 0x1p-53;
}

/* ---- blocks and segments ------------------------------------------------------------------- */

static uint64_t erase(struct sim *sim, uint64_t block)
{
	uint16_t *wear = &sim->wear[block];

	sim->stats.n_erases++;
	if (*wear < UINT16_MAX)
		++*wear;
	return sim->p.erase_ns;
}

static bool is_filled(const struct sim *sim, uint64_t block, uint64_t page)
{
	uint64_t i = block * sim->pages_per_block + page;

	return !sim->filled || (sim->filled[i / 64] >> i % 64 & 1);
}

/* Pages from..to-1 of a block, as far as they hold anything. */
static uint64_t copy(struct sim *sim, uint64_t block, uint64_t from, uint64_t to)
{
	uint64_t n = to - from;

	for (uint64_t page = from; sim->filled && page < to; page++)
		n -= !is_filled(sim, block, page);
	sim->stats.n_copied_pages += n;
	return n * sim->p.copy_ns;
}

/* A page is read because only a part of it is written. */
static uint64_t sense(struct sim *sim)
{
	sim->stats.n_sensed_pages++;
	return sim->p.sense_ns;
}

static uint64_t program(struct sim *sim, uint64_t block, uint64_t page)
{
	uint64_t i = block * sim->pages_per_block + page;

	if (sim->filled)
		sim->filled[i / 64] |= 1ull << i % 64;
	sim->stats.n_programmed_pages++;
	return sim->written_bytes < sim->p.burst_bytes ? sim->p.burst_program_ns
						       : sim->p.program_ns;
}

static void restart(struct sim *sim, struct segment *s, uint64_t block)
{
	*s = (struct segment){ .block = block,
			       .last_page = UINT64_MAX,
			       .kept_page = UINT64_MAX,
			       .stamp = ++sim->stamp,
			       .in_order = true };
}

/* What the page buffer kept is programmed; the rest of its page is read for that. */
static uint64_t release_page(struct sim *sim, struct segment *s)
{
	bool partial = s->kept_to - s->kept_from < sim->p.page_bytes;
	uint64_t page = s->kept_page;

	if (page == UINT64_MAX)
		return 0;
	s->kept_page = UINT64_MAX;
	partial = partial && is_filled(sim, s->block, page);
	return (partial ? sense(sim) : 0) + program(sim, s->block, page);
}

/* What the block still lacks is copied into the segment, and the old block erased. */
static uint64_t close_segment(struct sim *sim, struct segment *s)
{
	uint64_t cost, block = s->block;

	if (block == NO_BLOCK)
		return 0;
	cost = release_page(sim, s);
	if (s->in_order)
		cost += copy(sim, block, s->used, sim->pages_per_block) + erase(sim, block);
	else
		cost += copy(sim, block, 0, sim->pages_per_block) + erase(sim, block) +
			erase(sim, block);
	restart(sim, s, NO_BLOCK);
	return cost;
}

/* The open segment of a block; where none is, the one used longest ago is closed for it. */
static struct segment *segment_of(struct sim *sim, uint64_t block, uint64_t *cost)
{
	struct segment *oldest = &sim->segments[0];

	for (uint32_t i = 0; i < sim->p.open_segments; i++) {
		struct segment *s = &sim->segments[i];

		if (s->block == block) {
			s->stamp = ++sim->stamp;
			return s;
		}
		if (oldest->block != NO_BLOCK && (s->block == NO_BLOCK || s->stamp < oldest->stamp))
			oldest = s;
	}
	*cost += close_segment(sim, oldest);
	restart(sim, oldest, block);
	return oldest;
}

static uint64_t write_linear(struct sim *sim, struct segment *s, uint64_t page, bool partial)
{
	uint64_t cost = 0;

	if (page + 1 == s->used) /* once more the page written last: into a spare one */
		return sense(sim) + program(sim, s->block, page);
	if (page < s->used) {
		uint64_t block = s->block;

		cost += close_segment(sim, s);
		restart(sim, s, block);
	}
	if (page > s->used)
		cost += copy(sim, s->block, s->used, page);
	s->used = page + 1;
	partial = partial && is_filled(sim, s->block, page);
	return cost + (partial ? sense(sim) : 0) + program(sim, s->block, page);
}

static uint64_t write_log(struct sim *sim, struct segment *s, uint64_t page, bool partial)
{
	uint64_t cost = 0;

	if (partial && page == s->last_page)
		return sense(sim) + program(sim, s->block, page);
	if (s->used >= sim->pages_per_block) {
		uint64_t block = s->block;

		cost += close_segment(sim, s);
		restart(sim, s, block);
	}
	if (page != s->used)
		s->in_order = false;
	s->used++;
	partial = partial && is_filled(sim, s->block, page);
	return cost + (partial ? sense(sim) : 0) + program(sim, s->block, page);
}

static uint64_t write_segment(struct sim *sim, struct segment *s, uint64_t page, bool partial)
{
	uint64_t cost = sim->p.kind == SIM_LINEAR ? write_linear(sim, s, page, partial)
						  : write_log(sim, s, page, partial);

	s->last_page = page;
	return cost;
}

/* A part of a page: it waits in the buffer for what follows directly. */
static uint64_t keep_part(struct sim *sim, struct segment *s, uint64_t page, uint64_t from,
			  uint64_t to)
{
	uint64_t cost = 0;

	if (s->kept_page != page || s->kept_to != from) {
		cost = release_page(sim, s);
		/* its place is taken now, and it is programmed when it leaves the buffer */
		cost += write_segment(sim, s, page, false) - sim->p.program_ns;
		sim->stats.n_programmed_pages--;
		s->kept_page = page;
		s->kept_from = from;
	}
	s->kept_to = to;
	return cost + (to == sim->p.page_bytes ? release_page(sim, s) : 0);
}

static uint64_t write_page(struct sim *sim, uint64_t place, uint64_t len_bytes)
{
	const struct sim_params *p = &sim->p;
	uint64_t block = place / p->block_bytes, page = place % p->block_bytes / p->page_bytes;
	uint64_t from = place % p->page_bytes;
	bool partial = len_bytes < p->page_bytes;
	struct segment *s;
	uint64_t cost = 0;

	if (block < p->fat_blocks)
		return (partial ? sense(sim) : 0) + program(sim, block, page);
	s = segment_of(sim, block, &cost);
	if (p->page_buffer && partial) {
		cost += keep_part(sim, s, page, from, from + len_bytes);
	} else {
		if (s->kept_page == page)
			s->kept_page = UINT64_MAX; /* written over */
		cost += release_page(sim, s) + write_segment(sim, s, page, partial);
	}
	if (s->used >= sim->pages_per_block && s->kept_page == UINT64_MAX)
		cost += close_segment(sim, s);
	return cost;
}

static uint64_t write_flash(struct sim *sim, uint64_t off, uint64_t len_bytes)
{
	uint64_t place = place_of(sim, off), end = place + len_bytes, cost = 0;

	while (place < end) {
		uint64_t n = min_u64(sim->p.page_bytes - place % sim->p.page_bytes, end - place);

		if (uses_blocks(&sim->p))
			cost += write_page(sim, place, n);
		else
			cost += (n < sim->p.page_bytes ? sense(sim) : 0) +
				program(sim, place / sim->p.page_bytes, 0);
		place += n;
	}
	return cost;
}

static uint64_t read_flash(const struct sim *sim, uint64_t off, uint64_t len_bytes)
{
	const struct sim_params *p = &sim->p;
	uint64_t first = place_of(sim, off), last = first + len_bytes - 1;
	uint64_t n_pages = last / p->page_bytes - first / p->page_bytes + 1;
	uint64_t n_blocks = last / p->block_bytes - first / p->block_bytes + 1;

	return n_pages * p->sense_ns + n_blocks * p->lookup_ns;
}

/* ---- disk ---------------------------------------------------------------------------------- */

static uint64_t turn_disk(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
			  uint64_t start_ns)
{
	const struct sim_params *p = &sim->p;
	double turn_ns = 60e9 / p->rpm,
	       transfer_ns = (double)len_bytes / (double)p->track_bytes * turn_ns;
	uint64_t track = off / p->track_bytes;
	double cost = 0, angle, target, wait;

	if (op == SIM_READ && off == sim->read_end_off) { /* read ahead into the buffer */
		sim->read_end_off = off + len_bytes;
		return (uint64_t)transfer_ns;
	}
	if (track != sim->track) {
		double far = fabs((double)track - (double)sim->track) * (double)p->track_bytes /
			     (double)p->size_bytes;

		cost += (double)p->seek_min_ns +
			(double)(p->seek_full_ns - p->seek_min_ns) * sqrt(far);
	}
	angle = fmod((double)start_ns + cost, turn_ns);
	target = (double)(off % p->track_bytes) / (double)p->track_bytes * turn_ns;
	wait = target - angle;
	if (wait < 0)
		wait += turn_ns;
	sim->track = (off + len_bytes) / p->track_bytes;
	sim->read_end_off = op == SIM_READ ? off + len_bytes : UINT64_MAX;
	return (uint64_t)(cost + wait + transfer_ns);
}

/* ---- cache, bus, noise --------------------------------------------------------------------- */

static uint64_t medium(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
		       uint64_t start_ns)
{
	if (sim->p.kind == SIM_DISK)
		return turn_disk(sim, op, off, len_bytes, start_ns);
	return op == SIM_READ ? read_flash(sim, off, len_bytes) : write_flash(sim, off, len_bytes);
}

static void forget_done(struct sim *sim, uint64_t now_ns)
{
	while (sim->n_cache > 0 && sim->cache[sim->cache_head].done_ns <= now_ns) {
		sim->cached_bytes -= sim->cache[sim->cache_head].len_bytes;
		sim->cache_head = (sim->cache_head + 1) % CACHE_ITEMS;
		sim->n_cache--;
	}
}

/* Takes data into the cache, waiting for room; the medium's time is booked at once. */
static uint64_t write_cached(struct sim *sim, uint64_t off, uint64_t len_bytes, uint64_t now_ns)
{
	size_t tail;

	forget_done(sim, now_ns);
	while (sim->n_cache == CACHE_ITEMS ||
	       (sim->n_cache > 0 && sim->cached_bytes + len_bytes > sim->p.cache_bytes)) {
		now_ns = max_u64(now_ns, sim->cache[sim->cache_head].done_ns);
		forget_done(sim, now_ns);
	}
	now_ns += (uint64_t)((double)len_bytes * sim->p.write_ns_per_byte);
	sim->medium_free_ns = max_u64(sim->medium_free_ns, now_ns);
	sim->medium_free_ns += medium(sim, SIM_WRITE, off, len_bytes, sim->medium_free_ns);
	tail = (sim->cache_head + sim->n_cache++) % CACHE_ITEMS;
	sim->cache[tail].len_bytes = len_bytes;
	sim->cache[tail].done_ns = sim->medium_free_ns;
	sim->cached_bytes += len_bytes;
	return now_ns;
}

static uint64_t transfer(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
			 uint64_t now_ns)
{
	double ns_per_byte = op == SIM_READ ? sim->p.read_ns_per_byte : sim->p.write_ns_per_byte;
	uint64_t bus_ns = (uint64_t)((double)len_bytes * ns_per_byte), medium_ns;

	now_ns += op == SIM_READ ? sim->p.read_command_ns : sim->p.write_command_ns;
	if (op == SIM_WRITE && sim->p.cache_bytes > 0)
		return write_cached(sim, off, len_bytes, now_ns);
	now_ns = max_u64(now_ns, sim->medium_free_ns);
	if (!sim->p.overlap)
		now_ns += bus_ns;
	medium_ns = medium(sim, op, off, len_bytes, now_ns);
	now_ns += sim->p.overlap ? max_u64(bus_ns, medium_ns) : medium_ns;
	sim->medium_free_ns = now_ns;
	return now_ns;
}

static uint64_t disturb(struct sim *sim, enum sim_op op, uint64_t len_bytes, uint64_t cost_ns)
{
	const struct sim_params *p = &sim->p;

	if (p->noise > 0)
		cost_ns = (uint64_t)((double)cost_ns *
				     (1 + p->noise * (random_unit(sim) + random_unit(sim) - 1)));
	if (p->spike_chance > 0 && random_unit(sim) < p->spike_chance)
		cost_ns += (uint64_t)(-log(1 - random_unit(sim)) * (double)p->spike_ns);
	if (op == SIM_WRITE && p->stall_every_bytes > 0) {
		sim->since_stall_bytes += len_bytes;
		if (sim->since_stall_bytes >= p->stall_every_bytes) {
			sim->since_stall_bytes -= p->stall_every_bytes;
			cost_ns += p->stall_ns;
		}
	}
	return cost_ns;
}

static uint64_t release_all(struct sim *sim)
{
	uint64_t cost = 0;

	for (uint32_t i = 0; sim->segments && i < sim->p.open_segments; i++)
		cost += release_page(sim, &sim->segments[i]);
	return cost;
}

static uint64_t command(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
			uint64_t now_ns)
{
	uint64_t done_ns, end_ns;

	if (sim->p.real_bytes > 0)
		off %= sim->p.real_bytes;
	if (op == SIM_FLUSH) {
		sim->stats.n_flushes++;
		done_ns = now_ns + sim->p.flush_ns;
		if (!sim->p.cache_lies)
			done_ns = max_u64(done_ns, sim->medium_free_ns) + release_all(sim);
	} else {
		done_ns = transfer(sim, op, off, len_bytes, now_ns);
	}
	if (op == SIM_WRITE) {
		sim->written_bytes += len_bytes;
		sim->stats.n_commands++;
		sim->stats.n_bytes += len_bytes;
	}
	end_ns = now_ns + disturb(sim, op, len_bytes, done_ns - now_ns);
	if (sim->p.cache_bytes == 0)
		sim->medium_free_ns = end_ns; /* nothing goes on behind the host's back */
	return end_ns + sim->p.host_ns;
}

uint64_t sim_request(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
		     uint64_t now_ns)
{
	uint64_t most = sim->p.max_command_bytes ? sim->p.max_command_bytes : UINT64_MAX;

	if (op == SIM_FLUSH)
		return command(sim, op, 0, 0, now_ns);
	/* nothing lies behind its end */
	off = min_u64(off, sim->p.size_bytes);
	len_bytes = min_u64(len_bytes, sim->p.size_bytes - off);
	while (len_bytes > 0) {
		uint64_t n = min_u64(len_bytes, most);

		now_ns = command(sim, op, off, n, now_ns);
		off += n;
		len_bytes -= n;
	}
	return now_ns;
}
