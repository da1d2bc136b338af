/* SPDX-License-Identifier: MIT */
/*
 * fit: a model of the device from the record of its writes. Pure.
 *
 * Structures (kind, blocks, open segments ...) are tried, each with its best prices
 * (fit_prices.h); the one that leaves the least unexplained is the model. The simpler ones are
 * tried first, and a later one must be better by 2 %.
 */
#include <math.h>
#include <stdlib.h>

#include "bytes.h"
#include "fit_prices.h"

#define CLEARLY    0.98
#define FAR_BETTER 0.5
#define MOST_OPEN  8
#define MOST_FAT   8

#define LEAST_PAGES 8 /* of a block */

#define MOST_ERASE_NS 50e6
/* A flush that is over sooner never left this machine. */
#define UNSENT_NS 5000

struct search {
	const struct advise_measured *measured;
	struct fit_table table;
	struct sim_params best;
	struct fit_prices prices;
	bool found;
};

/*
 * To erase a block takes some milliseconds, and to copy a page hardly less than to program one:
 * what would need other prices is something else.
 */
static bool are_likely(const struct sim_params *params, const struct fit_prices *prices)
{
	const double *ns = prices->ns;

	return params->kind == SIM_FLAT ||
	       (ns[PART_ERASE] < MOST_ERASE_NS &&
		(params->fresh || ns[PART_COPY] > 0.2 * ns[PART_PROGRAM]));
}

static void try_structure(struct search *s, const struct sim_params *params)
{
	struct fit_prices prices;

	if (!fit_find_prices(s->measured, params, &s->table, &prices) ||
	    !are_likely(params, &prices) || (s->found && prices.error >= s->prices.error * CLEARLY))
		return;
	s->best = *params;
	s->prices = prices;
	s->found = true;
}

/* Both ways: bus and medium one after the other, and at once. */
static void try_buses(struct search *s, struct sim_params p)
{
	p.overlap = false;
	try_structure(s, &p);
	p.overlap = true;
	if (s->measured->settle == ADVISE_SETTLED)
		try_structure(s, &p);
}

/* Pages but no blocks: the price of a write does not depend on its place. */
static void try_flat(struct search *s, const struct advise_inferred *inferred)
{
	struct sim_params p = { .kind = SIM_FLAT,
				.size_bytes = s->measured->size_bytes,
				.page_bytes = inferred->page.value,
				.block_off = inferred->page_off };

	if (p.page_bytes) {
		p.block_bytes = p.page_bytes;
		try_buses(s, p);
		return;
	}
	p.block_off = 0;
	for (p.page_bytes = 512; p.page_bytes <= 32768; p.page_bytes *= 2) {
		p.block_bytes = p.page_bytes;
		try_buses(s, p);
	}
}

/* How blocks are kept open: any page at a time or rising ones, with a page buffer or without. */
static void try_ways(struct search *s, struct sim_params p)
{
	for (int way = 0; way < 4; way++) {
		p.kind = way & 1 ? SIM_LOG : SIM_LINEAR;
		p.page_buffer = way & 2;
		try_buses(s, p);
	}
}

/*
 * On a device that was never full going elsewhere costs little: what visits told may not count.
 * More blocks at once than visits counted are as good as one more.
 */
static void try_blocks(struct search *s, const struct advise_inferred *inferred)
{
	const struct advise_inside *inside = &s->measured->inside;
	uint64_t seen = inferred->open_segments.value;
	uint32_t most = max_u32(MOST_OPEN, inside->open_at_least);
	struct sim_params p = { .size_bytes = s->measured->size_bytes,
				.page_bytes = inferred->page.value,
				.block_bytes = inferred->block.value,
				.block_off = inferred->block_off,
				.fat_blocks = inside->fat_blocks,
				.cache_lies = advise_median(&s->measured->flush) < UNSENT_NS };

	if (!p.block_bytes || !p.page_bytes || p.block_bytes % p.page_bytes)
		return;
	for (p.open_segments = 1; p.open_segments <= most; p.open_segments++) {
		if (seen ? p.open_segments == seen : p.open_segments >= inside->open_at_least)
			try_ways(s, p);
	}
	p.fresh = true;
	for (p.open_segments = 1; p.open_segments <= most; p.open_segments++) {
		p.fat_blocks = 0;
		try_ways(s, p);
		p.fat_blocks = inside->fat_blocks;
		if (p.fat_blocks > 0)
			try_ways(s, p);
	}
}

/* Blocks that reads show, but no pages: some of usual lengths. */
static void try_usual_pages(struct search *s, const struct advise_inferred *inferred)
{
	struct advise_inferred other = *inferred;

	if (inferred->page.value)
		return;
	for (other.page.value = 4096; other.page.value <= 32768; other.page.value *= 2)
		try_blocks(s, &other);
}

/*
 * Pages of one sector are crossed at every point of a row of reads: what stands out there is the
 * ends of blocks, though they pass for those of pages. Only what explains the writes far better
 * than pages is believed.
 */
static void try_pages_as_blocks(struct search *s, const struct advise_inferred *inferred)
{
	struct advise_inferred other = *inferred;
	struct search before = *s;
	uint64_t longest = inferred->page.value / LEAST_PAGES;

	if (inferred->block.value || (s->found && s->prices.error < ADVISE_FIT_LIMIT))
		return;
	other.block = inferred->page;
	other.block_off = inferred->page_off;
	for (other.page.value = 512; other.page.value <= longest; other.page.value *= 2)
		try_blocks(s, &other);
	if (before.found && s->prices.error > FAR_BETTER * before.prices.error)
		*s = before;
}

