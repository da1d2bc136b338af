/* SPDX-License-Identifier: MIT */
/*
 * codepage: the bytes of short names and labels <-> Unicode.
 *
 * Holds what each byte from 80h on stands for; ASCII is itself. Pages 437 and 850 are built in,
 * for an initramfs has no converters; others come from the system's iconv. In double-byte pages a
 * lead byte and the one behind it are one character, which may well be a backslash's code: the pair
 * is looked up with iconv each time.
 */
#include "libfat.h"

#include <iconv.h>
#include <string.h>

#include "bytes.h"

static const uint16_t cp437[128] = {
	0x00C7, 0x00FC, 0x00E9, 0x00E2, 0x00E4, 0x00E0, 0x00E5, 0x00E7,
	0x00EA, 0x00EB, 0x00E8, 0x00EF, 0x00EE, 0x00EC, 0x00C4, 0x00C5,
	0x00C9, 0x00E6, 0x00C6, 0x00F4, 0x00F6, 0x00F2, 0x00FB, 0x00F9,
	0x00FF, 0x00D6, 0x00DC, 0x00A2, 0x00A3, 0x00A5, 0x20A7, 0x0192,
	0x00E1, 0x00ED, 0x00F3, 0x00FA, 0x00F1, 0x00D1, 0x00AA, 0x00BA,
	0x00BF, 0x2310, 0x00AC, 0x00BD, 0x00BC, 0x00A1, 0x00AB, 0x00BB,
	0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556,
	0x2555, 0x2563, 0x2551, 0x2557, 0x255D, 0x255C, 0x255B, 0x2510,
	0x2514, 0x2534, 0x252C, 0x251C, 0x2500, 0x253C, 0x255E, 0x255F,
	0x255A, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256C, 0x2567,
	0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256B,
	0x256A, 0x2518, 0x250C, 0x2588, 0x2584, 0x258C, 0x2590, 0x2580,
	0x03B1, 0x00DF, 0x0393, 0x03C0, 0x03A3, 0x03C3, 0x00B5, 0x03C4,
	0x03A6, 0x0398, 0x03A9, 0x03B4, 0x221E, 0x03C6, 0x03B5, 0x2229,
	0x2261, 0x00B1, 0x2265, 0x2264, 0x2320, 0x2321, 0x00F7, 0x2248,
	0x00B0, 0x2219, 0x00B7, 0x221A, 0x207F, 0x00B2, 0x25A0, 0x00A0,
};

static const uint16_t cp850[128] = {
	0x00C7, 0x00FC, 0x00E9, 0x00E2, 0x00E4, 0x00E0, 0x00E5, 0x00E7,
	0x00EA, 0x00EB, 0x00E8, 0x00EF, 0x00EE, 0x00EC, 0x00C4, 0x00C5,
	0x00C9, 0x00E6, 0x00C6, 0x00F4, 0x00F6, 0x00F2, 0x00FB, 0x00F9,
	0x00FF, 0x00D6, 0x00DC, 0x00F8, 0x00A3, 0x00D8, 0x00D7, 0x0192,
	0x00E1, 0x00ED, 0x00F3, 0x00FA, 0x00F1, 0x00D1, 0x00AA, 0x00BA,
	0x00BF, 0x00AE, 0x00AC, 0x00BD, 0x00BC, 0x00A1, 0x00AB, 0x00BB,
	0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x00C1, 0x00C2, 0x00C0,
	0x00A9, 0x2563, 0x2551, 0x2557, 0x255D, 0x00A2, 0x00A5, 0x2510,
	0x2514, 0x2534, 0x252C, 0x251C, 0x2500, 0x253C, 0x00E3, 0x00C3,
	0x255A, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256C, 0x00A4,
	0x00F0, 0x00D0, 0x00CA, 0x00CB, 0x00C8, 0x0131, 0x00CD, 0x00CE,
	0x00CF, 0x2518, 0x250C, 0x2588, 0x2584, 0x00A6, 0x00CC, 0x2580,
	0x00D3, 0x00DF, 0x00D4, 0x00D2, 0x00F5, 0x00D5, 0x00B5, 0x00FE,
	0x00DE, 0x00DA, 0x00DB, 0x00D9, 0x00FD, 0x00DD, 0x00AF, 0x00B4,
	0x00AD, 0x00B1, 0x2017, 0x00BE, 0x00B6, 0x00A7, 0x00F7, 0x00B8,
	0x00B0, 0x00A8, 0x00B7, 0x00B9, 0x00B3, 0x00B2, 0x25A0, 0x00A0,
};

