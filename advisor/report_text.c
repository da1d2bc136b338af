/* SPDX-License-Identifier: MIT */
/*
 * report_text: the report for people.
 */
#include <math.h>

#include "cli.h"
#include "report.h"

#define BAR_WIDTH 16

static void print_rate(FILE *out, const char *what, double bytes_per_s)
{
	if (bytes_per_s > 0)
		fprintf(out, "%s %.3g MB/s", what, bytes_per_s / 1e6);
}

static void print_inside(const struct advise_inferred *inf, FILE *out)
{
	char size[32], off[32];

	if (inf->page.value)
		fprintf(out, "page %s (sure: %.0f %%)",
			cli_size_text(inf->page.value, size, sizeof size),
			inf->page.confidence * 100);
	else
		fputs("page size not to be seen", out);
	if (inf->block.value)
		fprintf(out, ", erase block %s from %s on (sure: %.0f %%)",
			cli_size_text(inf->block.value, size, sizeof size),
			cli_size_text(inf->block_off, off, sizeof off),
			inf->block.confidence * 100);
	else
		fputs(", erase block not to be seen", out);
	if (inf->open_segments.value)
		fprintf(out, ", %llu open at a time", (unsigned long long)inf->open_segments.value);
	fputc('\n', out);
}

/* What is on it, and what the host says of it. */
static void print_facts(const struct advise_facts *facts, FILE *out)
{
	const struct advise_current *now = &facts->current;
	char size[32], off[32];

	if (now->fat_bits)
		fprintf(out, "\n  now       FAT%d, clusters of %s, data area at %s%s",
			now->fat_bits, cli_size_text(now->cluster_bytes, size, sizeof size),
			cli_size_text(facts->start_bytes + now->data_off, off, sizeof off),
			now->is_factory ? ": this looks like the factory's layout" : "");
	if (facts->erase_hint_bytes)
		fprintf(out, "\n  host      allocation unit %s (%s)",
			cli_size_text(facts->erase_hint_bytes, size, sizeof size),
			facts->card_says ? "the card says so" : "the kernel guesses");
	if (facts->start_bytes)
		fprintf(out, "\n  partition begins at %s",
			cli_size_text(facts->start_bytes, off, sizeof off));
}

static void print_sustained(const struct advise_report *r, FILE *out)
{
	const struct advise_inferred *inf = r->inferred;
	char size[32];

	if (inf->sustained_bytes_per_s <= 0)
		return;
	if (inf->fast_bytes)
		fprintf(out, ", after %s %.3g MB/s",
			cli_size_text(inf->fast_bytes, size, sizeof size),
			inf->sustained_bytes_per_s / 1e6);
	else
		fprintf(out, ", no slower in %zu MiB", r->measured->long_stream.n);
}

/* The worst that single writes took, and what stands before the medium. */
static void print_stalls(const struct advise_report *r, FILE *out)
{
	static const char *const caches[] = { "no cache seen", "a cache that obeys flushes",
					      "a cache that ignores flushes" };
	const struct fat_vec *trace = &r->measured->trace;

	if (trace->n == 0)
		return;
	fprintf(out,
		"\n            95 %% of the writes within %.3g ms, 99 %% within %.3g ms, all "
		"within "
		"%.4g ms; a flush %.2g ms; %s",
		advise_write_percentile(trace, 0.95) / 1e6,
		advise_write_percentile(trace, 0.99) / 1e6, advise_write_percentile(trace, 1) / 1e6,
		r->inferred->flush_ns / 1e6, caches[r->measured->settle]);
}

