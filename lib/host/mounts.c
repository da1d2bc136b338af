/* SPDX-License-Identifier: MIT */
/*
 * mounts: is it mounted.
 *
 * Knows /proc/self/mountinfo and the loop devices' sysfs. Must not know libblkid or libudev, for
 * fsck.fat links this file. A device is recognised by its number, never by how its path is
 * spelled: /dev/disk/by-label/X and /dev/sdb1 are one device.
 */
#include "mounts.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sysfs.h"

FILE *host_mounts_open(const struct host_roots *roots)
{
	char path[HOST_PATH_BYTES];

	return host_join(path, host_proc(roots), "self/mountinfo") ? fopen(path, "re") : NULL;
}

/* mountinfo writes blank, tab, line feed and backslash as \ooo. In place. */
static const char *unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* "36 35 98:0 /root /mount/point options [tags] - type source options" */
static bool parse_mount(char *line, struct host_mount *mount)
{
	char *save = NULL;
	char *field = strtok_r(line, " \n", &save);

	for (int i = 0; field && i < 4; i++) {
		field = strtok_r(NULL, " \n", &save);
		if (i == 1 && (!field || !host_parse_number(field, &mount->number)))
			return false;
	}
	mount->point = field ? unescape(field) : "";
	while (field && strcmp(field, "-") != 0)
		field = strtok_r(NULL, " \n", &save);
	if (!field || !strtok_r(NULL, " \n", &save))
		return false;
	field = strtok_r(NULL, " \n", &save);
	mount->source = field ? unescape(field) : "";
	return true;
}

bool host_mount_next(FILE *mounts, char **line, size_t *line_bytes, struct host_mount *mount)
{
	while (getline(line, line_bytes, mounts) > 0) {
		if (parse_mount(*line, mount))
			return true;
	}
	return false;
}

/* Some kinds (btrfs) mount under a number of their own: then the source is the only trace. */
static bool is_mount_of(const struct host_mount *mount, dev_t number)
{
	struct stat st;

	if (mount->number == number)
		return true;
	return mount->source[0] == '/' && stat(mount->source, &st) == 0 && S_ISBLK(st.st_mode) &&
	       st.st_rdev == number;
}

enum host_answer host_number_mounted(const struct host_roots *roots, dev_t number,
				     struct host_use *use)
{
	FILE *mounts = host_mounts_open(roots);
	struct host_mount mount;
	char *line = NULL;
	size_t line_bytes = 0;
	bool found = false;

	if (!mounts)
		return HOST_UNKNOWN;
	while (!found && host_mount_next(mounts, &line, &line_bytes, &mount))
		found = is_mount_of(&mount, number);
	if (found) {
		use->kind = HOST_USE_MOUNTED;
		host_copy(use->by, sizeof use->by, mount.point);
	}
	free(line);
	fclose(mounts);
	return found ? HOST_YES : HOST_NO;
}

bool host_each_partition(const char *dir,
			 bool (*visit)(void *context, dev_t number, const char *name),
			 void *context)
{
	DIR *disk = opendir(dir);
	struct dirent *entry;
	bool done = false;

	if (!disk)
		return false;
	while (!done && (entry = readdir(disk))) {
		char part[HOST_PATH_BYTES];
		uint64_t index;
		dev_t number;

		if (entry->d_name[0] != '.' && host_join(part, dir, entry->d_name) &&
		    host_attr_u64(part, "partition", &index) &&
		    host_attr_number(part, "dev", &number))
			done = visit(context, number, entry->d_name);
	}
	closedir(disk);
	return done;
}

/* Has the loop device in dir the image as its backing file? Compared by identity, not by name. */
static bool is_backed_by(const char *dir, const struct host_target *image)
{
	char path[HOST_PATH_BYTES];
	struct stat st;

	return host_attr_text(dir, "loop/backing_file", path, sizeof path) &&
	       stat(path, &st) == 0 && st.st_dev == image->file_dev && st.st_ino == image->file_ino;
}

bool host_each_loop(const struct host_roots *roots, const struct host_target *image,
		    bool (*visit)(void *context, dev_t number, const char *name), void *context)
{
	char dir[HOST_PATH_BYTES];
	struct dirent *entry;
	bool done = false;
	DIR *block = host_join(dir, host_sys(roots), "block") ? opendir(dir) : NULL;

	if (!block)
		return false;
	while (!done && (entry = readdir(block))) {
		char loop[HOST_PATH_BYTES];
		dev_t number;

		if (strncmp(entry->d_name, "loop", 4) == 0 && host_join(loop, dir, entry->d_name) &&
		    is_backed_by(loop, image) && host_attr_number(loop, "dev", &number))
			done = visit(context, number, entry->d_name);
	}
	closedir(block);
	return done;
}

struct search {
	const struct host_roots *roots;
	struct host_use *use;
};

static bool is_mounted(void *context, dev_t number, const char *name)
{
	struct search *search = context;

	if (host_number_mounted(search->roots, number, search->use) != HOST_YES)
		return false;
	host_copy(search->use->device, sizeof search->use->device, name);
	return true;
}

static bool loop_is_mounted(void *context, dev_t number, const char *name)
{
	struct search *search = context;
	char dir[HOST_PATH_BYTES];

	if (is_mounted(context, number, name))
		return true;
	host_block_dir(search->roots, number, dir);
	return host_each_partition(dir, is_mounted, context);
}

enum host_answer host_mount_find(const struct host_roots *roots, const struct host_target *target,
				 struct host_use *use)
{
	struct search search = { .roots = roots };
	FILE *mounts;

	*use = (struct host_use){ .kind = HOST_USE_NONE };
	search.use = use;
	if (target->kind == HOST_BLOCK)
		return host_number_mounted(roots, target->number, use);
	mounts = host_mounts_open(roots);
	if (!mounts)
		return HOST_UNKNOWN;
	fclose(mounts);
	if (target->kind != HOST_FILE)
		return HOST_NO;
	return host_each_loop(roots, target, loop_is_mounted, &search) ? HOST_YES : HOST_NO;
}

const char *host_use_text(const struct host_use *use, char *buf, size_t buf_bytes)
{
	static const char *const words[] = {
		[HOST_USE_NONE] = "not in use",     [HOST_USE_LOOP] = "attached to loop device ",
		[HOST_USE_HELD] = "held by ",       [HOST_USE_SWAP] = "used as swap space",
		[HOST_USE_MOUNTED] = "mounted at ",
	};
	bool elsewhere = use->device[0] != '\0' && use->kind != HOST_USE_NONE;

	snprintf(buf, buf_bytes, "%s%s%s%s%s", words[use->kind], use->by, elsewhere ? " (" : "",
		 elsewhere ? use->device : "", elsewhere ? ")" : "");
	return buf;
}
