/* SPDX-License-Identifier: MIT */
/*
 * check_dir: the slots of one directory in their order.
 *
 * Knows what may follow what: dots first, long-name slots before their entry, nothing behind the
 * end mark. Tells entries from garbage 16 slots at a time, for damage comes in sectors. What an
 * entry says is check_entry.c's business.
 *
 * Every case of a slot:
 *   0 first      the end; slots in use behind it are either hidden files (one of them leads to a
 *                chain that is just as long as it says) or remains; or an entry: check_zeroed.c
 *   E5h first    deleted
 *   long         waits for its entry
 *   label        one, in the root; or a file whose attributes are wrong
 *   . and ..     first and second, in all directories but the root
 *   other        an entry
 */
#include "check_dir.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define MAX_TAIL_LOOK	64u   /* clusters */
#define ANNOUNCED_SLOTS 1024u /* whose directories are asked for at a time */

void dir_fault(struct dir_check *check, enum fault_id id, uint64_t off, uint64_t a, uint64_t b)
{
	const struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);
	struct fault fault = {
		.id = id,
		.dir = check->dir,
		.entry_off = off,
		.start = node->start,
		.is_dir = true,
		.a = a,
		.b = b,
		.path = dir_path(check->fsck, check->dir),
	};

	fsck_fault(check->fsck, &fault);
}

/* Long-name slots that no entry followed. */
static void drop_pending(struct dir_check *check)
{
	for (uint32_t i = 0; i < check->n_pend && !check->after_gap; i++)
		dir_fault(check, F_LONG_ORPHAN, check->pend_off[i], check->pend_off[i], 0);
	check->n_pend = 0;
	check->after_gap = false;
}

static void take_long(struct dir_check *check, const uint8_t *slot, uint64_t off)
{
	if (check->n_pend > 0 && (slot[0] & FAT_LONG_LAST || check->n_pend == FAT_LONG_SLOTS))
		drop_pending(check);
	memcpy(check->pend[check->n_pend], slot, FAT_SLOT_BYTES);
	check->pend_off[check->n_pend++] = off;
}

/* Is one of the slots behind the end mark a file that nothing else leads to? */
static enum fat_status is_hidden_part(struct dir_check *check, uint64_t from_off, bool *hidden)
{
	const struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &check->fsck->table, node->start);
	bool behind = false;

	*hidden = false;
	dir.limit_clus = node->n_clus;
	while (status == FAT_OK && !*hidden) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes && !*hidden; at += FAT_SLOT_BYTES) {
			behind = behind || dir.off + at == from_off;
			*hidden = behind && slot_is_proven(check->fsck, dir.buf + at);
		}
	}
	fat_dir_close(&dir);
	return status;
}

static enum fat_status slot_behind_end(struct dir_check *check, uint64_t off)
{
	bool hidden;
	enum fat_status status = is_hidden_part(check, off, &hidden);

	if (status != FAT_OK)
		return status;
	check->end_ignored = hidden;
	check->stop = !hidden;
	dir_fault(check, hidden ? F_END_EARLY : F_END_STALE, check->end_off, check->end_off, off);
	return FAT_OK;
}

static void check_dot_fields(struct dir_check *check, const struct fat_dirent *dirent, uint64_t off)
{
	if (!(dirent->attr & FAT_ATTR_DIRECTORY) || dirent->attr & FAT_ATTR_VOLUME)
		dir_fault(check, F_DOT_ATTR, off, 0, 0);
	if (dirent->size_bytes)
		dir_fault(check, F_DOT_SIZE, off, 0, 0);
}

static void check_dot(struct dir_check *check, const uint8_t *slot, uint64_t off)
{
	const struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);
	struct fat_dirent dirent;

	drop_pending(check);
	if (check->is_root || check->slot != 0) {
		dir_fault(check, F_DOT_PLACE, off, 0, 0);
		return;
	}
	check->has_dot = true;
	fat_dirent_decode(slot, check->fsck->geometry.type, &dirent);
	check_dot_fields(check, &dirent, off);
	if (dirent.start_clus != node->start)
		dir_fault(check, F_DOT_START, off, dirent.start_clus, node->start);
}