static void print_device(const struct advise_report *r, FILE *out)
{
	const struct advise_inferred *inf = r->inferred;
	char size[32];

	cli_put_text(out, r->path);
	fprintf(out, ": %s", cli_size_text(r->facts->size_bytes, size, sizeof size));
	if (r->facts->model[0]) {
		fputs(", ", out);
		cli_put_text(out, r->facts->model);
	}
	print_facts(r->facts, out);
	fprintf(out, "\n  measured  ");
	print_rate(out, "reads", inf->read_bytes_per_s);
	print_rate(out, ", through the page cache", inf->buffered_bytes_per_s);
	fprintf(out, "; random 4 KiB %.2g ms", inf->far_read_ns / 1e6);
	print_rate(out, "\n            writes", inf->write_bytes_per_s);
	print_rate(out, ", the first MiB", inf->burst_bytes_per_s);
	print_sustained(r, out);
	print_rate(out, ", in two streams", inf->two_streams_bytes_per_s);
	print_rate(out, ", in four", inf->four_streams_bytes_per_s);
	fprintf(out, "\n            ");
	if (inf->ns_per_byte > 0)
		fprintf(out, "a write takes %.3g ms + %.3g ms per 64 KiB; ", inf->command_ns / 1e6,
			inf->ns_per_byte * 65536 / 1e6);
	fprintf(out, "noise %.1f %%", inf->noise * 100);
	print_stalls(r, out);
	fprintf(out, "\n  inside    ");
	if (inf->heads_move)
		fprintf(out, "it moves heads: a disk\n");
	else
		print_inside(inf, out);
}

static void print_writes(const struct advise_report *r, FILE *out)
{
	char size[32];

	if (r->measured->trace.n == 0)
		return;
	fprintf(out, "\n  single writes, one after the other:\n ");
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		if (r->inferred->write_ns[i] > 0)
			fprintf(out, " %8s",
				cli_size_text(advise_size_bytes(i), size, sizeof size));
	fprintf(out, "\n ");
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		if (r->inferred->write_ns[i] > 0)
			fprintf(out, " %5.2f ms", r->inferred->write_ns[i] / 1e6);
	fputc('\n', out);
}

static double best_score(const struct advise_prediction *prediction,
			 const struct advise_purpose *purpose)
{
	double best = 0;

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		best = fmax(best, advise_score(&prediction->rows[i], purpose));
	return best;
}

static void print_bar(FILE *out, double part)
{
	int n = (int)(part * BAR_WIDTH + 0.5);

	for (int i = 0; i < n; i++)
		fputc('#', out);
}

static void print_told(FILE *out, double bytes_per_s)
{
	if (bytes_per_s > 0)
		fprintf(out, " %8.3g", bytes_per_s / 1e6);
	else
		fprintf(out, " %8s", "?");
}

static void print_row(const struct advise_report *r, size_t i, double best, FILE *out)
{
	const struct advise_row *row = &r->prediction->rows[i];
	bool chosen = r->choice->verdict == ADVISE_CHOSEN && i == r->choice->row;
	char size[32];

	fprintf(out, "%c %8s", chosen ? '>' : ' ',
		cli_size_text(row->layout.cluster_bytes, size, sizeof size));
	for (size_t w = 0; w < ADVISE_N_WRITERS; w++)
		print_told(out, advise_told(row, w, ADVISE_LARGE));
	print_told(out, advise_told(row, ADVISE_CACHED, ADVISE_PHOTOS));
	print_told(out, advise_told(row, ADVISE_CLUSTER, ADVISE_PHOTOS));
	fprintf(out, " %9s %7.2g s ", cli_size_text(row->layout.fat_bytes, size, sizeof size),
		row->check_s);
	print_bar(out, advise_score(row, r->purpose) / best);
	fputc('\n', out);
}

static void print_table(const struct advise_report *r, FILE *out)
{
	double best = best_score(r->prediction, r->purpose);

	if (best <= 0)
		return;
	fputs("\n  writing,  a large file                        photos\n"
	      "  MB/s      page cache:        mounted  cluster\n"
	      "   cluster    fresh     aged     sync by cluster  cached  cluster       FAT     "
	      "check "
	      "all in all\n",
	      out);
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		if (advise_score(&r->prediction->rows[i], r->purpose) > 0)
			print_row(r, i, best, out);
}

static void print_align(const struct advise_report *r, FILE *out)
{
	const struct advise_choice *choice = r->choice;
	char size[32], off[32];

	if (choice->is_padded)
		fprintf(out,
			"  Data area at %s, aligned to erase blocks of %s: %.0f %% faster than "
			"unpadded.\n",
			cli_size_text(choice->layout.data_off, off, sizeof off),
			cli_size_text(choice->align_bytes, size, sizeof size),
			(choice->align_gain - 1) * 100);
	else if (choice->align_tried)
		fputs("  Aligning the data area to erase blocks would not make it faster.\n", out);
}

