/* SPDX-License-Identifier: MIT */
/*
 * profile: what a kind of reader wants of a volume, by its public rules.
 *
 * A profile is a table by size: type, cluster, boundary of the data area. It fills in what the
 * options leave open; what was asked for stays, and is checked afterwards.
 */
#include "profile.h"

#include <inttypes.h>
#include <string.h>

#define KIB	    1024ull
#define MIB	    (1ull << 20)
#define GIB	    (1ull << 30)
#define ANY_SIZE    UINT64_MAX
#define N_OF(array) (sizeof(array) / sizeof *(array))

struct band {
	uint64_t max_bytes; /* of the volume */
	uint8_t type;	    /* 0: the planner's choice */
	uint32_t cluster_bytes; /* 0: the planner's choice */
	uint64_t boundary_bytes; /* 0: none */
};

struct mkfs_profile {
	const char *name;
	const struct band *bands;
	size_t n_bands;
	uint64_t min_bytes, max_bytes;
	unsigned types;		   /* that its readers know */
	uint32_t max_cluster_bytes;
	uint32_t sector_bytes;	   /* the only size that its readers take; 0: any */
	uint32_t reserved_min_sec; /* FAT32 */
	bool is_fixed;		   /* a fixed disk, whatever its size */
};

/*
 * UEFI specification 2.10, 13.3: FAT32 on a system partition, FAT12 and FAT16 on removable media;
 * the type is judged by the number of clusters alone.
 */
static const struct band esp_bands[] = { { ANY_SIZE, 32, 0, 0 } };

/*
 * pi-gen, export-image/prerun.sh: FAT16 below 134742016 bytes, FAT32 from there on. The boot ROM
 * reads both.
 */
static const struct band rpi_bands[] = { { 134742015, 16, 0, 0 }, { ANY_SIZE, 32, 0, 0 } };

/*
 * SD Association, SD Specifications Part 2, File System Specification 3.00: a card's capacity gives
 * type, cluster and boundary unit, and the data area begins on a boundary unit. From 2 GiB to 2052
 * MiB FAT16 has too many clusters by its row and FAT32 too few: smaller ones. Above 32 GB the table
 * has exFAT with clusters of 128, 256 and 512 KiB; FAT32 stands in, with the table's boundary units
 * and the largest clusters that it has at 512-byte sectors.
 */
static const struct band sd_bands[] = {
	{ 8 * MIB, 12, 8 * KIB, 8 * KIB },	  { 64 * MIB, 12, 16 * KIB, 16 * KIB },
	{ 256 * MIB, 16, 16 * KIB, 32 * KIB },	  { 1 * GIB, 16, 16 * KIB, 64 * KIB },
	{ 2 * GIB, 16, 32 * KIB, 64 * KIB },	  { 2052 * MIB, 32, 16 * KIB, 4 * MIB },
	{ 32 * GIB, 32, 32 * KIB, 4 * MIB },	  { 128 * GIB, 32, 64 * KIB, 16 * MIB },
	{ 512 * GIB, 32, 64 * KIB, 32 * MIB },	  { 2048 * GIB, 32, 64 * KIB, 64 * MIB },
};

/*
 * DCF 2.0 (JEITA CP-3461B, CIPA DC-009): FAT12, FAT16 or FAT32, and no FAT16 above 2 GB. So the SD
 * table, but never clusters above the 32 KiB that [FATSPEC 3.1] allows.
 */
static const struct band camera_bands[] = {
	{ 8 * MIB, 12, 8 * KIB, 8 * KIB },	  { 64 * MIB, 12, 16 * KIB, 16 * KIB },
	{ 256 * MIB, 16, 16 * KIB, 32 * KIB },	  { 1 * GIB, 16, 16 * KIB, 64 * KIB },
	{ 2 * GIB, 16, 32 * KIB, 64 * KIB },	  { 2052 * MIB, 32, 16 * KIB, 4 * MIB },
	{ 2048 * GIB, 32, 32 * KIB, 4 * MIB },
};

/* MS-DOS 4.0 to 6.22: FAT12 and FAT16, 512-byte sectors, clusters to 32 KiB, so 2 GiB at most. */
static const struct band dos_bands[] = {
	{ 16 * MIB, 12, 0, 0 },		      { 128 * MIB, 16, 2 * KIB, 0 },
	{ 256 * MIB, 16, 4 * KIB, 0 },	      { 512 * MIB, 16, 8 * KIB, 0 },
	{ 1 * GIB, 16, 16 * KIB, 0 },	      { ANY_SIZE, 16, 32 * KIB, 0 },
};