static void check_dotdot(struct dir_check *check, const uint8_t *slot, uint64_t off)
{
	uint32_t expected = dir_dotdot(check->fsck, check->dir);
	struct fat_dirent dirent;

	drop_pending(check);
	if (check->is_root || check->slot != 1) {
		dir_fault(check, F_DOT_PLACE, off, 0, 0);
		return;
	}
	check->has_dotdot = true;
	fat_dirent_decode(slot, check->fsck->geometry.type, &dirent);
	check_dot_fields(check, &dirent, off);
	if (dirent.start_clus == expected)
		return;
	if (expected == 0 && check->fsck->geometry.type == FAT_TYPE_32 &&
	    dirent.start_clus == check->fsck->geometry.root_clus)
		dir_fault(check, F_DOTDOT_ROOT, off, dirent.start_clus, 0);
	else
		dir_fault(check, F_DOTDOT_START, off, dirent.start_clus, expected);
}

static void label_text(struct dir_check *check, enum fault_id id, const uint8_t *name, uint64_t off)
{
	char text[64];
	struct fault fault = { .id = id, .dir = check->dir, .entry_off = off };

	fat_short_to_utf8(name, 0, &check->fsck->options->page, text, sizeof text);
	fault.text = strdup(text);
	fsck_fault(check->fsck, &fault);
}

static bool label_is_valid(const uint8_t *name)
{
	uint8_t copy[FAT_SHORT_BYTES];

	/* A blank may stand anywhere but first; dots are no separator in a label. */
	memcpy(copy, name, sizeof copy);
	return !(fat_short_check(copy) & (FAT_SHORT_CONTROL | FAT_SHORT_RESERVED));
}

/*
 * Not a label but a file or a directory whose attributes are wrong; *attr: what they ought to be.
 */
static bool leads_somewhere(struct fsck *fsck, const uint8_t *slot, const struct fat_dirent *dirent,
			    uint8_t *attr)
{
	enum cluster_look look;
	uint32_t dotdot;

	*attr = dirent->attr & (uint8_t)~FAT_ATTR_VOLUME;
	if (slot_is_proven(fsck, slot))
		return true;
	if (!fat_geometry_has_clus(&fsck->geometry, dirent->start_clus) || dirent->size_bytes ||
	    fat_bitmap_get(&fsck->reached, dirent->start_clus) ||
	    cluster_look(fsck, dirent->start_clus, &look, &dotdot) != FAT_OK || look != LOOK_DIR)
		return false;
	*attr |= FAT_ATTR_DIRECTORY;
	return true;
}

static bool is_in_boot(const struct fsck *fsck, const uint8_t *label)
{
	return fsck->boot.ext_sig == 0x29 && memcmp(label, fsck->boot.label, FAT_SHORT_BYTES) == 0;
}

/* Of two labels the one that the boot sector has, too. */
static bool is_truer_label(const struct fsck *fsck, const uint8_t *name)
{
	return is_in_boot(fsck, name) && !is_in_boot(fsck, fsck->label.name);
}

/* Whatever it leads to, it is the volume's. */
static bool is_first_label(const struct dir_check *check, const uint8_t *name)
{
	return check->is_root && !check->fsck->label.found && is_in_boot(check->fsck, name);
}

static enum fat_status check_label(struct dir_check *check, uint8_t *slot, uint64_t off)
{
	struct fsck *fsck = check->fsck;
	struct fat_dirent dirent;
	uint8_t attr;