/* Blocks for the FAT, as far as visits did not tell: the rehearsal wrote there. */
static void try_fat_blocks(struct search *s)
{
	for (uint32_t n = 1; s->best.open_segments > 0 && n <= MOST_FAT; n++) {
		struct sim_params p = s->best;

		p.fat_blocks = n;
		try_structure(s, &p);
	}
}

static void try_commands(struct search *s)
{
	static const uint16_t cuts_kib[] = { 512, 256, 240, 128, 120, 64, 32, 16 };

	for (size_t i = 0; i < sizeof cuts_kib / sizeof *cuts_kib; i++) {
		struct sim_params p = s->best;

		p.max_command_bytes = (uint64_t)cuts_kib[i] * 1024;
		if (p.max_command_bytes < s->measured->max_bytes)
			try_structure(s, &p);
	}
}

/* ---- the model ----------------------------------------------------------------------------- */

static uint64_t whole_ns(double ns)
{
	return (uint64_t)(ns + 0.5);
}

/* What was taken at the speed of the bus, less what the medium had written meanwhile. */
static void set_cache(const struct advise_measured *measured, struct sim_params *p)
{
	double bytes = (double)measured->cache_bytes;
	double bus = p->write_ns_per_byte + (double)p->write_command_ns / 65536;
	double medium = (double)p->program_ns / (double)p->page_bytes;

	if (measured->settle == ADVISE_SETTLED || medium <= 0)
		return;
	p->cache_bytes = whole_ns(fmax(bytes * (1 - bus / medium), 65536));
	p->cache_lies = measured->settle == ADVISE_SETTLE_BY_READ;
}

/* The prices go into the model; a read far away is what it was measured to be. */
static void set_times(const struct search *s, const struct advise_inferred *inferred,
		      struct sim_params *p)
{
	const double *ns = s->prices.ns;

	p->write_command_ns = whole_ns(ns[PART_COMMAND]);
	p->write_ns_per_byte = ns[PART_BYTE];
	p->program_ns = whole_ns(ns[PART_PROGRAM]);
	p->sense_ns = whole_ns(ns[PART_SENSE]);
	p->copy_ns = whole_ns(ns[PART_COPY]);
	p->erase_ns = whole_ns(ns[PART_ERASE]);
	p->flush_ns = s->measured->settle == ADVISE_SETTLE_BY_FLUSH
			      ? whole_ns(ns[PART_FLUSH])
			      : whole_ns(advise_percentile(&s->measured->flush, 0));
	p->read_command_ns = whole_ns(fmax(inferred->far_read_ns - ns[PART_SENSE], 0));
	if (p->max_command_bytes == 0)
		p->max_command_bytes = s->measured->max_bytes;
	set_cache(s->measured, p);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void fit_flash(struct search *s, const struct advise_inferred *inferred,
		      struct sim_params *params, struct advise_fit *fit)
{
	try_flat(s, inferred);
	try_blocks(s, inferred);
	try_usual_pages(s, inferred);
	try_pages_as_blocks(s, inferred);
	try_fat_blocks(s);
	try_commands(s);
	if (!s->found)
		return;
	*params = s->best;
	set_times(s, inferred, params);
	fit->error = s->prices.error;
	if (s->measured->settle == ADVISE_SETTLED) {
		struct fit_prices prices;

		if (fit_find_prices(s->measured, &s->best, &s->table, &prices))
			fit->doubt_ns = fit_find_pauses(s->measured, &s->table, params);
		return;
	}
	fit_find_cache_size(s->measured, params, &s->table);
	fit->error = fit_refine_medium(s->measured, params, &s->table);
	fit_find_cache_size(s->measured, params, &s->table);
}

static double limit_for(const struct advise_measured *measured,
			const struct advise_inferred *inferred)
{
	if (inferred->heads_move)
		return ADVISE_FIT_DISK_LIMIT;
	return measured->settle == ADVISE_SETTLED ? ADVISE_FIT_LIMIT : ADVISE_FIT_CACHED_LIMIT;
}

void advise_fit_model(const struct advise_measured *measured,
		      const struct advise_inferred *inferred, struct sim_params *params,
		      struct advise_fit *fit)
{
	struct search s = { .measured = measured };

	*fit = (struct advise_fit){ .error = 1 };
	if (!inferred->enough)
		return; /* many models explain a few writes */
	s.table.rows = calloc(measured->trace.n + 1, sizeof *s.table.rows);
	if (!s.table.rows)
		s.found = false;
	else if (inferred->heads_move)
		s.found = fit_disk(measured, inferred, &s.table, params, fit);
	else
		fit_flash(&s, inferred, params, fit);
	free(s.table.rows);
	if (s.found && fit->error <= limit_for(measured, inferred))
		fit->params = params;
}

static void forget_blocks(struct advise_inferred *inferred)
{
	inferred->block = inferred->open_segments = (struct advise_value){ 0 };
	inferred->block_off = 0;
	inferred->block_off_confidence = 0;
}

void advise_revise(const struct advise_fit *fit, struct advise_inferred *inferred)
{
	const struct sim_params *model = fit->params;

	if (model && model->kind == SIM_FLAT)
		forget_blocks(inferred); /* the unit of a map: no write pays for it */
	if (inferred->block_by_visits && (!model || fit->error > ADVISE_FIT_LIMIT))
		forget_blocks(inferred); /* among so many sizes chance explains a few writes */
	if (!model && !inferred->page.value && inferred->block.value <= ADVISE_LONGEST_PAGE)
		forget_blocks(inferred); /* a row of reads that may show pages */
	if (model && model->block_bytes == inferred->page.value &&
	    model->page_bytes < model->block_bytes) {
		inferred->block = inferred->page;
		inferred->block_off = inferred->page_off;
		inferred->block_off_confidence = inferred->page.confidence;
		inferred->page.value = model->page_bytes;
	}
}
