/* SPDX-License-Identifier: MIT */
/*
 * tree_scan: reads a folder of this system, with all that is below, into a populate.
 *
 * Folder by folder, in the order in which they were found: one of them is open at a time, however
 * deep the tree. Opens no file. Whatever cannot be taken is told, and the rest is looked at all the
 * same, so that one run shows everything.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

struct scan {
	struct mkfs_tree *tree;
	const struct stat *target;
	char *real_root; /* without links */
	uint32_t folder; /* at hand */
	int folder_fd;
};

/* ---- telling ---- */

static const char *path_of(const struct mkfs_tree *tree, uint32_t folder, const char *name,
			   char path[PATH_MAX])
{
	size_t n = (size_t)snprintf(path, PATH_MAX, "%s/", tree->path);

	if (n < PATH_MAX)
		n += fat_populate_path(tree->populate, folder, path + n, PATH_MAX - n);
	if (n < PATH_MAX)
		snprintf(path + n, PATH_MAX - n, "%s%s", folder ? "/" : "", name);
	return path;
}

/* Counts as refused; the scan goes on. */
static bool refuse(struct scan *scan, const char *name, const char *why)
{
	char path[PATH_MAX];

	cli_error(&mkfs_program, "%s: %s", path_of(scan->tree, scan->folder, name, path), why);
	scan->tree->n_refused++;
	return true;
}

static bool out_of_memory(const struct scan *scan)
{
	cli_error(&mkfs_program, "%s: out of memory; give it in smaller parts", scan->tree->path);
	return false;
}

/* ---- adding ---- */

static bool keep(struct mkfs_tree *tree, const struct stat *st)
{
	if (tree->n_nodes == tree->max_nodes) {
		uint32_t max = tree->max_nodes ? tree->max_nodes * 2 : 256;
		void *grown = reallocarray(tree->node, max, sizeof *tree->node);

		if (!grown)
			return false;
		tree->node = grown;
		tree->max_nodes = max;
	}
	tree->node[tree->n_nodes++] = (struct mkfs_tree_node){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.modified = st->st_mtim,
		.size_bytes = (uint64_t)st->st_size,
		.has_holes = st->st_blocks < st->st_size / 512,
	};
	return true;
}

static bool add(struct scan *scan, const char *name, const struct stat *st)
{
	struct mkfs_tree *tree = scan->tree;
	bool is_folder = S_ISDIR(st->st_mode);
	struct fat_populate_entry entry = {
		.name = name,
		.folder = scan->folder,
		.is_folder = is_folder,
		.attr = is_folder ? 0 : FAT_ATTR_ARCHIVE,
		.size_bytes = (uint64_t)st->st_size,
	};
	uint32_t number;

	cli_clock_datetime(&tree->clock, st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec,
			   &entry.time);
	if (fat_populate_add(tree->populate, &entry, &number) != FAT_OK || !keep(tree, st))
		return out_of_memory(scan);
	return true;
}

static bool is_target(const struct scan *scan, const struct stat *st)
{
	return scan->target && S_ISREG(st->st_mode) && st->st_dev == scan->target->st_dev &&
	       st->st_ino == scan->target->st_ino;
}

static bool add_file(struct scan *scan, const char *name, const struct stat *st)
{
	if (is_target(scan, st))
		return refuse(scan, name, "is the volume itself; put it elsewhere");
	if (faccessat(scan->folder_fd, name, R_OK, AT_EACCESS) != 0)
		return refuse(scan, name, "may not be read; change its permissions");
	return add(scan, name, st);
}

/* ---- links ---- */

static bool lies_inside(const struct scan *scan, const char *name)
{
	char path[PATH_MAX];
	char *real = realpath(path_of(scan->tree, scan->folder, name, path), NULL);
	size_t n = strlen(scan->real_root);
	bool inside;

	if (!real)
		return false;
	inside = strncmp(real, scan->real_root, n) == 0 &&
		 (real[n] == '/' || real[n] == '\0' || n == 1);
	free(real);
	return inside;
}

