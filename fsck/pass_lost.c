/* SPDX-License-Identifier: MIT */
/*
 * pass_lost: pass 4, clusters in use that no entry leads to.
 *
 * Runs only if the counts say that there are some. A lost cluster that no lost cluster refers to is
 * the head of a chain; what is left when all heads were followed is in cycles. Leaves behind the
 * list of lost chains, heads ascending.
 */
#include "fsck.h"

#include <stdlib.h>

struct search {
	struct fsck *fsck;
	struct fat_bitmap pointed; /* a lost cluster refers to it */
	bool cycles;
};

static bool is_lost(const struct search *search, uint32_t clus, uint32_t value)
{
	return value != 0 && value != fat_entry_bad(search->fsck->geometry.type) &&
	       clus >= FAT_FIRST_CLUS && !fat_bitmap_get(&search->fsck->reached, clus);
}

static enum fat_status note_targets(void *context, uint32_t first, uint32_t n,
				    const uint32_t *values)
{
	struct search *search = context;

	for (uint32_t i = 0; values && i < n; i++)
		if (is_lost(search, first + i, values[i]) &&
		    fat_geometry_has_clus(&search->fsck->geometry, values[i]) &&
		    fat_bitmap_set(&search->pointed, values[i]) == FAT_BIT_NO_MEMORY)
			return FAT_ERR_MEMORY;
	return FAT_OK;
}

static enum fat_status put_chain(struct search *search, uint32_t head)
{
	struct fsck *fsck = search->fsck;
	struct lost_chain *lost = fat_vec_push(&fsck->lost);
	enum cluster_look look;
	enum fat_status status;
	struct walk walk;

	if (!lost) {
		struct fault fault = { .id = F_LOST_MANY, .dir = NO_DIR };

		if (fsck->n_faults_dropped++ == 0)
			fsck_fault(fsck, &fault);
		return FAT_OK;
	}
	status = chain_claim_lost(fsck, head, &walk);
	if (status != FAT_OK)
		return status;
	*lost = (struct lost_chain){
		.head = head,
		.last = walk.last,
		.n = walk.n,
		.is_open = walk.end != WALK_END,
		.is_cycle = search->cycles,
	};
	status = cluster_look(fsck, head, &look, &lost->dotdot);
	lost->is_dir = look == LOOK_DIR;
	return status;
}

static enum fat_status follow_heads(void *context, uint32_t first, uint32_t n,
				    const uint32_t *values)
{
	struct search *search = context;
	enum fat_status status = fsck_tick(search->fsck, TICK_LOST, (uint64_t)first + n,
					   fat_geometry_last_clus(&search->fsck->geometry) + 1);

	for (uint32_t i = 0; values && i < n && status == FAT_OK; i++)
		if (is_lost(search, first + i, values[i]) &&
		    (search->cycles || !fat_bitmap_get(&search->pointed, first + i)))
			status = put_chain(search, first + i);
	return status;
}

static enum fat_status scan(struct search *search,
			    enum fat_status (*entries)(void *, uint32_t, uint32_t,
						       const uint32_t *))
{
	struct fat_table_visitor visitor = { .context = search, .entries = entries };

	return fat_table_scan(&search->fsck->table, &visitor);
}

/* ---- trees ---- */

struct lost_chain *lost_find(const struct fat_vec *chains, uint32_t head)
{
	for (size_t low = 0, high = chains->n; low < high;) {
		size_t middle = (low + high) / 2;
		struct lost_chain *lost = fat_vec_at(chains, middle);

		if (lost->head == head)
			return lost;
		if (lost->head < head)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The topmost of the lost directories above one; halves the way up for those that come after. */
static struct lost_chain *top_of(struct fsck *fsck, struct lost_chain *lost)
{
	while (lost->above) {
		struct lost_chain *above = lost_find(&fsck->lost, lost->above);

		if (above->above)
			lost->above = above->above;
		lost = above;
	}
	return lost;
}

/* Directories may be in each other, round and round: one of them has to be the top. */
static void note_child_dir(struct fsck *fsck, struct lost_chain *parent, struct lost_chain *child)
{
	if (child && child->is_dir && !child->above && top_of(fsck, parent) != child)
		child->above = parent->head;
}

/* An entry of a lost directory: what it leads to comes back with it, if it fits. */
static void note_child(struct fsck *fsck, struct lost_chain *parent, const uint8_t *slot)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);
	struct fat_dirent dirent;
	struct lost_chain *child;

	if (kind != FAT_SLOT_DIRECTORY && kind != FAT_SLOT_FILE)
		return;
	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	child = lost_find(&fsck->lost, dirent.start_clus);
	if (kind == FAT_SLOT_DIRECTORY) {
		note_child_dir(fsck, parent, child);
	} else if (dirent.size_bytes > 0) {
		bool fits = child && !child->is_open &&
			    child->n == fat_geometry_clus_for(&fsck->geometry, dirent.size_bytes);

		fsck->count.sound += fits;
		fsck->count.lost_misfits += !fits;
		if (fits)
			child->has_entry = true;
	}
}

static enum fat_status mark_children(struct fsck *fsck, struct lost_chain *parent)
{
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &fsck->table, parent->head);

	dir.limit_clus = parent->n;
	while (status == FAT_OK) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes; at += FAT_SLOT_BYTES)
			note_child(fsck, parent, dir.buf + at);
	}
	fat_dir_close(&dir);
	return status;
}

static int by_head(const void *a, const void *b)
{
	const struct lost_chain *left = a, *right = b;

	return (left->head > right->head) - (left->head < right->head);
}

static enum fat_status find_trees(struct fsck *fsck)
{
	enum fat_status status = FAT_OK;

	if (fsck->lost.n > 0) /* cycles were found last */
		fat_vec_sort(&fsck->lost, by_head);
	for (size_t i = 0; i < fsck->lost.n && status == FAT_OK; i++) {
		struct lost_chain *lost = fat_vec_at(&fsck->lost, i);

		if (lost->is_dir)
			status = mark_children(fsck, lost);
	}
	return status;
}

static void report_lost(struct fsck *fsck)
{
	for (size_t i = 0; i < fsck->lost.n; i++) {
		const struct lost_chain *lost = fat_vec_at(&fsck->lost, i);
		struct fault fault = {
			.id = lost->is_dir ? F_LOST_DIR : F_LOST_CHAIN,
			.dir = NO_DIR,
			.start = lost->head,
			.clus = lost->head,
			.last = lost->last,
			.n = lost->n,
			.is_dir = lost->is_dir,
			.a = lost->is_open,
			.b = lost->dotdot,
			.need = lost->above != 0,
		};

		if (!lost->has_zeroed)
			fsck_fault(fsck, &fault);
	}
}

enum fat_status pass_lost(struct fsck *fsck)
{
	struct search search = { .fsck = fsck };
	enum fat_status status;

	if (fsck->count.used <= fsck->reached.n_set)
		return FAT_OK;
	if (!fat_bitmap_init(&search.pointed, fsck->reached.n_bits))
		return FAT_ERR_MEMORY;
	status = scan(&search, note_targets);
	if (status == FAT_OK)
		status = scan(&search, follow_heads);
	if (status == FAT_OK && fsck->count.used > fsck->reached.n_set) {
		search.cycles = true;
		status = scan(&search, follow_heads);
	}
	fat_bitmap_fini(&search.pointed);
	if (status == FAT_OK)
		status = find_trees(fsck);
	zeroed_report(fsck);
	report_lost(fsck);
	return status;
}
