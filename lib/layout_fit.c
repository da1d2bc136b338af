/* SPDX-License-Identifier: MIT */
/*
 * layout_fit: one round of the planner: what a FAT type gives at one cluster size.
 *
 * The arithmetic of [COMPAT 3], "Layout arithmetic". A FAT's length is estimated from the space
 * before the FATs are taken out of it, then rounded up to whole sectors (and clusters); what counts
 * is the number of clusters that is left. The estimate is never too low, so no FAT is too short.
 */
#include "layout_fit.h"

#include "bytes.h"

#define SMALL_VOLUME_SEC 8192u /* nothing is aligned up to here */

static uint64_t aligned(const struct fat_layout_fit *fit, uint64_t n_sec)
{
	return fit->is_aligned ? round_up(n_sec, fit->cluster_sec) : n_sec;
}

/* Sectors that bring whole clusters, counted from the volume's start, into phase with the disk. */
static uint64_t disk_shift_sec(const struct fat_layout_frame *frame, uint32_t cluster_sec)
{
	if (frame->start_off % frame->sector_bytes != 0)
		return 0;
	return round_up(frame->start_off / frame->sector_bytes, cluster_sec) -
	       frame->start_off / frame->sector_bytes;
}

/* 16-bit fields: where whole clusters do not fit into them, plain sectors do. */
static void fit_fixed_areas(const struct fat_layout_frame *frame, enum fat_type type,
			    struct fat_layout_fit *fit)
{
	uint32_t slots_per_sec = frame->sector_bytes / 32;
	uint64_t root_sec = div_ceil(frame->root_entries, slots_per_sec);
	uint64_t reserved = aligned(fit, frame->reserved_sec);

	if (fit->is_aligned)
		reserved += disk_shift_sec(frame, fit->cluster_sec);
	if (frame->is_reserved_exact || reserved > FAT_LAYOUT_MAX_RESERVED_SEC)
		reserved = frame->reserved_sec;
	fit->reserved_sec = (uint32_t)reserved;
	if (type == FAT_TYPE_32)
		return;
	fit->root_sec = (uint32_t)root_sec;
	if (aligned(fit, root_sec) * slots_per_sec <= FAT_MAX_ROOT_ENTRIES)
		fit->root_sec = (uint32_t)aligned(fit, root_sec);
	fit->root_entries = fit->root_sec * slots_per_sec; /* whole sectors [FATSPEC 3.1] */
}

/* What is left for FATs and clusters. */
static uint64_t usable_sec(const struct fat_layout_frame *frame, const struct fat_layout_fit *fit)
{
	uint64_t fixed = (uint64_t)fit->reserved_sec + fit->root_sec;

	return frame->total_sec > fixed ? frame->total_sec - fixed : 0;
}

/* In 1/8 bytes: a cluster costs its content and an entry of `type` bits in each FAT. */
static uint64_t estimate_clusters(const struct fat_layout_frame *frame, enum fat_type type,
				  const struct fat_layout_fit *fit)
{
	uint64_t entry_bits = (uint64_t)type * frame->n_fats;
	uint64_t space_bits = 8 * usable_sec(frame, fit) * frame->sector_bytes;
	uint64_t cluster_bits = 8ull * fit->cluster_sec * frame->sector_bytes;

	return (space_bits + 2 * entry_bits) / (cluster_bits + entry_bits);
}

static uint32_t fat_sec_for(const struct fat_layout_frame *frame, enum fat_type type,
			    uint64_t n_clus)
{
	uint64_t table_bytes = div_ceil((n_clus + FAT_FIRST_CLUS) * type, 8);

	return (uint32_t)min_u64(div_ceil(table_bytes, frame->sector_bytes), UINT32_MAX);
}

