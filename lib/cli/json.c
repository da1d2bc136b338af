/* SPDX-License-Identifier: MIT */
/*
 * json: strings as JSON has them, whatever their bytes.
 */
#include "cli.h"

/* Beyond 16 bits as a surrogate pair. */
static void put_escape(FILE *out, uint32_t c)
{
	if (c < 0x10000)
		fprintf(out, "\\u%04x", c);
	else
		fprintf(out, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
			0xDC00 + ((c - 0x10000) & 0x3FF));
}

void cli_put_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		uint32_t c = 0;
		size_t length = cli_decode_utf8(text, &c);

		if (length == 0) {
			fputs("\\ufffd", out);
			length = 1;
		} else if (c == '"' || c == '\\') {
			fprintf(out, "\\%c", (char)c);
		} else if (cli_is_unsafe(c)) {
			put_escape(out, c);
		} else {
			fwrite(text, 1, length, out);
		}
		text += length;
	}
	fputc('"', out);
}
