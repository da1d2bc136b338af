/* SPDX-License-Identifier: MIT */
/*
 * holders: who else has a device: mounts, swap, devices on top of it; its partitions; its disk.
 *
 * Knows sysfs's "holders" and "slaves" and /proc/swaps. The kernel's own answer is O_EXCL; this
 * one has the names in it, and covers image files.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mounts.h"
#include "sysfs.h"

struct search {
	const struct host_roots *roots;
	struct host_use *use;
	bool found;
};

static bool is_swap(const struct host_roots *roots, dev_t number)
{
	char path[HOST_PATH_BYTES];
	char *line = NULL;
	size_t line_bytes = 0;
	bool found = false;
	FILE *swaps = host_join(path, host_proc(roots), "swaps") ? fopen(path, "re") : NULL;

	if (!swaps)
		return false;
	while (!found && getline(&line, &line_bytes, swaps) > 0) {
		struct stat st;

		line[strcspn(line, " \t\n")] = '\0';
		found = stat(line, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == number;
	}
	free(line);
	fclose(swaps);
	return found;
}

/* The first entry of a folder of links. */
static bool first_entry(const char *dir, const char *name, char *text, size_t text_bytes)
{
	char path[HOST_PATH_BYTES];
	DIR *folder = host_join(path, dir, name) ? opendir(path) : NULL;
	struct dirent *entry = NULL;

	if (!folder)
		return false;
	do
		entry = readdir(folder);
	while (entry && entry->d_name[0] == '.');
	if (entry)
		host_copy(text, text_bytes, entry->d_name);
	closedir(folder);
	return entry != NULL;
}

/* One device by itself, without its partitions. */
static bool is_used(const struct host_roots *roots, dev_t number, struct host_use *use)
{
	char dir[HOST_PATH_BYTES];

	if (host_number_mounted(roots, number, use) == HOST_YES)
		return true;
	if (is_swap(roots, number)) {
		use->kind = HOST_USE_SWAP;
		return true;
	}
	host_block_dir(roots, number, dir);
	if (!first_entry(dir, "holders", use->by, sizeof use->by))
		return false;
	use->kind = HOST_USE_HELD;
	return true;
}

/* Keeps the graver of what was found before and this one. */
static bool note_use(void *context, dev_t number, const char *name)
{
	struct search *search = context;
	struct host_use use = { .kind = HOST_USE_NONE };

	if (!is_used(search->roots, number, &use) || use.kind <= search->use->kind)
		return false;
	host_copy(use.device, sizeof use.device, name);
	*search->use = use;
	return use.kind == HOST_USE_MOUNTED;
}

static void note_with_partitions(struct search *search, dev_t number, const char *name)
{
	char dir[HOST_PATH_BYTES];
	uint64_t index;
	dev_t disk;

	host_block_dir(search->roots, number, dir);
	if (note_use(search, number, name) || host_each_partition(dir, note_use, search))
		return;
	if (host_attr_u64(dir, "partition", &index) && host_attr_number(dir, "../dev", &disk)) {
		char disk_name[HOST_NAME_BYTES] = "";

		host_link_name(dir, "..", disk_name, sizeof disk_name);
		note_use(search, disk, disk_name);
	}
}

static bool note_loop(void *context, dev_t number, const char *name)
{
	struct search *search = context;

	if (search->use->kind < HOST_USE_LOOP) {
		search->use->kind = HOST_USE_LOOP;
		host_copy(search->use->by, sizeof search->use->by, name);
	}
	note_with_partitions(search, number, name);
	return search->use->kind == HOST_USE_MOUNTED;
}

enum host_answer host_use_find(const struct host_roots *roots, const struct host_target *target,
			       struct host_use *use)
{
	struct search search = { .roots = roots, .use = use };
	FILE *mounts = host_mounts_open(roots);
	bool known = mounts != NULL;

	if (mounts)
		fclose(mounts);
	*use = (struct host_use){ .kind = HOST_USE_NONE };
	if (target->kind == HOST_BLOCK)
		note_with_partitions(&search, target->number, "");
	else if (target->kind == HOST_FILE)
		host_each_loop(roots, target, note_loop, &search);
	if (use->kind != HOST_USE_NONE)
		return HOST_YES;
	return known ? HOST_NO : HOST_UNKNOWN;
}

/* The number of the whole disk that number is, or is a partition of. */
static dev_t disk_of(const struct host_roots *roots, dev_t number)
{
	char dir[HOST_PATH_BYTES];
	uint64_t index;
	dev_t disk;

	host_block_dir(roots, number, dir);
	if (host_attr_u64(dir, "partition", &index) && host_attr_number(dir, "../dev", &disk))
		return disk;
	return number;
}

/* Is disk among the devices that number is made of? They stack a few deep (LUKS on LVM on RAID). */
static bool rests_on(const struct host_roots *roots, dev_t number, dev_t disk, int depth)
{
	char dir[HOST_PATH_BYTES], slaves[HOST_PATH_BYTES];
	struct dirent *entry;
	bool found = disk_of(roots, number) == disk;
	DIR *folder;

	host_block_dir(roots, number, dir);
	if (found || depth == 0 || !host_join(slaves, dir, "slaves"))
		return found;
	folder = opendir(slaves);
	if (!folder)
		return false;
	while (!found && (entry = readdir(folder))) {
		char slave[HOST_PATH_BYTES];
		dev_t below;

		if (entry->d_name[0] != '.' && host_join(slave, slaves, entry->d_name) &&
		    host_attr_number(slave, "dev", &below))
			found = rests_on(roots, below, disk, depth - 1);
	}
	closedir(folder);
	return found;
}

/* The device that "/" is mounted from, the one mounted last; false if there is none to be seen. */
static bool root_number(const struct host_roots *roots, dev_t *number)
{
	FILE *mounts = host_mounts_open(roots);
	struct host_mount mount;
	char *line = NULL;
	size_t line_bytes = 0;
	bool found = false;

	if (!mounts)
		return false;
	while (host_mount_next(mounts, &line, &line_bytes, &mount)) {
		struct stat st;

		if (strcmp(mount.point, "/") != 0)
			continue;
		*number = mount.number;
		if (stat(mount.source, &st) == 0 && S_ISBLK(st.st_mode))
			*number = st.st_rdev;
		found = true;
	}
	free(line);
	fclose(mounts);
	return found;
}

enum host_answer host_on_system_disk(const struct host_roots *roots,
				     const struct host_target *target)
{
	char dir[HOST_PATH_BYTES], name[HOST_NAME_BYTES];
	dev_t root;

	if (target->kind != HOST_BLOCK && target->kind != HOST_FILE)
		return HOST_UNKNOWN;
	if (!root_number(roots, &root))
		return HOST_UNKNOWN;
	host_block_dir(roots, root, dir);
	if (!host_attr_text(dir, "dev", name, sizeof name))
		return HOST_UNKNOWN; /* "/" is on no block device: overlay, network, memory */
	return rests_on(roots, root, disk_of(roots, target->number), 8) ? HOST_YES : HOST_NO;
}
