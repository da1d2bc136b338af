/* SPDX-License-Identifier: MIT */
/*
 * number: numbers as people write them, and back.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bytes.h"

bool cli_parse_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *value)
{
	bool hex = strncasecmp(text, "0x", 2) == 0;
	const char *digits = hex ? text + 2 : text;
	char *end;
	unsigned long long v;

	if (!isxdigit((unsigned char)digits[0]) || tolower((unsigned char)digits[1]) == 'x')
		return false; /* strtoull() would take signs, blanks and a second 0x */
	errno = 0;
	v = strtoull(digits, &end, hex ? 16 : base);
	if (errno || end == digits || *end || v < min || v > max)
		return false;
	*value = v;
	return true;
}

/* 0: no such unit. */
static uint64_t unit_bytes(const char *unit)
{
	static const char letters[] = "kmgt";
	const char *at;

	if (!*unit || strcasecmp(unit, "b") == 0)
		return 1;
	at = strchr(letters, tolower((unsigned char)*unit));
	if (!at || (unit[1] && strcasecmp(unit + 1, "b") != 0 && strcasecmp(unit + 1, "ib") != 0))
		return 0;
	return 1024ull << 10 * (at - letters);
}

bool cli_parse_size(const char *text, uint64_t *bytes)
{
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || unit_bytes(end) == 0)
		return false;
	return mul_u64(v, unit_bytes(end), bytes);
}

const char *cli_size_text(uint64_t bytes, char *buf, size_t buf_bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, buf_bytes, "%u B", (unsigned)bytes);
		return buf;
	}
	while (v >= 1023.95 && i + 1 < sizeof units / sizeof *units) {
		v /= 1024;
		i++;
	}
	snprintf(buf, buf_bytes, v == (double)(uint64_t)v ? "%.0f %s" : "%.1f %s", v, units[i]);
	return buf;
}