/*
 * Microsoft's default cluster sizes, KB 140365: FAT16 below 512 MiB and FAT32 from there on; the
 * other table's rows are for -F.
 */
static const struct band windows_bands[] = {
	{ 16 * MIB, 12, 0, 0 },        { 32 * MIB, 16, 512, 0 },
	{ 64 * MIB, 16, 1 * KIB, 0 },  { 128 * MIB, 16, 2 * KIB, 0 },
	{ 256 * MIB, 16, 4 * KIB, 0 }, { 512 * MIB - 1, 16, 8 * KIB, 0 },
	{ 64 * MIB, 32, 512, 0 },      { 128 * MIB, 32, 1 * KIB, 0 },
	{ 256 * MIB, 32, 2 * KIB, 0 }, { 8 * GIB, 32, 4 * KIB, 0 },
	{ 16 * GIB, 32, 8 * KIB, 0 },  { 32 * GIB, 32, 16 * KIB, 0 },
	{ ANY_SIZE, 32, 32 * KIB, 0 }, { 1 * GIB, 16, 16 * KIB, 0 },
	{ 2 * GIB, 16, 32 * KIB, 0 },  { 4 * GIB, 16, 64 * KIB, 0 },
};

#define TYPE_12 1u
#define TYPE_16 2u
#define TYPE_32 4u
#define ALL_TYPES (TYPE_12 | TYPE_16 | TYPE_32)

static const struct mkfs_profile profiles[] = {
	{ .name = "esp",
	  .bands = esp_bands,
	  .n_bands = N_OF(esp_bands),
	  .max_bytes = ANY_SIZE,
	  .types = ALL_TYPES,
	  .max_cluster_bytes = 32 * KIB,
	  .is_fixed = true },
	{ .name = "rpi-boot",
	  .bands = rpi_bands,
	  .n_bands = N_OF(rpi_bands),
	  .max_bytes = ANY_SIZE,
	  .types = TYPE_16 | TYPE_32,
	  .max_cluster_bytes = 32 * KIB,
	  .sector_bytes = 512,
	  .is_fixed = true },
	{ .name = "sdcard",
	  .bands = sd_bands,
	  .n_bands = N_OF(sd_bands),
	  .min_bytes = MIB,
	  .max_bytes = 2048 * GIB,
	  .types = ALL_TYPES,
	  .max_cluster_bytes = 64 * KIB,
	  .sector_bytes = 512,
	  .reserved_min_sec = 9,
	  .is_fixed = true },
	{ .name = "camera",
	  .bands = camera_bands,
	  .n_bands = N_OF(camera_bands),
	  .min_bytes = MIB,
	  .max_bytes = 2048 * GIB,
	  .types = ALL_TYPES,
	  .max_cluster_bytes = 32 * KIB,
	  .sector_bytes = 512,
	  .reserved_min_sec = 9,
	  .is_fixed = true },
	{ .name = "dos",
	  .bands = dos_bands,
	  .n_bands = N_OF(dos_bands),
	  .max_bytes = 2 * GIB,
	  .types = TYPE_12 | TYPE_16,
	  .max_cluster_bytes = 32 * KIB,
	  .sector_bytes = 512 },
	{ .name = "windows",
	  .bands = windows_bands,
	  .n_bands = N_OF(windows_bands),
	  .max_bytes = ANY_SIZE,
	  .types = ALL_TYPES,
	  .max_cluster_bytes = 64 * KIB,
	  .is_fixed = true },
};

