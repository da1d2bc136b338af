/* SPDX-License-Identifier: MIT */
/*
 * kit: what the test machines share: memory that ends the test when there is none, growing arrays,
 * messages, content of files as a function of a seed.
 *
 * Knows no FAT.
 */
#ifndef RECIPES_KIT_H
#define RECIPES_KIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ends the program with a message; for faults of a recipe or of the machine itself. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The system's, but they die instead of returning NULL. xalloc zeroes. */
void *xalloc(size_t n, size_t bytes);
void *xgrow(void *old, size_t n, size_t bytes);
char *xstrdup(const char *text);
char *xformat(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more element in an array that has n of them (room in powers of two). */
#define GROW_ARRAY(array, n)                                                                       \
	(((n) & ((n)-1)) == 0                                                                      \
		 ? (void)((array) = xgrow((array), (n) ? 2 * (n) : 1, sizeof *(array)))            \
		 : (void)0)

/* Lines of text, one a finding. */
struct notes {
	char **line;
	size_t n;
};

void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void notes_addv(struct notes *notes, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void notes_free(struct notes *notes);

/* A good 64-bit mix; also a hash of a text. */
uint64_t mix64(uint64_t v);
uint64_t hash_text(const char *text);

/* The bytes [off, off + len) of the content that belongs to a seed. */
void content_fill(uint64_t seed, uint64_t off, uint8_t *buf, size_t len);
bool content_equal(uint64_t seed, uint64_t off, const uint8_t *buf, size_t len);

#endif
