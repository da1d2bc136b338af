/* SPDX-License-Identifier: MIT */
/*
 * record: raw measurements as a text file, so that a report from the field becomes a test.
 */
#ifndef FATWISE_ADVISOR_RECORD_H
#define FATWISE_ADVISOR_RECORD_H

#include <stdio.h>

#include "advise.h"

void advise_record_write(FILE *out, const struct advise_facts *facts,
			 const struct advise_measured *measured);

/*
 * false: not such a file, or out of memory; *line_number is where. measured is to be freed with
 * advise_measured_fini() in any case. Nothing in the file can do harm but be wrong.
 */
bool advise_record_read(FILE *in, struct advise_facts *facts, struct advise_measured *measured,
			unsigned *line_number);

#endif
