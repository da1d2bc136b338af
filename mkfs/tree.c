/* SPDX-License-Identifier: MIT */
/*
 * tree: a folder of this system as the content of a new volume.
 *
 * Opens one file at a time. A file that is not any more what the scan saw ends the work: a volume
 * with half of an old file and half of a new one is worse than none.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- objections ---- */

static bool is_about_volume(const struct fat_populate_objection *objection)
{
	return objection->id == FAT_POPULATE_ROOT_FULL || objection->id == FAT_POPULATE_VOLUME_FULL;
}

static void tell(const struct mkfs_tree *tree, const struct fat_populate_objection *objection)
{
	bool is_refusal = fat_populate_objection_is_refusal(objection->id);
	char path[PATH_MAX] = "", other[PATH_MAX] = "";

	fat_populate_path(tree->populate, objection->node, path, sizeof path);
	if (objection->id == FAT_POPULATE_NAME_TWICE) {
		fat_populate_path(tree->populate, objection->other, other, sizeof other);
		cli_error(&mkfs_program, "%s/%s: %s: %s/%s; rename one", tree->path, path,
			  fat_populate_objection_text(objection->id), tree->path, other);
		return;
	}
	cli_error(&mkfs_program, "%s/%s: %s%s%s", tree->path, path,
		  is_refusal ? "" : "warning: ", fat_populate_objection_text(objection->id),
		  objection->id == FAT_POPULATE_FILE_LARGE     ? "; leave it out"
		  : objection->id == FAT_POPULATE_FOLDER_LARGE ? "; split it"
		  : is_refusal                                 ? "; rename it"
							       : "");
}

static void tell_about_volume(const struct mkfs_tree *tree,
			      const struct fat_populate_objection *objection)
{
	const char *advice =
		objection->id == FAT_POPULATE_ROOT_FULL
			? "use -r, or FAT32"
			: "make it larger, or leave something out; --size-for tells how "
			  "large it has to be";

	cli_error(&mkfs_program, "%s: %s: %" PRIu64 " needed, %" PRIu64 " there; %s", tree->path,
		  fat_populate_objection_text(objection->id), objection->found, objection->limit,
		  advice);
}

static bool report(const struct mkfs_tree *tree, bool about_volume)
{
	size_t n;
	const struct fat_populate_objection *objection =
		fat_populate_objections(tree->populate, &n);

	for (size_t i = 0; i < n; i++) {
		if (is_about_volume(&objection[i]) && about_volume)
			tell_about_volume(tree, &objection[i]);
		else if (!is_about_volume(&objection[i]) && !about_volume)
			tell(tree, &objection[i]);
	}
	return !fat_populate_is_refused(tree->populate);
}

/* ---- opening ---- */

static bool failed(const struct mkfs_tree *tree, const char *why)
{
	cli_error(&mkfs_program, "%s: %s", tree->path, why);
	return false;
}

static bool begin(struct mkfs_tree *tree)
{
	tree->fd = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->fd < 0)
		return failed(tree,
			      errno == ENOTDIR ? "is no folder; -d wants one" : strerror(errno));
	if (fat_populate_open(&tree->populate) != FAT_OK)
		return failed(tree, "out of memory");
	return true;
}

static bool read_all(struct mkfs_tree *tree, const struct mkfs_options *options)
{
	struct fat_codepage codepage;
	struct stat target;
	bool has_target = options->path && stat(options->path, &target) == 0;

	if (fat_codepage_init(&codepage, options->codepage) != FAT_OK)
		return failed(tree, "that code page is not known here");
	if (!begin(tree) || !mkfs_tree_scan(tree, has_target ? &target : NULL))
		return false;
	if (fat_populate_finish(tree->populate, &codepage) != FAT_OK)
		return failed(tree, "out of memory");
	return report(tree, false) && tree->n_refused == 0;
}

struct mkfs_tree *mkfs_tree_open(const struct mkfs_options *options,
				 const struct mkfs_moment *moment)
{
	struct mkfs_tree *tree = calloc(1, sizeof *tree);

	if (!tree) {
		cli_error(&mkfs_program, "%s: out of memory", options->tree_path);
		return NULL;
	}
	tree->path = options->tree_path;
	tree->clock = moment->clock;
	tree->fd = tree->file_fd = -1;
	if (read_all(tree, options))
		return tree;
	mkfs_tree_close(tree);
	return NULL;
}

void mkfs_tree_close(struct mkfs_tree *tree)
{
	if (!tree)
		return;
	if (tree->file_fd >= 0)
		close(tree->file_fd);
	if (tree->fd >= 0)
		close(tree->fd);
	fat_populate_close(tree->populate);
	free(tree->node);
	free(tree);
}

/* ---- room ---- */

bool mkfs_tree_fit(const struct mkfs_tree *tree, const struct fat_layout_request *ask,
		   fat_planner planner, void *ctx, uint64_t *size_bytes)
{
	struct fat_layout layout;

	if (fat_populate_fit(tree->populate, ask, planner, ctx, &layout, size_bytes) == FAT_OK)
		return true;
	return failed(tree, "no volume with these options holds it; leave out those of -F, -s, -r, "
			    "--align and --profile that are given");
}

void mkfs_tree_set_label(struct mkfs_tree *tree, const struct fat_format_options *format,
			 const struct mkfs_moment *moment)
{
	struct fat_datetime now;

	fat_datetime_decode(moment->date_dos, moment->time_dos, 0, &now);
	fat_populate_set_label(tree->populate, format->has_label ? format->label : NULL, &now);
}

