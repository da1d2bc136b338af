/* SPDX-License-Identifier: MIT */
/*
 * tree: a folder of this system that is to fill the new volume (-d, --size-for).
 *
 * tree_scan.c reads what there is, tree.c goes from there to libfat's populate and back to files'
 * content when it is written.
 *
 * The rules: regular files and folders are taken; hard links become copies. A symbolic link stands
 * for what it leads to, if that lies in the same tree and is no folder around the link; any other
 * is refused, and so are sockets, pipes, devices and what may not be read. All that is refused is
 * told before anything is written.
 */
#ifndef FATWISE_MKFS_TREE_H
#define FATWISE_MKFS_TREE_H

#include <sys/stat.h>

#include "mkfs.h"

/* What there is to know of a node beside what populate knows; by its number. */
struct mkfs_tree_node {
	dev_t dev;
	ino_t ino;
	struct timespec modified;
	uint64_t size_bytes;
	bool has_holes;
};

struct mkfs_tree {
	const char *path; /* as given */
	int fd;           /* of the folder */
	struct cli_clock clock;
	struct fat_populate *populate;
	struct mkfs_tree_node *node;
	uint32_t n_nodes, max_nodes;
	size_t n_refused;

	/* while content is read */
	int file_fd;
	uint32_t file_node;
	const char *failed_why; /* of the last file that could not be read */
	struct cli_progress progress;
};

/*
 * Reads names, sizes and times of all that is in options->tree_path, and checks them. NULL after
 * everything that speaks against it was told.
 */
struct mkfs_tree *mkfs_tree_open(const struct mkfs_options *options,
				 const struct mkfs_moment *moment);
void mkfs_tree_close(struct mkfs_tree *tree); /* NULL is allowed */

/* The label takes a place in the root directory. */
void mkfs_tree_set_label(struct mkfs_tree *tree, const struct fat_format_options *format,
			 const struct mkfs_moment *moment);

/* The smallest volume for it that the planner has. false: told why there is none. */
bool mkfs_tree_fit(const struct mkfs_tree *tree, const struct fat_layout_request *ask,
		   fat_planner planner, void *ctx, uint64_t *size_bytes);

/* Finds a place for everything; format gets the runs. false: told what has none. */
bool mkfs_tree_place(struct mkfs_tree *tree, const struct fat_geometry *geometry,
		     const uint32_t *bad, size_t n_bad, struct fat_format_options *format);

/* Between fat_format_begin() and fat_format_finish(). false: told why. */
bool mkfs_tree_write(struct mkfs_tree *tree, const char *target, struct fat_dev *dev);

/* tree_scan.c: adds all that is below. target: the file that is to be made, or NULL. false: told
 * why. */
bool mkfs_tree_scan(struct mkfs_tree *tree, const struct stat *target);

#endif