/* Is that folder one of those that the link is in? */
static bool is_around(const struct scan *scan, const struct stat *st)
{
	uint32_t folder = scan->folder;

	for (;;) {
		const struct mkfs_tree_node *node = &scan->tree->node[folder];

		if (node->dev == st->st_dev && node->ino == st->st_ino)
			return true;
		if (folder == 0)
			return false;
		folder = fat_populate_folder_of(scan->tree->populate, folder);
	}
}

static bool add_link(struct scan *scan, const char *name)
{
	struct stat st;

	if (fstatat(scan->folder_fd, name, &st, 0) != 0)
		return refuse(scan, name, "is a symbolic link that leads nowhere; remove it");
	if (!lies_inside(scan, name))
		return refuse(scan, name,
			      "is a symbolic link that leads out of the folder; copy what it "
			      "leads to, or remove it");
	if (S_ISREG(st.st_mode))
		return add_file(scan, name, &st);
	if (!S_ISDIR(st.st_mode))
		return refuse(scan, name, "is a symbolic link to no file; remove it");
	if (is_around(scan, &st))
		return refuse(scan, name,
			      "is a symbolic link to a folder that it lies in; remove it");
	return add(scan, name, &st);
}

/* ---- folders ---- */

static const char *kind_text(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFSOCK:
		return "is a socket, which FAT cannot hold; remove it";
	case S_IFIFO:
		return "is a pipe, which FAT cannot hold; remove it";
	case S_IFBLK:
	case S_IFCHR:
		return "is a device, which FAT cannot hold; remove it";
	}
	return "is nothing that FAT can hold; remove it";
}

static bool take(struct scan *scan, const char *name)
{
	struct stat st;

	if (fstatat(scan->folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return refuse(scan, name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return add(scan, name, &st);
	if (S_ISREG(st.st_mode))
		return add_file(scan, name, &st);
	if (S_ISLNK(st.st_mode))
		return add_link(scan, name);
	return refuse(scan, name, kind_text(st.st_mode));
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool read_entries(struct scan *scan, DIR *folder)
{
	bool go_on = true;

	while (go_on) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(folder);
		if (!entry)
			return errno == 0 || refuse(scan, "", strerror(errno));
		if (!is_dots(entry->d_name))
			go_on = take(scan, entry->d_name) && cli_signal() == 0;
	}
	return false;
}

static bool read_folder(struct scan *scan)
{
	char path[PATH_MAX] = ".";
	DIR *folder;
	bool done;

	if (scan->folder != 0 &&
	    fat_populate_path(scan->tree->populate, scan->folder, path, sizeof path) >= sizeof path)
		return refuse(scan, "", "the path is too long for this system");
	scan->folder_fd = openat(scan->tree->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scan->folder_fd < 0)
		return refuse(scan, "", strerror(errno));
	folder = fdopendir(scan->folder_fd);
	if (!folder) {
		close(scan->folder_fd);
		return out_of_memory(scan);
	}
	done = read_entries(scan, folder);
	closedir(folder);
	return done;
}

bool mkfs_tree_scan(struct mkfs_tree *tree, const struct stat *target)
{
	struct scan scan = { .tree = tree, .target = target };
	struct stat st;
	bool done = true;

	if (fstat(tree->fd, &st) != 0 || !keep(tree, &st))
		return out_of_memory(&scan);
	scan.real_root = realpath(tree->path, NULL);
	if (!scan.real_root) {
		cli_error(&mkfs_program, "%s: %s", tree->path, strerror(errno));
		return false;
	}
	for (; done && scan.folder < tree->n_nodes; scan.folder++)
		if (fat_populate_is_folder(tree->populate, scan.folder))
			done = read_folder(&scan);
	free(scan.real_root);
	return done;
}
