/* SPDX-License-Identifier: MIT */
/*
 * message: the boot message of -m, made fit for a BIOS screen.
 */
#include <errno.h>
#include <string.h>

#include "mkfs.h"

#define TAB_COLUMNS 8u

/* Where the text goes; what does not fit is counted all the same. */
struct sink {
	uint8_t *bytes;
	size_t max, n;
	unsigned column;
};

static void put(struct sink *sink, uint8_t c)
{
	if (sink->n < sink->max)
		sink->bytes[sink->n] = c;
	sink->n++;
}

static void take(struct sink *sink, int c)
{
	switch (c) {
	case '\r':
	case '\0':
		break;
	case '\n':
		put(sink, '\r');
		put(sink, '\n');
		sink->column = 0;
		break;
	case '\t':
		do {
			put(sink, ' ');
			sink->column++;
		} while (sink->column % TAB_COLUMNS != 0);
		break;
	default:
		put(sink, (uint8_t)c);
		sink->column++;
	}
}

/* dosfstools goes on with its own message when it cannot read one; so does this. */
static bool fail(const char *path, const char *action)
{
	cli_error(&mkfs_program,
		  "%s: warning: cannot %s the boot message: %s; the usual one is taken", path,
		  action, strerror(errno));
	return false;
}

bool mkfs_message_read(const char *path, size_t max_bytes, uint8_t *message, size_t *n_bytes)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "r");
	struct sink sink = { .bytes = message, .max = max_bytes };
	bool is_read;
	int c;

	if (!in)
		return fail(path, "open");
	while (sink.n <= max_bytes && (c = getc(in)) != EOF)
		take(&sink, c);
	is_read = !ferror(in) || fail(path, "read");
	if (!is_stdin)
		fclose(in);
	if (is_read && sink.n > max_bytes)
		cli_error(&mkfs_program, "%s: warning: boot message cut after %zu bytes", path,
			  max_bytes);
	*n_bytes = sink.n < max_bytes ? sink.n : max_bytes;
	return is_read;
}