static void count_clusters(const struct fat_layout_frame *frame, struct fat_layout_fit *fit)
{
	uint64_t fats = (uint64_t)fit->fat_sec * frame->n_fats;
	uint64_t usable = usable_sec(frame, fit);

	fit->n_clus = usable > fats ? (usable - fats) / fit->cluster_sec : 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The distance of the places where the data area may begin. */
static uint64_t step_bytes(const struct fat_layout_frame *frame, const struct fat_layout_fit *fit)
{
	uint64_t cluster_bytes = (uint64_t)fit->cluster_sec * frame->sector_bytes;

	return frame->align == FAT_ALIGN_PHASE ? gcd(frame->align_bytes, cluster_bytes) :
						 frame->align_bytes;
}

/* Bytes to the next such place that can be reached in whole sectors (and FATs of one length). */
static bool find_gap(const struct fat_layout_frame *frame, const struct fat_layout_fit *fit,
		     uint64_t *gap)
{
	uint64_t step = step_bytes(frame, fit);
	uint64_t metadata_sec = fit->reserved_sec + (uint64_t)fit->fat_sec * frame->n_fats +
				fit->root_sec;
	uint64_t data_off = frame->start_off + metadata_sec * frame->sector_bytes;
	uint64_t unit =
		(uint64_t)frame->sector_bytes * (frame->is_reserved_exact ? frame->n_fats : 1);

	*gap = (frame->align_phase_bytes % step + step - data_off % step) % step;
	for (uint64_t i = 0; i < unit && *gap % unit != 0; i++)
		*gap += step;
	return unit && *gap % unit == 0;
}

/* Padding took clusters away: what the FATs no longer need becomes reserved, if there is room. */
static void trim_fats(const struct fat_layout_frame *frame, enum fat_type type,
		      struct fat_layout_fit *fit)
{
	uint32_t needed = fat_sec_for(frame, type, fit->n_clus);
	uint64_t reserved = fit->reserved_sec +
			    (uint64_t)(fit->fat_sec - needed) * frame->n_fats;

	if (reserved > FAT_LAYOUT_MAX_RESERVED_SEC)
		return;
	fit->reserved_sec = (uint32_t)reserved;
	fit->fat_sec = needed;
}

static void pad(const struct fat_layout_frame *frame, enum fat_type type,
		struct fat_layout_fit *fit)
{
	uint64_t gap, pad_sec, fat_sec;
	bool in_fats = frame->padding == FAT_PAD_FATS || frame->is_reserved_exact;

	fit->is_far = true;
	if (!find_gap(frame, fit, &gap))
		return;
	fit->pad_bytes = gap;
	pad_sec = gap / frame->sector_bytes;
	fat_sec = fit->fat_sec + (in_fats ? pad_sec / frame->n_fats : 0);
	if (in_fats)
		pad_sec %= frame->n_fats;
	if (fit->reserved_sec + pad_sec > FAT_LAYOUT_MAX_RESERVED_SEC ||
	    fat_sec > (type == FAT_TYPE_32 ? UINT32_MAX : UINT16_MAX))
		return;
	fit->is_far = false;
	fit->reserved_sec += (uint32_t)pad_sec;
	fit->fat_sec = (uint32_t)fat_sec;
	count_clusters(frame, fit);
	if (!in_fats)
		trim_fats(frame, type, fit);
}

static bool is_in_limits(const struct fat_layout_frame *frame, enum fat_type type, uint64_t n_clus)
{
	switch (type) {
	case FAT_TYPE_12:
		return n_clus >= 1 && n_clus <= FAT_MAX_CLUS_12;
	case FAT_TYPE_16:
		return n_clus >= (frame->may_be_small_16 ? 1 : FAT_LAYOUT_MIN_CLUS_16) &&
		       n_clus <= FAT_MAX_CLUS_16;
	case FAT_TYPE_32:
		break;
	}
	return n_clus >= (frame->may_be_small_32 ? 1 : FAT_LAYOUT_MIN_CLUS_32) &&
	       n_clus <= FAT_MAX_CLUS_32;
}

bool fat_layout_fit(const struct fat_layout_frame *frame, enum fat_type type, uint32_t cluster_sec,
		    struct fat_layout_fit *fit)
{
	uint64_t fat_sec;

	*fit = (struct fat_layout_fit){ .cluster_sec = cluster_sec };
	fit->is_aligned = frame->align == FAT_ALIGN_CLUSTER && frame->total_sec > SMALL_VOLUME_SEC;
	fit_fixed_areas(frame, type, fit);
	fat_sec = aligned(fit, fat_sec_for(frame, type, estimate_clusters(frame, type, fit)));
	if (fat_sec > (type == FAT_TYPE_32 ? UINT32_MAX : UINT16_MAX))
		return false;
	fit->fat_sec = (uint32_t)fat_sec;
	count_clusters(frame, fit);
	if (frame->align == FAT_ALIGN_BOUNDARY || frame->align == FAT_ALIGN_PHASE)
		pad(frame, type, fit);
	return is_in_limits(frame, type, fit->n_clus) && !fit->is_far;
}
