/* SPDX-License-Identifier: MIT */
/*
 * layout_text: a plan's numbers by name, and the planner's words.
 */
#include "libfat.h"

const char *fat_layout_item_text(enum fat_layout_item item)
{
	static const char *const words[] = {
#define FAT_LAYOUT_ITEM_WORDS(name, text) [FAT_LAYOUT_##name] = (text),
		FAT_LAYOUT_ITEMS(FAT_LAYOUT_ITEM_WORDS)
#undef FAT_LAYOUT_ITEM_WORDS
	};

	return item < FAT_LAYOUT_N_ITEMS ? words[item] : "";
}

const char *fat_layout_reason_text(enum fat_layout_reason reason)
{
	static const char *const words[] = {
#define FAT_LAYOUT_REASON_WORDS(name, text) [FAT_LAYOUT_BY_##name] = (text),
		FAT_LAYOUT_REASONS(FAT_LAYOUT_REASON_WORDS)
#undef FAT_LAYOUT_REASON_WORDS
	};

	return reason < FAT_LAYOUT_N_REASONS ? words[reason] : "";
}

const char *fat_layout_problem_text(enum fat_layout_problem problem)
{
	switch (problem) {
	case FAT_LAYOUT_OK:
		return "";
	case FAT_LAYOUT_BAD_REQUEST:
		return "a number of the request is outside its range";
	case FAT_LAYOUT_NO_FIT:
		return "Attempting to create a too small or a too large filesystem";
	case FAT_LAYOUT_NO_FIT_CLUSTER:
		return "Not enough or too many clusters for filesystem - "
		       "try less or more sectors per cluster";
	case FAT_LAYOUT_TOO_FEW:
		return "Too few blocks for viable filesystem";
	case FAT_LAYOUT_RESERVED_32:
		return "On FAT32 at least 2 reserved sectors are needed";
	case FAT_LAYOUT_BACKUP_FSINFO:
		return "Backup boot sector must not be same as info sector (1)";
	case FAT_LAYOUT_BACKUP_OUTSIDE:
		return "Backup boot sector must be a reserved sector";
	case FAT_LAYOUT_ATARI_SECTORS:
		return "GEMDOS can't handle more than 65531 sectors";
	case FAT_LAYOUT_ATARI_ENTRIES:
		return "With this sector size, the maximum number of FAT entries would be exceeded";
	case FAT_LAYOUT_ATARI_LARGE:
		return "Would need a sector size > 16k, which GEMDOS can't work with";
	case FAT_LAYOUT_ATARI_HIDDEN:
		return "#hidden doesn't fit in 16bit field of Atari format";
	case FAT_LAYOUT_ALIGN_FAR:
		return "The boundary is too far away for padding";
	}
	return "";
}

uint64_t fat_layout_value(const struct fat_layout *layout, enum fat_layout_item item)
{
	const struct fat_geometry *geometry = &layout->geometry;

	switch (item) {
	case FAT_LAYOUT_TYPE:
		return geometry->type;
	case FAT_LAYOUT_SECTOR_BYTES:
		return geometry->sector_bytes;
	case FAT_LAYOUT_TOTAL_SEC:
		return geometry->total_sec;
	case FAT_LAYOUT_CLUSTER_SEC:
		return geometry->cluster_sec;
	case FAT_LAYOUT_RESERVED_SEC:
		return geometry->reserved_sec;
	case FAT_LAYOUT_N_FATS:
		return geometry->n_fats;
	case FAT_LAYOUT_FAT_SEC:
		return geometry->fat_sec;
	case FAT_LAYOUT_ROOT_ENTRIES:
		return geometry->root_entries;
	case FAT_LAYOUT_DATA_OFF:
		return fat_geometry_data_off(geometry);
	case FAT_LAYOUT_N_CLUS:
		return geometry->n_clus;
	case FAT_LAYOUT_MEDIA:
		return geometry->media;
	case FAT_LAYOUT_DRIVE:
		return layout->drive;
	case FAT_LAYOUT_TRACK_SEC:
		return layout->track_sec;
	case FAT_LAYOUT_HEADS:
		return layout->heads;
	case FAT_LAYOUT_HIDDEN_SEC:
		return layout->hidden_sec;
	case FAT_LAYOUT_FSINFO_SEC:
		return geometry->fsinfo_sec;
	case FAT_LAYOUT_BACKUP_SEC:
		return geometry->backup_sec;
	case FAT_LAYOUT_N_ITEMS:
		break;
	}
	return 0;
}
