/* SPDX-License-Identifier: MIT */
/*
 * boot_infer: what a boot sector must have said, from what is on the volume.
 *
 * Supposes one other value for one field, or, where the sector says nothing at all, all fields,
 * from where FATs and folders are. A supposition is taken only if the whole volume is without fault
 * under it, and no other one is as good: else nothing is known.
 */
#include <stdlib.h>
#include <string.h>

#include "boot_proof.h"
#include "bytes.h"

#define MAX_DOTS     64u
#define MAX_PLACES   8u
#define SEARCH_BYTES (8u << 20)
#define PIECE_BYTES  65536u
#define FAT_BYTES    (4u << 20) /* how far FATs are looked for */
#define MAX_ROOT     1024u	/* entries */
#define FEW_FILES    2u         /* that fit where no folder does: fewer are chance */

/* A folder that names its own cluster. */
struct dot {
	uint64_t off;
	uint32_t low; /* of the cluster's number: the lower half is the same in all types */
};

struct infer {
	struct fsck *fsck;
	struct dot dot[MAX_DOTS];
	size_t n_dots;
	struct candidate *best;
	struct candidate *trial;
	unsigned n_sound; /* different ones */
};

/* ---- what is on the volume ---- */

static void find_dots(struct infer *infer)
{
	struct fat_dev *dev = infer->fsck->dev;
	uint8_t *piece = malloc(PIECE_BYTES);

	for (uint64_t off = 0; piece && off < SEARCH_BYTES && off < dev->size_bytes;
	     off += PIECE_BYTES) {
		size_t n = (size_t)min_u64(PIECE_BYTES, dev->size_bytes - off);

		if (fat_dev_read(dev, off, piece, n) != FAT_OK)
			break;
		for (size_t at = 0; at + 512 <= n && infer->n_dots < MAX_DOTS; at += 512)
			if (fat_slot_classify(piece + at) == FAT_SLOT_DOT &&
			    fat_slot_classify(piece + at + FAT_SLOT_BYTES) == FAT_SLOT_DOTDOT)
				infer->dot[infer->n_dots++] = (struct dot){
					off + at,
					get_le16(piece + at + 26),
				};
	}
	free(piece);
}

/* Where something begins like a FAT, in sectors. */
static size_t find_fats(struct fsck *fsck, uint32_t sector_bytes, uint32_t *place)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	size_t n_places = 0;

	for (uint64_t off = 0; piece && off < FAT_BYTES && off < fsck->dev->size_bytes;
	     off += PIECE_BYTES) {
		size_t n = (size_t)min_u64(PIECE_BYTES, fsck->dev->size_bytes - off);

		if (fat_dev_read(fsck->dev, off, piece, n) != FAT_OK)
			break;
		for (size_t at = 0; at + sector_bytes <= n && n_places < MAX_PLACES;
		     at += sector_bytes)
			if ((piece[at] == 0xF0 || piece[at] >= 0xF8) && piece[at + 1] == 0xFF &&
			    piece[at + 2] == 0xFF && off + at > 0)
				place[n_places++] = (uint32_t)((off + at) / sector_bytes);
	}
	free(piece);
	return n_places;
}

/* ---- suppositions ---- */

/* Most folders are where it puts them; where there is none, files are asked later. */
static bool folders_fit(const struct infer *infer, const struct fat_geometry *geometry)
{
	size_t n_right = 0;

	if (infer->n_dots == 0)
		return true;
	for (size_t i = 0; i < infer->n_dots; i++) {
		uint32_t clus = fat_geometry_clus_at(geometry, infer->dot[i].off);

		n_right += fat_geometry_has_clus(geometry, clus) &&
			   (clus & 0xFFFF) == infer->dot[i].low &&
			   fat_geometry_cluster_off(geometry, clus) == infer->dot[i].off;
	}
	return n_right > 0 && 2 * n_right > infer->n_dots;
}

static bool same_clusters(const struct fat_geometry *a, const struct fat_geometry *b)
{
	return a->type == b->type && a->cluster_bytes == b->cluster_bytes &&
	       fat_geometry_data_off(a) == fat_geometry_data_off(b) && a->fat_sec == b->fat_sec;
}

