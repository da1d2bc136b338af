/* SPDX-License-Identifier: MIT */
/*
 * layout: the planner: every number of a new volume, with its reason.
 *
 * Goes from what was asked for to a geometry in steps that each set some numbers: sectors, medium,
 * tracks, type and cluster size (a search over rounds of layout_fit), backup. Pure: knows no device
 * and writes nothing.
 */
#include "libfat.h"

#include "bytes.h"
#include "layout_defaults.h"
#include "layout_fit.h"

#define LARGE_BYTES	    (512ull << 20) /* FAT32 from here on */
#define MAX_CLUSTER_SEC	    128u
#define USUAL_CLUSTER_SEC   4u
#define USUAL_ROOT_ENTRIES  512u
#define USUAL_RESERVED_32   32u
#define USUAL_BACKUP_SEC    6u
#define FSINFO_SEC	    1u
#define MIN_ROOM_KIB	    32u
#define ATARI_MAX_SEC	    65531u
#define ATARI_MAX_SECTOR_BYTES 16384u

/* A plan in the making. */
struct draft {
	const struct fat_layout_request *ask;
	struct fat_layout *layout;
	struct fat_geometry *geometry; /* of layout */
	const struct fat_layout_floppy *floppy;
	uint64_t target_bytes;
	struct fat_layout_fit fit;
	bool is_far; /* some round failed for its padding alone */
	uint64_t far_bytes;
};

static enum fat_status refuse(struct draft *draft, enum fat_layout_problem problem)
{
	draft->layout->problem = problem;
	return FAT_ERR_ARGUMENT;
}

static void because(struct draft *draft, enum fat_layout_item item, enum fat_layout_reason reason)
{
	draft->layout->why[item] = reason;
}

static bool is_in(uint64_t value, uint64_t min, uint64_t max)
{
	return value >= min && value <= max;
}

/* 0 stands for "chosen" everywhere. */
static bool is_sane(const struct fat_layout_request *ask)
{
	bool type = ask->type == 0 || ask->type == 12 || ask->type == 16 || ask->type == 32;
	bool sector = ask->sector_bytes == 0 ||
		      (is_pow2(ask->sector_bytes) &&
		       is_in(ask->sector_bytes, FAT_MIN_SECTOR_BYTES, FAT_MAX_SECTOR_BYTES));
	bool cluster = ask->cluster_sec == 0 ||
		       (is_pow2(ask->cluster_sec) && ask->cluster_sec <= MAX_CLUSTER_SEC);
	bool align = (ask->align != FAT_ALIGN_BOUNDARY && ask->align != FAT_ALIGN_PHASE) ||
		     is_in(ask->align_bytes, 1, 1ull << 40);

	return type && sector && cluster && align && ask->n_fats <= 4 &&
	       ask->reserved_sec <= FAT_LAYOUT_MAX_RESERVED_SEC &&
	       ask->reserved_min_sec <= FAT_LAYOUT_MAX_RESERVED_SEC &&
	       ask->root_entries <= FAT_MAX_ROOT_ENTRIES && ask->heads <= 65535 &&
	       ask->track_sec <= 65535 &&
	       (ask->media == 0 || ask->media == 0xF0 || ask->media >= 0xF8) &&
	       (ask->heads == 0) == (ask->track_sec == 0);
}

/* ---- sectors ---- */