const struct mkfs_profile *mkfs_profile_find(const char *name)
{
	for (size_t i = 0; i < N_OF(profiles); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

const char *mkfs_profile_names(void)
{
	return "esp, rpi-boot, sdcard, camera, dos or windows";
}

static bool refuse(struct mkfs_profile_refusal *refusal, const char *why, const char *advice)
{
	snprintf(refusal->why, sizeof refusal->why, "%s", why);
	refusal->advice = advice;
	return false;
}

void mkfs_profile_tell(const struct mkfs_options *options,
		       const struct mkfs_profile_refusal *refusal)
{
	cli_error(&mkfs_program, "%s: profile %s: %s; %s",
		  options->path ? options->path : options->tree_path, options->profile->name,
		  refusal->why, refusal->advice);
}

static void fill_in(const struct mkfs_options *options, const struct band *band,
		    struct fat_layout_request *ask)
{
	const struct mkfs_profile *profile = options->profile;

	if (!ask->type)
		ask->type = band->type;
	if (!ask->cluster_sec && ask->type == band->type)
		ask->cluster_sec = band->cluster_bytes / ask->sector_bytes;
	if (options->align == MKFS_ALIGN_AUTO && !options->no_align && band->boundary_bytes) {
		ask->align = FAT_ALIGN_BOUNDARY;
		ask->align_bytes = band->boundary_bytes;
		ask->padding = band->boundary_bytes > 16 * MIB ? FAT_PAD_FATS : FAT_PAD_RESERVED;
	}
	if (ask->type == 32)
		ask->reserved_min_sec = profile->reserved_min_sec;
	ask->fixed_disk = ask->fixed_disk || profile->is_fixed;
}

static bool may_be_planned(const struct mkfs_profile *profile, const struct fat_layout_request *ask,
			   struct mkfs_profile_refusal *refusal)
{
	if (ask->size_bytes < profile->min_bytes || ask->size_bytes > profile->max_bytes)
		return refuse(refusal, "the volume is too small or too large for it",
			      "change the size with BLOCKS, or leave out --profile");
	if (profile->sector_bytes && ask->sector_bytes != profile->sector_bytes)
		return refuse(refusal, "its readers take sectors of 512 bytes only",
			      "leave out -S or --profile");
	return true;
}

static unsigned type_bit(enum fat_type type)
{
	return type == FAT_TYPE_12 ? TYPE_12 : type == FAT_TYPE_16 ? TYPE_16 : TYPE_32;
}

static bool accepts(const struct mkfs_profile *profile, const struct fat_layout *layout,
		    struct mkfs_profile_refusal *refusal)
{
	char why[128];

	if (!(profile->types & type_bit(layout->geometry.type))) {
		snprintf(why, sizeof why, "its readers know no FAT%d", (int)layout->geometry.type);
		return refuse(refusal, why, "leave out -F or --profile");
	}
	if (layout->geometry.cluster_bytes > profile->max_cluster_bytes) {
		snprintf(why, sizeof why, "its readers take clusters of up to %" PRIu32 " KiB",
			 profile->max_cluster_bytes / 1024);
		return refuse(refusal, why, "give a smaller -s, or leave out --profile");
	}
	if (layout->is_small_32) {
		snprintf(why, sizeof why,
			 "its readers would take this FAT32 volume for FAT16; FAT32 needs %" PRIu64
			 " KiB", (layout->firmware_bytes + 1023) / 1024);
		return refuse(refusal, why, "make it that large, or give -F 16");
	}
	return true;
}

/* A row is one for the size, and for the type that was asked for if the table has that at all. */
static bool is_row_for(const struct mkfs_profile *profile, size_t row,
		       const struct fat_layout_request *ask)
{
	const struct band *band = &profile->bands[row];
	bool has_type = false;

	if (ask->size_bytes > band->max_bytes)
		return false;
	for (size_t i = 0; i < profile->n_bands; i++)
		has_type = has_type || (profile->bands[i].type == ask->type &&
					ask->size_bytes <= profile->bands[i].max_bytes);
	return !has_type || band->type == ask->type;
}

/* At a band's upper end the clusters may be too many for its type: then the next band's turn. */
enum fat_status mkfs_profile_plan(const struct mkfs_options *options,
				  const struct fat_layout_request *ask, fat_planner planner,
				  void *ctx, struct fat_layout *layout,
				  struct mkfs_profile_refusal *refusal)
{
	const struct mkfs_profile *profile = options->profile;

	if (!may_be_planned(profile, ask, refusal))
		return FAT_ERR_ARGUMENT;
	for (size_t i = 0; i < profile->n_bands; i++) {
		struct fat_layout_request filled = *ask;

		if (!is_row_for(profile, i, ask))
			continue;
		fill_in(options, &profile->bands[i], &filled);
		if (planner(ctx, &filled, layout) == FAT_OK)
			return accepts(profile, layout, refusal) ? FAT_OK : FAT_ERR_ARGUMENT;
		if (layout->problem != FAT_LAYOUT_NO_FIT_CLUSTER)
			break;
	}
	refuse(refusal, fat_layout_problem_text(layout->problem),
	       "change the size, or leave out --profile");
	return FAT_ERR_ARGUMENT;
}
