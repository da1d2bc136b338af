/* SPDX-License-Identifier: MIT */
/*
 * report: what was found, in one of several forms. No I/O but to the stream given.
 */
#ifndef FATWISE_ADVISOR_REPORT_H
#define FATWISE_ADVISOR_REPORT_H

#include <stdio.h>

#include "advise.h"

struct advise_report {
	const char *path;
	const struct advise_facts *facts;
	const struct advise_measured *measured;
	const struct advise_inferred *inferred;
	const struct advise_fit *fit;
	const struct advise_prediction *prediction;
	const struct advise_purpose *purpose;
	const struct advise_choice *choice;
};

/* A table a person reads in ten seconds. */
void advise_report_text(const struct advise_report *report, FILE *out);

/* One object; the keys are documented in fatadvise(8). */
void advise_report_json(const struct advise_report *report, FILE *out);

/*
 * A chart: speed by cluster size for each writer and by size of single writes, page and erase block
 * marked, and the choice. A whole SVG file.
 */
void advise_report_svg(const struct advise_report *report, FILE *out);

/* An entry for udev's hardware database. */
void advise_report_hwdb(const struct advise_report *report, FILE *out);

#endif
