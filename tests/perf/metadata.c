/* SPDX-License-Identifier: MIT */
/*
 * metadata IMAGE         where a sound FAT32 volume's metadata lies: "OFF LENGTH" in disk order
 * metadata -r DEVICE     reads the extents of such a list on stdin; prints "BYTES"
 *
 * That is the least that a check has to read, and the best order to read it in: reserved sectors,
 * FATs, directories. Makes nothing of what it finds.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "libfat.h"
#include "vec.h"

#define MOST_AT_ONCE (1u << 20)

struct extent {
	uint64_t off, len_bytes;
};

static void die(const char *what)
{
	fprintf(stderr, "metadata: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void must(enum fat_status status, const char *what)
{
	if (status != FAT_OK)
		die(what);
}

static void *push(struct fat_vec *vec)
{
	void *item = fat_vec_push(vec);

	if (!item)
		die("memory");
	return item;
}

static void add_extent(struct fat_vec *extents, uint64_t off, uint64_t len_bytes)
{
	*(struct extent *)push(extents) = (struct extent){ off, len_bytes };
}

static int by_off(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->off > y->off) - (x->off < y->off);
}

/* One directory: its clusters, and the directories in it. */
static void take_directory(struct fat_table *table, uint32_t start, struct fat_vec *extents,
			   struct fat_vec *directories)
{
	struct fat_dir dir;
	struct fat_dirent entry;

	must(fat_dir_open(&dir, table, start), "directory");
	for (must(fat_dir_read(&dir), "directory"); dir.len_bytes > 0;
	     must(fat_dir_read(&dir), "directory")) {
		add_extent(extents, dir.off, dir.len_bytes);
		for (size_t at = 0; at < dir.len_bytes; at += FAT_SLOT_BYTES) {
			const uint8_t *slot = dir.buf + at;

			if (fat_slot_classify(slot) != FAT_SLOT_DIRECTORY || slot[0] == '.')
				continue;
			fat_dirent_decode(slot, table->geometry->type, &entry);
			*(uint32_t *)push(directories) = entry.start_clus;
		}
	}
	fat_dir_close(&dir);
}

static void print_extents(struct fat_vec *extents)
{
	fat_vec_sort(extents, by_off);
	for (size_t i = 0; i < extents->n; i++) {
		const struct extent *extent = fat_vec_at(extents, i);
		uint64_t off = extent->off, end = off + extent->len_bytes;

		for (; i + 1 < extents->n; i++) {
			extent = fat_vec_at(extents, i + 1);
			if (extent->off != end)
				break;
			end += extent->len_bytes;
		}
		printf("%" PRIu64 " %" PRIu64 "\n", off, end - off);
	}
}

static void list(const char *path)
{
	struct fat_geometry geometry;
	struct fat_table table;
	struct fat_vec extents, directories;
	struct fat_boot boot;
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_dev *dev;

	must(fat_dev_file_open(path, 0, &dev, NULL), path);
	must(fat_dev_read(dev, 0, sector, sizeof sector), path);
	fat_boot_decode(sector, &boot);
	must(fat_geometry_decode(&boot, &geometry), "geometry");
	must(fat_table_init(&table, dev, &geometry, 64u << 20), "table");
	fat_vec_init(&extents, sizeof(struct extent), 1u << 26);
	fat_vec_init(&directories, sizeof(uint32_t), 1u << 26);
	add_extent(&extents, 0, fat_geometry_data_off(&geometry));
	*(uint32_t *)push(&directories) = geometry.root_clus;
	for (size_t i = 0; i < directories.n; i++)
		take_directory(&table, *(uint32_t *)fat_vec_at(&directories, i), &extents,
			       &directories);
	print_extents(&extents);
	fat_vec_fini(&extents);
	fat_vec_fini(&directories);
	fat_table_fini(&table);
	fat_dev_close(dev);
}

static void read_list(const char *path)
{
	int fd = open(path, O_RDONLY);
	uint8_t *buf = malloc(MOST_AT_ONCE);
	uint64_t off, left, sum = 0;

	if (fd < 0 || !buf)
		die(path);
	while (scanf("%" SCNu64 " %" SCNu64, &off, &left) == 2)
		while (left > 0) {
			ssize_t n = pread(fd, buf, (size_t)min_u64(left, MOST_AT_ONCE), (off_t)off);

			if (n <= 0)
				die(path);
			off += (uint64_t)n;
			left -= (uint64_t)n;
			sum += (uint64_t)n;
		}
	printf("%" PRIu64 "\n", sum);
	free(buf);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-r") == 0)
		read_list(argv[2]);
	else if (argc == 2)
		list(argv[1]);
	else
		return 2;
	return 0;
}
