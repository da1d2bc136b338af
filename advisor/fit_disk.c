/* SPDX-License-Identifier: MIT */
/*
 * fit_disk: a model of a disk from the times of its reads and writes. Pure.
 *
 * Writes one after the other each wait for the same place to come round again: a turn, plus the
 * part of a turn that the data take. Where a cache hides that, the same read again and again takes
 * a turn, a long stream of writes goes at the speed of the platter, unless the bus is slower, and
 * what an empty cache takes shows the bus.
 */
#include <math.h>

#include "bytes.h"
#include "fit_prices.h"

#define LEAST_TURN_NS 4e6
#define MOST_TURN_NS  20e6
/* Of times that vary by up to 1 on both sides, half of the way from the 20th to the 80th percent:
 * where a platter is depends on how they vary. */
#define SPREAD_OF_NOISE 0.37

/* Angles, in turns: so many times measured, how far they agree, how far off one may be. */
#define LEAST_ANGLES 6
#define AGREE        0.8
#define MOST_ANGLE   0.3

static uint64_t whole_ns(double ns)
{
	return (uint64_t)(fmax(ns, 0) + 0.5);
}

/* How the turn and the part of it that data take explain single writes. */
static double error_of(const struct advise_measured *measured,
		       const struct advise_inferred *inferred)
{
	double off = 0;
	size_t n = 0;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		double said = inferred->command_ns + inferred->ns_per_byte * advise_size_bytes(i);

		if (inferred->write_ns[i] <= 0 || advise_size_bytes(i) > measured->max_bytes)
			continue;
		off += fabs(said / inferred->write_ns[i] - 1);
		n++;
	}
	return n > 0 ? off / (double)n : 1;
}

/* What one byte more costs a read in a row. */
static double read_byte_ns(const struct advise_inferred *inferred)
{
	const double *read = inferred->read_size_ns;

	return (read[6] - read[3]) / (advise_size_bytes(6) - advise_size_bytes(3));
}

/* Neither a long stream of writes nor one of reads is faster than the platter. */
static double platter_behind_cache(const struct advise_measured *measured,
				   const struct advise_inferred *inferred)
{
	const struct advise_stream *stream = &measured->cache_stream;
	double by_writes = (double)stream->ns / (double)max_u64(stream->bytes, 1);
	double by_reads = read_byte_ns(inferred);

	return by_reads > 0 && by_reads < by_writes ? by_reads : by_writes;
}

/* Reads in a row come from its buffer: the bus, and the turning that writes pay as well. */
static void set_bus(const struct advise_inferred *inferred, double platter, struct sim_params *p)
{
	p->read_ns_per_byte = fmax(read_byte_ns(inferred) - platter, 0);
	p->read_command_ns = whole_ns(inferred->read_size_ns[3] -
				      advise_size_bytes(3) * (p->read_ns_per_byte + platter));
	p->write_ns_per_byte = p->read_ns_per_byte;
	p->write_command_ns = p->read_command_ns;
}

/*
 * What goes by between two writes is the time of a command; where it grows with their length, they
 * come over the bus before anything is written.
 */
static void set_gaps(const struct advise_measured *measured, double platter, struct sim_params *p)
{
	double first = (double)measured->gap_bytes[0] * platter;
	double second = (double)measured->gap_bytes[1] * platter;
	double more = (second - first) / (advise_gap_len_bytes(1) - advise_gap_len_bytes(0));

	if (measured->gap_bytes[0] == 0 || measured->gap_bytes[1] == 0)
		return;
	p->overlap = more < 4;
	p->write_ns_per_byte = p->overlap ? 0 : more;
	p->write_command_ns = whole_ns(first - p->write_ns_per_byte * advise_gap_len_bytes(0));
}

/* The heads' part of the shortest of these reads, which waited for hardly any angle. */
static double heads_ns(const struct advise_samples *reads, const struct advise_inferred *inferred,
		       double turn)
{
	return advise_percentile(reads, 0) - inferred->read_size_ns[3] -
	       turn / (double)(reads->n + 1);
}