static bool fills_device(const struct infer *infer, const struct fat_geometry *geometry)
{
	return infer->fsck->dev->size_bytes - fat_geometry_total_bytes(geometry) <
	       geometry->sector_bytes;
}

/*
 * One that holds in all. Of those with the clusters in the same places the one is right that knows
 * of more FATs, and then the one that fills the device.
 */
static void take(struct infer *infer)
{
	const struct candidate *trial = infer->trial;
	const struct fat_geometry *best = &infer->best->geometry;

	if (infer->n_sound > 0 && same_clusters(best, &trial->geometry)) {
		if (trial->geometry.n_fats > best->n_fats ||
		    (trial->geometry.n_fats == best->n_fats &&
		     fills_device(infer, &trial->geometry)))
			*infer->best = *trial;
		return;
	}
	infer->n_sound++;
	*infer->best = *trial;
}

void boot_set_total(struct fat_boot *boot, uint64_t total_sec)
{
	bool small = total_sec <= UINT16_MAX && !fat_boot_is_fat32_layout(boot);

	boot->total16_sec = small ? (uint16_t)total_sec : 0;
	boot->total32_sec = small ? 0 : (uint32_t)min_u64(total_sec, UINT32_MAX);
}

/* What may be wrong beside a field, and is known without it. */
static void set_right_beside(struct fsck *fsck, struct fat_boot *boot)
{
	uint64_t off = (uint64_t)boot->reserved_sec * boot->sector_bytes;
	uint8_t start[3];

	if (fat_dev_read(fsck->dev, off, start, sizeof start) == FAT_OK && start[0] >= 0xF0 &&
	    start[1] == 0xFF && start[2] == 0xFF)
		boot->media = start[0];
	if (fat_boot_total_sec(boot) > fsck->dev->size_bytes / boot->sector_bytes)
		boot_set_total(boot, fsck->dev->size_bytes / boot->sector_bytes);
}

static void judge(const struct infer *infer, const struct fat_boot *boot)
{
	fat_boot_encode(boot, infer->trial->sector);
	candidate_judge(infer->fsck, infer->trial);
}

static void suppose(struct infer *infer, const struct fat_boot *supposed)
{
	struct candidate *trial = infer->trial;
	struct fsck *fsck = infer->fsck;
	struct fat_boot boot = *supposed;
	bool sound = false;
	int64_t score;

	if (fat_geometry_decode(&boot, &trial->geometry) != FAT_OK ||
	    !folders_fit(infer, &trial->geometry))
		return;
	set_right_beside(fsck, &boot);
	judge(infer, &boot);
	if (trial->root < 0 && fat_boot_is_fat32_layout(&boot)) {
		boot.root_clus = FAT_FIRST_CLUS;
		judge(infer, &boot);
	}
	if (!trial->usable || !trial->has_fat || trial->doubted || trial->miscounted ||
	    trial->length < 1 || trial->root < 0 ||
	    (infer->n_dots == 0 && trial->n_files_right < FEW_FILES) ||
	    candidate_deviates(trial, FAT_BOOT_TOTAL_LARGE))
		return;
	if (trial_look(fsck, &trial->boot, &trial->geometry, &score, &sound) == FAT_OK && sound)
		take(infer);
}

/* As long a FAT as puts a folder where it says that it is; and the whole device. */
static void suppose_fat_lengths(struct infer *infer, const struct fat_boot *boot)
{
	uint64_t cluster_bytes = (uint64_t)boot->cluster_sec * boot->sector_bytes, tried = 0;
	uint64_t around = (uint64_t)boot->reserved_sec * boot->sector_bytes +
			  (uint64_t)boot->root_entries * FAT_SLOT_BYTES;
	uint64_t unit = (uint64_t)boot->n_fats * boot->sector_bytes;

	for (size_t i = 0; i < infer->n_dots && unit; i++) {
		uint64_t before = (infer->dot[i].low - FAT_FIRST_CLUS) * cluster_bytes + around;
		uint64_t fats = infer->dot[i].off - before;
		struct fat_boot other = *boot;

		if (infer->dot[i].off <= before || fats % unit || fats == tried)
			continue;
		tried = fats;
		if (fat_boot_is_fat32_layout(boot))
			other.fat32_sec = (uint32_t)(fats / unit);
		else
			other.fat16_sec = (uint16_t)(fats / unit);
		suppose(infer, &other);
		boot_set_total(&other, infer->fsck->dev->size_bytes / boot->sector_bytes);
		suppose(infer, &other);
	}
}

