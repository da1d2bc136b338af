/* SPDX-License-Identifier: MIT */
/*
 * populate: objections, order, placing around bad clusters, and what stands on the device in the
 * end, read back with nothing of populate's.
 */
#include "unit.h"

#include "libfat.h"

static struct fat_codepage page850;

static int setup(void **state)
{
	(void)state;
	return fat_codepage_init(&page850, 850) == FAT_OK ? 0 : -1;
}

/* ---- building ---- */

static const struct fat_datetime noon = { 2024, 5, 6, 12, 0, 2, 0 };

static struct fat_populate *begin(void)
{
	struct fat_populate *populate;

	assert_int_equal(fat_populate_open(&populate), FAT_OK);
	return populate;
}

static uint32_t add_node(struct fat_populate *populate, uint32_t folder, const char *name,
			 bool is_folder, uint64_t size_bytes)
{
	struct fat_populate_entry entry = {
		.name = name,
		.folder = folder,
		.is_folder = is_folder,
		.attr = is_folder ? 0 : FAT_ATTR_ARCHIVE,
		.size_bytes = size_bytes,
		.time = noon,
	};
	uint32_t number;

	assert_int_equal(fat_populate_add(populate, &entry, &number), FAT_OK);
	return number;
}

static uint32_t add_file(struct fat_populate *populate, uint32_t folder, const char *name,
			 uint64_t size_bytes)
{
	return add_node(populate, folder, name, false, size_bytes);
}

static uint32_t add_folder(struct fat_populate *populate, uint32_t folder, const char *name)
{
	return add_node(populate, folder, name, true, 0);
}

static void finish(struct fat_populate *populate)
{
	assert_int_equal(fat_populate_finish(populate, &page850), FAT_OK);
}

static struct fat_layout plan(uint64_t size_bytes, uint32_t type, uint32_t cluster_sec)
{
	struct fat_layout_request ask = { .size_bytes = size_bytes,
					  .type = type,
					  .cluster_sec = cluster_sec };
	struct fat_layout layout;

	assert_int_equal(fat_layout_plan(&ask, &layout), FAT_OK);
	return layout;
}

/* ---- content: each byte follows from its file's size and its place ---- */

static uint8_t byte_at(uint64_t size_bytes, uint64_t off)
{
	return (uint8_t)(1 + (size_bytes * 31 + off * 7 + off / 251) % 255);
}

struct content {
	const struct fat_populate *populate;
	uint64_t size_bytes[64];     /* by node */
	uint64_t hole_off, hole_end; /* of every file */
	uint64_t n_read;
	uint32_t fail_at; /* node */
	bool stop;
};

static enum fat_status read_content(void *ctx, uint32_t node, uint64_t off, void *buf,
				    size_t len_bytes)
{
	struct content *content = ctx;
	uint8_t *to = buf;

	if (node == content->fail_at)
		return FAT_ERR_IO;
	assert_true(off + len_bytes <= content->size_bytes[node]);
	assert_true(off + len_bytes <= content->hole_off || off >= content->hole_end);
	for (size_t i = 0; i < len_bytes; i++)
		to[i] = byte_at(content->size_bytes[node], off + i);
	content->n_read += len_bytes;
	return FAT_OK;
}

static enum fat_status find_data(void *ctx, uint32_t node, uint64_t off, uint64_t *data_off,
				 uint64_t *end_off)
{
	struct content *content = ctx;
	uint64_t size_bytes = content->size_bytes[node];

	if (off < content->hole_off) {
		*data_off = off;
		*end_off = content->hole_off < size_bytes ? content->hole_off : size_bytes;
	} else {
		*data_off = off > content->hole_end ? off : content->hole_end;
		*end_off = size_bytes;
	}
	return FAT_OK;
}

static bool go_on(void *ctx, uint64_t done_bytes)
{
	(void)done_bytes;
	return !((struct content *)ctx)->stop;
}