/* By the square root law: from near reads and those a third away, or from random ones. */
static void set_seek(const struct advise_measured *measured, const struct advise_inferred *inferred,
		     double turn, struct sim_params *p)
{
	double near = heads_ns(&measured->seek_near, inferred, turn);
	double third = heads_ns(&measured->seek_third, inferred, turn);

	double seek = inferred->far_read_ns - inferred->read_size_ns[3] - turn / 2;

	if (measured->seek_third.n >= 16 && third > near) {
		p->seek_min_ns = whole_ns(near);
		p->seek_full_ns = p->seek_min_ns + whole_ns((third - near) * sqrt(3));
		return;
	}
	p->seek_min_ns = 1000000;
	p->seek_full_ns = p->seek_min_ns + whole_ns((seek - 1e6) * 15 / 8);
}

/* Behind a cache there is always room for a track or two. */
static double fit_cached(const struct advise_measured *measured, struct fit_table *table,
			 struct sim_params *p)
{
	struct fit_prices bus;

	fit_find_bus(measured, table, &bus);
	p->write_command_ns = whole_ns(bus.ns[PART_COMMAND]);
	p->write_ns_per_byte = bus.ns[PART_BYTE];
	p->cache_lies = measured->settle == ADVISE_SETTLE_BY_READ;
	p->cache_bytes = max_u64(measured->cache_bytes, 65536);
	fit_find_cache_size(measured, p, table);
	return bus.error;
}

/* The mean angle of these times, in turns; false: they do not agree on one. */
static bool mean_angle(const struct advise_samples *apart, double turn, double *angle)
{
	double x = 0, y = 0;

	for (size_t i = 0; i < apart->n; i++) {
		double part = (double)apart->ns[i] / turn * 2 * M_PI;

		x += cos(part);
		y += sin(part);
	}
	*angle = atan2(y, x) / (2 * M_PI);
	return apart->n >= LEAST_ANGLES && hypot(x, y) > AGREE * (double)apart->n;
}

/*
 * From short distances to long ones: about how many tracks a distance is the one before has told,
 * and its angle says the rest. False where the angles contradict that: not all tracks are alike.
 */
static bool find_track(const struct advise_measured *measured, double turn, double *track_bytes)
{
	uint64_t last = advise_apart_bytes(ADVISE_N_APART - 1, measured->size_bytes), apart = 0;

	for (size_t i = 0; i < ADVISE_N_APART && apart != last; i++) {
		double tracks, angle, more;

		apart = advise_apart_bytes(i, measured->size_bytes);
		tracks = (double)apart / *track_bytes;
		if (!mean_angle(&measured->apart[i], turn, &angle))
			return false;
		more = angle - tracks;
		more -= round(more);
		if (fabs(more) > MOST_ANGLE)
			return false;
		*track_bytes = (double)apart / (tracks + more);
	}
	return true;
}

bool fit_disk(const struct advise_measured *measured, const struct advise_inferred *inferred,
	      struct fit_table *table, struct sim_params *p, struct advise_fit *fit)
{
	bool cached = measured->settle != ADVISE_SETTLED;
	double turn = cached ? advise_median(&measured->again) : inferred->command_ns;
	double platter = cached ? platter_behind_cache(measured, inferred) : inferred->ns_per_byte;
	double track, known;

	if (turn < LEAST_TURN_NS || turn > MOST_TURN_NS || platter <= 0)
		return false;
	track = known = turn / platter;
	fit->angles_known = find_track(measured, turn, &known);
	if (fit->angles_known)
		track = known;
	*p = (struct sim_params){ .kind = SIM_DISK,
				  .size_bytes = measured->size_bytes,
				  .page_bytes = 512,
				  .block_bytes = 512,
				  .rpm = 60e9 / turn,
				  .track_bytes = whole_ns(track),
				  .flush_ns = whole_ns(advise_percentile(&measured->flush, 0)),
				  .max_command_bytes = measured->max_bytes,
				  .noise = inferred->noise / SPREAD_OF_NOISE,
				  .seed = 1 };
	set_bus(inferred, platter, p);
	set_gaps(measured, platter, p);
	set_seek(measured, inferred, turn, p);
	fit->error = cached ? fit_cached(measured, table, p) : error_of(measured, inferred);
	return true;
}
