/* SPDX-License-Identifier: MIT */
/*
 * report_hwdb: what was found as an entry for udev's hardware database, so that a kind of device
 * has to be measured only once.
 */
#include <ctype.h>
#include <inttypes.h>

#include "report.h"

/* Match keys are patterns: what is no letter or digit matches anything. */
static void put_key(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(isalnum((unsigned char)*name) ? *name : '?', out);
}

void advise_report_hwdb(const struct advise_report *r, FILE *out)
{
	const struct advise_inferred *inferred = r->inferred;

	fputs("# for /etc/udev/hwdb.d/90-fatadvise.hwdb; then systemd-hwdb update. Imported by the "
	      "rule\n# in udev/rules.d/90-fatadvise.rules.\n",
	      out);
	if (!r->facts->model[0]) /* a pattern for any name would match other kinds of devices */
		fputs("# The device did not tell its name: put it in the place of MODEL.\n", out);
	fputs("fatadvise:", out);
	put_key(out, r->facts->model[0] ? r->facts->model : "MODEL");
	fprintf(out, ":%" PRIu64 "\n", r->facts->size_bytes / 512);
	if (inferred->page.value)
		fprintf(out, " FATADVISE_PAGE_BYTES=%" PRIu64 "\n", inferred->page.value);
	if (inferred->block.value)
		fprintf(out,
			" FATADVISE_ERASE_BLOCK_BYTES=%" PRIu64 "\n"
			" FATADVISE_ERASE_OFFSET_BYTES=%" PRIu64 "\n",
			inferred->block.value,
			(r->facts->start_bytes + inferred->block_off) % inferred->block.value);
	if (inferred->open_segments.value)
		fprintf(out, " FATADVISE_OPEN_SEGMENTS=%" PRIu64 "\n",
			inferred->open_segments.value);
	if (r->choice->verdict == ADVISE_CHOSEN)
		fprintf(out,
			" FATADVISE_CLUSTER_BYTES=%" PRIu32 "\n"
			" FATADVISE_MKFS=%s\n",
			r->choice->layout.cluster_bytes, r->choice->mkfs);
}