/* The same field after field, each with all the values that make sense. */
static void suppose_one_field(struct infer *infer, const struct fat_boot *boot)
{
	uint64_t size = infer->fsck->dev->size_bytes;
	struct fat_boot other = *boot;
	uint32_t place[MAX_PLACES];
	size_t n_places;

	for (other.sector_bytes = 512; other.sector_bytes <= 4096; other.sector_bytes *= 2)
		suppose(infer, &other);
	other = *boot;
	for (unsigned n = 1; n <= 128; n *= 2) {
		other.cluster_sec = (uint8_t)n;
		suppose(infer, &other);
	}
	other = *boot;
	for (other.n_fats = 1; other.n_fats <= 4; other.n_fats++)
		suppose(infer, &other);
	other = *boot;
	for (unsigned n = 16; n <= MAX_ROOT && !fat_boot_is_fat32_layout(boot); n += 16) {
		other.root_entries = (uint16_t)n;
		suppose(infer, &other);
	}
	other = *boot;
	if (!is_pow2(boot->sector_bytes) || boot->sector_bytes < 512 || boot->sector_bytes > 4096)
		return;
	boot_set_total(&other, size / boot->sector_bytes);
	suppose(infer, &other);
	suppose_fat_lengths(infer, boot);
	other = *boot;
	n_places = find_fats(infer->fsck, boot->sector_bytes, place);
	for (size_t i = 0; i < n_places; i++) {
		other.reserved_sec = (uint16_t)place[i];
		suppose(infer, &other);
	}
	other = *boot;
	if (n_places < 2)
		return;
	if (fat_boot_is_fat32_layout(boot))
		other.fat32_sec = place[1] - place[0];
	else
		other.fat16_sec = (uint16_t)(place[1] - place[0]);
	suppose(infer, &other);
}

/* ---- a sector that says nothing ---- */

static void fill_in(struct fat_boot *boot, uint32_t sector_bytes, const uint32_t *place,
		    size_t n_fats)
{
	*boot = (struct fat_boot){
		.jump = { 0xEB, 0x3C, 0x90 },
		.oem = "FATWISE",
		.sector_bytes = (uint16_t)sector_bytes,
		.reserved_sec = (uint16_t)place[0],
		.n_fats = (uint8_t)n_fats,
		.fat16_sec = (uint16_t)(place[1] - place[0]),
		.drive = 0x80,
		.ext_sig = 0x29,
		.label = "NO NAME   ",
		.signature = 0xAA55,
	};
	boot->oem[7] = boot->label[10] = ' ';
}

static void suppose_shape(struct infer *infer, struct fat_boot *boot)
{
	for (unsigned n_clus_sec = 1; n_clus_sec <= 128; n_clus_sec *= 2)
		for (unsigned n = boot->sector_bytes / FAT_SLOT_BYTES; n <= MAX_ROOT;
		     n += boot->sector_bytes / FAT_SLOT_BYTES) {
			struct fat_geometry geometry;

			boot->cluster_sec = (uint8_t)n_clus_sec;
			boot->root_entries = (uint16_t)n;
			if (fat_geometry_decode(boot, &geometry) != FAT_OK)
				continue;
			memcpy(boot->fs_type,
			       geometry.type == FAT_TYPE_12 ? "FAT12   " : "FAT16   ",
			       sizeof boot->fs_type);
			suppose(infer, boot);
		}
}

static void suppose_all_fields(struct infer *infer)
{
	for (uint32_t sector = 512; sector <= 4096; sector *= 2) {
		uint32_t place[MAX_PLACES];
		size_t n = find_fats(infer->fsck, sector, place), n_fats = 2;
		struct fat_boot boot;
		uint8_t media;

		if (n < 2 || place[0] > UINT16_MAX || place[1] - place[0] > UINT16_MAX)
			continue;
		while (n_fats < n && place[n_fats] - place[n_fats - 1] == place[1] - place[0])
			n_fats++;
		fill_in(&boot, sector, place, n_fats);
		if (fat_dev_read(infer->fsck->dev, (uint64_t)place[0] * sector, &media, 1) !=
		    FAT_OK)
			continue;
		boot.media = media;
		boot_set_total(&boot, infer->fsck->dev->size_bytes / sector);
		memset(infer->trial->sector, 0, sizeof infer->trial->sector);
		infer->trial->made_up = true;
		suppose_shape(infer, &boot);
	}
}

