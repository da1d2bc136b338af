/* SPDX-License-Identifier: MIT */
/* survey: the volume and its tables; folders are in survey_tree.c. See survey.h. */
#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "survey_tree.h"

#define CHUNK_BYTES (1u << 20)

/* ---- boot sector --------------------------------------------------------------------------- */

static bool sane_numbers(const struct shape *shape, struct notes *problems)
{
	if (!is_pow2(shape->sector_bytes) || shape->sector_bytes < 512 ||
	    shape->sector_bytes > 32768)
		notes_add(problems, "boot: sectors of %u bytes", shape->sector_bytes);
	else if (!is_pow2(shape->cluster_sec))
		notes_add(problems, "boot: clusters of %u sectors", shape->cluster_sec);
	else if (shape->reserved_sec == 0 || shape->n_fats == 0 || shape->fat_sec == 0)
		notes_add(problems, "boot: no reserved sector, no FAT or a FAT without sectors");
	else if (shape->total_sec <= shape_data_off(shape) / shape->sector_bytes)
		notes_add(problems, "boot: no room for data");
	else
		return true;
	return false;
}

static void shape_of_32(const uint8_t *boot, struct shape *shape)
{
	uint16_t flags = get_le16(boot + 40);

	shape->bits = 32;
	shape->fat_sec = get_le32(boot + 36);
	shape->mirrored = !(flags & 0x80);
	shape->active_fat = shape->mirrored ? 0 : flags & 15u;
	shape->root_clus = get_le32(boot + 44);
	shape->fsinfo_sec = get_le16(boot + 48);
	shape->backup_sec = get_le16(boot + 50);
}

bool survey_shape(const uint8_t boot[512], uint64_t device_bytes, struct shape *shape,
		  struct notes *problems)
{
	uint64_t data_sec;

	memset(shape, 0, sizeof *shape);
	shape->mirrored = true;
	shape->sector_bytes = get_le16(boot + 11);
	shape->cluster_sec = boot[13];
	shape->cluster_bytes = shape->sector_bytes * shape->cluster_sec;
	shape->reserved_sec = get_le16(boot + 14);
	shape->n_fats = boot[16];
	shape->root_entries = get_le16(boot + 17);
	shape->total_sec = get_le16(boot + 19) ? get_le16(boot + 19) : get_le32(boot + 32);
	shape->fat_sec = get_le16(boot + 22);
	if (shape->fat_sec == 0)
		shape_of_32(boot, shape);
	if (shape->sector_bytes)
		shape->root_sec =
			(uint32_t)div_ceil(shape->root_entries * 32ull, shape->sector_bytes);
	if (!sane_numbers(shape, problems))
		return false;
	data_sec = shape->total_sec - shape_data_off(shape) / shape->sector_bytes;
	shape->n_clus = (uint32_t)(data_sec / shape->cluster_sec);
	if (shape->bits != 32)
		shape->bits = shape->n_clus < 4085 ? 12 : 16;
	if (shape->n_clus == 0 || shape->n_clus > (shape->bits == 16 ? 65524u : 268435444u)) {
		notes_add(problems, "boot: %u clusters", shape->n_clus);
		return false;
	}
	if (((uint64_t)shape->n_clus + 2) * shape->bits >
	    (uint64_t)shape->fat_sec * shape->sector_bytes * 8) {
		notes_add(problems, "boot: a FAT of %u sectors is too small", shape->fat_sec);
		return false;
	}
	if ((uint64_t)shape->total_sec * shape->sector_bytes > device_bytes) {
		notes_add(problems, "boot: %u sectors reach beyond the device", shape->total_sec);
		return false;
	}
	return shape->n_fats <= 4 && shape->active_fat < shape->n_fats;
}

