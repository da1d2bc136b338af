/* SPDX-License-Identifier: MIT */
/*
 * cli: what the tools share towards their user: options, messages, numbers, exit.
 *
 * Knows stdio and the terminal. Never used by libfat. One option table per tool is the only list
 * of its options: getopt's strings, --help, the completions and the test against the manual are
 * made from it.
 */
#ifndef FATWISE_CLI_H
#define FATWISE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libfat.h"

#define FATWISE_VERSION "4.3.0"
#define FATWISE_DATE    "2026-11-30"

/* An option. code is what cli_next() returns for it; by custom the letter, or >= CLI_LONG. */
#define CLI_LONG 256
struct cli_option {
	int code;
	char letter;       /* 0: has none */
	const char *name;  /* long name; NULL: has none */
	const char *value; /* name of its value; NULL: takes none; "[X]": may take X */
	const char *help;  /* one sentence for --help; NULL: accepted, not listed */
};

struct cli_program {
	const char *name;     /* "mkfs.fat" */
	const char *synopsis; /* "[OPTIONS] DEVICE [BLOCK-COUNT]" */
	const char *purpose;  /* one line */
	const struct cli_option *options;
	size_t n_options;
};

/* State of one pass over the arguments. */
struct cli_args {
	int argc;
	char **argv;
	const char *value; /* of the option just returned, or NULL */
	int first_operand; /* after cli_next() returned -1 */
};

/*
 * The next option's code; -1 at the end, when argv[first_operand..] are the operands (options may
 * follow them); '?' for an unknown option or a missing value, after getopt's line on stderr. Not
 * reentrant: getopt has state.
 */
int cli_next(const struct cli_program *program, struct cli_args *args);

/* Usage with every listed option, from the table. */
void cli_usage(const struct cli_program *program, FILE *out);

/* "mkfs.fat 4.3.0 (2026-11-30)" and a line feed: callers match it. */
void cli_banner(const struct cli_program *program, FILE *out);

/* One line on stderr: "program: " and the formatted text. Control characters are made harmless. */
void cli_error(const struct cli_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same from a device's error: "program: path: cannot read 512 bytes at 1024: why". */
void cli_device_error(const struct cli_program *program, const char *path,
		      const struct fat_error *error);

/*
 * Writes text (UTF-8 or any bytes) with control characters, escape sequences, bidirectional marks
 * and invalid UTF-8 shown as \xNN or \u{NNNN}, so that a hostile file name does no harm.
 */
void cli_put_text(FILE *out, const char *text);

/* Length of the valid UTF-8 sequence at s, its code point in *c; 0 if there is none. */
size_t cli_decode_utf8(const char *s, uint32_t *c);

/* Controls, bidirectional marks, separators and other code points that change how a line looks. */
bool cli_is_unsafe(uint32_t c);

/*
 * Text with its quotes. Bytes that are no UTF-8 become U+FFFD; what cli_put_text() would not show
 * is escaped, for JSON is read on terminals too.
 */
void cli_put_json_string(FILE *out, const char *text);

/*
 * Numbers: the whole string, decimal, or hexadecimal with 0x; base 16 takes hexadecimal with or
 * without 0x. false if it is none, or not in min..max.
 */
bool cli_parse_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *value);

/* A byte count with k, m, g, t (of 1024) or nothing behind it; "KiB", "MB" are taken too. */
bool cli_parse_size(const char *text, uint64_t *bytes);

/* Of this process: peak memory and processor time, the system's part of it included. */
void cli_resources(uint64_t *memory_kib, uint64_t *cpu_us);

/* "--stats": requests, bytes, read-ahead, flushes, errors of the base of dev, and peak memory. */
void cli_print_stats(FILE *out, struct fat_dev *dev);

/* Bytes for people: "4.0 MiB", into buf. */
const char *cli_size_text(uint64_t bytes, char *buf, size_t buf_bytes);

/* A bar on standard error, for work of more than a second at a terminal. */
struct cli_progress {
	const char *what;
	uint64_t total_bytes;
	int64_t start_ms, next_ms;
	bool is_wanted, is_shown;
};

void cli_progress_begin(struct cli_progress *progress, const char *what, uint64_t total_bytes);
void cli_progress_show(struct cli_progress *progress, uint64_t done_bytes);
/* Takes the bar away. */
void cli_progress_end(struct cli_progress *progress);

/* What time it is for what is written. */
struct cli_clock {
	int64_t seconds;    /* since 1970 */
	uint32_t volume_id; /* one that was not there before; given with the time if that was */
	bool is_fixed;      /* the time was given: times are UTC, none is later; else local time */
};

/* The clock's time, or SOURCE_DATE_EPOCH. false after a line on stderr: that is no number. */
bool cli_clock_read(const struct cli_program *program, struct cli_clock *clock);
void cli_clock_fix(struct cli_clock *clock, int64_t seconds, uint32_t volume_id);

/* A time as FAT keeps it; before 1980 and after 2107 the nearest that it can. */
void cli_clock_datetime(const struct cli_clock *clock, int64_t seconds, uint32_t nanoseconds,
			struct fat_datetime *at);

/* Flushes stdout; a failure (disk full, closed pipe) is reported and makes status fail_status. */
int cli_close_stdout(const struct cli_program *program, int status, int fail_status);

/*
 * SIGINT, SIGTERM, SIGHUP set a flag from now on, instead of ending the program; a reader of the
 * output that is gone does not end it either.
 */
void cli_catch_signals(void);
/* The signal that came, or 0. */
int cli_signal(void);

/*
 * The store for fat_undo_create(): a new file, mode 0600, refused on the device at device_path, its
 * name synced. false after a line on stderr. *store is the caller's.
 */
bool cli_create_undo_store(const struct cli_program *program, const char *path,
			   const char *device_path, struct fat_dev **store);

/* A file to be written, apart from standard output; no path: none, and all of this does nothing. */
struct cli_output {
	const struct cli_program *program;
	const char *path; /* the caller's, NULL: none */
	char *part_path;  /* what is written until it is complete */
	FILE *stream;     /* for the caller to write to; NULL: none */
};

/*
 * Before the work whose result goes there. A new file or one in the place of a regular one, mode
 * 0600; links and whatever else is no regular file are refused. false after a line on stderr.
 */
bool cli_output_open(const struct cli_program *program, const char *path,
		     struct cli_output *output);
/* Only now is it there under its name, synced and whole. false, after a line on stderr: not. */
bool cli_output_finish(struct cli_output *output);
/* As if it had never been; after finish it does nothing. */
void cli_output_drop(struct cli_output *output);

#endif