/* What a table does not say. */
static void print_notes(const struct advise_report *r, FILE *out)
{
	const struct advise_inferred *inf = r->inferred;
	uint64_t start = r->facts->start_bytes;
	char size[32];

	if (inf->page.value && (start + inf->page.value - inf->page_off) % inf->page.value != 0 &&
	    start % inf->page.value != 0)
		fprintf(out, "  The partition begins inside a page of %s: better cut it anew.\n",
			cli_size_text(inf->page.value, size, sizeof size));
	if (r->facts->is_whole_disk && r->choice->verdict != ADVISE_DO_NOT_KNOW) {
		fprintf(out,
			"  With a partition (destroys the table): echo 'start=%llu, type=c' | "
			"sfdisk ",
			(unsigned long long)(r->choice->partition_off / 512));
		cli_put_text(out, r->path);
		fputc('\n', out);
	}
	if (r->measured->settle == ADVISE_SETTLE_BY_READ)
		fputs("  It has a cache that ignores flushes: pull it out only when it is idle.\n",
		      out);
	if (inf->cache_answers && !inf->heads_move)
		fputs("  The same read again is much faster: a cache answers, and reads may come "
		      "from it.\n",
		      out);
	if (inf->read_bytes_per_s > 5e9)
		fputs("  Reads came from memory or from holes, not from a medium.\n", out);
}

/* What the size costs besides speed. */
static void print_costs(const struct advise_row *row, FILE *out)
{
	char size[32];

	fprintf(out, "  Read by %s; FATs of %s each", row->hosts,
		cli_size_text(row->layout.fat_bytes, size, sizeof size));
	if (row->check_s > 0)
		fprintf(out, ": the first df reads one in %.2g s, a check both in %.2g s",
			row->mount_s, row->check_s);
	fprintf(out, ", with dosfstools 4.2 in %s of memory.\n",
		cli_size_text(row->check_memory_bytes, size, sizeof size));
	if (row->slack_bytes)
		fprintf(out, "  The ends of the files expected waste %s.\n",
			cli_size_text(row->slack_bytes, size, sizeof size));
}

static void print_choice(const struct advise_report *r, FILE *out)
{
	const struct advise_choice *choice = r->choice;
	char size[32];

	cli_size_text(r->prediction->rows[choice->row].layout.cluster_bytes, size, sizeof size);
	switch (choice->verdict) {
	case ADVISE_CHOSEN:
		fprintf(out, "\n  Advice: clusters of %s (sure: %.0f %%): %s.\n", size,
			choice->confidence * 100, choice->reason);
		break;
	case ADVISE_NO_MATTER:
		fprintf(out, "\n  Cluster size does not matter here: %s. Take the usual %s.\n",
			choice->reason, size);
		break;
	case ADVISE_DO_NOT_KNOW:
		fprintf(out, "\n  Don't know, because %s. The usual size here is %s.\n",
			choice->reason, size);
		break;
	}
	print_align(r, out);
	if (choice->mkfs[0]) {
		fprintf(out, "  mkfs.fat %s ", choice->mkfs);
		cli_put_text(out, r->path);
		fputc('\n', out);
		print_costs(&r->prediction->rows[choice->row], out);
	}
}

void advise_report_text(const struct advise_report *r, FILE *out)
{
	char written[32];

	print_device(r, out);
	print_writes(r, out);
	print_table(r, out);
	print_choice(r, out);
	print_notes(r, out);
	if (r->measured->n_read_errors)
		fprintf(out, "  %llu reads failed: it has places that cannot be read.\n",
			(unsigned long long)r->measured->n_read_errors);
	fprintf(out, "  (%s written back as it was, in %.1f s%s)\n",
		cli_size_text(r->measured->written_bytes, written, sizeof written),
		(double)r->measured->elapsed_ns / 1e9,
		r->measured->out_of_budget ? "; some steps did not fit in: see --thorough" : "");
}
