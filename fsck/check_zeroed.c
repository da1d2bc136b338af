/* SPDX-License-Identifier: MIT */
/*
 * check_zeroed: entries that lost their first byte.
 *
 * A slot that begins with 0 ends a directory, and drivers look at nothing behind it; what else is
 * in it means nothing. But where a 0 fell on an entry in use, the other 31 bytes prove it: they
 * lead to a lost chain that is just as long as they say, or to a lost directory whose ".." names
 * this one. An empty file is proven by the long name before it, which a sound volume has not before
 * its end. What the first byte was the long name's checksum tells; without one it becomes "_".
 *
 * Invariant: no slot is believed whose chain any entry leads to.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "check_dir.h"

#define CHECKSUM_AT  13u /* in a long-name slot */
#define START_LOW_AT 26u

/* The one first byte that makes the long name before this entry its own; 0: there is none. */
static uint8_t first_by_long(const struct dir_check *check, const uint8_t *slot)
{
	const uint8_t (*parts)[FAT_SLOT_BYTES] = (const uint8_t (*)[FAT_SLOT_BYTES])check->pend;
	struct fat_long_name longname;
	uint8_t name[FAT_SHORT_BYTES];
	unsigned flaws, byte = '!';

	if (check->n_pend == 0)
		return 0;
	memcpy(name, slot, sizeof name);
	do
		name[0] = (uint8_t)byte;
	while (fat_short_checksum(name) != check->pend[0][CHECKSUM_AT] && ++byte <= UINT8_MAX);
	if (byte > UINT8_MAX || byte == FAT_SLOT_DELETED_MARK || fat_short_check(name) != 0 ||
	    fat_long_assemble(parts, check->n_pend, name, &longname, &flaws) != FAT_LONG_OK)
		return 0;
	return name[0];
}

/* The other 31 bytes are those of a file or directory. */
static bool decode(const struct fsck *fsck, const uint8_t *slot, uint8_t first,
		   struct fat_dirent *dirent)
{
	uint8_t whole[FAT_SLOT_BYTES];
	enum fat_slot_kind kind;

	memcpy(whole, slot, sizeof whole);
	whole[0] = first;
	kind = fat_slot_classify(whole);
	fat_dirent_decode(whole, fsck->geometry.type, dirent);
	return (kind == FAT_SLOT_FILE || kind == FAT_SLOT_DIRECTORY) &&
	       slot_is_plausible(fsck, whole) && fat_short_check(dirent->name) == 0;
}

static void put_fault(struct fsck *fsck, const struct zeroed_entry *zeroed)
{
	struct fault fault = {
		.id = F_ENTRY_ZEROED,
		.dir = zeroed->dir,
		.entry_off = zeroed->off,
		.start = zeroed->start,
		.clus = zeroed->start,
		.is_dir = zeroed->is_dir,
		.a = zeroed->name[0],
	};
	char name[64];

	fat_short_to_utf8(zeroed->name, 0, &fsck->options->page, name, sizeof name);
	fault.path = entry_path(fsck, zeroed->dir, name);
	fsck_fault(fsck, &fault);
}

bool zeroed_note(struct dir_check *check, const uint8_t *slot, uint64_t off)
{
	struct fsck *fsck = check->fsck;
	struct zeroed_entry zeroed = { .dir = check->dir, .off = off }, *place;
	struct fat_dirent dirent;
	uint8_t first;

	if (check->n_pend == 0 && get_le16(slot + START_LOW_AT) == 0 &&
	    get_le16(slot + SLOT_START_HIGH_AT) == 0)
		return false; /* as nearly all are */
	first = first_by_long(check, slot);
	if (fsck->sweep != SWEEP_CHECK || !decode(fsck, slot, first ? first : '_', &dirent))
		return false;
	zeroed.start = dirent.start_clus;
	zeroed.is_dir = dirent.attr & FAT_ATTR_DIRECTORY;
	zeroed.need = (uint32_t)fat_geometry_clus_for(&fsck->geometry, dirent.size_bytes);
	memcpy(zeroed.name, dirent.name, sizeof zeroed.name);
	if (zeroed.start == 0) {
		if (first == 0 || zeroed.is_dir || dirent.size_bytes)
			return false;
		put_fault(fsck, &zeroed);
		return true;
	}
	if (zeroed.is_dir ? dirent.size_bytes != 0 : dirent.size_bytes == 0)
		return false;
	place = fat_vec_push(&fsck->zeroed);
	if (place)
		*place = zeroed;
	return false;
}

static bool is_proven(const struct fsck *fsck, const struct zeroed_entry *zeroed,
		      const struct lost_chain *lost)
{
	const struct dir_node *node = fat_vec_at(&fsck->dirs, zeroed->dir);
	uint32_t parent = zeroed->dir == 0 ? 0 : node->start;

	if (!lost || lost->is_open || lost->is_cycle || lost->has_zeroed ||
	    lost->is_dir != zeroed->is_dir)
		return false;
	return zeroed->is_dir ? lost->dotdot == parent : lost->n == zeroed->need;
}

void zeroed_report(struct fsck *fsck)
{
	/* The chain may be that of an entry which cannot be read. */
	bool unread = fsck->count.gaps || fsck->count.blind;

	for (size_t i = 0; i < fsck->zeroed.n && !unread; i++) {
		const struct zeroed_entry *zeroed = fat_vec_at(&fsck->zeroed, i);
		struct lost_chain *lost = lost_find(&fsck->lost, zeroed->start);

		if (!is_proven(fsck, zeroed, lost))
			continue;
		lost->has_zeroed = true;
		put_fault(fsck, zeroed);
	}
}
