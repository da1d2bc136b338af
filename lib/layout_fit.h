/* SPDX-License-Identifier: MIT */
/*
 * layout_fit: one round of the planner: what a FAT type gives at one cluster size.
 *
 * Inside libfat only. Knows no defaults and no reasons: those are layout.c's.
 */
#ifndef FATWISE_LAYOUT_FIT_H
#define FATWISE_LAYOUT_FIT_H

#include "libfat.h"

#define FAT_LAYOUT_MAX_RESERVED_SEC 65535u
#define FAT_LAYOUT_MIN_CLUS_16	    4087u /* 4085 and 4086: systems disagree [COMPAT 3] */
#define FAT_LAYOUT_MIN_CLUS_32	    65525u

/* What does not change from round to round. */
struct fat_layout_frame {
	uint64_t total_sec;
	uint64_t start_off;
	uint32_t sector_bytes;
	uint32_t n_fats;
	uint32_t root_entries;	 /* wanted on FAT12/16 */
	uint32_t reserved_sec;	 /* wanted on this type */
	bool is_reserved_exact;
	bool may_be_small_16;	 /* FAT16 below 4087 clusters will do */
	bool may_be_small_32;	 /* FAT32 below 65525 clusters will do */
	enum fat_layout_align align;
	uint64_t align_bytes, align_phase_bytes;
	enum fat_layout_padding padding;
};

struct fat_layout_fit {
	uint32_t cluster_sec;
	uint32_t reserved_sec;
	uint32_t fat_sec;
	uint32_t root_entries;
	uint32_t root_sec;
	uint64_t n_clus;
	uint64_t pad_bytes;  /* what the data area was moved by */
	bool is_far;	     /* not possible: padding cannot be that long */
	bool is_aligned;     /* whole clusters, FAT_ALIGN_CLUSTER */
};

/* false: the type does not fit with this cluster size; *fit then is as far as it came. */
bool fat_layout_fit(const struct fat_layout_frame *frame, enum fat_type type, uint32_t cluster_sec,
		    struct fat_layout_fit *fit);

#endif
