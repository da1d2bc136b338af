/* SPDX-License-Identifier: MIT */
/* names: see names.h. */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/bytes.h"

static bool is_short_char(unsigned char c)
{
	return c >= 0x7F || isupper(c) || isdigit(c) || (c != 0 && strchr("!#$%&'()-@^_`{}~", c));
}

bool name_to_short(const char *name, uint8_t short_name[11])
{
	const char *dot = strchr(name, '.');
	size_t base = dot ? (size_t)(dot - name) : strlen(name);
	size_t ext = dot ? strlen(dot + 1) : 0;

	if (base == 0 || base > 8 || ext > 3 || (dot && ext == 0))
		return false;
	memset(short_name, ' ', 11);
	memcpy(short_name, name, base);
	memcpy(short_name + 8, dot ? dot + 1 : "", ext);
	for (size_t i = 0; i < 11; i++)
		if (short_name[i] > 0x7F ||
		    (!is_short_char(short_name[i]) &&
		     !(short_name[i] == ' ' && (i >= 8 ? i - 8 >= ext : i >= base))))
			return false;
	return true;
}

void name_from_short(const uint8_t short_name[11], uint8_t case_bits, char to[64])
{
	size_t base = 8, ext = 3;

	while (base > 0 && short_name[base - 1] == ' ')
		base--;
	while (ext > 0 && short_name[8 + ext - 1] == ' ')
		ext--;
	for (size_t i = 0; i < 8 + ext; i++) {
		uint8_t c = i == 0 && short_name[0] == 0x05 ? 0xE5 : short_name[i];
		bool lower = case_bits & (i < 8 ? 0x08 : 0x10);

		if (i == base && i < 8)
			i = 8, c = short_name[8], lower = case_bits & 0x10;
		if (i == 8 && ext == 0)
			break;
		if (i == 8)
			*to++ = '.';
		if (c < 0x20 || c > 0x7E)
			to += sprintf(to, "\\x%02X", c);
		else
			*to++ = (char)(lower ? tolower(c) : c);
	}
	*to = '\0';
}

void name_alias(const char *name, unsigned n, uint8_t short_name[11])
{
	const char *dot = strrchr(name, '.');
	char tail[16];
	size_t tail_len = (size_t)snprintf(tail, sizeof tail, "~%u", n);
	size_t base = 0, ext = 0;

	memset(short_name, ' ', 11);
	for (const char *p = name; *p && p != dot && base < 8 - tail_len; p++)
		if (*p != ' ' && *p != '.')
			short_name[base++] =
				(uint8_t)(isalnum((unsigned char)*p) ? toupper(*p) : '_');
	memcpy(short_name + base, tail, tail_len);
	for (const char *p = dot ? dot + 1 : ""; *p && ext < 3; p++)
		if (*p != ' ')
			short_name[8 + ext++] =
				(uint8_t)(isalnum((unsigned char)*p) ? toupper(*p) : '_');
}

/* Blanks may be anywhere but in the first place. */
bool name_short_is_valid(const uint8_t short_name[11])
{
	for (size_t i = 0; i < 11; i++) {
		uint8_t c = i == 0 && short_name[0] == 0x05 ? 0xE5 : short_name[i];

		if (c == ' ' ? i == 0 : !is_short_char(c))
			return false;
	}
	return true;
}

uint8_t name_checksum(const uint8_t short_name[11])
{
	unsigned sum = 0;

	for (size_t i = 0; i < 11; i++)
		sum = ((sum & 1 ? 0x80u : 0) + (sum >> 1) + short_name[i]) & 0xFFu;
	return (uint8_t)sum;
}

size_t name_to_units(const char *name, uint16_t units[LFN_MAX_UNITS])
{
	const unsigned char *p = (const unsigned char *)name;
	size_t n = 0;

	while (*p && n + 1 < LFN_MAX_UNITS) {
		unsigned extra = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
		uint32_t c = extra == 0 ? *p : *p & (0x3Fu >> extra);

		for (p++; extra > 0 && *p; extra--)
			c = c << 6 | (*p++ & 0x3Fu);
		if (c >= 0x10000) {
			units[n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
			c = 0xDC00 + ((c - 0x10000) & 0x3FF);
		}
		units[n++] = (uint16_t)c;
	}
	if (*p && *p < 0x80 && n < LFN_MAX_UNITS)
		units[n++] = *p;
	return n;
}

void name_from_units(const uint16_t *units, size_t n, char *to)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t c = units[i];

		if (c >= 0xD800 && c < 0xDC00 && i + 1 < n && units[i + 1] >= 0xDC00 &&
		    units[i + 1] < 0xE000)
			c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00u);
		else if (c >= 0xD800 && c < 0xE000)
			c = '?';
		if (c < 0x80) {
			*to++ = (char)c;
			continue;
		}
		if (c >= 0x10000) {
			*to++ = (char)(0xF0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3F));
		} else if (c >= 0x800) {
			*to++ = (char)(0xE0 | c >> 12);
		}
		if (c >= 0x800)
			*to++ = (char)(0x80 | (c >> 6 & 0x3F));
		else
			*to++ = (char)(0xC0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3F));
	}
	*to = '\0';
}

size_t name_lfn_slots(size_t n_units)
{
	return (n_units + LFN_UNITS_A_SLOT - 1) / LFN_UNITS_A_SLOT;
}

size_t name_unit_off(size_t i)
{
	return i < 5 ? 1 + 2 * i : i < 11 ? 14 + 2 * (i - 5) : 28 + 2 * (i - 11);
}

void name_lfn_slot(const uint16_t *units, size_t n_units, unsigned seq, uint8_t checksum,
		   uint8_t slot[32])
{
	bool last = seq == name_lfn_slots(n_units);

	memset(slot, 0, 32);
	slot[0] = (uint8_t)(seq | (last ? 0x40u : 0));
	slot[11] = 0x0F;
	slot[13] = checksum;
	for (size_t i = 0; i < LFN_UNITS_A_SLOT; i++) {
		size_t at = (seq - 1) * LFN_UNITS_A_SLOT + i;

		put_le16(slot + name_unit_off(i), at < n_units    ? units[at]
						  : at == n_units ? 0
								  : 0xFFFF);
	}
}