static void plan_sectors(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	uint32_t sector_bytes = ask->sector_bytes ? ask->sector_bytes : FAT_MIN_SECTOR_BYTES;
	uint64_t total = ask->size_bytes / sector_bytes;

	draft->geometry->sector_bytes = sector_bytes;
	because(draft, FAT_LAYOUT_SECTOR_BYTES,
		!ask->sector_bytes  ? FAT_LAYOUT_BY_USUAL :
		ask->is_sector_own  ? FAT_LAYOUT_BY_OWN :
				      FAT_LAYOUT_BY_GIVEN);
	because(draft, FAT_LAYOUT_TOTAL_SEC, FAT_LAYOUT_BY_ALL_SPACE);
	if (total > UINT32_MAX) {
		total = UINT32_MAX;
		draft->layout->is_cut = true;
		because(draft, FAT_LAYOUT_TOTAL_SEC, FAT_LAYOUT_BY_LIMIT);
	}
	if (ask->whole_tracks && ask->track_sec && total % ask->track_sec != 0) {
		total -= total % ask->track_sec;
		because(draft, FAT_LAYOUT_TOTAL_SEC, FAT_LAYOUT_BY_WHOLE_TRACKS);
	}
	draft->geometry->total_sec = (uint32_t)total;
}

/* ---- the medium ---- */

static void plan_medium(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	enum fat_layout_reason by = draft->floppy ? FAT_LAYOUT_BY_FLOPPY : FAT_LAYOUT_BY_USUAL;
	uint8_t media = ask->media;

	because(draft, FAT_LAYOUT_MEDIA, media ? FAT_LAYOUT_BY_GIVEN : by);
	if (!media)
		media = draft->floppy ? draft->floppy->media : 0xF8;
	draft->geometry->media = media;
	draft->layout->drive = ask->has_drive ? ask->drive : media == 0xF8 ? 0x80 : 0;
	because(draft, FAT_LAYOUT_DRIVE, ask->has_drive ? FAT_LAYOUT_BY_GIVEN : by);
	draft->layout->hidden_sec = ask->hidden_sec;
	because(draft, FAT_LAYOUT_HIDDEN_SEC,
		!ask->hidden_sec   ? FAT_LAYOUT_BY_USUAL :
		ask->is_hidden_own ? FAT_LAYOUT_BY_OWN :
				     FAT_LAYOUT_BY_GIVEN);
	draft->geometry->n_fats = ask->n_fats ? ask->n_fats : 2;
	because(draft, FAT_LAYOUT_N_FATS, ask->n_fats ? FAT_LAYOUT_BY_GIVEN : FAT_LAYOUT_BY_USUAL);
}

/* mtools turns away volumes that are no whole number of tracks; a given geometry is kept. */
static void plan_tracks(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	struct fat_layout *layout = draft->layout;
	uint64_t disk_bytes = ask->disk_bytes ? ask->disk_bytes : draft->target_bytes;
	enum fat_layout_reason by = FAT_LAYOUT_BY_SIZE_TABLE;

	if (ask->heads) {
		layout->heads = ask->heads;
		layout->track_sec = ask->track_sec;
		by = ask->is_geometry_exact ? FAT_LAYOUT_BY_GIVEN : FAT_LAYOUT_BY_OWN;
	} else if (draft->floppy) {
		layout->heads = draft->floppy->heads;
		layout->track_sec = draft->floppy->track_sec;
		by = FAT_LAYOUT_BY_FLOPPY;
	} else {
		fat_layout_disk_geometry(disk_bytes / draft->geometry->sector_bytes, &layout->heads,
					 &layout->track_sec);
	}
	because(draft, FAT_LAYOUT_HEADS, by);
	because(draft, FAT_LAYOUT_TRACK_SEC, by);
	if (!ask->is_geometry_exact && draft->geometry->total_sec % layout->track_sec != 0) {
		layout->track_sec = fat_layout_track_divisor(draft->geometry->total_sec);
		because(draft, FAT_LAYOUT_TRACK_SEC, FAT_LAYOUT_BY_DIVIDES);
	}
}

/* ---- type and clusters ---- */

static struct fat_layout_frame frame_for(const struct draft *draft, enum fat_type type)
{
	const struct fat_layout_request *ask = draft->ask;
	uint32_t usual_root = draft->floppy ? draft->floppy->root_entries : USUAL_ROOT_ENTRIES;
	uint32_t usual_reserved = ask->reserved_min_sec	 ? ask->reserved_min_sec :
				  type == FAT_TYPE_32 ? USUAL_RESERVED_32 :
							1;