	fat_dirent_decode(slot, fsck->geometry.type, &dirent);
	if (slot_is_garbage(fsck, slot)) {
		drop_pending(check);
		dir_fault(check, F_ENTRY_GARBAGE, off, off, 0);
		return FAT_OK;
	}
	if (dirent.start_clus && !is_first_label(check, dirent.name) &&
	    leads_somewhere(fsck, slot, &dirent, &attr)) {
		dir_fault(check, F_LABEL_IS_FILE, off, attr, 0);
		slot[11] = attr;
		return check_entry(check, slot, off);
	}
	drop_pending(check);
	if (!check->is_root) {
		dir_fault(check, F_LABEL_STRAY, off, 0, 0);
		return FAT_OK;
	}
	if (fsck->label.found && !is_truer_label(fsck, dirent.name)) {
		dir_fault(check, F_LABEL_SECOND, off, 0, 0);
		return FAT_OK;
	}
	if (fsck->label.found)
		dir_fault(check, F_LABEL_SECOND, fsck->label.entry_off, 0, 0);
	else
		fsck->count.files++;
	fsck->label.found = true;
	fsck->label.entry_off = off;
	memcpy(fsck->label.name, dirent.name, sizeof dirent.name);
	if (dirent.start_clus || dirent.size_bytes || dirent.attr & FAT_ATTR_DIRECTORY)
		dir_fault(check, F_LABEL_FIELDS, off, 0, 0);
	if (!label_is_valid(dirent.name))
		label_text(check, F_LABEL_CHARS, dirent.name, off);
	if (fsck->options->upper_label && label_has_lower(dirent.name))
		label_text(check, F_LABEL_LOWER, dirent.name, off);
	return FAT_OK;
}

/* Letters of two bytes each, as no short name has them. */
static bool has_wide_letters(const uint8_t *slot)
{
	unsigned n_control = 0;

	for (size_t i = 1; i < FAT_SHORT_BYTES; i++)
		n_control += slot[i] < 0x20;
	return n_control >= 2;
}

/*
 * A part of a long name whose attributes are wrong: it has the number and the checksum that are due
 * after the part before, or it begins a name in wide letters.
 */
static bool is_bent_long(const struct dir_check *check, const uint8_t *slot)
{
	struct fat_long_slot part, before;
	unsigned number = slot[0] & ~FAT_LONG_LAST;

	fat_long_slot_decode(slot, &part);
	if (number == 0 || number > FAT_LONG_SLOTS || part.type || part.start_clus)
		return false;
	if (part.order & FAT_LONG_LAST)
		return has_wide_letters(slot);
	if (check->n_pend == 0)
		return false;
	fat_long_slot_decode(check->pend[check->n_pend - 1], &before);
	return number + 1 == (before.order & ~FAT_LONG_LAST) && part.checksum == before.checksum;
}

static enum fat_status check_slot(struct dir_check *check, uint8_t *slot, uint64_t off)
{
	enum fat_slot_kind kind = fat_slot_classify(slot);

	if ((kind == FAT_SLOT_FILE || kind == FAT_SLOT_DIRECTORY || kind == FAT_SLOT_LABEL) &&
	    is_bent_long(check, slot))
		kind = FAT_SLOT_LONG;
	switch (kind) {
	case FAT_SLOT_END:
	case FAT_SLOT_DELETED:
		drop_pending(check);
		return FAT_OK;
	case FAT_SLOT_LONG:
		take_long(check, slot, off);
		return FAT_OK;
	case FAT_SLOT_LABEL:
		return check_label(check, slot, off);
	case FAT_SLOT_DOT:
		check_dot(check, slot, off);
		return FAT_OK;
	case FAT_SLOT_DOTDOT:
		check_dotdot(check, slot, off);
		return FAT_OK;
	case FAT_SLOT_FILE:
	case FAT_SLOT_DIRECTORY:
		break;
	}
	return check_entry(check, slot, off);
}

