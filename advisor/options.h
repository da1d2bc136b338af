/* SPDX-License-Identifier: MIT */
/*
 * options: fatadvise's command line as values. Touches no device.
 */
#ifndef FATWISE_ADVISOR_OPTIONS_H
#define FATWISE_ADVISOR_OPTIONS_H

#include "advise.h"
#include "cli.h"
#include "sim.h"

enum advise_format {
	ADVISE_TEXT,
	ADVISE_JSON,
	ADVISE_HWDB,
	ADVISE_OPTIONS_ONLY, /* just what mkfs.fat is to be given */
};

struct advise_options {
	enum advise_format format;
	struct advise_budget budget;
	const struct advise_purpose *purpose;
	bool read_only;
	bool format_it;          /* run mkfs.fat by the advice, after a question */
	const char *svg_path;    /* draw into this file; NULL: not */
	const char *record_path; /* keep the measurements there */
	const char *replay_path; /* take them from there instead of a device */
	uint32_t sector_bytes;   /* of the volume; 0: as the device has them */
	uint64_t n_files;        /* expected on the volume; 0: not said */
	bool stats;
	const struct sim_params *model; /* simulate this; NULL: a real device */
	const char *path;               /* NULL with a model or a record */
};

enum advise_parsed {
	ADVISE_RUN,
	ADVISE_DONE,  /* --help, --version */
	ADVISE_WRONG, /* a line on stderr says what */
};

extern const struct cli_program advise_program;

enum advise_parsed advise_options_parse(int argc, char **argv, struct advise_options *options);

#endif