bool mkfs_tree_place(struct mkfs_tree *tree, const struct fat_geometry *geometry,
		     const uint32_t *bad, size_t n_bad, struct fat_format_options *format)
{
	if (fat_populate_place(tree->populate, geometry, bad, n_bad) != FAT_OK)
		return failed(tree, "out of memory");
	if (!report(tree, true))
		return false;
	format->runs = fat_populate_runs(tree->populate, &format->n_runs);
	format->next_clus = fat_populate_last_clus(tree->populate);
	return true;
}

/* ---- content ---- */

static enum fat_status content_failed(struct mkfs_tree *tree, const char *why)
{
	tree->failed_why = why;
	return FAT_ERR_IO;
}

static bool is_unchanged(const struct mkfs_tree_node *node, const struct stat *st)
{
	return (uint64_t)st->st_size == node->size_bytes &&
	       st->st_mtim.tv_sec == node->modified.tv_sec &&
	       st->st_mtim.tv_nsec == node->modified.tv_nsec;
}

/* Makes file_fd that of the node. */
static enum fat_status open_file(struct mkfs_tree *tree, uint32_t node)
{
	char path[PATH_MAX];
	struct stat st;

	if (tree->file_fd >= 0 && tree->file_node == node)
		return FAT_OK;
	if (tree->file_fd >= 0)
		close(tree->file_fd);
	tree->file_fd = -1;
	if (fat_populate_path(tree->populate, node, path, sizeof path) >= sizeof path)
		return content_failed(tree, "the path is too long for this system");
	tree->file_fd = openat(tree->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (tree->file_fd < 0 || fstat(tree->file_fd, &st) != 0)
		return content_failed(tree, strerror(errno));
	tree->file_node = node;
	if (!is_unchanged(&tree->node[node], &st))
		return content_failed(tree, "changed in the meantime; run again when it is quiet");
	return FAT_OK;
}

static enum fat_status read_content(void *ctx, uint32_t node, uint64_t off, void *buf,
				    size_t len_bytes)
{
	struct mkfs_tree *tree = ctx;
	uint8_t *to = buf;
	enum fat_status status = open_file(tree, node);

	while (len_bytes > 0 && status == FAT_OK) {
		ssize_t n = pread(tree->file_fd, to, len_bytes, (off_t)off);

		if (n < 0 && errno == EINTR && cli_signal() == 0)
			continue;
		if (n <= 0)
			return content_failed(tree, n < 0 ? strerror(errno)
							  : "became shorter in the meantime; run "
							    "again when it is quiet");
		to += n;
		off += (uint64_t)n;
		len_bytes -= (size_t)n;
	}
	return status;
}

static enum fat_status find_data(void *ctx, uint32_t node, uint64_t off, uint64_t *data_off,
				 uint64_t *end_off)
{
	struct mkfs_tree *tree = ctx;
	enum fat_status status;
	off_t data, hole;

	*data_off = off;
	*end_off = tree->node[node].size_bytes;
	if (!tree->node[node].has_holes)
		return FAT_OK;
	status = open_file(tree, node);
	if (status != FAT_OK)
		return status;
	data = lseek(tree->file_fd, (off_t)off, SEEK_DATA);
	if (data < 0 && errno == ENXIO) {
		*data_off = *end_off;
		return FAT_OK;
	}
	hole = data < 0 ? -1 : lseek(tree->file_fd, data, SEEK_HOLE);
	if (hole > data) { /* else the file system knows nothing of holes: all is data */
		*data_off = (uint64_t)data;
		*end_off = (uint64_t)hole;
	}
	return FAT_OK;
}

static bool show_progress(void *ctx, uint64_t done_bytes)
{
	struct mkfs_tree *tree = ctx;

	cli_progress_show(&tree->progress, done_bytes);
	return cli_signal() == 0;
}

static bool tell_failure(const struct mkfs_tree *tree, enum fat_status status, const char *target,
			 const struct fat_dev *dev)
{
	uint32_t node = fat_populate_failed_node(tree->populate);
	char path[PATH_MAX] = "";

	if (node != FAT_POPULATE_NO_NODE) {
		fat_populate_path(tree->populate, node, path, sizeof path);
		cli_error(&mkfs_program, "%s/%s: %s", tree->path, path, tree->failed_why);
	} else if (status == FAT_ERR_CANCELLED) {
		cli_error(&mkfs_program, "%s: interrupted; it holds no file system now", target);
	} else if (dev->error.status == FAT_OK) {
		cli_error(&mkfs_program, "%s: %s", target, fat_status_text(status));
	} else {
		cli_device_error(&mkfs_program, target, &dev->error);
	}
	return false;
}

bool mkfs_tree_write(struct mkfs_tree *tree, const char *target, struct fat_dev *dev)
{
	struct fat_populate_source source = {
		.ctx = tree,
		.read = read_content,
		.find_data = find_data,
		.progress = show_progress,
	};
	enum fat_status status;

	cli_progress_begin(&tree->progress, "copying", fat_populate_content_bytes(tree->populate));
	status = fat_populate_write(tree->populate, dev, &source);
	cli_progress_end(&tree->progress);
	return status == FAT_OK || tell_failure(tree, status, target, dev);
}