	return (struct fat_layout_frame){
		.total_sec = draft->geometry->total_sec,
		.start_off = ask->start_off,
		.sector_bytes = draft->geometry->sector_bytes,
		.n_fats = draft->geometry->n_fats,
		.root_entries = ask->root_entries ? ask->root_entries : usual_root,
		.reserved_sec = ask->reserved_sec ? ask->reserved_sec : usual_reserved,
		.is_reserved_exact = ask->reserved_sec != 0,
		.may_be_small_16 = ask->atari,
		.may_be_small_32 = ask->type == 32,
		.align = ask->atari ? FAT_ALIGN_NONE : ask->align,
		.align_bytes = ask->align_bytes,
		.align_phase_bytes = ask->align_phase_bytes,
		.padding = ask->padding,
	};
}

static bool fit(struct draft *draft, enum fat_type type, uint32_t cluster_sec,
		struct fat_layout_fit *found)
{
	struct fat_layout_frame frame = frame_for(draft, type);
	bool fits = fat_layout_fit(&frame, type, cluster_sec, found);

	if (found->is_far && !draft->is_far) {
		draft->is_far = true;
		draft->far_bytes = found->pad_bytes;
	}
	return fits;
}

static void take(struct draft *draft, enum fat_type type, const struct fat_layout_fit *found,
		 enum fat_layout_reason type_by, enum fat_layout_reason cluster_by)
{
	draft->fit = *found;
	draft->geometry->type = type;
	because(draft, FAT_LAYOUT_TYPE, type_by);
	because(draft, FAT_LAYOUT_CLUSTER_SEC, cluster_by);
}

/* FAT12 or FAT16, whichever holds more: 12 on a tie. */
static bool fit_small(struct draft *draft, uint32_t cluster_sec, enum fat_type *type,
		      struct fat_layout_fit *found)
{
	struct fat_layout_fit fit16;
	bool is_16 = fit(draft, FAT_TYPE_16, cluster_sec, &fit16);
	bool is_12 = fit(draft, FAT_TYPE_12, cluster_sec, found);

	*type = FAT_TYPE_12;
	if (is_16 && (!is_12 || fit16.n_clus > found->n_clus)) {
		*type = FAT_TYPE_16;
		*found = fit16;
	}
	return is_12 || is_16;
}

/* With the cluster size given and the type free. */
static bool choose_by_cluster(struct draft *draft)
{
	struct fat_layout_fit found;
	uint32_t cluster_sec = draft->ask->cluster_sec;
	bool is_large = draft->target_bytes >= LARGE_BYTES;
	enum fat_type type;

	if (is_large && fit(draft, FAT_TYPE_32, cluster_sec, &found)) {
		take(draft, FAT_TYPE_32, &found, FAT_LAYOUT_BY_LARGE, FAT_LAYOUT_BY_GIVEN);
		return true;
	}
	if (fit_small(draft, cluster_sec, &type, &found)) {
		take(draft, type, &found,
		     is_large ? FAT_LAYOUT_BY_CLUSTER_DECIDES : FAT_LAYOUT_BY_MORE_CLUSTERS,
		     FAT_LAYOUT_BY_GIVEN);
		return true;
	}
	if (!is_large && fit(draft, FAT_TYPE_32, cluster_sec, &found)) {
		take(draft, FAT_TYPE_32, &found, FAT_LAYOUT_BY_CLUSTER_DECIDES,
		     FAT_LAYOUT_BY_GIVEN);
		return true;
	}
	return false;
}

static uint32_t first_cluster_sec(const struct draft *draft, bool is_32)
{
	if (is_32)
		return fat_layout_cluster_sec_32(draft->target_bytes /
						 draft->geometry->sector_bytes);
	return draft->floppy ? draft->floppy->cluster_sec : USUAL_CLUSTER_SEC;
}

