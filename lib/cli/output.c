/* SPDX-License-Identifier: MIT */
/*
 * output: a file that the user asked for beside what goes to standard output: a chart, a record.
 *
 * Written under another name (O_EXCL, 0600) in the same folder and renamed when it is complete: so
 * no link is followed, a file that is there is replaced as a whole or not at all, and what is no
 * regular file, a device above all, is never written to.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const struct cli_output *output, const char *why)
{
	cli_error(output->program, "%s: cannot write it: %s", output->path, why);
	return false;
}

static bool is_in_the_way(const char *path)
{
	struct stat there;

	return lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

/* The part and its stream; false: errno says why, and there is neither. */
static bool open_part(struct cli_output *output)
{
	static const char suffix[] = ".XXXXXX";
	size_t n_chars = strlen(output->path);
	int fd;

	output->part_path = malloc(n_chars + sizeof suffix);
	if (!output->part_path)
		return false;
	memcpy(output->part_path, output->path, n_chars);
	memcpy(output->part_path + n_chars, suffix, sizeof suffix);
	fd = mkostemp(output->part_path, O_CLOEXEC);
	if (fd >= 0) {
		output->stream = fdopen(fd, "w");
		if (output->stream)
			return true;
		close(fd);
		unlink(output->part_path);
	}
	free(output->part_path);
	output->part_path = NULL;
	return false;
}

bool cli_output_open(const struct cli_program *program, const char *path, struct cli_output *output)
{
	*output = (struct cli_output){ .program = program, .path = path };
	if (!path)
		return true;
	if (is_in_the_way(path))
		return refuse(output, "it exists and is no regular file; choose a new name");
	return open_part(output) || refuse(output, strerror(errno));
}

/* Closes the stream; whether everything arrived. */
static bool close_part(struct cli_output *output)
{
	bool failed = fflush(output->stream) != 0 || ferror(output->stream) != 0 ||
		      fsync(fileno(output->stream)) != 0;

	failed |= fclose(output->stream) != 0;
	output->stream = NULL;
	return !failed;
}

bool cli_output_finish(struct cli_output *output)
{
	bool done;

	if (!output->stream)
		return true;
	done = close_part(output) && rename(output->part_path, output->path) == 0;
	if (!done) {
		refuse(output, strerror(errno));
		unlink(output->part_path);
	}
	free(output->part_path);
	output->part_path = NULL;
	return done;
}

void cli_output_drop(struct cli_output *output)
{
	if (!output->stream)
		return;
	fclose(output->stream);
	unlink(output->part_path);
	free(output->part_path);
	output->stream = NULL;
	output->part_path = NULL;
}
