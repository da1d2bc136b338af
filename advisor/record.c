/* SPDX-License-Identifier: MIT */
/*
 * record: see record.h.
 *
 * One line a thing: a name and numbers. "list" lines hold arrays, "request" lines the writes in
 * their order. Lines with unknown names are refused: a newer program wrote them.
 */
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "fatadvise-record 1"
#define MAX_LINE   8192

/* Numbers that stand alone. X(place) */
#define SCALARS(X)                                                                                 \
	X(facts->size_bytes)                                                                       \
	X(facts->start_bytes)                                                                      \
	X(facts->asked_sector_bytes)                                                               \
	X(facts->erase_hint_bytes)                                                                 \
	X(measured->block_bytes)                                                                   \
	X(measured->max_bytes)                                                                     \
	X(measured->size_bytes)                                                                    \
	X(measured->capacity_tested)                                                               \
	X(measured->real_bytes)                                                                    \
	X(measured->settle)                                                                        \
	X(measured->cache_bytes)                                                                   \
	X(measured->cache_stream.bytes)                                                            \
	X(measured->cache_stream.ns)                                                               \
	X(measured->inside.tried)                                                                  \
	X(measured->inside.costs)                                                                  \
	X(measured->inside.open_segments)                                                          \
	X(measured->inside.open_at_least)                                                          \
	X(measured->inside.fat_blocks)                                                             \
	X(measured->gap_bytes[0])                                                                  \
	X(measured->gap_bytes[1])                                                                  \
	X(measured->page_scan.off)                                                                 \
	X(measured->page_scan.step_bytes)                                                          \
	X(measured->block_scan.step_bytes)                                                         \
	X(measured->block_scan.from_off)                                                           \
	X(measured->block_scan.to_off)                                                             \
	X(measured->block_scan.period_bytes)                                                       \
	X(measured->block_scan.phase_off)                                                          \
	X(measured->write_scan.from_off)                                                           \
	X(measured->write_scan.to_off)                                                             \
	X(measured->write_scan.period_bytes)                                                       \
	X(measured->write_scan.phase_off)                                                          \
	X(measured->read_stream.bytes)                                                             \
	X(measured->read_stream.ns)                                                                \
	X(measured->write_stream.bytes)                                                            \
	X(measured->write_stream.ns)                                                               \
	X(measured->two_streams.bytes)                                                             \
	X(measured->two_streams.ns)                                                                \
	X(measured->four_streams.bytes)                                                            \
	X(measured->four_streams.ns)                                                               \
	X(measured->buffered.bytes)                                                                \
	X(measured->buffered.ns)                                                                   \
	X(measured->burst.bytes)                                                                   \
	X(measured->burst.ns)                                                                      \
	X(measured->read_bytes)                                                                    \
	X(measured->written_bytes)                                                                 \
	X(measured->elapsed_ns)                                                                    \
	X(measured->n_read_errors)                                                                 \
	X(measured->read_only)                                                                     \
	X(measured->out_of_budget)

#define MAX_LISTS 48

struct list {
	const char *name;
	size_t index; /* of several with this name */
	size_t *n;
	uint64_t *values;
	size_t most;
};

static void add_samples(struct list *lists, size_t *n, const char *name, size_t index,
			struct advise_samples *samples)
{
	lists[(*n)++] = (struct list){ name, index, &samples->n, samples->ns, ADVISE_MAX_SAMPLES };
}

/* Both of a pair share their number. */
static void add_pairs(struct list *lists, size_t *n, const char *name, struct advise_pairs *pairs)
{
	lists[(*n)++] = (struct list){ name, 0, &pairs->n, pairs->across_ns, ADVISE_MAX_PAIRS };
	lists[(*n)++] = (struct list){ name, 1, &pairs->n, pairs->beside_ns, ADVISE_MAX_PAIRS };
}