static enum fat_layout_reason cluster_reason(const struct draft *draft, uint32_t cluster_sec,
					     bool is_32)
{
	if (cluster_sec != first_cluster_sec(draft, is_32))
		return FAT_LAYOUT_BY_DOUBLED;
	if (is_32)
		return FAT_LAYOUT_BY_SIZE_TABLE;
	return draft->floppy ? FAT_LAYOUT_BY_FLOPPY : FAT_LAYOUT_BY_USUAL;
}

/* FAT12 or FAT16, doubling the clusters until one of them fits. */
static bool choose_small(struct draft *draft, enum fat_layout_reason type_by)
{
	struct fat_layout_fit found;
	enum fat_type type;

	for (uint32_t k = first_cluster_sec(draft, false); k <= MAX_CLUSTER_SEC; k *= 2) {
		if (fit_small(draft, k, &type, &found)) {
			take(draft, type, &found, type_by, cluster_reason(draft, k, false));
			return true;
		}
	}
	return false;
}

/* One type; cluster sizes from the usual one upwards. */
static bool choose_type(struct draft *draft, enum fat_type type, enum fat_layout_reason type_by)
{
	struct fat_layout_fit found;
	bool is_32 = type == FAT_TYPE_32;

	for (uint32_t k = first_cluster_sec(draft, is_32); k <= MAX_CLUSTER_SEC; k *= 2) {
		if (fit(draft, type, k, &found)) {
			take(draft, type, &found, type_by, cluster_reason(draft, k, is_32));
			return true;
		}
	}
	return false;
}

/* The type was given as 32: where its clusters are too few for firmware, smaller ones may do. */
static void try_smaller_clusters(struct draft *draft)
{
	struct fat_layout_fit found;

	for (uint32_t k = draft->fit.cluster_sec / 2;
	     k > 0 && draft->fit.n_clus < FAT_LAYOUT_MIN_CLUS_32; k /= 2)
		if (fit(draft, FAT_TYPE_32, k, &found) && found.n_clus >= FAT_LAYOUT_MIN_CLUS_32)
			take(draft, FAT_TYPE_32, &found, FAT_LAYOUT_BY_GIVEN,
			     FAT_LAYOUT_BY_FIRMWARE);
}

/* GEMDOS takes these for floppy disks, and those for FAT12; FAT16 is all else. */
static bool is_atari_12(uint32_t total_sec)
{
	return total_sec == 1440 || total_sec == 2400 || total_sec == 2880 || total_sec == 5760;
}

/* Two sectors a cluster; plan_atari() looks for the sector size. */
static bool choose_atari(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	uint32_t type = is_atari_12(draft->geometry->total_sec) ? 12 : 16;
	struct fat_layout_fit found;

	if (ask->type)
		type = ask->type;
	if (!fit(draft, (enum fat_type)type, ask->cluster_sec ? ask->cluster_sec : 2, &found))
		return false;
	take(draft, (enum fat_type)type, &found,
	     ask->type ? FAT_LAYOUT_BY_GIVEN : FAT_LAYOUT_BY_ATARI,
	     ask->cluster_sec ? FAT_LAYOUT_BY_GIVEN : FAT_LAYOUT_BY_ATARI);
	return true;
}

static bool choose(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	struct fat_layout_fit found;

	if (ask->atari)
		return choose_atari(draft);
	if (ask->type && ask->cluster_sec) {
		if (!fit(draft, (enum fat_type)ask->type, ask->cluster_sec, &found))
			return false;
		take(draft, (enum fat_type)ask->type, &found, FAT_LAYOUT_BY_GIVEN,
		     FAT_LAYOUT_BY_GIVEN);
		return true;
	}
	if (ask->cluster_sec)
		return choose_by_cluster(draft);
	if (ask->type) {
		if (!choose_type(draft, (enum fat_type)ask->type, FAT_LAYOUT_BY_GIVEN))
			return false;
		if (ask->type == 32)
			try_smaller_clusters(draft);
		return true;
	}
	if (draft->target_bytes < LARGE_BYTES)
		return choose_small(draft, FAT_LAYOUT_BY_MORE_CLUSTERS);
	return choose_type(draft, FAT_TYPE_32, FAT_LAYOUT_BY_LARGE) ||
	       choose_small(draft, FAT_LAYOUT_BY_SMALL_VOLUME);
}

