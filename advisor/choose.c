/* SPDX-License-Identifier: MIT */
/*
 * choose: one recommendation, with its reason, or an honest "don't know". Pure.
 *
 * Rule: of the cluster sizes from 4 KiB on, the smallest whose score is within 5 % of the best; if
 * all are, or no more than the model's own error sets them apart, size does not matter.
 * A score is the geometric mean of the speeds over writers and workloads, so that twice as fast
 * counts the same for a slow writer as for a fast one.
 */
#include "advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "bytes.h"

#define WITHIN         0.95
#define TOO_NOISY      0.4
#define MOST_ERROR     0.05
#define SUREST         0.92 /* of a choice, by a model without an error ... */
#define LOST_BY_ERROR  2.5  /* ... which counts so many times */
#define LEAST_SURE     0.4
#define LEAST_EQUAL    4 /* writes, to say how much they vary */
#define CONTRADICTS    1.5
#define SMALLEST_BYTES 4096u
#define LONG_BYTES     16384u
#define SLACK_PART     50 /* of the volume: 2 % */

/* What mkfs.fat would take by itself; the nearest that fits where that does not. [COMPAT 3] */
static size_t default_row(const struct advise_prediction *prediction, uint64_t size_bytes)
{
	static const uint64_t up_to_mib[] = { 260, 8192, 16384, 32768 };
	static const uint8_t rows[] = { 0, 3, 4, 5, 6 };
	size_t k = 0, row;

	while (k < 4 && size_bytes > up_to_mib[k] << 20)
		k++;
	row = size_bytes >> 20 < 512 ? 2 : rows[k];
	while (row + 1 < ADVISE_N_CLUSTERS && prediction->rows[row].layout.fat_bits == 0)
		row++;
	return row;
}

/* The range of scores among the candidates; their number. */
struct field {
	double best, worst;
	size_t n, best_row;
};

static bool wastes_much(const struct advise_facts *facts, const struct advise_row *row)
{
	return row->slack_bytes > facts->size_bytes / SLACK_PART;
}

/* FAT12 with long clusters is what few hosts expect, where FAT16 has long ones as well. */
static bool is_too_narrow(const struct advise_prediction *prediction, const struct advise_row *row)
{
	for (size_t i = 0; row->layout.fat_bits == 12 && i < ADVISE_N_CLUSTERS; i++) {
		const struct advise_layout *other = &prediction->rows[i].layout;

		if (other->fat_bits > 12 && other->cluster_bytes >= LONG_BYTES)
			return true;
	}
	return false;
}

static bool is_candidate(const struct advise_facts *facts,
			 const struct advise_prediction *prediction, size_t index,
			 const struct advise_purpose *purpose)
{
	const struct advise_row *row = &prediction->rows[index];

	return row->layout.fat_bits != 0 && row->layout.cluster_bytes >= SMALLEST_BYTES &&
	       !is_too_narrow(prediction, row) && !wastes_much(facts, row) &&
	       advise_score(row, purpose) > 0;
}

static struct field survey(const struct advise_facts *facts,
			   const struct advise_prediction *prediction,
			   const struct advise_purpose *purpose)
{
	struct field field = { 0 };

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		double s = advise_score(&prediction->rows[i], purpose);

		if (!is_candidate(facts, prediction, i, purpose))
			continue;
		if (s > field.best) {
			field.best = s;
			field.best_row = i;
		}
		field.worst = field.n == 0 ? s : fmin(field.worst, s);
		field.n++;
	}
	return field;
}

static size_t smallest_good(const struct advise_facts *facts,
			    const struct advise_prediction *prediction, const struct field *field,
			    const struct advise_purpose *purpose)
{
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		if (is_candidate(facts, prediction, i, purpose) &&
		    advise_score(&prediction->rows[i], purpose) >= WITHIN * field->best)
			return i;
	return field->best_row;
}

/* Times as fast as the slowest candidate, for one writer's large files. */
static double gain(const struct advise_facts *facts, const struct advise_prediction *prediction,
		   size_t row, enum advise_writer writer, const struct advise_purpose *purpose)
{
	double worst = prediction->rows[row].bytes_per_s[writer][ADVISE_LARGE];

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		if (is_candidate(facts, prediction, i, purpose))
			worst = fmin(worst, prediction->rows[i].bytes_per_s[writer][ADVISE_LARGE]);
	return prediction->rows[row].bytes_per_s[writer][ADVISE_LARGE] / worst;
}