static size_t lists_of(struct advise_measured *m, struct list lists[MAX_LISTS])
{
	struct advise_block_scan *blocks = &m->block_scan;
	struct advise_inside *inside = &m->inside;
	size_t n = 0;

	add_samples(lists, &n, "seek", 0, &m->seek);
	add_samples(lists, &n, "again", 0, &m->again);
	add_samples(lists, &n, "flush", 0, &m->flush);
	add_samples(lists, &n, "seek_near", 0, &m->seek_near);
	add_samples(lists, &n, "seek_third", 0, &m->seek_third);
	add_samples(lists, &n, "long_stream", 0, &m->long_stream);
	for (size_t i = 0; i < ADVISE_N_APART; i++)
		add_samples(lists, &n, "apart", i, &m->apart[i]);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		add_samples(lists, &n, "read", i, &m->read[i]);
		add_samples(lists, &n, "write", i, &m->write[i]);
	}
	lists[n++] = (struct list){ "page_scan", 0, &m->page_scan.n, m->page_scan.ns,
				    ADVISE_SCAN_POINTS };
	add_pairs(lists, &n, "page_pairs", &m->page_scan.pairs);
	lists[n++] =
		(struct list){ "block_scan", 0, &blocks->n, blocks->off, ADVISE_MAX_BOUNDARIES };
	lists[n++] = (struct list){ "block_scan", 1, &blocks->n, blocks->excess_ns,
				    ADVISE_MAX_BOUNDARIES };
	add_pairs(lists, &n, "block_pairs", &blocks->pairs);
	add_pairs(lists, &n, "write_pairs", &m->write_scan.pairs);
	lists[n++] = (struct list){ "visits", 0, &inside->n_visits, inside->visit_off,
				    ADVISE_MAX_VISITS };
	lists[n++] = (struct list){ "visits", 1, &inside->n_visits, inside->visit_ns,
				    ADVISE_MAX_VISITS };
	return n;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_rehearsals(FILE *out, const struct advise_measured *m)
{
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		const struct advise_rehearsal *r = &m->rehearsal[i];

		if (r->cluster_bytes)
			fprintf(out,
				"rehearsal %zu %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64
				" %" PRIu64 " %" PRIu64 "\n",
				i, r->cluster_bytes, r->n_rounds, r->data_ns, r->n_data,
				r->first_ns, r->meta_ns);
	}
}

