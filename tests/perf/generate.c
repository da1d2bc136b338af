/* SPDX-License-Identifier: MIT */
/*
 * generate IMAGE KIND [ARGUMENTS]: fills a fresh FAT32 volume with very many files, fast.
 *
 * Writes FATs and directories only; file contents stay holes, so hundreds of thousands of files
 * take seconds and little disk. The image was made by a mkfs.fat before. For measurements, not for
 * tests of what is right: it believes the boot sector.
 *
 *   files N DIRS     N files in DIRS folders, long names, 1 to 3 clusters each
 *   folder N         N empty files with short names in one folder
 *   fragments N M    N files of M clusters each, every cluster at a random place
 *   lost N           N lost chains of 2 clusters (on top of what is there)
 *   crosslinks N     N pairs of files that share their second cluster
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "libfat.h"

#define SLOTS_PER_FLUSH 4096

struct volume {
	struct fat_dev *dev;
	struct fat_geometry geometry;
	uint8_t *table;	     /* one FAT; pages that stay zero cost nothing */
	uint32_t next_clus;  /* the next one never given out */
	uint64_t random;
};

static void die(const char *what)
{
	fprintf(stderr, "generate: %s\n", what);
	exit(2);
}

static void must(enum fat_status status, const char *what)
{
	if (status != FAT_OK)
		die(what);
}

static uint64_t random_below(struct volume *v, uint64_t n)
{
	v->random ^= v->random << 13;
	v->random ^= v->random >> 7;
	v->random ^= v->random << 17;
	return v->random % n;
}

static void open_volume(const char *path, struct volume *v)
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;
	struct fat_error error;
	uint64_t bytes;

	must(fat_dev_file_open(path, FAT_DEV_WRITE, &v->dev, &error), "cannot open the image");
	must(fat_dev_read(v->dev, 0, sector, sizeof sector), "cannot read");
	fat_boot_decode(sector, &boot);
	must(fat_geometry_decode(&boot, &v->geometry), "no FAT volume");
	if (v->geometry.type != FAT_TYPE_32)
		die("no FAT32 volume");
	bytes = fat_geometry_fat_bytes(&v->geometry);
	v->table = calloc(1, (size_t)bytes);
	if (!v->table)
		die("no memory");
	v->next_clus = FAT_FIRST_CLUS;
	v->random = 88172645463325252u;
	/* what is there: the beginning of the FAT is enough, this program fills from below */
	must(fat_dev_read(v->dev, fat_geometry_fat_off(&v->geometry, 0), v->table,
			  (size_t)min_u64(bytes, 64u << 20)),
	     "cannot read the FAT");
	for (uint32_t c = FAT_FIRST_CLUS; c < min_u64(bytes / 4, 16u << 20); c++)
		if (fat_entry_get(FAT_TYPE_32, v->table, c) &&
		    c <= fat_geometry_last_clus(&v->geometry))
			v->next_clus = c + 1;
}

static void set(struct volume *v, uint32_t clus, uint32_t value)
{
	fat_entry_set(FAT_TYPE_32, v->table, clus, value);
}

static uint32_t take(struct volume *v)
{
	if (v->next_clus > fat_geometry_last_clus(&v->geometry))
		die("the volume is full");
	return v->next_clus++;
}

/* A chain of n neighbours; 0 for none. */
static uint32_t take_chain(struct volume *v, uint32_t n)
{
	uint32_t first = n ? take(v) : 0;

	for (uint32_t i = 1; i < n; i++)
		set(v, first + i - 1, take(v));
	if (n)
		set(v, first + n - 1, fat_entry_mask(FAT_TYPE_32));
	return first;
}