/* One character in page -> its code point; 0: these bytes are none, or not a whole one. */
static uint32_t convert(iconv_t converter, const uint8_t *bytes, size_t n_bytes)
{
	char in[2], out[8] = { 0 };
	char *from = in, *to = out;
	size_t in_left = n_bytes, out_left = sizeof out;

	memcpy(in, bytes, n_bytes);
	iconv(converter, NULL, NULL, NULL, NULL);
	if (iconv(converter, &from, &in_left, &to, &out_left) == (size_t)-1 || in_left > 0 ||
	    out_left != sizeof out - 4)
		return 0;
	return get_le32((const uint8_t *)out);
}

/* "CPnnn". */
static void page_name(unsigned number, char name[16])
{
	char digits[12];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(name, "CP", 2);
	for (size_t i = 0; i < n; i++)
		name[2 + i] = digits[n - 1 - i];
	name[2 + n] = '\0';
}

static const char unicode_name[] = "UTF-32LE";

/* From the page to Unicode, or the other way; NULL: this system knows no such page. */
static iconv_t open_converter(const struct fat_codepage *page, bool to_page)
{
	char name[16];
	iconv_t converter;

	page_name(page->number, name);
	converter = to_page ? iconv_open(name, unicode_name) : iconv_open(unicode_name, name);
	return converter == (iconv_t)-1 ? NULL : converter;
}

static enum fat_status load_from_iconv(struct fat_codepage *page)
{
	iconv_t converter = open_converter(page, false);

	if (!converter)
		return FAT_ERR_ARGUMENT;
	for (unsigned i = 0; i < 128; i++) {
		uint8_t byte = (uint8_t)(128 + i);
		uint32_t c = convert(converter, &byte, 1);

		page->unicode[i] = c && c <= 0xFFFF ? (uint16_t)c : FAT_CODEPAGE_LEAD;
	}
	iconv_close(converter);
	return FAT_OK;
}

enum fat_status fat_codepage_init(struct fat_codepage *page, unsigned number)
{
	*page = (struct fat_codepage){ .number = number };
	if (number == 437 || number == 850) {
		memcpy(page->unicode, number == 437 ? cp437 : cp850, sizeof page->unicode);
		return FAT_OK;
	}
	if (number == 0 || number > 65535)
		return FAT_ERR_ARGUMENT;
	return load_from_iconv(page);
}

static uint32_t decode_pair(const struct fat_codepage *page, const uint8_t pair[2])
{
	uint32_t c;
	iconv_t converter = open_converter(page, false);

	if (!converter)
		return 0;
	c = convert(converter, pair, 2);
	iconv_close(converter);
	return c;
}

uint32_t fat_codepage_decode(const struct fat_codepage *page, const uint8_t *bytes, size_t n_bytes,
			     size_t *used)
{
	uint16_t unit;
	uint32_t c;

	*used = 1;
	if (bytes[0] < 0x80)
		return bytes[0];
	unit = page->unicode[bytes[0] - 128];
	if (unit != FAT_CODEPAGE_LEAD)
		return unit;
	c = n_bytes > 1 ? decode_pair(page, bytes) : 0;
	if (!c)
		return FAT_CHAR_UNKNOWN;
	*used = 2;
	return c;
}

static size_t encode_pair(const struct fat_codepage *page, uint32_t c, uint8_t bytes[2])
{
	char in[4], out[8] = { 0 };
	char *from = in, *to = out;
	size_t in_left = sizeof in, out_left = sizeof out;
	iconv_t converter = open_converter(page, true);
	size_t failed;

	if (!converter)
		return 0;
	put_le32((uint8_t *)in, c);
	failed = iconv(converter, &from, &in_left, &to, &out_left);
	iconv_close(converter);
	if (failed != 0 || out_left != sizeof out - 2)
		return 0;
	memcpy(bytes, out, 2);
	return 2;
}

size_t fat_codepage_encode(const struct fat_codepage *page, uint32_t c, uint8_t bytes[2])
{
	bool has_pairs = false;

	if (c < 0x80) {
		bytes[0] = (uint8_t)c;
		return 1;
	}
	for (unsigned i = 0; i < 128; i++) {
		if (page->unicode[i] == c && c != FAT_CODEPAGE_LEAD) {
			bytes[0] = (uint8_t)(128 + i);
			return 1;
		}
		has_pairs = has_pairs || page->unicode[i] == FAT_CODEPAGE_LEAD;
	}
	return has_pairs ? encode_pair(page, c, bytes) : 0;
}
