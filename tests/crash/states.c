/* SPDX-License-Identifier: MIT */
/*
 * states: the volumes that a power cut can leave, by ids.
 *
 *   pN       the first N writes arrived, nothing else
 *   sE.MASK  all epochs before E, and of epoch E the sectors in MASK (hexadecimal)
 *   rE.K     the same with a random half of the sectors, number K
 *   tU.B     all sectors before sector U, of it the first B bytes (the last -B if negative)
 *   uU.B     all epochs before sector U's, and of it alone B bytes
 *
 * An id with the recipe's name makes the same volume on every machine.
 */
#include "crash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "tests/recipes/dev_snap.h"

#define MAX_EXHAUSTIVE 10u
#define N_RANDOM       200u

static void add_units(struct crash_states *states, size_t write_index)
{
	const struct crash_write *write = &states->log->write[write_index];

	for (size_t at = 0; at < write->len;) {
		uint64_t off = write->off + at;
		uint32_t in_sector = states->sector_bytes - (uint32_t)(off % states->sector_bytes);
		uint32_t len = (uint32_t)min_u64(in_sector, write->len - at);

		GROW_ARRAY(states->unit, states->n_units);
		states->unit[states->n_units++] = (struct crash_unit){ off, len, write->bytes + at,
								       write->epoch, write_index };
		at += len;
	}
}

__attribute__((format(printf, 2, 3))) static void add_id(struct crash_states *states,
							 const char *format, ...)
{
	va_list args;

	GROW_ARRAY(states->id, states->n);
	va_start(args, format);
	vsnprintf(states->id[states->n++], sizeof states->id[0], format, args);
	va_end(args);
}

static void add_epoch(struct crash_states *states, unsigned epoch, size_t n)
{
	if (n == 0)
		return;
	if (n <= MAX_EXHAUSTIVE) {
		for (unsigned mask = 1; mask + 1 < 1u << n; mask++)
			add_id(states, "s%u.%x", epoch, mask);
		return;
	}
	for (unsigned k = 0; k < N_RANDOM; k++)
		add_id(states, "r%u.%u", epoch, k);
}

static void add_torn(struct crash_states *states, size_t u)
{
	int half = (int)states->unit[u].len / 2;
	int some = (int)(mix64(states->unit[u].off) % states->unit[u].len);

	add_id(states, "t%zu.%d", u, half);
	add_id(states, "t%zu.%d", u, -half);
	add_id(states, "t%zu.%d", u, some ? some : 1);
	add_id(states, "u%zu.%d", u, half);
	add_id(states, "u%zu.%d", u, -half);
}

/* Every prefix stays; of the rest each with the same chance, the choice fixed. */
static void thin_out(struct crash_states *states, size_t max)
{
	size_t kept = 0, others = 0, budget;

	for (size_t i = 0; i < states->n; i++)
		others += states->id[i][0] != 'p';
	if (max == 0 || states->n <= max)
		return;
	budget = max > states->n - others ? max - (states->n - others) : 8;
	for (size_t i = 0; i < states->n; i++) {
		bool keep = states->id[i][0] == 'p' || mix64(i) % others < budget;

		if (keep)
			memmove(states->id[kept++], states->id[i], sizeof states->id[0]);
	}
	states->n = kept;
}

void crash_states_make(struct crash_states *states, const struct crash_log *log,
		       uint32_t sector_bytes, size_t max)
{
	size_t first = 0;

	*states = (struct crash_states){ .log = log, .sector_bytes = sector_bytes };
	for (size_t w = 0; w < log->n; w++) {
		add_units(states, w);
		add_id(states, "p%zu", w + 1);
	}
	while (first < states->n_units) {
		unsigned epoch = states->unit[first].epoch;
		size_t n = 0;

		while (first + n < states->n_units && states->unit[first + n].epoch == epoch)
			n++;
		add_epoch(states, epoch, n);
		first += n;
	}
	for (size_t u = 0; u < states->n_units; u++)
		add_torn(states, u);
	thin_out(states, max);
}

void crash_states_free(struct crash_states *states)
{
	free(states->unit);
	free(states->id);
	*states = (struct crash_states){ 0 };
}

/* ---- building ------------------------------------------------------------------------------ */

static void put_unit(struct fat_dev *dev, const struct crash_unit *unit)
{
	put_bytes(dev, unit->off, unit->bytes, unit->len);
}

/* bytes: of the head; negative: of the tail. */
static void put_torn(struct fat_dev *dev, const struct crash_unit *unit, int bytes)
{
	uint32_t n = (uint32_t)min_u64((uint64_t)abs(bytes), unit->len);
	uint32_t from = bytes < 0 ? unit->len - n : 0;

	put_bytes(dev, unit->off + from, unit->bytes + from, n);
}

static void build_subset(const struct crash_states *states, struct fat_dev *dev, unsigned epoch,
			 bool by_mask, uint64_t choice)
{
	size_t i = 0;

	for (size_t u = 0; u < states->n_units; u++) {
		const struct crash_unit *unit = &states->unit[u];
		bool in = unit->epoch < epoch;

		if (unit->epoch == epoch) {
			in = by_mask ? choice >> i & 1 : mix64(choice << 32 ^ u) & 1;
			i++;
		}
		if (in)
			put_unit(dev, unit);
	}
}

static void build_torn(const struct crash_states *states, struct fat_dev *dev, size_t torn,
		       bool alone, int bytes)
{
	for (size_t u = 0; u < torn; u++)
		if (!alone || states->unit[u].epoch < states->unit[torn].epoch)
			put_unit(dev, &states->unit[u]);
	put_torn(dev, &states->unit[torn], bytes);
}

struct fat_dev *crash_state_build(const struct crash_states *states, struct fat_dev *s0,
				  const char *id)
{
	struct fat_dev *dev = snap_clone(s0);
	unsigned a = 0;
	uint64_t b = 0;
	int bytes = 0;

	if (sscanf(id, "p%u", &a) == 1) {
		for (size_t u = 0; u < states->n_units; u++)
			if (states->unit[u].write < a)
				put_unit(dev, &states->unit[u]);
	} else if (sscanf(id, "s%u.%" SCNx64, &a, &b) == 2) {
		build_subset(states, dev, a, true, b);
	} else if (sscanf(id, "r%u.%" SCNu64, &a, &b) == 2) {
		build_subset(states, dev, a, false, b);
	} else if (sscanf(id + 1, "%u.%d", &a, &bytes) == 2 && (*id == 't' || *id == 'u') &&
		   a < states->n_units) {
		build_torn(states, dev, a, *id == 'u', bytes);
	} else {
		fat_dev_close(dev);
		return NULL;
	}
	return dev;
}

uint64_t crash_state_tear(const struct crash_states *states, const char *id)
{
	unsigned u;
	int bytes;

	if (*id == 'p')
		return 0;
	if ((*id != 't' && *id != 'u') || sscanf(id + 1, "%u.%d", &u, &bytes) != 2 ||
	    u >= states->n_units)
		return UINT64_MAX;
	return states->unit[u].off +
	       (uint64_t)(bytes < 0 ? (int)states->unit[u].len + bytes : bytes);
}
