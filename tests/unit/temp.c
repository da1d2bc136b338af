/* SPDX-License-Identifier: MIT */
/*
 * temp: temporary folders with files in them. Every failure fails the test.
 */
#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

void temp_make(char path[TEMP_PATH_BYTES])
{
	const char *base = getenv("TMPDIR");

	snprintf(path, TEMP_PATH_BYTES, "%s/fatwise-unit-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void temp_remove(const char *path)
{
	assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *temp_path(const char *dir, const char *name)
{
	static char paths[4][2 * TEMP_PATH_BYTES];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", dir, name);
	return path;
}

static void make_parents(const char *dir, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		char part[TEMP_PATH_BYTES];

		snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
		mkdir(temp_path(dir, part), 0755);
	}
}

void temp_write(const char *dir, const char *name, const char *text)
{
	FILE *file;

	make_parents(dir, name);
	file = fopen(temp_path(dir, name), "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

void temp_link(const char *dir, const char *name, const char *to)
{
	make_parents(dir, name);
	assert_int_equal(symlink(temp_path(dir, to), temp_path(dir, name)), 0);
}
