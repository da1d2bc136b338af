/* SPDX-License-Identifier: MIT */
/*
 * report_svg: the report as a chart. Logarithmic both ways: sizes double, and what counts in speeds
 * is how many times.
 */
#include <math.h>

#include "cli.h"
#include "report.h"

#define WIDTH  960.0
#define HEIGHT 560.0
#define LEFT   80.0
#define RIGHT  220.0
#define TOP    70.0
#define BOTTOM 70.0

/* What the axes span: log2 of bytes, log10 of bytes per second. */
struct chart {
	FILE *out;
	double x_from, x_to, y_from, y_to;
};

static double x_of(const struct chart *c, double bytes)
{
	return LEFT + (log2(bytes) - c->x_from) / (c->x_to - c->x_from) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *c, double bytes_per_s)
{
	return HEIGHT - BOTTOM -
	       (log10(bytes_per_s) - c->y_from) / (c->y_to - c->y_from) * (HEIGHT - TOP - BOTTOM);
}

static void text(const struct chart *c, double x, double y, const char *class, const char *words)
{
	fprintf(c->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	while (*words) {
		uint32_t code = 0;
		size_t length = cli_decode_utf8(words, &code);

		if (length == 0 || cli_is_unsafe(code))
			fputc('?', c->out);
		else if (code == '&' || code == '<' || code == '>')
			fprintf(c->out, "&#%u;", (unsigned)code);
		else
			fwrite(words, 1, length, c->out);
		words += length ? length : 1;
	}
	fputs("</text>\n", c->out);
}

/* ---- what is drawn ------------------------------------------------------------------------- */

static const struct {
	const char *name, *colour, *dash;
} lines[ADVISE_N_WRITERS] = {
	[ADVISE_CACHED] = { "page cache, fresh", "#1b6ca8", "" },
	[ADVISE_AGED] = { "page cache, aged", "#3ba99c", "7 3" },
	[ADVISE_SYNC] = { "mounted sync", "#b5495b", "2 3" },
	[ADVISE_CLUSTER] = { "cluster by cluster", "#d9822b", "" },
};

static double single_rate(const struct advise_report *r, size_t i)
{
	double ns = r->inferred->write_ns[i];

	return ns > 0 ? advise_size_bytes(i) * 1e9 / ns : 0;
}

/* 10 to the power k bytes per second, in the unit that keeps it short. */
static void rate_text(int k, char *words, size_t words_bytes)
{
	const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s" };
	int unit = k < 0 ? 0 : k > 11 ? 3 : k / 3;

	snprintf(words, words_bytes, "%g %s", pow(10, k - 3 * unit), units[unit]);
}

static void widen(struct chart *c, double rate)
{
	if (rate <= 0)
		return;
	c->y_from = fmin(c->y_from, floor(log10(rate)));
	c->y_to = fmax(c->y_to, ceil(log10(rate)));
}

static void span(struct chart *c, const struct advise_report *r)
{
	c->x_from = 9;
	c->x_to = 17;
	c->y_from = 20;
	c->y_to = -20;
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		for (size_t w = 0; w < ADVISE_N_WRITERS; w++)
			widen(c, advise_told(&r->prediction->rows[i], w, ADVISE_LARGE));
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		widen(c, single_rate(r, i));
	if (c->y_to <= c->y_from) {
		c->y_from = 5;
		c->y_to = 8;
	}
	if (r->inferred->block.value)
		c->x_to = fmax(c->x_to, ceil(log2((double)r->inferred->block.value)));
}

static void draw_axes(const struct chart *c)
{
	char words[32];

	for (int k = (int)c->x_from; k <= (int)c->x_to; k++) {
		double x = x_of(c, exp2(k));

		fprintf(c->out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
			x, TOP, x, HEIGHT - BOTTOM);
		if (c->x_to - c->x_from < 10 || k % 2 == 1)
			text(c, x, HEIGHT - BOTTOM + 20, "tick mid",
			     cli_size_text(1ull << k, words, sizeof words));
	}
	for (int k = (int)c->y_from; k <= (int)c->y_to; k++) {
		double y = y_of(c, pow(10, k));

		fprintf(c->out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
			LEFT, y, WIDTH - RIGHT, y);
		rate_text(k, words, sizeof words);
		text(c, LEFT - 8, y + 4, "tick end", words);
	}
	text(c, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 22, "label mid",
	     "cluster size, or size of a single write");
}

static void draw_mark(const struct chart *c, uint64_t bytes, const char *what)
{
	double x = x_of(c, (double)bytes);
	char size[32], words[80];

	if (bytes == 0 || log2((double)bytes) > c->x_to)
		return;
	fprintf(c->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"mark\"/>\n",
		x, TOP - 6, x, HEIGHT - BOTTOM);
	snprintf(words, sizeof words, "%s %s", what, cli_size_text(bytes, size, sizeof size));
	text(c, x, TOP - 12, "tick mid", words);
}

static void draw_choice(const struct chart *c, const struct advise_report *r)
{
	double x = x_of(c, r->choice->layout.cluster_bytes);

	if (r->choice->verdict != ADVISE_CHOSEN)
		return;
	fprintf(c->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"28\" height=\"%.1f\" class=\"choice\"/>\n",
		x - 14, TOP, HEIGHT - TOP - BOTTOM);
	text(c, x, HEIGHT - BOTTOM - 8, "chosen mid", "advised");
}

static void draw_line(const struct chart *c, const struct advise_report *r, size_t w)
{
	fprintf(c->out,
		"<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" "
		"stroke-dasharray=\"%s\" points=\"",
		lines[w].colour, lines[w].dash);
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		double rate = advise_told(&r->prediction->rows[i], w, ADVISE_LARGE);

		if (rate > 0)
			fprintf(c->out, "%.1f,%.1f ", x_of(c, 512u << i), y_of(c, rate));
	}
	fputs("\"/>\n", c->out);
}

