/* SPDX-License-Identifier: MIT */
/*
 * repair_flat: fields of one slot or one FAT entry, set right in place.
 */
#include <string.h>

#include "repair.h"

static void fix_time(struct fat_dirent *d)
{
	if ((d->create_date && !fat_date_is_valid(d->create_date)) ||
	    !fat_time_is_valid(d->create_time) || d->create_fine > 199) {
		d->create_date = d->create_time = 0;
		d->create_fine = 0;
	}
	if (d->access_date && !fat_date_is_valid(d->access_date))
		d->access_date = 0;
	if ((d->write_date && !fat_date_is_valid(d->write_date)) ||
	    !fat_time_is_valid(d->write_time)) {
		d->write_date = d->create_date;
		d->write_time = d->create_time;
	}
}

static void replace_label_chars(struct fat_dirent *d)
{
	for (size_t i = 0; i < sizeof d->name; i++) {
		uint8_t one[] = "AAAAAAAAAAA";

		one[i > 0] = d->name[i];
		if (fat_short_check(one) & (FAT_SHORT_CONTROL | FAT_SHORT_RESERVED))
			d->name[i] = '_';
	}
}

/* As long as its chain, with no more than a size can say. */
static enum fat_status fit_size(struct repair *repair, struct fat_dirent *d)
{
	struct fsck *fsck = repair->fsck;
	struct walk walk;
	enum fat_status status = chain_peek(fsck, d->start_clus, fsck->geometry.n_clus, &walk);
	uint64_t bytes = (uint64_t)walk.n * fsck->geometry.cluster_bytes;

	d->size_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
	return status;
}

static enum fat_status change(struct repair *repair, const struct fault *fault,
			      struct fat_dirent *d)
{
	switch ((int)fault->id) {
	case F_DIR_SIZE:
	case F_DOT_SIZE:
		d->size_bytes = 0;
		break;
	case F_FILE_IS_DIR:
		d->attr |= FAT_ATTR_DIRECTORY;
		d->size_bytes = 0;
		break;
	case F_DIR_IS_FILE:
		d->attr &= (uint8_t)~FAT_ATTR_DIRECTORY;
		return d->size_bytes ? FAT_OK : fit_size(repair, d);
	case F_DOT_ATTR:
		d->attr = FAT_ATTR_DIRECTORY;
		break;
	case F_DOT_START:
	case F_DOTDOT_START:
	case F_DOTDOT_ROOT:
		d->start_clus = (uint32_t)fault->b;
		break;
	case F_ATTR_RESERVED:
		d->attr &= FAT_ATTR_KNOWN;
		break;
	case F_CASE_RESERVED:
		d->name_case &= FAT_CASE_LOWER_BASE | FAT_CASE_LOWER_EXT;
		break;
	case F_TIME:
		fix_time(d);
		break;
	case F_LABEL_FIELDS:
		d->start_clus = d->size_bytes = 0;
		d->attr &= (uint8_t)~FAT_ATTR_DIRECTORY;
		break;
	case F_LABEL_CHARS:
		if (memcmp(d->name, "           ", sizeof d->name) == 0)
			d->name[0] = FAT_SLOT_DELETED_MARK;
		else
			replace_label_chars(d);
		break;
	case F_LABEL_LOWER:
		label_upcase(d->name);
		break;
	case F_ENTRY_ZEROED:
		d->name[0] = (uint8_t)fault->a;
		break;
	case F_LABEL_IS_FILE:
		d->attr = (uint8_t)fault->a;
		break;
	default:
		break;
	}
	return FAT_OK;
}

static enum fat_status change_slot(struct repair *repair, const struct fault *fault)
{
	enum fat_type type = repair->fsck->geometry.type;
	uint8_t slot[FAT_SLOT_BYTES];
	struct fat_dirent dirent;
	enum fat_status status = repair_read_slot(repair, fault->entry_off, slot);
	/* With its first byte come back it, and all behind it, which it seemed to be the end of. */
	enum fat_stage stage = fault->id == F_ENTRY_ZEROED ? FAT_STAGE_ATTACH : FAT_STAGE_DETACH;

	if (status != FAT_OK)
		return status;
	fat_dirent_decode(slot, type, &dirent);
	status = change(repair, fault, &dirent);
	fat_dirent_encode(&dirent, type, slot);
	if (status == FAT_OK)
		status = repair_write(repair, stage, fault->entry_off, slot, sizeof slot);
	return status;
}

/* It may only say at the end that the volume is clean. */
static enum fat_status set_entry1(struct repair *repair, uint32_t found)
{
	enum fat_type type = repair->fsck->geometry.type;
	uint32_t clean = fat_entry_clean_bit(type);
	enum fat_status status = repair_set_entry(
		repair, FAT_STAGE_DETACH, 1, (fat_entry_mask(type) & ~clean) | (found & clean));

	return status == FAT_OK && clean ? repair_set_end(repair, FAT_STAGE_CLEAN, 1) : status;
}

static enum fat_status delete_garbage(struct repair *repair, const struct fault *fault)
{
	enum fat_status status = repair_delete_entry(repair, fault);

	return status == FAT_OK ? repair_clear_slot(repair, fault->dir, fault->entry_off) : status;
}

enum fat_status repair_flat(struct repair *repair, struct fault *fault)
{
	switch ((int)fault->id) {
	case F_ENTRY0_MEDIA:
	case F_ENTRY0_BITS:
		return repair_set_entry(repair, FAT_STAGE_DETACH, 0, (uint32_t)fault->b);
	case F_ENTRY1_BITS:
		return set_entry1(repair, (uint32_t)fault->a);
	case F_DIR_START_FREE:
		return repair_set_end(repair, FAT_STAGE_DETACH, fault->start);
	case F_TWIN:
		return repair_delete_entry(repair, fault);
	case F_ENTRY_GARBAGE:
		return delete_garbage(repair, fault);
	case F_DOT_PLACE:
	case F_LABEL_STRAY:
	case F_LABEL_SECOND:
		return repair_delete_slot(repair, FAT_STAGE_DETACH, fault->entry_off);
	case F_SICK_FREE:
		return repair_sick_free(repair);
	case F_LONG_ORPHAN:
		return repair_delete_slot(repair, FAT_STAGE_RELEASE, fault->entry_off);
	default:
		return change_slot(repair, fault);
	}
}
