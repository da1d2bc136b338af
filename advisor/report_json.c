/* SPDX-License-Identifier: MIT */
/*
 * report_json: the report for programs. null where a thing is not known.
 */
#include <inttypes.h>
#include <math.h>

#include "cli.h"
#include "report.h"

/* Of the keys and what they mean; a key more does not change it. */
#define SCHEMA_VERSION 1

static void put_number(FILE *out, const char *key, double value, bool known)
{
	fprintf(out, "\"%s\": ", key);
	if (known && isfinite(value))
		fprintf(out, "%.6g", value);
	else
		fputs("null", out);
}

static void put_value(FILE *out, const char *key, struct advise_value value)
{
	if (value.confidence > 0)
		fprintf(out, "  \"%s\": %" PRIu64 ",\n", key, value.value);
	else
		fprintf(out, "  \"%s\": null,\n", key);
}

static void put_mb_s(FILE *out, const struct advise_row *row)
{
	static const char *const writers[ADVISE_N_WRITERS] = { "cached", "aged", "sync",
							       "cluster" };
	static const char *const workloads[ADVISE_N_WORKLOADS] = { "large", "photos", "small",
								   "log" };

	fputs("\"mb_per_s\": {", out);
	for (size_t w = 0; w < ADVISE_N_WRITERS; w++) {
		fprintf(out, "%s\"%s\": {", w ? ", " : "", writers[w]);
		for (size_t k = 0; k < ADVISE_N_WORKLOADS; k++) {
			fputs(k ? ", " : "", out);
			put_number(out, workloads[k], advise_told(row, w, k) / 1e6,
				   advise_told(row, w, k) > 0);
		}
		fputc('}', out);
	}
	fputc('}', out);
}

static void put_check(FILE *out, const struct advise_row *row)
{
	put_number(out, "check_seconds", row->check_s, row->check_s > 0);
	fputs(", ", out);
	put_number(out, "first_mount_seconds", row->mount_s, row->mount_s > 0);
	fprintf(out, ", \"check_memory_bytes\": %" PRIu64 ", \"hosts\": ", row->check_memory_bytes);
	cli_put_json_string(out, row->hosts);
	fputs(", ", out);
}

static void put_clusters(FILE *out, const struct advise_prediction *prediction)
{
	const char *comma = "";

	fputs("  \"clusters\": [", out);
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		const struct advise_row *row = &prediction->rows[i];

		if (row->layout.fat_bits == 0)
			continue;
		fprintf(out,
			"%s\n    {\"cluster_bytes\": %" PRIu32 ", \"fat_bits\": %d, "
			"\"fat_bytes\": %" PRIu64 ", \"slack_bytes\": %" PRIu64 ", ",
			comma, row->layout.cluster_bytes, row->layout.fat_bits,
			row->layout.fat_bytes, row->slack_bytes);
		put_check(out, row);
		put_mb_s(out, row);
		fputc('}', out);
		comma = ",";
	}
	fputs("\n  ],\n", out);
}

static void put_times(FILE *out, const char *key, const double *ns)
{
	const char *comma = "";

	fprintf(out, "  \"%s\": {", key);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		if (ns[i] <= 0)
			continue;
		fprintf(out, "%s\"%" PRIu32 "\": %.4g", comma, advise_size_bytes(i), ns[i] / 1e3);
		comma = ", ";
	}
	fputs("},\n", out);
}

static void put_speeds(FILE *out, const struct advise_inferred *inferred)
{
	const struct {
		const char *key;
		double bytes_per_s;
	} speeds[] = {
		{ "read_mb_per_s", inferred->read_bytes_per_s },
		{ "buffered_read_mb_per_s", inferred->buffered_bytes_per_s },
		{ "write_mb_per_s", inferred->write_bytes_per_s },
		{ "burst_mb_per_s", inferred->burst_bytes_per_s },
		{ "sustained_mb_per_s", inferred->sustained_bytes_per_s },
		{ "two_streams_mb_per_s", inferred->two_streams_bytes_per_s },
		{ "four_streams_mb_per_s", inferred->four_streams_bytes_per_s },
	};

	fputs("  ", out);
	put_number(out, "noise", inferred->noise, true);
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
		fputs(", ", out);
		put_number(out, speeds[i].key, speeds[i].bytes_per_s / 1e6,
			   speeds[i].bytes_per_s > 0);
	}
	fputs(",\n", out);
	put_value(out, "fast_bytes",
		  (struct advise_value){ inferred->fast_bytes, inferred->fast_bytes ? 1 : 0 });
	fputs("  ", out);
	put_number(out, "random_read_us", inferred->far_read_ns / 1e3, inferred->far_read_ns > 0);
	fputs(", ", out);
	put_number(out, "flush_us", inferred->flush_ns / 1e3, inferred->flush_ns > 0);
	fprintf(out, ", \"cache_answers_reads\": %s,\n",
		inferred->cache_answers ? "true" : "false");
}