/* ---- reading back ---- */

struct volume {
	struct fat_dev *dev;
	struct fat_geometry geometry;
};

static uint32_t entry_of(const struct volume *volume, uint32_t copy, uint32_t clus)
{
	uint8_t bytes[8] = { 0 };
	uint64_t off = fat_geometry_fat_off(&volume->geometry, copy) +
		       fat_entry_off(volume->geometry.type, clus);
	uint32_t odd = volume->geometry.type == FAT_TYPE_12 ? clus & 1 : 0;

	assert_int_equal(fat_dev_read(volume->dev, off, bytes + odd, 4), FAT_OK);
	return fat_entry_get(volume->geometry.type, bytes, odd);
}

/* All of a chain's bytes; the caller frees them. */
static uint8_t *read_chain(const struct volume *volume, uint32_t clus, size_t *n_bytes)
{
	uint32_t cluster_bytes = volume->geometry.cluster_bytes;
	uint32_t last = fat_geometry_last_clus(&volume->geometry);
	size_t room = 0;
	uint8_t *all = NULL;

	*n_bytes = 0;
	for (;;) {
		uint32_t next = entry_of(volume, 0, clus);

		assert_int_equal(entry_of(volume, 1, clus), next);
		if (*n_bytes + cluster_bytes > room) {
			room = 2 * (*n_bytes + cluster_bytes);
			all = realloc(all, room);
			assert_non_null(all);
		}
		assert_int_equal(fat_dev_read(volume->dev,
					      fat_geometry_cluster_off(&volume->geometry, clus),
					      all + *n_bytes, cluster_bytes),
				 FAT_OK);
		*n_bytes += cluster_bytes;
		if (fat_entry_classify(volume->geometry.type, next, last) == FAT_ENTRY_END)
			return all;
		assert_int_equal(fat_entry_classify(volume->geometry.type, next, last),
				 FAT_ENTRY_NEXT);
		clus = next;
	}
}

static uint8_t *read_root(const struct volume *volume, size_t *n_bytes)
{
	uint8_t *all;

	if (volume->geometry.type == FAT_TYPE_32)
		return read_chain(volume, volume->geometry.root_clus, n_bytes);
	*n_bytes = (size_t)fat_geometry_root_bytes(&volume->geometry);
	all = malloc(*n_bytes);
	assert_non_null(all);
	assert_int_equal(
		fat_dev_read(volume->dev, fat_geometry_root_off(&volume->geometry), all, *n_bytes),
		FAT_OK);
	return all;
}

/* Appends "path size\n" (folders: "path/\n", labels "label\n") of all below, checking content. */
static void list(const struct volume *volume, uint8_t *slots, size_t n_bytes, const char *path,
		 char *out)
{
	size_t first_long = 0;

	for (size_t at = 0; at < n_bytes; at += FAT_SLOT_BYTES) {
		enum fat_slot_kind kind = fat_slot_classify(slots + at);
		struct fat_dirent entry;
		struct fat_long_name longname = { 0 };
		char name[FAT_NAME_BYTES], below[1024];
		size_t n_chain = 0, n_long = at / FAT_SLOT_BYTES - first_long;
		uint8_t *chain = NULL;
		unsigned flaws = 0;

		if (kind == FAT_SLOT_END)
			break;
		if (kind == FAT_SLOT_LONG)
			continue;
		fat_dirent_decode(slots + at, volume->geometry.type, &entry);
		fat_short_to_utf8(entry.name, entry.name_case, &page850, name, sizeof name);
		if (n_long > 0) {
			assert_int_equal(
				fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])(
							  slots + first_long * FAT_SLOT_BYTES),
						  n_long, entry.name, &longname, &flaws),
				FAT_LONG_OK);
			assert_int_equal(flaws, 0);
			fat_units_to_utf8(longname.unit, longname.n_units, name, sizeof name);
		}
		first_long = at / FAT_SLOT_BYTES + 1;
		if (kind == FAT_SLOT_DOT || kind == FAT_SLOT_DOTDOT)
			continue;
		snprintf(below, sizeof below, "%s%s%s", path, name,
			 kind == FAT_SLOT_DIRECTORY ? "/" : "");
		if (kind == FAT_SLOT_FILE)
			sprintf(out + strlen(out), "%s %u\n", below, entry.size_bytes);
		else
			sprintf(out + strlen(out), "%s\n", below);
		if (entry.start_clus)
			chain = read_chain(volume, entry.start_clus, &n_chain);
		if (kind == FAT_SLOT_DIRECTORY)
			list(volume, chain, n_chain, below, out);
		for (size_t i = 0; kind == FAT_SLOT_FILE && i < n_chain; i++)
			if (chain[i] != (i < entry.size_bytes ? byte_at(entry.size_bytes, i) : 0))
				fail_msg("%s: byte %zu is %u", below, i, chain[i]);
		free(chain);
	}
}

