/* SPDX-License-Identifier: MIT */
/*
 * pass_summary: pass 5, what is derived from the rest: FSInfo and the two labels.
 */
#include <stdlib.h>
#include <string.h>

#include "fsck.h"

static void number_fault(struct fsck *fsck, enum fault_id id, uint64_t a, uint64_t b)
{
	struct fault fault = { .id = id, .dir = NO_DIR, .a = a, .b = b };

	fsck_fault(fsck, &fault);
}

static enum fat_status check_fsinfo(struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint64_t off = (uint64_t)geometry->fsinfo_sec * geometry->sector_bytes;
	uint8_t sector[FAT_FSINFO_BYTES];
	struct fat_fsinfo info;
	enum fat_status status;
	bool knows_free;

	if (geometry->type != FAT_TYPE_32 || geometry->fsinfo_sec == 0)
		return FAT_OK;
	status = fat_dev_read(fsck->dev, off, sector, sizeof sector);
	if (status != FAT_OK)
		return status;
	if (fat_dev_unreadable(fsck->dev, off, sizeof sector) && sector[0] == 0) {
		number_fault(fsck, F_FSINFO_UNREADABLE, geometry->fsinfo_sec, 0);
		return FAT_OK;
	}
	fat_fsinfo_decode(sector, &info);
	if (!info.lead_ok || !info.struct_ok || !info.trail_ok) {
		number_fault(fsck, F_FSINFO_SIGNATURE, geometry->fsinfo_sec, 0);
		return FAT_OK;
	}
	/*
	 * Where FATs cannot be read, or the device ends too early, nobody knows how many are free.
	 */
	knows_free = !fsck->count.blind && fsck->present_bytes == 0;
	if (knows_free && info.n_free != FAT_FSINFO_UNKNOWN && info.n_free != fsck->count.free)
		number_fault(fsck, F_FREE_WRONG, info.n_free, fsck->count.free);
	if (info.next_clus != FAT_FSINFO_UNKNOWN &&
	    !fat_geometry_has_clus(geometry, info.next_clus))
		number_fault(fsck, F_NEXT_WRONG, info.next_clus, 0);
	return FAT_OK;
}

bool label_has_lower(const uint8_t label[FAT_SHORT_BYTES])
{
	for (size_t i = 0; i < FAT_SHORT_BYTES; i++)
		if (label[i] >= 'a' && label[i] <= 'z')
			return true;
	return false;
}

void label_upcase(uint8_t label[FAT_SHORT_BYTES])
{
	for (size_t i = 0; i < FAT_SHORT_BYTES; i++)
		if (label[i] >= 'a' && label[i] <= 'z')
			label[i] = (uint8_t)(label[i] - 'a' + 'A');
}

static void label_fault(struct fsck *fsck, enum fault_id id)
{
	struct fault fault = { .id = id, .dir = NO_DIR };
	char text[64];

	fat_short_to_utf8(fsck->boot.label, 0, &fsck->options->page, text, sizeof text);
	fault.text = strdup(text);
	fsck_fault(fsck, &fault);
}

/* A label in one place only is no fault: Windows writes the root's, others the boot sector's. */
static void check_labels(struct fsck *fsck)
{
	static const uint8_t none[FAT_SHORT_BYTES] = "NO NAME    ", blank[] = "           ";
	uint8_t root[FAT_SHORT_BYTES];

	fsck->label_differs = false;
	if (fsck->is_atari)
		return; /* it has none in the boot sector */
	if (fsck->options->upper_label && fsck->boot.ext_sig == 0x29 &&
	    label_has_lower(fsck->boot.label))
		label_fault(fsck, F_BOOT_LABEL_LOWER);
	memcpy(root, fsck->label.name, sizeof root);
	if (root[0] == 0x05)
		root[0] = FAT_SLOT_DELETED_MARK;
	fsck->label_differs = fsck->boot_made_up && fsck->label.found;
	if (fsck->label_differs || fsck->boot.ext_sig != 0x29 || !fsck->label.found ||
	    memcmp(fsck->boot.label, none, sizeof none) == 0 ||
	    memcmp(fsck->boot.label, blank, sizeof root) == 0 ||
	    memcmp(fsck->boot.label, root, sizeof root) == 0)
		return;
	fsck->label_differs = true;
	label_fault(fsck, F_LABEL_DIFFERS);
}

enum fat_status pass_summary(struct fsck *fsck)
{
	check_labels(fsck);
	return check_fsinfo(fsck);
}
