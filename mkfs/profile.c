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

#define KIB	    1024u
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
	uint32_t max_cluster_bytes;
	uint32_t sector_bytes;	   /* the only size that its readers take; 0: any */
	uint32_t reserved_min_sec; /* FAT32 */
	bool needs_firmware_32;	   /* FAT32 only with as many clusters as firmware wants */
	bool is_fixed;		   /* a fixed disk, whatever its size */
};

/* UEFI 2.10, 13.3: FAT32 on a system partition of a fixed disk, judged by the number of clusters. */
static const struct band esp_bands[] = { { ANY_SIZE, 32, 0, 0 } };

/* Raspberry Pi's boot ROM reads FAT16 and FAT32; pi-gen makes FAT32 from 128.5 MiB on. */
static const struct band rpi_bands[] = { { 134742015, 16, 0, 0 }, { ANY_SIZE, 32, 0, 0 } };

/*
 * SD Association, File System Specification, table C-2: the data area begins on a boundary unit.
 * A volume of 2 GiB to the last byte has too many clusters for its row, and gets smaller ones.
 * Above 32 GB it wants exFAT; FAT32 with its boundary units and clusters of 64 KiB stands in.
 */
static const struct band sd_bands[] = {
	{ 8 * MIB, 12, 8 * KIB, 8 * KIB },	{ 64 * MIB, 12, 16 * KIB, 16 * KIB },
	{ 256 * MIB, 16, 16 * KIB, 32 * KIB },	{ 1 * GIB, 16, 16 * KIB, 64 * KIB },
	{ 2 * GIB, 16, 32 * KIB, 64 * KIB },	{ 2 * GIB, 32, 16 * KIB, 4 * MIB },
	{ 32 * GIB, 32, 32 * KIB, 4 * MIB },
	{ 128 * GIB, 32, 64 * KIB, 16 * MIB },	{ 512 * GIB, 32, 64 * KIB, 32 * MIB },
	{ 2048 * GIB, 32, 64 * KIB, 64 * MIB },
};

/* DCF cameras: the SD table, but never clusters above 32 KiB, which few of them read. */
static const struct band camera_bands[] = {
	{ 8 * MIB, 12, 8 * KIB, 8 * KIB },	{ 64 * MIB, 12, 16 * KIB, 16 * KIB },
	{ 256 * MIB, 16, 16 * KIB, 32 * KIB },	{ 1 * GIB, 16, 16 * KIB, 64 * KIB },
	{ 2 * GIB, 16, 32 * KIB, 64 * KIB },	{ 2 * GIB, 32, 16 * KIB, 4 * MIB },
	{ 2048 * GIB, 32, 32 * KIB, 4 * MIB },
};

/* MS-DOS 4.0 to 6.22: FAT12 and FAT16, 512-byte sectors, clusters up to 32 KiB, so 2 GiB at most. */
static const struct band dos_bands[] = {
	{ 16 * MIB, 12, 0, 0 },		      { 128 * MIB, 16, 2 * KIB, 0 },
	{ 256 * MIB, 16, 4 * KIB, 0 },	      { 512 * MIB, 16, 8 * KIB, 0 },
	{ 1 * GIB, 16, 16 * KIB, 0 },	      { ANY_SIZE, 16, 32 * KIB, 0 },
};

/* Microsoft's default cluster sizes, KB 140365. */
static const struct band windows_bands[] = {
	{ 16 * MIB, 12, 0, 0 },	       { 32 * MIB, 16, 512, 0 },      { 64 * MIB, 16, 1 * KIB, 0 },
	{ 128 * MIB, 16, 2 * KIB, 0 }, { 256 * MIB, 16, 4 * KIB, 0 }, { 512 * MIB - 1, 16, 8 * KIB, 0 },
	{ 8 * GIB, 32, 4 * KIB, 0 },   { 16 * GIB, 32, 8 * KIB, 0 },  { 32 * GIB, 32, 16 * KIB, 0 },
	{ ANY_SIZE, 32, 32 * KIB, 0 },
};

static const struct mkfs_profile profiles[] = {
	{ "esp", esp_bands, N_OF(esp_bands), 0, ANY_SIZE, 32 * KIB, 0, 0, true, true },
	{ "rpi-boot", rpi_bands, N_OF(rpi_bands), 0, ANY_SIZE, 32 * KIB, 512, 0, true, true },
	{ "sdcard", sd_bands, N_OF(sd_bands), MIB, 2048 * GIB, 64 * KIB, 512, 9, true, true },
	{ "camera", camera_bands, N_OF(camera_bands), MIB, 2048 * GIB, 32 * KIB, 512, 9, true, true },
	{ "dos", dos_bands, N_OF(dos_bands), 0, 2 * GIB, 32 * KIB, 512, 0, true, false },
	{ "windows", windows_bands, N_OF(windows_bands), 0, ANY_SIZE, 64 * KIB, 0, 0, true, true },
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

static bool refuse(const struct mkfs_profile *profile, const struct mkfs_options *options,
		   const char *why, const char *advice)
{
	cli_error(&mkfs_program, "%s: profile %s: %s; %s", options->path, profile->name, why, advice);
	return false;
}

static void fill_in(const struct mkfs_profile *profile, const struct band *band,
		    const struct mkfs_options *options, struct fat_layout_request *ask)
{
	*ask = options->ask;
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

static bool size_is_right(const struct mkfs_profile *profile, const struct mkfs_options *options)
{
	const struct fat_layout_request *ask = &options->ask;

	if (ask->size_bytes < profile->min_bytes || ask->size_bytes > profile->max_bytes)
		return refuse(profile, options, "the volume is too small or too large for it",
			      "change the size with BLOCKS, or leave out --profile");
	if (profile->sector_bytes && ask->sector_bytes != profile->sector_bytes)
		return refuse(profile, options, "its readers take sectors of 512 bytes only",
			      "leave out -S or --profile");
	return true;
}

static bool accepts(const struct mkfs_profile *profile, const struct mkfs_options *options,
			  const struct fat_layout *layout)
{
	char why[128];

	if (layout->geometry.cluster_bytes > profile->max_cluster_bytes) {
		snprintf(why, sizeof why, "its readers take clusters of up to %" PRIu32 " KiB",
			 profile->max_cluster_bytes / KIB);
		return refuse(profile, options, why, "give a smaller -s, or leave out --profile");
	}
	if (profile->needs_firmware_32 && layout->is_small_32) {
		snprintf(why, sizeof why,
			 "its readers would take this FAT32 volume for FAT16; FAT32 needs %" PRIu64
			 " KiB", (layout->firmware_bytes + 1023) / 1024);
		return refuse(profile, options, why, "make it that large, or give -F 16");
	}
	return true;
}

/* At the upper end of a band the clusters may be too many for its type: then the next band's turn. */
bool mkfs_profile_plan(const struct mkfs_profile *profile, const struct mkfs_options *options,
		       mkfs_planner plan, void *ctx, struct fat_layout *layout)
{
	struct fat_layout_request ask;

	if (!size_is_right(profile, options))
		return false;
	for (size_t i = 0; i < profile->n_bands; i++) {
		if (options->ask.size_bytes > profile->bands[i].max_bytes)
			continue;
		fill_in(profile, &profile->bands[i], options, &ask);
		if (plan(ctx, &ask, layout) == FAT_OK)
			return accepts(profile, options, layout);
		if (layout->problem != FAT_LAYOUT_NO_FIT_CLUSTER)
			break;
	}
	return refuse(profile, options, fat_layout_problem_text(layout->problem),
		      "change the size, or leave out --profile");
}