/* What is there now, and what the host says of it. */
static void put_facts(FILE *out, const struct advise_facts *facts)
{
	const struct advise_current *now = &facts->current;

	fputs("  \"facts\": {\"model\": ", out);
	cli_put_json_string(out, facts->model);
	fputs(", \"serial\": ", out);
	cli_put_json_string(out, facts->serial);
	fputs(", \"bus\": ", out);
	cli_put_json_string(out, facts->bus);
	fprintf(out,
		", \"start_bytes\": %" PRIu64 ", \"allocation_unit_bytes\": %" PRIu64
		", \"optimal_io_bytes\": %" PRIu32 ", \"discard_bytes\": %" PRIu32 "},\n",
		facts->start_bytes, facts->erase_hint_bytes, facts->optimal_bytes,
		facts->discard_bytes);
	if (now->fat_bits)
		fprintf(out,
			"  \"current\": {\"fat_bits\": %d, \"cluster_bytes\": %" PRIu32
			", \"data_offset_bytes\": %" PRIu64 ", \"factory_layout\": %s},\n",
			now->fat_bits, now->cluster_bytes, facts->start_bytes + now->data_off,
			now->is_factory ? "true" : "false");
	else
		fputs("  \"current\": null,\n", out);
}

/* The time of single writes, of all sizes and places that were tried. */
static void put_latency(FILE *out, const struct fat_vec *trace)
{
	fprintf(out,
		"  \"write_latency_us\": {\"median\": %.1f, \"p95\": %.1f, \"p99\": %.1f, "
		"\"max\": %.1f},\n",
		advise_write_percentile(trace, 0.5) / 1e3,
		advise_write_percentile(trace, 0.95) / 1e3,
		advise_write_percentile(trace, 0.99) / 1e3,
		advise_write_percentile(trace, 1) / 1e3);
}

static void put_model(FILE *out, const struct advise_report *r)
{
	static const char *const caches[] = { "none seen", "obeys flushes", "ignores flushes" };
	static const char *const kinds[] = { "flat", "log", "linear", "disk" };

	fprintf(out, "  \"cache\": \"%s\",\n  \"model\": ", caches[r->measured->settle]);
	if (r->fit->params)
		fprintf(out, "\"%s\",\n", kinds[r->fit->params->kind]);
	else
		fputs("null,\n", out);
	fprintf(out, "  \"model_error\": %.3f,\n", r->fit->error);
}

static void put_recommended(FILE *out, const struct advise_report *r)
{
	static const char *const verdicts[] = { "do not know", "does not matter", "chosen" };
	const struct advise_choice *choice = r->choice;
	const struct advise_layout *l = &choice->layout;

	fprintf(out,
		"  \"recommended\": {\"verdict\": \"%s\", \"cluster_bytes\": %" PRIu32
		", \"align_bytes\": %" PRIu64 ", \"reserved_sectors\": %" PRIu32
		", \"confidence\": %.2f,\n    \"data_offset_bytes\": %" PRIu64
		", \"partition_start_bytes\": %" PRIu64 ",\n    \"mkfs\": ",
		verdicts[choice->verdict], l->cluster_bytes, choice->align_bytes, l->reserved_sec,
		choice->confidence, r->facts->start_bytes + l->data_off, choice->partition_off);
	cli_put_json_string(out, choice->mkfs);
	fputs(",\n    \"reason\": ", out);
	cli_put_json_string(out, choice->reason);
	fputs("},\n", out);
}

/* Counted from the start of the whole disk, where partitions are cut. */
static struct advise_value whole_disk_offset(const struct advise_report *r)
{
	struct advise_value off = { 0, r->inferred->block_off_confidence };

	if (r->inferred->block.value)
		off.value =
			(r->facts->start_bytes + r->inferred->block_off) % r->inferred->block.value;
	return off;
}

void advise_report_json(const struct advise_report *r, FILE *out)
{
	const struct advise_inferred *inferred = r->inferred;

	fprintf(out, "{\n  \"version\": %d,\n  \"device\": ", SCHEMA_VERSION);
	cli_put_json_string(out, r->path);
	fprintf(out, ",\n  \"size_bytes\": %" PRIu64 ",\n", r->facts->size_bytes);
	put_value(
		out, "real_bytes",
		(struct advise_value){ r->measured->real_bytes, r->measured->real_bytes ? 1 : 0 });
	put_value(out, "page_bytes", inferred->page);
	put_value(out, "erase_block_bytes", inferred->block);
	put_value(out, "erase_offset_bytes", whole_disk_offset(r));
	put_value(out, "open_segments", inferred->open_segments);
	fprintf(out,
		"  \"confidence\": {\"page_bytes\": %.2f, \"erase_block_bytes\": %.2f, "
		"\"erase_offset_bytes\": %.2f, \"open_segments\": %.2f},\n",
		inferred->page.confidence, inferred->block.confidence,
		inferred->block_off_confidence, inferred->open_segments.confidence);
	put_facts(out, r->facts);
	put_speeds(out, inferred);
	put_times(out, "write_us", inferred->write_ns);
	put_times(out, "read_us", inferred->read_size_ns);
	put_latency(out, &r->measured->trace);
	put_model(out, r);
	put_clusters(out, r->prediction);
	put_recommended(out, r);
	fprintf(out, "  \"read_errors\": %" PRIu64 ",\n", r->measured->n_read_errors);
	fprintf(out, "  \"written_bytes\": %" PRIu64 ",\n  \"seconds\": %.3f\n}\n",
		r->measured->written_bytes, (double)r->measured->elapsed_ns / 1e9);
}