static void check_boot(struct survey *survey)
{
	const uint8_t *boot = survey->boot;
	const struct shape *shape = &survey->shape;
	const uint8_t *ext = boot + (shape->bits == 32 ? 64 : 36);
	struct notes *problems = &survey->problems;

	if (boot[510] != 0x55 || boot[511] != 0xAA)
		notes_add(problems, "boot: no signature");
	if (boot[0] != 0xE9 && !(boot[0] == 0xEB && boot[2] == 0x90))
		notes_add(problems, "boot: no jump");
	if (boot[21] != 0xF0 && boot[21] < 0xF8)
		notes_add(problems, "boot: media byte %02X", boot[21]);
	if (ext[1] & 3)
		notes_add(problems, "boot: the volume is marked dirty");
	if (get_le16(boot + 19) && get_le32(boot + 32) &&
	    get_le16(boot + 19) != get_le32(boot + 32))
		notes_add(problems, "boot: two sector counts");
	if (shape->bits == 32 &&
	    (get_le16(boot + 42) != 0 || shape->root_entries != 0 || get_le16(boot + 19) != 0))
		notes_add(problems, "boot: version, root entries or 16-bit count on FAT32");
	if (shape->bits != 32 && shape->root_entries == 0)
		notes_add(problems, "boot: no root directory");
}

/* The backup may differ in the dirty byte, the name of the formatter, and in what is no field. */
static void check_backup(struct survey *survey)
{
	const struct shape *shape = &survey->shape;
	uint8_t backup[512];

	if (shape->backup_sec == 0 || shape->backup_sec == 0xFFFF)
		return;
	if (shape->backup_sec >= shape->reserved_sec) {
		notes_add(&survey->problems, "boot: backup in sector %u", shape->backup_sec);
		return;
	}
	get_bytes(survey->dev, (uint64_t)shape->backup_sec * shape->sector_bytes, backup, 512);
	backup[65] = survey->boot[65];
	if (memcmp(backup + 11, survey->boot + 11, 79) != 0 || backup[510] != 0x55 ||
	    backup[511] != 0xAA)
		notes_add(&survey->problems, "boot: the backup differs");
}

