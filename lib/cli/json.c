/* SPDX-License-Identifier: MIT */
/*
 * json: strings as JSON has them, whatever their bytes.
 */
#include "cli.h"

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
		} else if (c < 0x20 || c == 0x7F) {
			fprintf(out, "\\u%04x", c);
		} else {
			fwrite(text, 1, length, out);
		}
		text += length;
	}
	fputc('"', out);
}