/* "." or ".." in its place, and right: whatever stands behind it. */
static bool is_own_dot(const struct dir_check *check, const uint8_t *slot)
{
	const struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);
	uint32_t expected = check->slot == 0 ? node->start : dir_dotdot(check->fsck, check->dir);
	struct fat_dirent dirent;

	fat_dirent_decode(slot, check->fsck->geometry.type, &dirent);
	return !check->is_root && check->slot < 2 && dirent.start_clus == expected &&
	       fat_slot_classify(slot) == (check->slot == 0 ? FAT_SLOT_DOT : FAT_SLOT_DOTDOT);
}

/* Among garbage: what nothing is wrong with, or what something else bears out. */
static bool is_believed(const struct dir_check *check, const uint8_t *slot)
{
	if (fat_slot_classify(slot) == FAT_SLOT_LONG)
		return slot_is_plausible(check->fsck, slot);
	if (fat_slot_classify(slot) == FAT_SLOT_LABEL && check->is_root &&
	    memcmp(slot, check->fsck->boot.label, FAT_SHORT_BYTES) == 0)
		return true;
	return is_own_dot(check, slot) || slot_is_flawless(check->fsck, slot) ||
	       slot_is_proven(check->fsck, slot) ||
	       (slot_is_plausible(check->fsck, slot) && check_long_fits(check, slot));
}

/*
 * One slot of a unit. garbage: only what is believed is an entry; *dropped says if it is not.
 */
static enum fat_status next_slot(struct dir_check *check, uint8_t *slot, uint64_t off, bool garbage,
				 bool *dropped)
{
	enum fat_status status = FAT_OK;

	if (slot[0] == 0 && zeroed_note(check, slot, off)) {
		check->n_pend = 0;
		return FAT_OK;
	}
	if (slot[0] == 0 && !check->ended) {
		check->ended = true;
		check->end_off = off;
	}
	if (slot[0] != 0 && slot[0] != FAT_SLOT_DELETED_MARK) {
		if (check->ended && !check->end_ignored)
			status = slot_behind_end(check, off);
		if (status != FAT_OK || check->stop)
			return status;
		if (garbage && !is_believed(check, slot)) {
			drop_pending(check);
			*dropped = true;
			return FAT_OK;
		}
		if (!check->is_root && check->slot < 2 && fat_slot_classify(slot) != FAT_SLOT_DOT &&
		    fat_slot_classify(slot) != FAT_SLOT_DOTDOT && !check->dot_taken) {
			check->dot_taken = true;
			dir_fault(check, F_DOT_TAKEN, off, 0, 0);
		}
	}
	return check_slot(check, slot, off);
}

/*
 * 16 slots that cannot be read: nothing can be said of them, nor of a name that begins or ends
 * there.
 */
static bool skip_gap(struct dir_check *check, uint64_t off, size_t n_slots)
{
	if (!fat_dev_unreadable(check->fsck->dev, off, n_slots * FAT_SLOT_BYTES))
		return false;
	if (check->gap_bytes == 0)
		check->gap_off = off;
	check->gap_bytes += n_slots * FAT_SLOT_BYTES;
	check->has_dot = check->has_dot || check->slot == 0;
	check->has_dotdot = check->has_dotdot || check->slot == 0;
	check->n_pend = 0;
	check->after_gap = true;
	check->slot += (uint32_t)n_slots;
	return true;
}

/* ---- clusters that are not the directory's ---- */

/*
 * Whole clusters from clus on, to the chain's end or to a number of them: garbage, and no entries.
 */
static enum fat_status is_garbage_tail(struct fsck *fsck, uint32_t clus, bool *tail)
{
	uint32_t n_slots = fsck->geometry.cluster_bytes / FAT_SLOT_BYTES, n_garbage = 0;
	uint8_t *slots = malloc(fsck->geometry.cluster_bytes);
	enum fat_status status = slots ? FAT_OK : FAT_ERR_MEMORY;