static void give_reason(const struct advise_facts *facts, const struct advise_inferred *inferred,
			const struct advise_prediction *prediction,
			const struct advise_purpose *purpose, struct advise_choice *choice)
{
	uint32_t kib = prediction->rows[choice->row].layout.cluster_bytes / 1024;
	const struct advise_row *larger = &prediction->rows[choice->row + 1];
	bool bounded = choice->row + 1 < ADVISE_N_CLUSTERS && larger->layout.fat_bits != 0 &&
		       wastes_much(facts, larger);

	if (advise_told(&prediction->rows[choice->row], ADVISE_CLUSTER, ADVISE_LARGE) <= 0 ||
	    advise_told(&prediction->rows[choice->row], ADVISE_CACHED, ADVISE_LARGE) <= 0) {
		snprintf(choice->reason, sizeof choice->reason,
			 "a short rehearsal puts %u KiB clusters first; no model explains all of "
			 "its writes well, so how fast they will be is not known",
			 kib);
		return;
	}
	snprintf(choice->reason, sizeof choice->reason,
		 "a write costs %.2g ms whatever its size and %.3g ms per 64 KiB; %u KiB clusters "
		 "are %.1f times as fast as the slowest size where each cluster is a write, "
		 "%.2f times through a page cache%s",
		 inferred->command_ns / 1e6, inferred->ns_per_byte * 65536 / 1e6, kib,
		 gain(facts, prediction, choice->row, ADVISE_CLUSTER, purpose),
		 gain(facts, prediction, choice->row, ADVISE_CACHED, purpose),
		 bounded ? "; larger ones would waste too much behind files" : "");
}

/* How well the device is known. */
static double confidence(const struct advise_measured *measured,
			 const struct advise_inferred *inferred, const struct advise_fit *fit)
{
	if (!fit->params)
		return LEAST_SURE; /* reckoned from a short rehearsal */
	if (inferred->block.value && !measured->inside.tried)
		return 0.5; /* there was no time to see how many blocks it keeps open */
	return fmax(SUREST - LOST_BY_ERROR * fit->error, LEAST_SURE);
}

/* No medium writes a piece in much less time than a smaller one: something else took it. */
static bool times_contradict(const struct advise_inferred *inferred)
{
	double most = 0;

	for (size_t i = 3; i < ADVISE_N_SIZES; i++) { /* from 4 KiB on */
		double ns = inferred->write_ns[i];

		if (ns > 0 && most > CONTRADICTS * ns)
			return true;
		most = fmax(most, ns);
	}
	return false;
}

/* Equal writes, of more than one size, take very different times. */
static bool writes_vary(const struct advise_measured *measured)
{
	size_t n = 0;

	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		const struct advise_samples *equal = &measured->write[i];
		double spread = advise_percentile(equal, 0.8) - advise_percentile(equal, 0.2);

		n += equal->n >= LEAST_EQUAL && spread / 2 > TOO_NOISY * advise_median(equal);
	}
	return n > 1;
}

/* Speeds by a model are no better than it is: what differs by little more cannot be told apart. */
static double error_of(const struct advise_fit *fit)
{
	return fit->params ? fmin(fit->error, MOST_ERROR) : 0;
}

__attribute__((format(printf, 2, 3))) static bool object(struct advise_choice *choice,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(choice->reason, sizeof choice->reason, format, args);
	va_end(args);
	return true;
}

/* A model of a disk or a cache may be far off: on a busy machine a stick passes for a disk. */
static bool is_explained(const struct advise_fit *fit)
{
	return fit->params && fit->error <= ADVISE_TELL_LIMIT;
}

/* What stands against any advice, whatever the speeds. */
static bool is_no_ground(const struct advise_facts *facts, const struct advise_measured *measured,
			 const struct advise_inferred *inferred, const struct advise_fit *fit,
			 struct advise_choice *choice)
{
	const double gib = 1 << 30;