/* ---- the numbers of the round that was taken ---- */

static enum fat_layout_reason padded(const struct draft *draft, bool here)
{
	if (!here || draft->fit.pad_bytes == 0)
		return FAT_LAYOUT_BY_FITS;
	return draft->ask->align == FAT_ALIGN_PHASE ? FAT_LAYOUT_BY_PHASE : FAT_LAYOUT_BY_BOUNDARY;
}

static void explain_areas(struct draft *draft)
{
	const struct fat_layout_request *ask = draft->ask;
	bool is_32 = draft->geometry->type == FAT_TYPE_32;
	bool in_fats = ask->padding == FAT_PAD_FATS || ask->reserved_sec;
	struct fat_layout_frame frame = frame_for(draft, draft->geometry->type);
	enum fat_layout_reason fat_by = padded(draft, in_fats);
	enum fat_layout_reason reserved_by = padded(draft, !in_fats);
	enum fat_layout_reason root_by = is_32		    ? FAT_LAYOUT_BY_NONE :
					 ask->root_entries  ? FAT_LAYOUT_BY_GIVEN :
					 draft->floppy	    ? FAT_LAYOUT_BY_FLOPPY :
							      FAT_LAYOUT_BY_USUAL;

	if (draft->fit.reserved_sec == frame.reserved_sec)
		reserved_by = ask->reserved_sec ? FAT_LAYOUT_BY_GIVEN : FAT_LAYOUT_BY_USUAL;
	else if (draft->fit.is_aligned)
		reserved_by = FAT_LAYOUT_BY_CLUSTER_ALIGNED;
	if (!is_32 && draft->fit.root_entries != frame.root_entries)
		root_by = draft->fit.is_aligned ? FAT_LAYOUT_BY_CLUSTER_ALIGNED :
						  FAT_LAYOUT_BY_WHOLE_SECTORS;
	if (draft->fit.is_aligned && draft->fit.cluster_sec > 1)
		fat_by = FAT_LAYOUT_BY_CLUSTER_ALIGNED;
	because(draft, FAT_LAYOUT_RESERVED_SEC, reserved_by);
	because(draft, FAT_LAYOUT_FAT_SEC, fat_by);
	because(draft, FAT_LAYOUT_ROOT_ENTRIES, root_by);
	because(draft, FAT_LAYOUT_DATA_OFF, FAT_LAYOUT_BY_FITS);
	because(draft, FAT_LAYOUT_N_CLUS, FAT_LAYOUT_BY_FITS);
}

static void fill_geometry(struct draft *draft)
{
	struct fat_geometry *geometry = draft->geometry;
	const struct fat_layout_fit *found = &draft->fit;

	geometry->cluster_sec = found->cluster_sec;
	geometry->cluster_bytes = found->cluster_sec * geometry->sector_bytes;
	geometry->reserved_sec = found->reserved_sec;
	geometry->fat_sec = found->fat_sec;
	geometry->root_entries = found->root_entries;
	geometry->root_sec = found->root_sec;
	geometry->n_clus = (uint32_t)found->n_clus;
	geometry->mirrored = true;
	geometry->root_clus = geometry->type == FAT_TYPE_32 ? FAT_FIRST_CLUS : 0;
}

static bool is_too_small(const struct draft *draft)
{
	uint64_t metadata_bytes = fat_geometry_data_off(draft->geometry);

	return draft->ask->size_bytes / 1024 < div_ceil(metadata_bytes, 1024) + MIN_ROOM_KIB;
}