	*tail = true;
	for (uint32_t n = 0; n < MAX_TAIL_LOOK && *tail && status == FAT_OK &&
			     fat_geometry_has_clus(&fsck->geometry, clus);
	     n++) {
		bool garbage;

		status = fat_dev_read(fsck->dev, fat_geometry_cluster_off(&fsck->geometry, clus),
				      slots, fsck->geometry.cluster_bytes);
		if (status != FAT_OK)
			break;
		garbage = slots_are_noise(fsck, slots, n_slots);
		n_garbage += garbage;
		for (uint32_t i = 0; i < n_slots && !garbage && *tail; i++)
			*tail = slots[(size_t)i * FAT_SLOT_BYTES] == 0;
		status = fat_table_get(&fsck->table, clus, &clus);
	}
	*tail = *tail && n_garbage > 0;
	free(slots);
	return status;
}

/* Another directory begins in that cluster, by what it says itself. */
static bool begins_directory(const struct fsck *fsck, uint32_t clus, const uint8_t *slots)
{
	struct fat_dirent dot;

	fat_dirent_decode(slots, fsck->geometry.type, &dot);
	return fat_slot_classify(slots) == FAT_SLOT_DOT && dot.start_clus == clus &&
	       fat_slot_classify(slots + FAT_SLOT_BYTES) == FAT_SLOT_DOTDOT;
}

static enum fat_status put_tail(struct dir_check *check, uint32_t clus)
{
	struct fsck *fsck = check->fsck;
	struct dir_node *node = fat_vec_at(&fsck->dirs, check->dir);
	struct fault fault = { .id = F_DIR_TAIL, .dir = node->parent, .entry_off = node->entry_off,
			       .start = node->start, .clus = clus, .is_dir = true };
	enum fat_status status = FAT_OK;

	for (uint32_t c = node->start; c != clus && fault.n < node->n_clus && status == FAT_OK;
	     fault.n++) {
		fault.last = c;
		status = fat_table_get(&fsck->table, c, &c);
	}
	fault.path = dir_path(fsck, check->dir);
	node->n_clus = fault.n;
	check->stop = true;
	fsck_fault(fsck, &fault);
	return status;
}

/* A unit of slots in a later cluster than the first: does the directory end before it? */
static enum fat_status check_tail(struct dir_check *check, const uint8_t *slots, uint64_t off,
				  bool garbage)
{
	const struct fsck *fsck = check->fsck;
	const struct dir_node *node = fat_vec_at(&fsck->dirs, check->dir);
	uint32_t clus = node->n_clus > 0 ? fat_geometry_clus_at(&fsck->geometry, off) : 0;
	enum fat_status status = FAT_OK;
	bool tail = false;

	if (clus == 0 || clus == node->start || clus == check->tail_clus)
		return FAT_OK;
	if (off == fat_geometry_cluster_off(&fsck->geometry, clus) &&
	    begins_directory(fsck, clus, slots))
		return put_tail(check, clus);
	if (!garbage)
		return FAT_OK;
	check->tail_clus = clus; /* once a cluster is enough */
	status = is_garbage_tail(check->fsck, clus, &tail);
	return status == FAT_OK && tail ? put_tail(check, clus) : status;
}

static enum fat_status check_piece(struct dir_check *check, struct fat_dir *dir)
{
	size_t n_slots = dir->len_bytes / FAT_SLOT_BYTES;
	enum fat_status status = FAT_OK;

	for (size_t first = 0; first < n_slots && status == FAT_OK && !check->stop;
	     first += SLOT_GARBAGE_UNIT) {
		size_t n =
			n_slots - first < SLOT_GARBAGE_UNIT ? n_slots - first : SLOT_GARBAGE_UNIT;
		uint8_t *slots = dir->buf + first * FAT_SLOT_BYTES;
		uint64_t off = dir->off + first * FAT_SLOT_BYTES;
		bool garbage = slots_are_garbage(check->fsck, slots, n);
		uint32_t dropped = 0; /* a bit a slot */

		if (first % ANNOUNCED_SLOTS == 0)
			announce_dirs_in(check->fsck, slots,
					 (size_t)min_u64(n_slots - first, ANNOUNCED_SLOTS));
		if (skip_gap(check, off, n))
			continue;
		status = check_tail(check, slots, off, garbage);
		if (status != FAT_OK || check->stop)
			break;
		if (!garbage && !check->ended)
			ahead_claim(check->fsck, slots, n);
		for (size_t i = 0; i < n && status == FAT_OK && !check->stop; i++) {
			bool drop = false;

			status = next_slot(check, slots + i * FAT_SLOT_BYTES,
					   off + i * FAT_SLOT_BYTES, garbage, &drop);
			dropped |= (uint32_t)drop << i;
			check->slot++;
		}
		ahead_cancel(check->fsck);
		if (dropped)
			dir_fault(check, F_GARBAGE, off, off, dropped);
	}
	return status;
}