bool boot_infer(struct fsck *fsck, const struct candidate *main, struct candidate *found)
{
	struct candidate *trial = malloc(sizeof *trial);
	struct infer *infer = calloc(1, sizeof *infer);
	bool known = false;

	if (infer && trial) {
		*infer = (struct infer){ .fsck = fsck, .best = found, .trial = trial };
		find_dots(infer);
		*trial = *main;
		suppose_one_field(infer, &main->boot);
		if (infer->n_dots > 0 && infer->n_sound == 0 && !main->usable)
			suppose_all_fields(infer);
		known = infer->n_sound == 1;
	}
	free(trial);
	free(infer);
	return known;
}

/* One fault less may be chance: the size of a file that its chain happens to fit. */
bool boot_infer_size(struct fsck *fsck, const struct candidate *main, struct candidate *found)
{
	int64_t as_main, as_found;
	bool sound;

	return trial_look(fsck, &main->boot, &main->geometry, &as_main, &sound) == FAT_OK &&
	       !sound && boot_infer(fsck, main, found) &&
	       trial_look(fsck, &found->boot, &found->geometry, &as_found, &sound) == FAT_OK &&
	       as_found + 2 * TRIAL_FAULT_WEIGHT <= as_main;
}

/* ---- the end of the volume ---- */

/*
 * What one copy of the FAT makes of the volume; with two or more, the first may be the damaged one.
 */
static enum fat_status look_by_copy(const struct fsck *fsck, const struct candidate *candidate,
				    uint32_t copy, int64_t *score, bool *sound)
{
	struct fat_geometry geometry = candidate->geometry;

	geometry.active_fat = copy;
	return trial_look(fsck, &candidate->boot, &geometry, score, sound);
}

/*
 * The last cluster whose entry is in use in that copy, behind the last one that there is; 0: none.
 */
static uint32_t last_in_use(struct fsck *fsck, const struct candidate *wider, uint32_t copy,
			    uint32_t last)
{
	struct fat_geometry geometry = wider->geometry;
	uint32_t found = 0, most = fat_geometry_last_clus(&geometry);
	struct fat_table table;

	geometry.active_fat = copy;
	if (fat_table_init(&table, fsck->dev, &geometry, 1u << 18) != FAT_OK)
		return 0;
	for (uint32_t c = last + 1; c <= most; c++) {
		uint32_t value;

		if (fat_table_get(&table, c, &value) != FAT_OK)
			break;
		if (fat_geometry_has_clus(&geometry, value) ||
		    value >= fat_entry_end_min(geometry.type))
			found = c;
	}
	fat_table_fini(&table);
	return found;
}

static void set_clusters(struct candidate *candidate, uint32_t n_clus)
{
	const struct fat_geometry *geometry = &candidate->geometry;
	uint64_t data_sec = fat_geometry_data_off(geometry) / geometry->sector_bytes;

	boot_set_total(&candidate->boot, data_sec + (uint64_t)n_clus * geometry->cluster_sec);
	fat_boot_encode(&candidate->boot, candidate->sector);
}

uint64_t boot_room_clus(const struct fsck *fsck, const struct fat_geometry *geometry)
{
	uint64_t data_off = fat_geometry_data_off(geometry), size = fsck->dev->size_bytes;

	return size > data_off ? (size - data_off) / geometry->cluster_bytes : 0;
}

/* As many clusters as the FAT has entries of that type for and the device has room for. */
static uint32_t most_clusters(const struct fsck *fsck, const struct fat_geometry *geometry,
			      enum fat_type type)
{
	uint64_t n_fat = fat_geometry_fat_entries(type, geometry->fat_sec, geometry->sector_bytes) -
			 FAT_FIRST_CLUS;
	uint64_t n_dev = boot_room_clus(fsck, geometry);
	uint64_t most = type == FAT_TYPE_12 ? FAT_MAX_CLUS_12 :
			type == FAT_TYPE_16 ? FAT_MAX_CLUS_16 :
							FAT_MAX_CLUS_32;

