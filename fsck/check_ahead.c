/* SPDX-License-Identifier: MIT */
/*
 * check_ahead: large files of one unit of a directory, followed side by side.
 *
 * A chain in no order costs the processor a wait for memory at each cluster; sixteen chains wait
 * together. Invariant: what a look finds is the same as without this. So it begins only with a unit
 * of ordinary files, and whatever is not ordinary in one of the chains takes back all claims: then
 * each is followed by itself, in its turn.
 */
#include "fsck.h"

#define MIN_CLUS 4u /* of a chain that is worth it */

/* One step of one chain; false: something is wrong. *more false: it has ended as it should. */
static bool step(struct fsck *fsck, struct walk *walk, uint32_t need, bool *more)
{
	enum fat_type type = fsck->geometry.type;
	uint32_t value;

	*more = false;
	if (!fat_geometry_has_clus(&fsck->geometry, walk->stop) ||
	    !cluster_is_present(fsck, walk->stop) ||
	    fat_table_get(&fsck->table, walk->stop, &value) != FAT_OK || value == 0 ||
	    value == fat_entry_bad(type) ||
	    fat_bitmap_set(&fsck->reached, walk->stop) != FAT_BIT_NEW)
		return false;
	walk->last = walk->stop;
	walk->stop = value;
	if (++walk->n == need)
		walk->nth = walk->last;
	*more = value < fat_entry_end_min(type);
	if (*more && fat_geometry_has_clus(&fsck->geometry, value)) {
		fat_table_prefetch(&fsck->table, value);
		fat_bitmap_prefetch(&fsck->reached, value);
	}
	return true;
}

static bool follow_all(struct fsck *fsck)
{
	struct ahead *ahead = &fsck->ahead;
	uint32_t open[AHEAD_CHAINS], n_open = ahead->n;

	for (uint32_t i = 0; i < n_open; i++)
		open[i] = i;
	while (n_open > 0)
		for (uint32_t i = 0; i < n_open; i++) {
			struct ahead_chain *chain = &ahead->chain[open[i]];
			bool more;

			if (!step(fsck, &chain->walk, chain->need, &more))
				return false;
			if (!more)
				open[i--] = open[--n_open];
		}
	return true;
}

/* Whether a unit has only what cannot be anything but files, labels and parts of names. */
static bool is_ordinary(const uint8_t *slots, size_t n_slots)
{
	bool ended = false;

	for (size_t i = 0; i < n_slots; i++) {
		enum fat_slot_kind kind = fat_slot_classify(slots + i * FAT_SLOT_BYTES);

		if (kind == FAT_SLOT_DIRECTORY || (ended && kind != FAT_SLOT_END))
			return false;
		ended = kind == FAT_SLOT_END;
	}
	return true;
}

void ahead_claim(struct fsck *fsck, const uint8_t *slots, size_t n_slots)
{
	struct ahead *ahead = &fsck->ahead;

	if (ahead->failed || fsck->sweep != SWEEP_CHECK || fsck->has_dir_clusters ||
	    fsck->read_tested || !is_ordinary(slots, n_slots))
		return;
	for (size_t i = 0; i < n_slots && ahead->n < AHEAD_CHAINS; i++) {
		const uint8_t *slot = slots + i * FAT_SLOT_BYTES;
		struct fat_dirent dirent;
		uint64_t need;

		if (fat_slot_classify(slot) != FAT_SLOT_FILE)
			continue;
		fat_dirent_decode(slot, fsck->geometry.type, &dirent);
		need = fat_geometry_clus_for(&fsck->geometry, dirent.size_bytes);
		if (need >= MIN_CLUS)
			ahead->chain[ahead->n++] = (struct ahead_chain){
				.start = dirent.start_clus,
				.need = (uint32_t)need,
				.walk = { .stop = dirent.start_clus, .end = WALK_END },
			};
	}
	if (ahead->n > 0 && !follow_all(fsck))
		ahead_cancel(fsck);
}

bool ahead_take(struct fsck *fsck, uint32_t start, uint32_t need, struct walk *walk)
{
	struct ahead *ahead = &fsck->ahead;

	for (uint32_t i = 0; i < ahead->n; i++)
		if (ahead->chain[i].start == start && ahead->chain[i].need == need) {
			*walk = ahead->chain[i].walk;
			ahead->chain[i] = ahead->chain[--ahead->n];
			return true;
		}
	return false;
}

/* The entries are in memory still, or can be read again as they were read before. */
static void unclaim(struct fsck *fsck, const struct ahead_chain *chain)
{
	uint32_t clus = chain->start;

	for (uint32_t n = chain->walk.n; n > 0; n--) {
		fat_bitmap_clear(&fsck->reached, clus);
		if (n > 1 && fat_table_get(&fsck->table, clus, &clus) != FAT_OK)
			return;
	}
}

bool ahead_cancel(struct fsck *fsck)
{
	struct ahead *ahead = &fsck->ahead;
	uint32_t n = ahead->n;

	while (ahead->n > 0)
		unclaim(fsck, &ahead->chain[--ahead->n]);
	ahead->failed = ahead->failed || n > 0;
	return n > 0;
}