/* ---- FAT32's reserved sectors ---- */

/* Room for the backup boot sector with an FSInfo behind it; else for it alone; else none. */
static uint32_t usual_backup_sec(uint32_t reserved_sec)
{
	if (reserved_sec > USUAL_BACKUP_SEC)
		return USUAL_BACKUP_SEC;
	if (reserved_sec > FSINFO_SEC + 2)
		return reserved_sec - 2;
	return reserved_sec > FSINFO_SEC + 1 ? reserved_sec - 1 : 0;
}

static enum fat_status plan_reserved_32(struct draft *draft)
{
	struct fat_geometry *geometry = draft->geometry;
	const struct fat_layout_request *ask = draft->ask;

	geometry->fsinfo_sec = FSINFO_SEC;
	because(draft, FAT_LAYOUT_FSINFO_SEC, FAT_LAYOUT_BY_USUAL);
	geometry->backup_sec =
		ask->has_backup_sec ? ask->backup_sec : usual_backup_sec(geometry->reserved_sec);
	because(draft, FAT_LAYOUT_BACKUP_SEC,
		ask->has_backup_sec ? FAT_LAYOUT_BY_GIVEN :
		geometry->backup_sec == USUAL_BACKUP_SEC ? FAT_LAYOUT_BY_USUAL :
							   FAT_LAYOUT_BY_IN_RESERVED);
	if (geometry->reserved_sec < FSINFO_SEC + 1)
		return refuse(draft, FAT_LAYOUT_RESERVED_32);
	if (geometry->backup_sec == FSINFO_SEC)
		return refuse(draft, FAT_LAYOUT_BACKUP_FSINFO);
	if (geometry->backup_sec >= geometry->reserved_sec)
		return refuse(draft, FAT_LAYOUT_BACKUP_OUTSIDE);
	return FAT_OK;
}

/* The smallest volume like this one that firmware takes for FAT32: a search by halving. */
static void note_small_32(struct draft *draft)
{
	struct fat_layout_frame frame = frame_for(draft, FAT_TYPE_32);
	uint32_t cluster_sec = draft->ask->cluster_sec ? draft->ask->cluster_sec : 1;
	uint64_t low = draft->geometry->total_sec, high = UINT32_MAX;
	struct fat_layout_fit found;

	draft->layout->is_small_32 = true;
	frame.may_be_small_32 = false;
	while (low < high) {
		frame.total_sec = low + (high - low) / 2;
		fat_layout_fit(&frame, FAT_TYPE_32, cluster_sec, &found);
		if (found.n_clus >= FAT_LAYOUT_MIN_CLUS_32)
			high = frame.total_sec;
		else
			low = frame.total_sec + 1;
	}
	draft->layout->firmware_bytes = high * frame.sector_bytes;
}

static enum fat_status plan_clusters(struct draft *draft)
{
	enum fat_status status = FAT_OK;

	if (!choose(draft)) {
		if (draft->is_far) {
			draft->layout->better_start_off = draft->ask->start_off + draft->far_bytes;
			return refuse(draft, FAT_LAYOUT_ALIGN_FAR);
		}
		return refuse(draft, draft->ask->cluster_sec ? FAT_LAYOUT_NO_FIT_CLUSTER :
							       FAT_LAYOUT_NO_FIT);
	}
	fill_geometry(draft);
	explain_areas(draft);
	because(draft, FAT_LAYOUT_FSINFO_SEC, FAT_LAYOUT_BY_NONE);
	because(draft, FAT_LAYOUT_BACKUP_SEC, FAT_LAYOUT_BY_NONE);
	if (draft->geometry->type == FAT_TYPE_32)
		status = plan_reserved_32(draft);
	if (status == FAT_OK && is_too_small(draft))
		return refuse(draft, FAT_LAYOUT_TOO_FEW);
	if (status == FAT_OK && draft->geometry->type == FAT_TYPE_32 &&
	    draft->geometry->n_clus < FAT_LAYOUT_MIN_CLUS_32 && !draft->ask->atari)
		note_small_32(draft);
	return status;
}