static void write_tables(struct volume *v)
{
	uint64_t bytes = fat_geometry_fat_bytes(&v->geometry);
	size_t step = 1 << 20;
	static const uint8_t zero[4096];

	for (uint64_t at = 0; at < bytes; at += step) {
		size_t n = (size_t)min_u64(step, bytes - at);
		bool used = false;

		for (size_t k = 0; k < n && !used; k += sizeof zero)
			used = memcmp(v->table + at + k, zero, min_u64(sizeof zero, n - k)) != 0;
		for (uint32_t copy = 0; used && copy < v->geometry.n_fats; copy++)
			must(fat_dev_write(v->dev, fat_geometry_fat_off(&v->geometry, copy) + at,
					   v->table + at, n),
			     "cannot write the FAT");
	}
}

/* The count is right, but for what `lost` and `crosslinks` leave on purpose. */
static void write_fsinfo(struct volume *v)
{
	uint8_t sector[FAT_FSINFO_BYTES];
	uint64_t off = (uint64_t)v->geometry.fsinfo_sec * v->geometry.sector_bytes;
	struct fat_fsinfo fsinfo;
	uint32_t n_used = 0;

	for (uint32_t c = FAT_FIRST_CLUS; c <= fat_geometry_last_clus(&v->geometry); c++)
		n_used += fat_entry_get(FAT_TYPE_32, v->table, c) != 0;
	must(fat_dev_read(v->dev, off, sector, sizeof sector), "cannot read FSInfo");
	fat_fsinfo_decode(sector, &fsinfo);
	fsinfo.n_free = v->geometry.n_clus - n_used;
	fsinfo.next_clus = v->next_clus;
	fat_fsinfo_encode(&fsinfo, sector);
	must(fat_dev_write(v->dev, off, sector, sizeof sector), "cannot write FSInfo");
}

/* ---- directories ---- */

struct folder {
	struct volume *v;
	uint32_t first_clus, last_clus;
	uint8_t *slots;
	size_t n_bytes, cap_bytes;
};

static void folder_add(struct folder *folder, const uint8_t *slots, size_t n_slots)
{
	size_t n = n_slots * FAT_SLOT_BYTES;

	if (folder->n_bytes + n > folder->cap_bytes) {
		folder->cap_bytes = 2 * folder->cap_bytes + n + SLOTS_PER_FLUSH;
		folder->slots = realloc(folder->slots, folder->cap_bytes);
		if (!folder->slots)
			die("no memory");
	}
	memcpy(folder->slots + folder->n_bytes, slots, n);
	folder->n_bytes += n;
}

static struct fat_dirent plain_entry(const char name[FAT_SHORT_BYTES + 1], uint8_t attr,
				     uint32_t start_clus, uint32_t size_bytes)
{
	struct fat_dirent dirent = {
		.attr = attr,
		.create_date = 0x5A21, .access_date = 0x5A21, .write_date = 0x5A21,
		.start_clus = start_clus,
		.size_bytes = size_bytes,
	};

	memcpy(dirent.name, name, FAT_SHORT_BYTES);
	return dirent;
}

static void folder_add_entry(struct folder *folder, const char *long_name,
			     const struct fat_dirent *dirent)
{
	uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	uint8_t slot[FAT_SLOT_BYTES] = { 0 };
	uint16_t units[FAT_NAME_UNITS];
	size_t n_units;

	if (long_name && fat_units_from_utf8(long_name, units, FAT_NAME_UNITS, &n_units))
		folder_add(folder, slots[0], fat_long_split(units, n_units, dirent->name, slots));
	fat_dirent_encode(dirent, FAT_TYPE_32, slot);
	folder_add(folder, slot, 1);
}

static void folder_open(struct folder *folder, struct volume *v, uint32_t parent_clus)
{
	struct fat_dirent dot;

	*folder = (struct folder){ .v = v, .first_clus = take(v) };
	dot = plain_entry(".          ", FAT_ATTR_DIRECTORY, folder->first_clus, 0);
	folder_add_entry(folder, NULL, &dot);
	dot = plain_entry("..         ", FAT_ATTR_DIRECTORY, parent_clus, 0);
	folder_add_entry(folder, NULL, &dot);
}