static void check_fsinfo(struct survey *survey)
{
	const struct shape *shape = &survey->shape;
	uint8_t raw[512];
	uint32_t n_free, next;

	if (shape->fsinfo_sec == 0 || shape->fsinfo_sec == 0xFFFF)
		return;
	if (shape->fsinfo_sec >= shape->reserved_sec) {
		notes_add(&survey->problems, "boot: FSInfo in sector %u", shape->fsinfo_sec);
		return;
	}
	get_bytes(survey->dev, (uint64_t)shape->fsinfo_sec * shape->sector_bytes, raw, 512);
	n_free = get_le32(raw + 488);
	next = get_le32(raw + 492);
	if (get_le32(raw) != 0x41615252 || get_le32(raw + 484) != 0x61417272 ||
	    get_le32(raw + 508) != 0xAA550000)
		notes_add(&survey->problems, "FSInfo: signature missing");
	if (n_free != 0xFFFFFFFF && n_free != survey->n_free)
		notes_add(&survey->problems, "FSInfo: %u clusters free, really %u", n_free,
			  survey->n_free);
	if (next != 0xFFFFFFFF && (next < 2 || next > shape->n_clus + 1))
		notes_add(&survey->problems, "FSInfo: next free cluster %u", next);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* One copy's entries, all 32 bits of each; in pieces that hold whole entries. */
static uint32_t *read_table(struct survey *survey, uint32_t copy)
{
	const struct shape *shape = &survey->shape;
	size_t n = (size_t)shape->n_clus + 2, bytes = (n * shape->bits + 7) / 8;
	uint32_t *table = xalloc(n, sizeof *table);
	uint8_t *raw = xalloc(bytes + 4, 1);

	for (size_t off = 0; off < bytes; off += CHUNK_BYTES)
		get_bytes(survey->dev, shape_fat_off(shape, copy) + off, raw + off,
			  (size_t)min_u64(CHUNK_BYTES, bytes - off));
	for (size_t c = 0; c < n; c++) {
		if (shape->bits == 32)
			table[c] = get_le32(raw + 4 * c);
		else if (shape->bits == 16)
			table[c] = get_le16(raw + 2 * c);
		else
			table[c] = c & 1 ? get_le16(raw + c * 3 / 2) >> 4
					 : get_le16(raw + c * 3 / 2) & 0xFFFu;
	}
	free(raw);
	return table;
}

static void compare_copies(struct survey *survey, const uint32_t *active)
{
	size_t n = (size_t)survey->shape.n_clus + 2;

	for (uint32_t copy = 0; survey->shape.mirrored && copy < survey->shape.n_fats; copy++) {
		uint32_t *other = read_table(survey, copy);

		for (size_t c = 0; c < n; c++)
			if (other[c] != active[c]) {
				notes_add(&survey->problems,
					  "FAT %u: entry %zu is %X, %X in FAT %u", copy + 1, c,
					  other[c], active[c], survey->shape.active_fat + 1);
				break;
			}
		free(other);
	}
}

static void check_entries(struct survey *survey)
{
	const struct shape *shape = &survey->shape;
	uint32_t media = (shape_mask(shape) & ~0xFFu) | survey->boot[21];
	uint32_t want1 = shape_end_min(shape);

	if (survey->fat[0] != media)
		notes_add(&survey->problems, "FAT: entry 0 is %X", survey->fat[0]);
	if (survey->fat[1] < want1)
		notes_add(&survey->problems, "FAT: entry 1 is %X", survey->fat[1]);
	for (uint32_t c = 2; c < shape->n_clus + 2; c++) {
		uint32_t v = survey->fat[c];

		survey->n_free += v == 0;
		if (v == 1 || (v > shape->n_clus + 1 && v < shape_bad(shape)))
			notes_add(&survey->problems, "FAT: entry %u is %X", c, v);
	}
}

static void read_tables(struct survey *survey)
{
	survey->fat = read_table(survey, survey->shape.active_fat);
	compare_copies(survey, survey->fat);
	for (uint32_t c = 0; c < survey->shape.n_clus + 2; c++)
		survey->fat[c] &= shape_mask(&survey->shape);
	check_entries(survey);
}

static void find_lost(struct survey *survey)
{
	uint32_t first = 0;

	for (uint32_t c = 2; c < survey->shape.n_clus + 2; c++)
		if (survey->fat[c] != 0 && survey->fat[c] != shape_bad(&survey->shape) &&
		    !survey->owner[c]) {
			first = first ? first : c;
			survey->n_lost++;
		}
	if (survey->n_lost)
		notes_add(&survey->problems, "%u lost clusters, the first is %u", survey->n_lost,
			  first);
}

/* ---- the whole ----------------------------------------------------------------------------- */

bool survey_read(struct survey *survey, struct fat_dev *dev)
{
	memset(survey, 0, sizeof *survey);
	survey->dev = dev;
	if (fat_dev_read(dev, 0, survey->boot, 512) != FAT_OK) {
		notes_add(&survey->problems, "boot: unreadable");
		return false;
	}
	if (!survey_shape(survey->boot, dev->size_bytes, &survey->shape, &survey->problems)) {
		notes_add(&survey->problems, "boot: no volume");
		return false;
	}
	check_boot(survey);
	read_tables(survey);
	survey->owner = xalloc((size_t)survey->shape.n_clus + 2, sizeof *survey->owner);
	survey_walk(survey);
	find_lost(survey);
	if (survey->shape.bits == 32) {
		check_backup(survey);
		check_fsinfo(survey);
	}
	return true;
}

void survey_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->n_found; i++) {
		free(survey->found[i].path);
		free(survey->found[i].chain);
	}
	free(survey->found);
	free(survey->fat);
	free(survey->owner);
	notes_free(&survey->problems);
}

const struct found *survey_find(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->n_found; i++)
		if (strcmp(survey->found[i].path, path) == 0)
			return &survey->found[i];
	return NULL;
}

bool survey_content(const struct survey *survey, const struct found *file, uint64_t off,
		    uint8_t *buf, size_t len)
{
	uint32_t cluster = survey->shape.cluster_bytes;

	while (len > 0) {
		size_t n = (size_t)min_u64(len, cluster - off % cluster);

		if (off / cluster >= file->n_chain)
			return false;
		get_bytes(survey->dev,
			  shape_cluster_off(&survey->shape, file->chain[off / cluster]) +
				  off % cluster,
			  buf, n);
		buf += n;
		off += n;
		len -= n;
	}
	return true;
}

uint64_t survey_hash(const struct survey *survey, const struct found *file)
{
	uint64_t hash = mix64(file->size);
	uint8_t buf[512];

	for (uint64_t off = 0; off < file->size; off += sizeof buf) {
		size_t n = (size_t)min_u64(sizeof buf, file->size - off);

		memset(buf, 0, sizeof buf);
		if (!survey_content(survey, file, off, buf, n))
			return 0;
		for (size_t i = 0; i < sizeof buf; i += 8)
			hash = mix64(hash ^ get_le64(buf + i));
	}
	return hash;
}