static void assert_tree(const struct volume *volume, const char *tree)
{
	char out[4096] = "";
	size_t n_bytes;
	uint8_t *root = read_root(volume, &n_bytes);

	list(volume, root, n_bytes, "", out);
	free(root);
	assert_string_equal(out, tree);
}

/* ---- the tree that most tests use ---- */

static const uint64_t some_sizes[] = { 1, 512, 513, 70000, 0, 3000000 };

static struct fat_populate *some_tree(struct content *content, bool backwards)
{
	struct fat_populate *populate = begin();
	uint32_t zebra = backwards ? add_folder(populate, 0, "zebra") : 0;
	uint32_t folder = add_folder(populate, 0, "A folder with a long name");
	uint32_t deep = add_folder(populate, folder, "deep");
	const struct {
		uint32_t folder;
		const char *name;
	} files[] = { { 0, "one" },
		      { deep, "HALF.bin" },
		      { deep, "more than half" },
		      { folder, "größer.txt" },
		      { folder, "empty" },
		      { 0, "three million" } };

	if (!backwards)
		zebra = add_folder(populate, 0, "zebra");
	(void)zebra;
	memset(content, 0, sizeof *content);
	content->fail_at = FAT_POPULATE_NO_NODE;
	content->hole_off = content->hole_end = UINT64_MAX;
	for (size_t i = 0; i < 6; i++) {
		size_t k = backwards ? 5 - i : i;
		uint32_t node = add_file(populate, files[k].folder, files[k].name, some_sizes[k]);

		content->size_bytes[node] = some_sizes[k];
	}
	fat_populate_set_label(populate, (const uint8_t *)"LABEL      ", &noon);
	finish(populate);
	content->populate = populate;
	return populate;
}

static const char some_listing[] = "LABEL\n"
				   "A folder with a long name/\n"
				   "A folder with a long name/deep/\n"
				   "A folder with a long name/deep/HALF.bin 512\n"
				   "A folder with a long name/deep/more than half 513\n"
				   "A folder with a long name/empty 0\n"
				   "A folder with a long name/größer.txt 70000\n"
				   "one 1\n"
				   "three million 3000000\n"
				   "zebra/\n";

static struct volume write_some(struct fat_populate *populate, struct content *content,
				struct fat_layout layout, const uint32_t *bad, size_t n_bad)
{
	struct fat_geometry geometry = layout.geometry;
	struct fat_format_options format = { .has_label = true, .label = "LABEL      " };
	struct volume volume = { .geometry = geometry };
	struct fat_populate_source source = {
		.ctx = content,
		.read = read_content,
		.find_data = content->hole_off == UINT64_MAX ? NULL : find_data,
		.progress = go_on,
	};
	uint8_t junk[4096];