/* Parts that would make the name of another entry, whose parts are in order, belong to that one. */
static void mark_taken_names(struct dir_check *check)
{
	for (size_t i = check->first_fault; i < check->fsck->faults.n; i++) {
		struct fault *fault = fat_vec_at(&check->fsck->faults, i);
		const struct name_item *item;

		if (fault->id != F_LONG_ORDER && fault->id != F_LONG_CHECKSUM)
			continue;
		item = fault->b ? name_set_find(&check->names, fault->b) : NULL;
		fault->a = item && item->entry_off != fault->entry_off;
	}
}

/* Dots written there would bring the remains behind the mark to life: those go first. */
static bool ends_where_dots_belong(const struct dir_check *check)
{
	const struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);
	uint64_t first_off = fat_geometry_cluster_off(&check->fsck->geometry, node->start);

	return check->stop && check->end_off - first_off < 2 * (uint64_t)FAT_SLOT_BYTES;
}

static void check_ends(struct dir_check *check)
{
	struct dir_node *node = fat_vec_at(&check->fsck->dirs, check->dir);

	node->is_full = !check->ended && node->n_clus > 0;
	if (check->gap_bytes) {
		check->fsck->count.gaps++;
		dir_fault(check, F_DIR_UNREADABLE, check->gap_off, check->gap_off,
			  check->gap_bytes);
	}
	drop_pending(check);
	mark_taken_names(check);
	if (check->slot > FAT_MAX_DIR_SLOTS)
		dir_fault(check, F_DIR_LONG, 0, check->slot, 0);
	if (check->is_root || ends_where_dots_belong(check))
		return;
	if (!check->has_dot)
		dir_fault(check, F_DOT_MISSING, 0, 0, 0);
	if (!check->has_dotdot)
		dir_fault(check, F_DOTDOT_MISSING, 0, 0, 0);
}

/* At most a name a slot. */
static void expect_names(struct dir_check *check, const struct dir_node *node)
{
	uint64_t n_slots =
		(uint64_t)node->n_clus * check->fsck->geometry.cluster_bytes / FAT_SLOT_BYTES;
	size_t n = (size_t)min_u64(n_slots, FAT_MAX_DIR_SLOTS);

	name_set_expect(&check->shorts, n);
	name_set_expect(&check->names, n);
}

enum fat_status check_dir(struct fsck *fsck, uint32_t index)
{
	struct dir_check *check = calloc(1, sizeof *check);
	const struct dir_node *node = fat_vec_at(&fsck->dirs, index);
	struct fat_dir dir;
	enum fat_status status;

	if (!check)
		return FAT_ERR_MEMORY;
	check->fsck = fsck;
	check->dir = index;
	check->is_root = index == 0;
	check->first_fault = fsck->faults.n;
	expect_names(check, node);
	status = fat_dir_open(&dir, &fsck->table, node->start);
	dir.limit_clus = node->n_clus;
	while (status == FAT_OK && !check->stop) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		status = check_piece(check, &dir);
	}
	if (status == FAT_OK)
		check_ends(check);
	fat_dir_close(&dir);
	name_set_fini(&check->shorts);
	name_set_fini(&check->names);
	free(check);
	return status;
}