void advise_record_write(FILE *out, const struct advise_facts *facts,
			 const struct advise_measured *measured)
{
	struct advise_measured copy = *measured; /* lists point into what they may change */
	struct list lists[MAX_LISTS];
	size_t n_lists = lists_of(&copy, lists);

	fprintf(out, "%s\nmodel %s\n", FIRST_LINE, facts->model);
#define WRITE_SCALAR(place) fprintf(out, "%s %" PRIu64 "\n", #place, (uint64_t)(place));
	SCALARS(WRITE_SCALAR)
#undef WRITE_SCALAR
	for (size_t i = 0; i < n_lists; i++) {
		fprintf(out, "list %s %zu %zu", lists[i].name, lists[i].index, *lists[i].n);
		for (size_t k = 0; k < *lists[i].n; k++)
			fprintf(out, " %" PRIu64, lists[i].values[k]);
		fputc('\n', out);
	}
	write_rehearsals(out, measured);
	for (size_t i = 0; i < measured->trace.n; i++) {
		const struct advise_request *r = fat_vec_at(&measured->trace, i);

		fprintf(out, "request %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", r->off,
			r->len_bytes, r->ns, r->step);
	}
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The next n numbers of a line, each no more than its most; *line is behind them then. */
static bool read_numbers(const char **line, const uint64_t *most, size_t n, uint64_t *number)
{
	for (size_t i = 0; i < n; i++) {
		char *end;

		errno = 0;
		number[i] = strtoull(*line, &end, 10);
		if (end == *line || errno || number[i] > most[i])
			return false;
		*line = end;
	}
	return true;
}

static bool read_list(char *line, struct advise_measured *measured)
{
	struct list lists[MAX_LISTS];
	size_t n_lists = lists_of(measured, lists);
	static const uint64_t most[] = { SIZE_MAX, SIZE_MAX, UINT64_MAX };
	uint64_t number[2]; /* of the list among those of its name, of its values */
	size_t n_name = strcspn(line, " ");
	const char *rest = line + n_name;

	if (!read_numbers(&rest, most, 2, number))
		return false;
	for (size_t i = 0; i < n_lists; i++) {
		const struct list *list = &lists[i];

		if (strncmp(list->name, line, n_name) != 0 || list->name[n_name] != '\0' ||
		    list->index != number[0])
			continue;
		if (number[1] > list->most)
			return false;
		for (size_t k = 0; k < number[1]; k++)
			if (!read_numbers(&rest, most + 2, 1, &list->values[k]))
				return false;
		*list->n = (size_t)number[1];
		return true;
	}
	return false;
}

static bool read_request(const char *line, struct fat_vec *trace)
{
	static const uint64_t most[] = { UINT64_MAX, UINT32_MAX, UINT64_MAX, UINT32_MAX };
	uint64_t number[4];
	struct advise_request r;

	if (!read_numbers(&line, most, 4, number))
		return false;
	r = (struct advise_request){ .off = number[0],
				     .len_bytes = (uint32_t)number[1],
				     .ns = number[2],
				     .step = (uint32_t)number[3] };
	return advise_trace_add(trace, &r);
}

static bool read_rehearsal(const char *line, struct advise_measured *m)
{
	static const uint64_t most[] = { ADVISE_N_CLUSTERS - 1,
					 UINT32_MAX,
					 UINT32_MAX,
					 UINT64_MAX,
					 UINT64_MAX,
					 UINT64_MAX,
					 UINT64_MAX };
	uint64_t number[7];

	if (!read_numbers(&line, most, 7, number))
		return false;
	m->rehearsal[number[0]] = (struct advise_rehearsal){ .cluster_bytes = (uint32_t)number[1],
							     .n_rounds = (uint32_t)number[2],
							     .data_ns = number[3],
							     .n_data = number[4],
							     .first_ns = number[5],
							     .meta_ns = number[6] };
	return true;
}

static bool read_scalar(const char *name, const char *text, struct advise_facts *facts,
			struct advise_measured *measured)
{
	uint64_t value = strtoull(text, NULL, 10);

#define READ_SCALAR(place)                                                                         \
	if (strcmp(name, #place) == 0) {                                                           \
		(place) = (__typeof__(place))value;                                                \
		return true;                                                                       \
	}
	SCALARS(READ_SCALAR)
#undef READ_SCALAR
	return false;
}

static bool read_line(char *line, struct advise_facts *facts, struct advise_measured *measured)
{
	char *rest = strchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	if (!rest)
		return false;
	*rest++ = '\0';
	if (strcmp(line, "model") == 0) {
		snprintf(facts->model, sizeof facts->model, "%.60s", rest);
		return true;
	}
	if (strcmp(line, "list") == 0)
		return read_list(rest, measured);
	if (strcmp(line, "request") == 0)
		return read_request(rest, &measured->trace);
	if (strcmp(line, "rehearsal") == 0)
		return read_rehearsal(rest, measured);
	return read_scalar(line, rest, facts, measured);
}

/* What the other parts rely on, and never get otherwise from a measurement. */
#define MOST_BYTES     (1ull << 46)
#define MOST_BLOCKS    (1ull << 24)
#define SMALLEST_BLOCK 4096u

static bool is_inside(const struct advise_measured *m)
{
	for (size_t i = 0; i < m->trace.n; i++) {
		const struct advise_request *r = fat_vec_at(&m->trace, i);

		if (r->off > m->size_bytes || r->len_bytes > m->size_bytes - r->off ||
		    r->ns > 1ull << 40)
			return false;
	}
	for (size_t i = 0; i < m->inside.n_visits; i++)
		if (m->inside.visit_off[i] >= m->size_bytes)
			return false;
	for (size_t i = 0; i < m->block_scan.n; i++)
		if (m->block_scan.off[i] < m->block_scan.from_off ||
		    m->block_scan.off[i] > m->block_scan.to_off)
			return false;
	return true;
}

static bool blocks_are_sound(const struct advise_measured *m,
			     const struct advise_block_scan *blocks)
{
	uint64_t period = blocks->period_bytes;

	if (period && (period < SMALLEST_BLOCK || m->size_bytes / period > MOST_BLOCKS ||
		       blocks->phase_off >= period))
		return false;
	return blocks->from_off <= blocks->to_off && blocks->to_off <= m->size_bytes;
}

static bool scans_are_sound(const struct advise_measured *m)
{
	if (m->page_scan.step_bytes > 1u << 20 || m->page_scan.off > m->size_bytes)
		return false;
	return blocks_are_sound(m, &m->block_scan) && blocks_are_sound(m, &m->write_scan) &&
	       m->inside.open_segments <= 64 && m->inside.open_at_least <= 9 &&
	       m->inside.fat_blocks <= 64;
}

static bool is_sound(const struct advise_facts *facts, const struct advise_measured *m)
{
	uint32_t sector = facts->asked_sector_bytes;

	return (sector == 0 || (sector >= 512 && sector <= 4096 && (sector & (sector - 1)) == 0)) &&
	       facts->size_bytes >= ADVISE_SMALLEST_BYTES && facts->size_bytes <= MOST_BYTES &&
	       facts->start_bytes <= MOST_BYTES && m->size_bytes == facts->size_bytes &&
	       m->max_bytes >= 512 && m->max_bytes <= 1u << 20 && m->block_bytes >= 512 &&
	       m->block_bytes <= 65536 && m->settle <= ADVISE_SETTLE_BY_READ &&
	       m->cache_bytes <= MOST_BYTES && m->gap_bytes[0] <= 1u << 30 &&
	       m->gap_bytes[1] <= 1u << 30 && scans_are_sound(m) && is_inside(m);
}

bool advise_record_read(FILE *in, struct advise_facts *facts, struct advise_measured *measured,
			unsigned *line_number)
{
	char line[MAX_LINE];

	*facts = (struct advise_facts){ 0 };
	*measured = (struct advise_measured){ 0 };
	*line_number = 1;
	if (!fgets(line, sizeof line, in) || strcmp(line, FIRST_LINE "\n") != 0)
		return false;
	while (fgets(line, sizeof line, in)) {
		++*line_number;
		if (!read_line(line, facts, measured))
			return false;
	}
	return is_sound(facts, measured);
}