/* The root that mkfs made, one cluster, perhaps with a label. */
static void folder_open_root(struct folder *folder, struct volume *v)
{
	uint32_t root = v->geometry.root_clus;
	uint8_t slot[FAT_SLOT_BYTES];
	uint64_t off = fat_geometry_cluster_off(&v->geometry, root);

	*folder = (struct folder){ .v = v, .first_clus = root };
	for (uint32_t at = 0; at < v->geometry.cluster_bytes; at += FAT_SLOT_BYTES) {
		must(fat_dev_read(v->dev, off + at, slot, sizeof slot), "cannot read the root");
		if (slot[0] == 0)
			break;
		folder_add(folder, slot, 1);
	}
}

static void folder_close(struct folder *folder)
{
	struct volume *v = folder->v;
	uint32_t clus = folder->first_clus;
	uint32_t cluster_bytes = v->geometry.cluster_bytes;
	uint8_t *block = malloc(cluster_bytes);

	if (!block)
		die("no memory");
	for (size_t at = 0;; at += cluster_bytes) {
		size_t n = at < folder->n_bytes
				   ? (size_t)min_u64(cluster_bytes, folder->n_bytes - at)
				   : 0;
		uint32_t next;

		memset(block, 0, cluster_bytes);
		if (n)
			memcpy(block, folder->slots + at, n);
		must(fat_dev_write(v->dev, fat_geometry_cluster_off(&v->geometry, clus), block,
				   cluster_bytes),
		     "cannot write a folder");
		if (at + cluster_bytes > folder->n_bytes)
			break;
		next = take(v);
		set(v, clus, next);
		clus = next;
	}
	set(v, clus, fat_entry_mask(FAT_TYPE_32));
	free(block);
	free(folder->slots);
}

/* ---- kinds ---- */

static void fill_folder(struct volume *v, struct folder *root, uint64_t number, uint64_t n_files)
{
	struct folder folder;
	char name[64];
	struct fat_dirent dirent;

	folder_open(&folder, v, 0);
	for (uint64_t i = 0; i < n_files; i++) {
		uint32_t n_clus = 1 + (uint32_t)random_below(v, 3);
		char long_name[96];

		snprintf(name, sizeof name, "F%05X~1DAT", (unsigned)(i & 0xFFFFF));
		snprintf(long_name, sizeof long_name,
			 "A file with a long name, number %" PRIu64 " of its folder.dat", i);
		dirent = plain_entry(name, FAT_ATTR_ARCHIVE, take_chain(v, n_clus),
				     n_clus * v->geometry.cluster_bytes - 77);
		folder_add_entry(&folder, long_name, &dirent);
	}
	folder_close(&folder);
	snprintf(name, sizeof name, "D%07X   ", (unsigned)(number & 0xFFFFFFF));
	dirent = plain_entry(name, FAT_ATTR_DIRECTORY, folder.first_clus, 0);
	folder_add_entry(root, NULL, &dirent);
}

static void make_files(struct volume *v, uint64_t n_files, uint64_t n_dirs)
{
	struct folder root;

	folder_open_root(&root, v);
	for (uint64_t d = 0; d < n_dirs; d++)
		fill_folder(v, &root, d, n_files / n_dirs);
	folder_close(&root);
}

static void make_folder(struct volume *v, uint64_t n_files)
{
	struct folder root, folder;
	struct fat_dirent dirent;
	char name[32];

	folder_open_root(&root, v);
	folder_open(&folder, v, 0);
	for (uint64_t i = 0; i < n_files; i++) {
		snprintf(name, sizeof name, "F%07uDAT", (unsigned)(i % 10000000));
		dirent = plain_entry(name, FAT_ATTR_ARCHIVE, 0, 0);
		folder_add_entry(&folder, NULL, &dirent);
	}
	folder_close(&folder);
	dirent = plain_entry("MANY       ", FAT_ATTR_DIRECTORY, folder.first_clus, 0);
	folder_add_entry(&root, NULL, &dirent);
	folder_close(&root);
}