static void draw_single_writes(const struct chart *c, const struct advise_report *r)
{
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		if (single_rate(r, i) > 0)
			fprintf(c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"dot\"/>\n",
				x_of(c, advise_size_bytes(i)), y_of(c, single_rate(r, i)));
}

static void draw_legend(const struct chart *c)
{
	double x = WIDTH - RIGHT + 20, y = TOP + 20;

	text(c, x, y - 6, "label", "a large file");
	for (size_t w = 0; w < ADVISE_N_WRITERS; w++) {
		y += 24;
		fprintf(c->out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
			"stroke-width=\"2.5\" stroke-dasharray=\"%s\"/>\n",
			x, y - 4, x + 34, y - 4, lines[w].colour, lines[w].dash);
		text(c, x + 42, y, "tick", lines[w].name);
	}
	y += 36;
	fprintf(c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"dot\"/>\n", x + 17, y - 4);
	text(c, x + 42, y, "tick", "single writes, in a row");
}

static void draw_title(const struct chart *c, const struct advise_report *r)
{
	char size[32], words[512];

	snprintf(words, sizeof words, "%s, %s%s%s: %s%s", r->path,
		 cli_size_text(r->facts->size_bytes, size, sizeof size),
		 r->facts->model[0] ? ", " : "", r->facts->model,
		 r->choice->verdict == ADVISE_CHOSEN      ? "mkfs.fat "
		 : r->choice->verdict == ADVISE_NO_MATTER ? "cluster size does not matter"
							  : "don't know",
		 r->choice->verdict == ADVISE_CHOSEN ? r->choice->mkfs : "");
	text(c, LEFT, 28, "title", words);
}

void advise_report_svg(const struct advise_report *r, FILE *out)
{
	struct chart c = { .out = out };

	span(&c, r);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\">\n<style>"
		".grid{stroke:#e3e3e3} .mark{stroke:#666;stroke-dasharray:4 4} "
		".tick{font-size:12px;fill:#444} .label{font-size:13px;fill:#222} "
		".title{font-size:16px;font-weight:bold;fill:#111} .mid{text-anchor:middle} "
		".end{text-anchor:end} .choice{fill:#ffe9a8} .chosen{font-size:12px;fill:#7a5b00} "
		".dot{fill:#fff;stroke:#222;stroke-width:1.5}"
		"</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, HEIGHT);
	draw_title(&c, r);
	draw_choice(&c, r);
	draw_axes(&c);
	draw_mark(&c, r->inferred->page.value, "page");
	draw_mark(&c, r->inferred->block.value, "erase block");
	for (size_t w = 0; w < ADVISE_N_WRITERS; w++)
		draw_line(&c, r, w);
	draw_single_writes(&c, r);
	draw_legend(&c);
	fputs("</svg>\n", out);
}