	if (measured->real_bytes)
		return object(choice,
			      "it says to hold %.1f GiB, but repeats itself after %.1f GiB: a fake "
			      "that will lose data",
			      (double)facts->size_bytes / gib, (double)measured->real_bytes / gib);
	if (measured->interrupted)
		return object(choice, "the measurement was stopped");
	if (measured->read_only)
		return object(choice,
			      "nothing was written, and reads do not tell what writes will cost");
	if (!inferred->enough)
		return object(choice,
			      "too few requests could be timed; more time or more bytes may help");
	if (inferred->noise > (is_explained(fit) ? TOO_NOISY : ADVISE_TOO_NOISY_ALONE))
		return object(choice,
			      "the same request takes very different times (spread %.0f %%)",
			      inferred->noise * 100);
	if (!is_explained(fit) && writes_vary(measured))
		return object(choice, "equal writes take very different times");
	if (!is_explained(fit) && times_contradict(inferred))
		return object(choice,
			      "larger writes took less time than smaller ones: something else kept "
			      "the device or this machine busy");
	return false;
}

static void decide(const struct advise_facts *facts, const struct advise_measured *measured,
		   const struct advise_inferred *inferred, const struct advise_fit *fit,
		   const struct advise_prediction *prediction, const struct advise_purpose *purpose,
		   struct advise_choice *choice)
{
	struct field field = survey(facts, prediction, purpose);
	double spread = field.worst > 0 ? field.best / field.worst - 1 : 0;

	choice->row = default_row(prediction, facts->size_bytes);
	if (is_no_ground(facts, measured, inferred, fit, choice))
		return;
	if (field.n == 0) {
		object(choice, "no size could be foretold the speed of");
	} else if (spread <= 1 / WITHIN - 1 + error_of(fit)) {
		choice->verdict = ADVISE_NO_MATTER;
		choice->confidence = 1 - inferred->noise;
		if (advise_told(&prediction->rows[field.best_row], ADVISE_CLUSTER, ADVISE_LARGE) <=
		    0)
			choice->confidence = LEAST_SURE;
		snprintf(choice->reason, sizeof choice->reason,
			 "all sizes from 4 KiB on are within %.0f %% of each other",
			 spread * 100 + 0.5);
	} else if (spread < 2 * inferred->noise) {
		object(choice, "the sizes differ by %.0f %%, the noise is %.0f %%", spread * 100,
		       inferred->noise * 100);
	} else {
		choice->verdict = ADVISE_CHOSEN;
		choice->row = smallest_good(facts, prediction, &field, purpose);
		choice->confidence = (1 - inferred->noise) * confidence(measured, inferred, fit);
		give_reason(facts, inferred, prediction, purpose, choice);
	}
}

/* At a boundary of erase blocks, a megabyte or more from the start, where other tools begin too. */
static uint64_t partition_off(const struct advise_facts *facts,
			      const struct advise_inferred *inferred)
{
	uint64_t block = inferred->block.value, phase;

	if (block == 0 && facts->erase_hint_bytes > 0)
		return round_up(1u << 20, facts->erase_hint_bytes);
	if (block == 0)
		return facts->size_bytes >= 1ull << 30 ? 4u << 20 : 1u << 20;
	phase = (facts->start_bytes + inferred->block_off) % block;
	return round_up(max_u64(1u << 20, phase) - phase, block) + phase;
}

void advise_choose(const struct advise_facts *facts, const struct advise_measured *measured,
		   const struct advise_inferred *inferred, const struct advise_fit *fit,
		   const struct advise_prediction *prediction, const struct advise_purpose *purpose,
		   struct advise_choice *choice)
{
	const struct advise_layout *l = &choice->layout;
	int n;

	*choice = (struct advise_choice){ .verdict = ADVISE_DO_NOT_KNOW };
	decide(facts, measured, inferred, fit, prediction, purpose, choice);
	advise_choose_align(facts, inferred, fit, &prediction->rows[choice->row].layout, purpose,
			    choice);
	choice->partition_off = partition_off(facts, inferred);
	if (l->fat_bits == 0)
		return;
	n = snprintf(choice->mkfs, sizeof choice->mkfs, "-F %d -s %u", l->fat_bits,
		     l->cluster_bytes / l->sector_bytes);
	if (facts->asked_sector_bytes)
		n += snprintf(choice->mkfs + n, sizeof choice->mkfs - (size_t)n, " -S %u",
			      l->sector_bytes);
	if (choice->is_padded)
		snprintf(choice->mkfs + n, sizeof choice->mkfs - (size_t)n, " -a -R %u",
			 l->reserved_sec);
}