/* What GEMDOS has 16 bits for. */
static enum fat_status check_atari(struct draft *draft)
{
	if (draft->geometry->total_sec > ATARI_MAX_SEC)
		return refuse(draft, FAT_LAYOUT_ATARI_SECTORS);
	if (draft->geometry->type != FAT_TYPE_32 && draft->layout->hidden_sec > UINT16_MAX)
		return refuse(draft, FAT_LAYOUT_ATARI_HIDDEN);
	return FAT_OK;
}

/* With the sector size fixed. */
static enum fat_status plan(const struct fat_layout_request *request, struct fat_layout *layout)
{
	struct draft draft = {
		.ask = request,
		.layout = layout,
		.geometry = &layout->geometry,
		.target_bytes = request->target_bytes ? request->target_bytes : request->size_bytes,
	};
	enum fat_status status;

	*layout = (struct fat_layout){ .start_off = request->start_off,
				       .is_atari = request->atari };
	if (!is_sane(request))
		return refuse(&draft, FAT_LAYOUT_BAD_REQUEST);
	if (!request->fixed_disk)
		draft.floppy = fat_layout_floppy_find(draft.target_bytes);
	plan_sectors(&draft);
	plan_medium(&draft);
	plan_tracks(&draft);
	status = plan_clusters(&draft);
	return status == FAT_OK && request->atari ? check_atari(&draft) : status;
}

/* Where nothing fits, larger sectors help against too many clusters, but not against too few. */
static bool has_too_many_clusters(const struct fat_layout_request *request, uint32_t total_sec)
{
	uint32_t cluster_sec = request->cluster_sec ? request->cluster_sec : 2;

	return total_sec / cluster_sec > (request->type == 12 ? 4084 : 65524);
}

/* GEMDOS counts sectors in 16 bits: they are doubled until that is enough. */
static enum fat_status plan_atari(const struct fat_layout_request *request,
				  struct fat_layout *layout)
{
	struct fat_layout_request trial = *request;
	bool is_fixed = request->sector_bytes && !request->is_sector_own;

	if (trial.sector_bytes == 0)
		trial.sector_bytes = FAT_MIN_SECTOR_BYTES;
	if (trial.whole_tracks && trial.track_sec && !is_fixed) /* those of the first sector size */
		trial.size_bytes -=
			trial.size_bytes % ((uint64_t)trial.track_sec * trial.sector_bytes);
	while (plan(&trial, layout) != FAT_OK) {
		bool no_fit = layout->problem == FAT_LAYOUT_NO_FIT ||
			      layout->problem == FAT_LAYOUT_NO_FIT_CLUSTER;

		if (is_fixed && no_fit)
			layout->problem = FAT_LAYOUT_ATARI_ENTRIES;
		if (is_fixed || !(no_fit || layout->problem == FAT_LAYOUT_ATARI_SECTORS))
			return FAT_ERR_ARGUMENT;
		if (no_fit && !has_too_many_clusters(request, layout->geometry.total_sec))
			return FAT_ERR_ARGUMENT;
		trial.whole_tracks = false;
		trial.sector_bytes *= 2;
		trial.is_sector_own = false;
		if (trial.sector_bytes > ATARI_MAX_SECTOR_BYTES) {
			layout->problem = FAT_LAYOUT_ATARI_LARGE;
			return FAT_ERR_ARGUMENT;
		}
	}
	if (!is_fixed)
		layout->why[FAT_LAYOUT_SECTOR_BYTES] = FAT_LAYOUT_BY_ATARI;
	return FAT_OK;
}

enum fat_status fat_layout_plan(const struct fat_layout_request *request, struct fat_layout *layout)
{
	return request->atari ? plan_atari(request, layout) : plan(request, layout);
}