	return (uint32_t)min_u64(min_u64(n_fat, n_dev), most);
}

/*
 * Of the copies that have clusters in use behind the end, the one that makes most of them: one that
 * was cut while it was restored knows of the clusters, but not of the chain. *as_main: its score
 * without them.
 */
static uint32_t widest_copy(struct fsck *fsck, const struct candidate *main,
			    const struct candidate *wider, uint32_t *copy, int64_t *as_main)
{
	const struct fat_geometry *geometry = &main->geometry;
	uint32_t first = geometry->mirrored ? 0 : geometry->active_fat, found = 0;
	uint32_t behind = geometry->mirrored ? geometry->n_fats : first + 1;
	int64_t best = INT64_MAX;

	for (uint32_t i = first; i < behind; i++) {
		uint32_t last = last_in_use(fsck, wider, i, fat_geometry_last_clus(geometry));
		int64_t without, with;
		bool sound;

		if (last == 0 || look_by_copy(fsck, wider, i, &with, &sound) != FAT_OK ||
		    look_by_copy(fsck, main, i, &without, &sound) != FAT_OK)
			continue;
		if (sound)
			return 0; /* all is well without them */
		if (with < best) {
			best = with;
			*as_main = without;
			*copy = i;
			found = last;
		}
	}
	return found;
}

bool boot_infer_total(struct fsck *fsck, const struct candidate *main, struct candidate *found)
{
	uint32_t most = most_clusters(fsck, &main->geometry, main->geometry.type);
	uint32_t last = 0, copy = 0;
	int64_t as_main, as_found;
	bool sound;

	if (most <= main->geometry.n_clus)
		return false;
	*found = *main;
	set_clusters(found, most);
	candidate_judge(fsck, found);
	if (found->usable)
		last = widest_copy(fsck, main, found, &copy, &as_main);
	if (last == 0)
		return false;
	/* The whole device, if the FAT was made for it; else no more than is in use. */
	if (found->length < 1 || fat_geometry_total_bytes(&found->geometry) +
						 found->geometry.cluster_bytes <=
					 fsck->dev->size_bytes) {
		set_clusters(found, last - FAT_FIRST_CLUS + 1);
		candidate_judge(fsck, found);
	}
	return found->usable && !found->doubted &&
	       look_by_copy(fsck, found, copy, &as_found, &sound) == FAT_OK && as_found < as_main;
}

/* It calls itself FAT16, and would be read as FAT12. */
static bool is_shrunken_16(const struct candidate *main)
{
	return main->geometry.type == FAT_TYPE_12 &&
	       memcmp(main->boot.fs_type, "FAT16   ", sizeof main->boot.fs_type) == 0;
}

/* A FAT32 that others take for FAT16, with a FAT for many more clusters. */
static bool is_shrunken_32(const struct candidate *main)
{
	return candidate_deviates(main, FAT_BOOT_CLUSTERS_FEW_32) && main->length < 0;
}

bool boot_infer_type(struct fsck *fsck, const struct candidate *main, struct candidate *found)
{
	bool is_32 = is_shrunken_32(main);
	uint32_t fewer = is_32 ? FAT_MAX_CLUS_16 : FAT_MAX_CLUS_12;
	uint32_t most = most_clusters(fsck, &main->geometry, is_32 ? FAT_TYPE_32 : FAT_TYPE_16);
	int64_t as_main, as_found;
	bool sound;

	if (!(is_32 || is_shrunken_16(main)) || most <= fewer)
		return false;
	*found = *main;
	set_clusters(found, most);
	candidate_judge(fsck, found);
	return found->usable && !found->doubted && found->length > 0 &&
	       trial_look(fsck, &main->boot, &main->geometry, &as_main, &sound) == FAT_OK &&
	       trial_look(fsck, &found->boot, &found->geometry, &as_found, &sound) == FAT_OK &&
	       (is_32 ? as_found <= as_main : as_found < as_main);
}
