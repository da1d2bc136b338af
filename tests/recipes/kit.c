/* SPDX-License-Identifier: MIT */
/* kit: see kit.h. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fflush(stdout);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

void *xalloc(size_t n, size_t bytes)
{
	void *p = calloc(n ? n : 1, bytes ? bytes : 1);

	if (!p)
		die("out of memory");
	return p;
}

void *xgrow(void *old, size_t n, size_t bytes)
{
	void *p = reallocarray(old, n ? n : 1, bytes);

	if (!p)
		die("out of memory");
	return p;
}

char *xstrdup(const char *text)
{
	return xformat("%s", text);
}

char *xformat(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		die("out of memory");
	va_end(args);
	return text;
}

void notes_addv(struct notes *notes, const char *format, va_list args)
{
	GROW_ARRAY(notes->line, notes->n);
	if (vasprintf(&notes->line[notes->n], format, args) < 0)
		die("out of memory");
	notes->n++;
}

void notes_add(struct notes *notes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	notes_addv(notes, format, args);
	va_end(args);
}

void notes_free(struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->line[i]);
	free(notes->line);
	*notes = (struct notes){ 0 };
}

uint64_t mix64(uint64_t v)
{
	v += 0x9E3779B97F4A7C15u;
	v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9u;
	v = (v ^ v >> 27) * 0x94D049BB133111EBu;
	return v ^ v >> 31;
}

uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = mix64(hash ^ (uint8_t)*text);
	return hash;
}

/* No byte is 0, so that content is never taken for a directory's end mark or an empty cluster. */
static uint64_t content_word(uint64_t seed, uint64_t word)
{
	return mix64(seed + word * 0x2545F4914F6CDD1Du) | 0x0101010101010101u;
}

void content_fill(uint64_t seed, uint64_t off, uint8_t *buf, size_t len)
{
	uint64_t word = content_word(seed, off / 8);

	for (size_t i = 0; i < len; i++, off++) {
		if (off % 8 == 0)
			word = content_word(seed, off / 8);
		buf[i] = (uint8_t)(word >> 8 * (off % 8));
	}
}

bool content_equal(uint64_t seed, uint64_t off, const uint8_t *buf, size_t len)
{
	uint8_t want[512];

	while (len > 0) {
		size_t n = len < sizeof want ? len : sizeof want;

		content_fill(seed, off, want, n);
		if (memcmp(buf, want, n) != 0)
			return false;
		buf += n;
		off += n;
		len -= n;
	}
	return true;
}
