/* SPDX-License-Identifier: MIT */
/*
 * check_chain: follows one chain.
 *
 * The invariant behind it: on a sound volume each cluster in use is referred to exactly once.
 * Claiming sets a bit a cluster, so a second claim shows itself, and no walk is longer than the
 * volume.
 */
#include "fsck.h"

/* Whether clus is one of the n clusters of the chain from start on. */
static enum fat_status is_own(struct fsck *fsck, uint32_t start, uint32_t n, uint32_t clus,
			      bool *own)
{
	enum fat_status status = FAT_OK;

	*own = false;
	for (uint32_t c = start; n > 0 && status == FAT_OK; n--) {
		if (c == clus) {
			*own = true;
			break;
		}
		status = fat_table_get(&fsck->table, c, &c);
	}
	return status;
}

static enum fat_status claim(struct fsck *fsck, uint32_t start, bool for_file, struct walk *walk)
{
	enum fat_status status = FAT_OK;
	bool own;

	if (for_file && fsck->has_dir_clusters && fat_bitmap_get(&fsck->dir_clusters, walk->stop)) {
		walk->end = WALK_SHARED;
		return FAT_OK;
	}
	switch (fat_bitmap_set(&fsck->reached, walk->stop)) {
	case FAT_BIT_NEW:
		return FAT_OK;
	case FAT_BIT_NO_MEMORY:
		return FAT_ERR_MEMORY;
	case FAT_BIT_OLD:
		if (ahead_cancel(fsck)) /* perhaps it is another's only by that */
			return claim(fsck, start, for_file, walk);
		break;
	}
	status = is_own(fsck, start, walk->n, walk->stop, &own);
	walk->end = own ? WALK_LOOP : WALK_SHARED;
	return status;
}

enum purpose { LOOK, CLAIM_FILE, CLAIM_DIR, CLAIM_LOST };

/*
 * A lost chain jumps to a cluster that the one before it leads to as well: they belong together,
 * and the jump is what is wrong. *aside: so it is.
 */
static enum fat_status leads_aside(struct fsck *fsck, uint32_t from, uint32_t to, bool *aside)
{
	enum fat_status status;
	uint32_t value;

	*aside = false;
	if (to == from + 1 || to <= FAT_FIRST_CLUS || !fat_geometry_has_clus(&fsck->geometry, to))
		return FAT_OK;
	status = fat_table_get(&fsck->table, to - 1, &value);
	*aside = status == FAT_OK && value == to && !fat_bitmap_get(&fsck->reached, to - 1);
	return status;
}

/* One walk for all: claiming, or only looking at most max clusters far. */
static enum fat_status follow(struct fsck *fsck, uint32_t start, uint32_t need, uint32_t max,
			      enum purpose purpose, struct walk *walk)
{
	enum fat_type type = fsck->geometry.type;
	uint32_t last_clus = fat_geometry_last_clus(&fsck->geometry);
	enum fat_status status = FAT_OK;
	bool aside = false;

	*walk = (struct walk){ .stop = start, .end = WALK_END };
	while (walk->n < max && status == FAT_OK) {
		uint32_t value;

		if (walk->stop < FAT_FIRST_CLUS || walk->stop > last_clus) {
			walk->end = WALK_RANGE;
			break;
		}
		status = fat_table_get(&fsck->table, walk->stop, &value);
		if (status != FAT_OK)
			break;
		if (value == 0 && fat_table_is_blind(&fsck->table, walk->stop)) {
			walk->end = WALK_BLIND; /* something leads to it, so it is in use */
		} else if (value == 0 || value == fat_entry_bad(type)) {
			walk->end = value == 0 ? WALK_FREE : WALK_BAD;
			break;
		}
		if (purpose != LOOK)
			status = claim(fsck, start, purpose == CLAIM_FILE, walk);
		if (walk->end != WALK_END && walk->end != WALK_BLIND)
			break;
		if (fsck->read_tested && cluster_is_sick(fsck, walk->stop) && walk->n_sick++ == 0)
			walk->sick = walk->stop;
		walk->n_beyond += !cluster_is_present(fsck, walk->stop);
		walk->last = walk->stop;
		if (++walk->n == need)
			walk->nth = walk->last;
		if (walk->end == WALK_BLIND)
			break;
		walk->stop = value;
		if (value >= fat_entry_end_min(type))
			break;
		if (purpose == CLAIM_LOST)
			status = leads_aside(fsck, walk->last, value, &aside);
		if (aside) {
			walk->end = WALK_SHARED;
			break;
		}
	}
	return status;
}

enum fat_status chain_claim(struct fsck *fsck, uint32_t start, uint32_t need, struct walk *walk)
{
	if (ahead_take(fsck, start, need, walk))
		return FAT_OK;
	return follow(fsck, start, need, UINT32_MAX, CLAIM_FILE, walk);
}

enum fat_status chain_claim_dir(struct fsck *fsck, uint32_t start, struct walk *walk)
{
	return follow(fsck, start, 0, UINT32_MAX, CLAIM_DIR, walk);
}

enum fat_status chain_claim_lost(struct fsck *fsck, uint32_t start, struct walk *walk)
{
	return follow(fsck, start, 0, UINT32_MAX, CLAIM_LOST, walk);
}

enum fat_status chain_peek(struct fsck *fsck, uint32_t start, uint32_t max, struct walk *walk)
{
	return follow(fsck, start, 0, max, LOOK, walk);
}

bool chain_has_just(struct fsck *fsck, uint32_t start, uint32_t n)
{
	struct walk walk;

	return chain_peek(fsck, start, n + 1, &walk) == FAT_OK && walk.end == WALK_END &&
	       walk.n == n;
}
