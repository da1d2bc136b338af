/* SPDX-License-Identifier: MIT */
/* fuzz_label: labels and code pages: text to bytes and back, of any bytes. */
#include <string.h>

#include "cli.h"
#include "fuzz.h"
#include "libfat.h"

static void must_be_utf8(const char *text, size_t room)
{
	size_t n = strnlen(text, room);
	uint32_t c;

	must(n < room);
	while (*text) {
		size_t length = cli_decode_utf8(text, &c);

		must(length > 0);
		text += length;
	}
}

/* What was taken as a label comes back as the same text, and gives the same bytes again. */
static void from_text(const char *text, const struct fat_codepage *page)
{
	uint8_t label[FAT_SHORT_BYTES], again[FAT_SHORT_BYTES];
	char back[FAT_LABEL_TEXT_BYTES];
	enum fat_label_flaw flaw = fat_label_encode(text, page, label);

	must(*fat_label_flaw_text(flaw) || flaw == FAT_LABEL_OK);
	if (flaw != FAT_LABEL_OK)
		return;
	fat_label_has_lower(label, page);
	fat_label_decode(label, page, back);
	must_be_utf8(back, sizeof back);
	must(fat_label_encode(back, page, again) == FAT_LABEL_OK);
	must(memcmp(label, again, sizeof label) == 0);
}

static void from_bytes(const uint8_t *bytes, const struct fat_codepage *page)
{
	char text[FAT_LABEL_TEXT_BYTES];

	fat_label_decode(bytes, page, text);
	must_be_utf8(text, sizeof text);
	fat_label_is_none(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const unsigned pages[] = { 437, 850, 1252, 866, 932, 852 };
	struct fuzz_input input = { data, n_bytes };
	struct fat_codepage page;
	uint8_t bytes[FAT_SHORT_BYTES] = { 0 };
	char text[64];
	size_t n;

	if (fat_codepage_init(&page, pages[fuzz_take(&input, 8) % 6]) != FAT_OK)
		return 0;
	n = input.n_bytes < sizeof text - 1 ? input.n_bytes : sizeof text - 1;
	memcpy(text, input.data, n);
	text[n] = '\0';
	from_text(text, &page);
	memcpy(bytes, input.data, n < sizeof bytes ? n : sizeof bytes);
	from_bytes(bytes, &page);
	return 0;
}
