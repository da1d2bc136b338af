/* SPDX-License-Identifier: MIT */
/*
 * message: one line on stderr, and text from strangers made harmless.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool cli_is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
	       (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
	       (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

static uint32_t smallest_of_length(size_t length)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return smallest[length];
}

/* As the first byte announces it; 0: it begins no sequence. */
static size_t announced_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xC0 || lead >= 0xF8)
		return 0;
	return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

size_t cli_decode_utf8(const char *s, uint32_t *c)
{
	uint8_t lead = (uint8_t)s[0];
	size_t length = announced_length(lead);

	if (length == 0)
		return 0;
	*c = length == 1 ? lead : lead & (0x7Fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (((uint8_t)s[i] & 0xC0) != 0x80)
			return 0;
		*c = *c << 6 | ((uint8_t)s[i] & 0x3F);
	}
	if (*c < smallest_of_length(length) || (*c >= 0xD800 && *c < 0xE000) || *c > 0x10FFFF)
		return 0;
	return length;
}

void cli_put_text(FILE *out, const char *text)
{
	while (*text) {
		uint32_t c = 0;
		size_t length = cli_decode_utf8(text, &c);

		if (length == 0)
			fprintf(out, "\\x%02X", (unsigned)(uint8_t)*text++);
		else if (length == 1 && cli_is_unsafe(c))
			fprintf(out, "\\x%02X", c);
		else if (cli_is_unsafe(c))
			fprintf(out, "\\u{%04X}", c);
		else
			fwrite(text, 1, length, out);
		text += length;
	}
}

void cli_error(const struct cli_program *program, const char *format, ...)
{
	char *line = NULL;
	va_list list;
	int length;

	va_start(list, format);
	length = vasprintf(&line, format, list);
	va_end(list);
	fflush(stdout);
	fprintf(stderr, "%s: ", program->name);
	cli_put_text(stderr, length < 0 ? "out of memory" : line);
	fputc('\n', stderr);
	if (length >= 0)
		free(line);
}

void cli_device_error(const struct cli_program *program, const char *path,
		      const struct fat_error *error)
{
	const char *why =
		error->sys_errno ? strerror(error->sys_errno) : fat_status_text(error->status);
	const char *action = error->action ? error->action : "use it";

	if (error->len_bytes)
		cli_error(program, "%s: cannot %s %" PRIu64 " bytes at byte %" PRIu64 ": %s", path,
			  action, error->len_bytes, error->off, why);
	else
		cli_error(program, "%s: cannot %s: %s", path, action, why);
}