/* Every cluster of every file at a random place of the area they share. */
static void make_fragments(struct volume *v, uint64_t n_files, uint64_t n_clus)
{
	struct folder root;
	uint64_t n = n_files * n_clus;
	uint32_t *place;
	uint32_t first;

	folder_open_root(&root, v);
	first = v->next_clus;
	if (first + n > fat_geometry_last_clus(&v->geometry))
		die("the volume is too small");
	place = malloc(n * sizeof *place);
	if (!place)
		die("no memory");
	v->next_clus += (uint32_t)n;
	for (uint64_t i = 0; i < n; i++)
		place[i] = first + (uint32_t)i;
	for (uint64_t i = n - 1; i > 0; i--) {
		uint64_t k = random_below(v, i + 1);
		uint32_t swap = place[i];

		place[i] = place[k];
		place[k] = swap;
	}
	for (uint64_t f = 0; f < n_files; f++) {
		const uint32_t *chain = place + f * n_clus;
		struct fat_dirent dirent;
		char name[32];

		for (uint64_t i = 0; i + 1 < n_clus; i++)
			set(v, chain[i], chain[i + 1]);
		set(v, chain[n_clus - 1], fat_entry_mask(FAT_TYPE_32));
		snprintf(name, sizeof name, "FRAG%04uBIN", (unsigned)(f % 10000));
		dirent = plain_entry(name, FAT_ATTR_ARCHIVE, chain[0],
				     (uint32_t)(n_clus * v->geometry.cluster_bytes - 1));
		folder_add_entry(&root, NULL, &dirent);
	}
	free(place);
	folder_close(&root);
}

static void make_lost(struct volume *v, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		take_chain(v, 2);
}

static void make_crosslinks(struct volume *v, uint64_t n_pairs)
{
	struct folder root;

	folder_open_root(&root, v);
	for (uint64_t i = 0; i < n_pairs; i++) {
		uint32_t a = take_chain(v, 3);
		uint32_t b = take_chain(v, 1);
		struct fat_dirent dirent;
		char name[32];

		set(v, b, a + 1);
		snprintf(name, sizeof name, "A%07uBIN", (unsigned)(i % 10000000));
		dirent = plain_entry(name, FAT_ATTR_ARCHIVE, a, 3 * v->geometry.cluster_bytes);
		folder_add_entry(&root, NULL, &dirent);
		name[0] = 'B';
		dirent = plain_entry(name, FAT_ATTR_ARCHIVE, b, 3 * v->geometry.cluster_bytes);
		folder_add_entry(&root, NULL, &dirent);
	}
	folder_close(&root);
}

static uint64_t number(char **argv, int argc, int i)
{
	char *end = NULL;
	uint64_t v = i < argc ? strtoull(argv[i], &end, 10) : 0;

	if (i >= argc || *end || v == 0)
		die("usage: generate IMAGE files N DIRS | folder N | fragments N M | lost N | "
		    "crosslinks N");
	return v;
}

int main(int argc, char **argv)
{
	struct volume v = { 0 };
	const char *kind = argc > 2 ? argv[2] : "";

	number(argv, argc, 3);
	open_volume(argv[1], &v);
	if (strcmp(kind, "files") == 0)
		make_files(&v, number(argv, argc, 3), number(argv, argc, 4));
	else if (strcmp(kind, "folder") == 0)
		make_folder(&v, number(argv, argc, 3));
	else if (strcmp(kind, "fragments") == 0)
		make_fragments(&v, number(argv, argc, 3), number(argv, argc, 4));
	else if (strcmp(kind, "lost") == 0)
		make_lost(&v, number(argv, argc, 3));
	else if (strcmp(kind, "crosslinks") == 0)
		make_crosslinks(&v, number(argv, argc, 3));
	else
		number(argv, 0, 3);
	write_tables(&v);
	write_fsinfo(&v);
	fat_dev_close(v.dev);
	free(v.table);
	return 0;
}