	memset(junk, 0xA5, sizeof junk);
	assert_int_equal(fat_dev_mem_open(fat_geometry_total_bytes(&geometry), &volume.dev),
			 FAT_OK);
	for (uint64_t off = fat_geometry_data_off(&geometry);
	     off + sizeof junk < fat_geometry_total_bytes(&geometry) && off < 8u << 20;
	     off += sizeof junk)
		assert_int_equal(fat_dev_write(volume.dev, off, junk, sizeof junk), FAT_OK);
	assert_int_equal(fat_populate_place(populate, &geometry, bad, n_bad), FAT_OK);
	assert_false(fat_populate_is_refused(populate));
	format.runs = fat_populate_runs(populate, &format.n_runs);
	assert_int_equal(fat_format_begin(volume.dev, &layout, &format), FAT_OK);
	assert_int_equal(fat_populate_write(populate, volume.dev, &source), FAT_OK);
	assert_int_equal(fat_format_finish(volume.dev, &layout, &format), FAT_OK);
	return volume;
}

static void all_types_read_back(void **state)
{
	static const struct {
		uint64_t size_bytes;
		uint32_t type, cluster_sec;
	} cases[] = { { 4u << 20, 12, 0 },   { 8u << 20, 12, 8 },    { 16u << 20, 16, 1 },
		      { 64u << 20, 16, 4 },  { 128u << 20, 16, 64 }, { 40u << 20, 32, 1 },
		      { 600u << 20, 32, 8 }, { 5ull << 30, 32, 16 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct content content;
		struct fat_populate *populate = some_tree(&content, false);
		struct volume volume = write_some(
			populate, &content,
			plan(cases[i].size_bytes, cases[i].type, cases[i].cluster_sec), NULL, 0);

		assert_int_equal(volume.dev->stats.n_reads, 0);
		assert_tree(&volume, some_listing);
		assert_int_equal(entry_of(&volume, 0, fat_populate_last_clus(populate) + 1), 0);
		assert_int_equal(entry_of(&volume, 1, 0) & 0xFF, 0xF8);
		fat_dev_close(volume.dev);
		fat_populate_close(populate);
	}
}

static void order_of_adding_does_not_matter(void **state)
{
	struct fat_layout layout = plan(16u << 20, 16, 0);
	uint8_t *bytes[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct content content;
		struct fat_populate *populate = some_tree(&content, i == 1);
		struct volume volume = write_some(populate, &content, layout, NULL, 0);

		bytes[i] = malloc(16u << 20);
		assert_non_null(bytes[i]);
		assert_int_equal(fat_dev_read(volume.dev, 0, bytes[i], 16u << 20), FAT_OK);
		fat_dev_close(volume.dev);
		fat_populate_close(populate);
	}
	assert_memory_equal(bytes[0], bytes[1], 16u << 20);
	free(bytes[0]);
	free(bytes[1]);
}

static void bad_clusters_are_left_out(void **state)
{
	static const uint32_t bad[] = { 3, 4, 6, 40, 1000, 2000 };
	static const uint32_t types[] = { 12, 16, 32 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint64_t size_bytes = types[i] == 12 ? 5u << 20 : 40u << 20;
		struct content content;
		struct fat_populate *populate = some_tree(&content, false);
		struct volume volume =
			write_some(populate, &content,
				   plan(size_bytes, types[i], types[i] == 32 ? 1 : 4), bad, 6);
		uint8_t byte;

		assert_tree(&volume, some_listing);
		for (size_t k = 0; k < 5; k++) {
			assert_int_equal(entry_of(&volume, 0, bad[k]),
					 fat_entry_bad(volume.geometry.type));
			assert_int_equal(
				fat_dev_read(volume.dev,
					     fat_geometry_cluster_off(&volume.geometry, bad[k]),
					     &byte, 1),
				FAT_OK);
			assert_int_equal(byte, 0xA5); /* not touched */
		}
		fat_dev_close(volume.dev);
		fat_populate_close(populate);
	}
}

/* Their entries share a sector with the tree's, which is written whole. */
static void bad_clusters_behind_the_tree_stay_marked(void **state)
{
	static const uint32_t bad[] = { 5, 6, 100, 120 };
	static const uint32_t types[] = { 12, 16, 32 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fat_populate *populate = begin();
		struct content content = { .hole_off = UINT64_MAX,
					   .fail_at = FAT_POPULATE_NO_NODE };
		struct volume volume;

		content.size_bytes[add_file(populate, 0, "a", 1)] = 1;
		finish(populate);
		volume = write_some(populate, &content,
				    plan(types[i] == 12 ? 1u << 20 : 40u << 20, types[i], 0), bad,
				    4);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(entry_of(&volume, 1, bad[k]),
					 fat_entry_bad(volume.geometry.type));
		assert_int_equal(entry_of(&volume, 1, 99), 0);
		assert_int_equal(entry_of(&volume, 1, 121), 0);
		fat_dev_close(volume.dev);
		fat_populate_close(populate);
	}
}

static void a_root_on_a_bad_cluster_is_an_error(void **state)
{
	static const uint32_t bad[] = { 2 };
	struct content content;
	struct fat_populate *populate = some_tree(&content, false);
	struct fat_geometry geometry = plan(40u << 20, 32, 1).geometry;

	(void)state;
	geometry.root_clus = 2;
	assert_int_equal(fat_populate_place(populate, &geometry, bad, 1), FAT_ERR_ARGUMENT);
	geometry.root_clus = 3;
	assert_int_equal(fat_populate_place(populate, &geometry, bad, 1), FAT_OK);
	fat_populate_close(populate);
}

/* A hole is zeroed by command and not asked for; what is around it is. */
static void holes_stay_holes(void **state)
{
	struct fat_layout layout = plan(16u << 20, 16, 0);
	struct fat_geometry geometry = layout.geometry;
	struct fat_populate *populate = begin();
	struct content content = { .hole_off = 100000, .hole_end = 2900000 };
	uint32_t node = add_file(populate, 0, "sparse", 3000000);
	struct volume volume;
	uint8_t byte;
	uint64_t data_off;

	(void)state;
	content.size_bytes[node] = 3000000;
	content.fail_at = FAT_POPULATE_NO_NODE;
	finish(populate);
	volume = write_some(populate, &content, layout, NULL, 0);
	assert_true(content.n_read == 200000);
	assert_true(volume.dev->stats.zero_bytes >= 2700000);
	data_off = fat_geometry_cluster_off(&geometry, 2);
	assert_int_equal(fat_dev_read(volume.dev, data_off + 1000000, &byte, 1), FAT_OK);
	assert_int_equal(byte, 0);
	assert_int_equal(fat_dev_read(volume.dev, data_off + 2900000, &byte, 1), FAT_OK);
	assert_int_equal(byte, byte_at(3000000, 2900000));
	fat_dev_close(volume.dev);
	fat_populate_close(populate);
}

static void writes_are_large_and_once(void **state)
{
	struct fat_geometry geometry = plan(600u << 20, 32, 8).geometry;
	struct fat_populate *populate = begin();
	struct content content = { .fail_at = FAT_POPULATE_NO_NODE };
	struct fat_populate_source source = { .ctx = &content, .read = read_content };
	struct fat_dev *dev;
	uint64_t n_bytes;

	(void)state;
	content.hole_off = content.hole_end = UINT64_MAX;
	for (unsigned i = 0; i < 60; i++) {
		char name[16];
		uint32_t node;

		snprintf(name, sizeof name, "file%u", i);
		node = add_file(populate, 0, name, 100000);
		content.size_bytes[node] = 100000;
	}
	finish(populate);
	assert_int_equal(fat_populate_place(populate, &geometry, NULL, 0), FAT_OK);
	assert_int_equal(fat_dev_mem_open(fat_geometry_total_bytes(&geometry), &dev), FAT_OK);
	assert_int_equal(fat_populate_write(populate, dev, &source), FAT_OK);
	n_bytes = (uint64_t)fat_populate_used_clus(populate) * geometry.cluster_bytes;
	assert_int_equal(fat_populate_used_clus(populate), 1 + 60 * 25);
	assert_true(dev->stats.write_bytes == n_bytes);
	assert_true(dev->stats.n_writes <= n_bytes / (1u << 20) + 2);
	fat_dev_close(dev);
	fat_populate_close(populate);
}

static void failures_stop_and_are_named(void **state)
{
	struct fat_geometry geometry = plan(16u << 20, 16, 0).geometry;
	struct content content;
	struct fat_populate *populate = some_tree(&content, false);
	struct fat_populate_source source = { .ctx = &content,
					      .read = read_content,
					      .progress = go_on };
	struct fat_dev *dev;
	char path[64];

	(void)state;
	assert_int_equal(fat_dev_mem_open(fat_geometry_total_bytes(&geometry), &dev), FAT_OK);
	assert_int_equal(fat_populate_place(populate, &geometry, NULL, 0), FAT_OK);
	content.fail_at = 6;
	assert_int_equal(fat_populate_write(populate, dev, &source), FAT_ERR_IO);
	assert_int_equal(fat_populate_failed_node(populate), 6);
	assert_int_equal(fat_populate_path(populate, 6, path, sizeof path), 45);
	assert_string_equal(path, "A folder with a long name/deep/more than half");
	content.fail_at = FAT_POPULATE_NO_NODE;
	content.stop = true;
	assert_int_equal(fat_populate_write(populate, dev, &source), FAT_ERR_CANCELLED);
	assert_int_equal(fat_populate_failed_node(populate), FAT_POPULATE_NO_NODE);
	dev->read_only = true;
	assert_int_equal(fat_populate_write(populate, dev, &source), FAT_ERR_READ_ONLY);
	fat_dev_close(dev);
	fat_populate_close(populate);
}

/* ---- objections ---- */

static void assert_objection(const struct fat_populate *populate, size_t i,
			     enum fat_populate_objection_id id, uint32_t node, uint64_t found)
{
	size_t n;
	const struct fat_populate_objection *list_of = fat_populate_objections(populate, &n);

	assert_true(i < n);
	assert_int_equal(list_of[i].id, id);
	assert_int_equal(list_of[i].node, node);
	assert_true(list_of[i].found == found);
	assert_true(fat_populate_objection_text(list_of[i].id)[0] != '\0');
}

static void all_bad_names_at_once(void **state)
{
	struct fat_populate *populate = begin();
	char long_name[257];
	uint32_t node[10];
	size_t n;

	(void)state;
	memset(long_name, 'x', 256);
	long_name[256] = '\0';
	node[0] = add_file(populate, 0, "a:b", 1);
	node[1] = add_file(populate, 0, "dot.", 1);
	node[2] = add_file(populate, 0, "end ", 1);
	node[3] = add_file(populate, 0,
			   "gr\xC3\x96\xC3\x9F"
			   "e",
			   1); /* GROESSE but for case */
	node[4] = add_file(populate, 0,
			   "gr\xC3\xB6\xC3\x9F"
			   "e",
			   1);
	node[5] = add_file(populate, 0, "large", 1ull << 32);
	node[6] = add_file(populate, 0, "line\nfeed", 1);
	node[7] = add_file(populate, 0, "not utf-8 \xFF", 1);
	node[8] = add_file(populate, 0, long_name, 1);
	add_file(populate, 0, "!right before a bad one", 1);
	node[9] = add_file(populate, 0, "*", 1);
	add_file(populate, 0, "fits", FAT_MAX_FILE_BYTES);
	finish(populate);
	assert_true(fat_populate_is_refused(populate));
	fat_populate_objections(populate, &n);
	assert_int_equal(n, 9);
	assert_objection(populate, 0, FAT_POPULATE_NAME_CHARACTER, node[9], '*');
	assert_objection(populate, 1, FAT_POPULATE_NAME_CHARACTER, node[0], ':');
	assert_objection(populate, 2, FAT_POPULATE_NAME_END, node[1], '.');
	assert_objection(populate, 3, FAT_POPULATE_NAME_END, node[2], ' ');
	assert_objection(populate, 4, FAT_POPULATE_NAME_TWICE, node[4], 0);
	assert_objection(populate, 5, FAT_POPULATE_FILE_LARGE, node[5], 1ull << 32);
	assert_objection(populate, 6, FAT_POPULATE_NAME_CHARACTER, node[6], '\n');
	assert_objection(populate, 7, FAT_POPULATE_NAME_UTF8, node[7], 0);
	assert_objection(populate, 8, FAT_POPULATE_NAME_LENGTH, node[8], 256);
	fat_populate_close(populate);
}

static void long_paths_are_no_refusal(void **state)
{
	struct fat_populate *populate = begin();
	char name[201];
	uint32_t folder, file;
	size_t n;

	(void)state;
	memset(name, 'n', 200);
	name[200] = '\0';
	folder = add_folder(populate, 0, name);
	file = add_file(populate, folder, name, 1);
	finish(populate);
	fat_populate_objections(populate, &n);
	assert_int_equal(n, 1);
	assert_objection(populate, 0, FAT_POPULATE_PATH_LONG, file, 401);
	assert_false(fat_populate_is_refused(populate));
	fat_populate_close(populate);
}

static void no_room(void **state)
{
	struct fat_geometry small = plan(1u << 20, 12, 0).geometry;
	struct fat_populate *populate = begin();
	struct fat_geometry large;

	(void)state;
	for (unsigned i = 0; i < 600; i++) {
		char name[16];

		snprintf(name, sizeof name, "F%u", i);
		add_file(populate, 0, name, 3000);
	}
	finish(populate);
	assert_int_equal(fat_populate_place(populate, &small, NULL, 0), FAT_OK);
	assert_objection(populate, 0, FAT_POPULATE_ROOT_FULL, 0, 600);
	assert_objection(populate, 1, FAT_POPULATE_VOLUME_FULL, 0, 1200);
	assert_true(fat_populate_is_refused(populate));
	large = plan(40u << 20, 32, 1).geometry;
	assert_int_equal(fat_populate_place(populate, &large, NULL, 0), FAT_OK);
	assert_false(fat_populate_is_refused(populate));
	fat_populate_close(populate);
}

static void too_many_names_for_a_folder(void **state)
{
	struct fat_populate *populate = begin();
	uint32_t folder = add_folder(populate, 0, "D");

	(void)state;
	for (unsigned i = 0; i < 65535; i++) {
		char name[16];

		snprintf(name, sizeof name, "F%u", i);
		add_file(populate, folder, name, 0);
	}
	finish(populate);
	assert_objection(populate, 0, FAT_POPULATE_FOLDER_LARGE, folder, 65537);
	fat_populate_close(populate);
}

static void wrong_folders_are_refused(void **state)
{
	struct fat_populate *populate = begin();
	struct fat_populate_entry entry = { .name = "x", .folder = 5 };
	uint32_t file = add_file(populate, 0, "f", 1);
	uint32_t number;

	(void)state;
	assert_int_equal(fat_populate_add(populate, &entry, &number), FAT_ERR_ARGUMENT);
	entry.folder = file;
	assert_int_equal(fat_populate_add(populate, &entry, &number), FAT_ERR_ARGUMENT);
	finish(populate);
	entry.folder = 0;
	assert_int_equal(fat_populate_add(populate, &entry, &number), FAT_ERR_ARGUMENT);
	fat_populate_close(populate);
}

/* ---- the smallest volume ---- */

static void fit_is_tight(void **state)
{
	static const uint32_t types[] = { 0, 12, 16, 32 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct content content;
		struct fat_populate *populate = some_tree(&content, false);
		struct fat_layout_request ask = { .type = types[i] };
		struct fat_layout layout;
		uint64_t size_bytes;
		struct fat_geometry less;

		assert_int_equal(fat_populate_fit(populate, &ask, NULL, NULL, &layout, &size_bytes),
				 FAT_OK);
		assert_int_equal(size_bytes % 1024, 0);
		assert_true(fat_geometry_total_bytes(&layout.geometry) <= size_bytes);
		assert_int_equal(fat_populate_place(populate, &layout.geometry, NULL, 0), FAT_OK);
		assert_false(fat_populate_is_refused(populate));
		ask.size_bytes = size_bytes - 1024;
		if (types[i] == 0 || types[i] == 12) {
			assert_int_equal(fat_layout_plan(&ask, &layout), FAT_OK);
			less = layout.geometry;
			assert_int_equal(fat_populate_place(populate, &less, NULL, 0), FAT_OK);
			assert_true(fat_populate_is_refused(populate));
		} else {
			assert_true(fat_layout_plan(&ask, &layout) != FAT_OK || layout.is_small_32);
		}
		fat_populate_close(populate);
	}
}

static void nothing_fits(void **state)
{
	struct fat_populate *populate = begin();
	struct fat_layout_request ask = { .type = 12, .cluster_sec = 1 };
	struct fat_layout layout;
	uint64_t size_bytes;

	(void)state;
	add_file(populate, 0, "large", 3u << 20);
	finish(populate);
	assert_int_equal(fat_populate_fit(populate, &ask, NULL, NULL, &layout, &size_bytes),
			 FAT_ERR_SIZE);
	fat_populate_close(populate);
}

/* Only multiples of 3 MiB, and 12 sectors reserved at least. */
static enum fat_status plan_threes(void *ctx, const struct fat_layout_request *request,
				   struct fat_layout *layout)
{
	struct fat_layout_request ask = *request;
	unsigned *n_plans = ctx;

	(*n_plans)++;
	ask.reserved_sec = 12;
	return request->size_bytes % (3u << 20) == 0 ? fat_layout_plan(&ask, layout) :
						       FAT_ERR_ARGUMENT;
}

static void fit_asks_the_planner_it_is_given(void **state)
{
	struct fat_populate *populate = begin();
	struct fat_layout_request ask = { .cluster_sec = 8 };
	struct fat_layout layout;
	uint64_t size_bytes;
	unsigned n_plans = 0;

	(void)state;
	add_file(populate, 0, "large", 4u << 20);
	finish(populate);
	assert_int_equal(
		fat_populate_fit(populate, &ask, plan_threes, &n_plans, &layout, &size_bytes),
		FAT_OK);
	assert_int_equal(size_bytes, 6u << 20);
	assert_int_equal(layout.geometry.reserved_sec, 12);
	assert_true(n_plans > 1);
	fat_populate_close(populate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_types_read_back),
		cmocka_unit_test(order_of_adding_does_not_matter),
		cmocka_unit_test(bad_clusters_are_left_out),
		cmocka_unit_test(bad_clusters_behind_the_tree_stay_marked),
		cmocka_unit_test(a_root_on_a_bad_cluster_is_an_error),
		cmocka_unit_test(holes_stay_holes),
		cmocka_unit_test(writes_are_large_and_once),
		cmocka_unit_test(failures_stop_and_are_named),
		cmocka_unit_test(all_bad_names_at_once),
		cmocka_unit_test(long_paths_are_no_refusal),
		cmocka_unit_test(no_room),
		cmocka_unit_test(too_many_names_for_a_folder),
		cmocka_unit_test(wrong_folders_are_refused),
		cmocka_unit_test(fit_is_tight),
		cmocka_unit_test(nothing_fits),
		cmocka_unit_test(fit_asks_the_planner_it_is_given),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
