/* SPDX-License-Identifier: MIT */
/*
 * unit: what every unit test includes: cmocka and what it wants before it, and temporary folders.
 */
#ifndef FATWISE_TESTS_UNIT_H
#define FATWISE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEMP_PATH_BYTES 256

/* A new folder, in path. Use with temp_remove(). */
void temp_make(char path[TEMP_PATH_BYTES]);

/* Removes a folder and what is in it. */
void temp_remove(const char *path);

/* Writes text to the file dir/name, making the folders on the way. */
void temp_write(const char *dir, const char *name, const char *text);

/* Makes dir/name a symbolic link to dir/to. */
void temp_link(const char *dir, const char *name, const char *to);

/* "dir/name" in a buffer that the fourth call after this one reuses. */
const char *temp_path(const char *dir, const char *name);

#endif
