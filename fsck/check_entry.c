/* SPDX-License-Identifier: MIT */
/*
 * check_entry: what a file's or directory's entry says: its names, its dates, its chain.
 *
 * The chain against the entry, every case (n clusters of its own, the size needs `need`):
 *   file   size 0, no start             fine
 *          size, no start               START_MISSING
 *          start out of range           START_RANGE
 *          a directory in it, and its
 *          size 0, or not the chain's   FILE_IS_DIR
 *          size 0, a chain              SIZE_ZERO
 *          n = need, ended              fine
 *          n >= need, not ended there   CHAIN_LONG, however it goes on
 *          n < need                     CHAIN_SHORT, _FREE, _BAD, _RANGE, _LOOP, _SHARED by its end
 *   dir    no start, out of range       DIR_START_MISSING, DIR_START_RANGE
 *          start marked free or bad     DIR_START_FREE if it is there, else CHAIN_FREE, _BAD
 *          start claimed by another     DIR_START_SHARED
 *          no directory there           DIR_IS_FILE
 *          not ended                    as a file's
 */
#include <stdlib.h>
#include <string.h>

#include "check_dir.h"

#define MAX_LOOK_PIECES 16u

struct entry {
	struct dir_check *check;
	const uint8_t *slot;
	uint64_t off;
	struct fat_dirent dirent;
	bool has_long; /* and it can be used */
	struct fat_long_name longname;
};

static void entry_name(const struct entry *entry, char *text, size_t text_bytes)
{
	if (entry->has_long)
		fat_units_to_utf8(entry->longname.unit, entry->longname.n_units, text, text_bytes);
	else
		fat_short_to_utf8(entry->dirent.name, entry->dirent.name_case,
				  &entry->check->fsck->options->page, text, text_bytes);
}

/* What the faults of this entry have in common: its path and places. To be cleared. */
static struct fault describe(const struct entry *entry)
{
	struct dir_check *check = entry->check;
	char name[FAT_NAME_BYTES];
	struct fault fault = {
		.dir = check->dir,
		.entry_off = entry->off,
		.start = entry->dirent.start_clus,
		.clus = entry->dirent.start_clus,
		.size = entry->dirent.size_bytes,
		.is_dir = entry->dirent.attr & FAT_ATTR_DIRECTORY,
		.a = entry->off,
	};

	entry_name(entry, name, sizeof name);
	fault.path = entry_path(check->fsck, check->dir, name);
	if (check->n_pend > 0) {
		fault.long_off = malloc(check->n_pend * sizeof *fault.long_off);
		if (fault.long_off) {
			memcpy(fault.long_off, check->pend_off,
			       check->n_pend * sizeof *fault.long_off);
			fault.n_long = check->n_pend;
		}
	}
	return fault;
}

/* A fault of this entry; the caller fills in more. */
static struct fault *entry_fault(const struct entry *entry, enum fault_id id)
{
	struct fault fault = describe(entry);

	fault.id = id;
	return fsck_fault(entry->check->fsck, &fault);
}

/* The same for an entry that was put aside. */
struct fault *fault_again(struct fsck *fsck, const struct fault *of, enum fault_id id)
{
	struct fault fault = *of;

	fault.id = id;
	fault.path = of->path ? strdup(of->path) : NULL;
	fault.text = NULL;
	fault.long_off = of->n_long ? malloc(of->n_long * sizeof *of->long_off) : NULL;
	if (fault.long_off)
		memcpy(fault.long_off, of->long_off, of->n_long * sizeof *of->long_off);
	else
		fault.n_long = 0;
	return fsck_fault(fsck, &fault);
}

/* ---- names ---- */

/* Whose name it would be if its parts were set right, for check_dir to compare with the others. */
static void doubt_long(const struct entry *entry, enum fault_id id)
{
	struct fault *fault = entry_fault(entry, id);

	if (fault && entry->longname.n_units > 0 && entry->longname.n_units <= FAT_NAME_UNITS)
		fault->b = fat_units_hash(entry->longname.unit, entry->longname.n_units);
}

static void check_long(struct entry *entry)
{
	struct dir_check *check = entry->check;
	unsigned flaws;
	bool cut = check->after_gap; /* its first part may lie where nothing can be read */

	check->after_gap = false;
	if (check->n_pend == 0)
		return;
	switch (fat_long_assemble((const uint8_t (*)[FAT_SLOT_BYTES])check->pend, check->n_pend,
				  entry->dirent.name, &entry->longname, &flaws)) {
	case FAT_LONG_OK:
		entry->has_long = true;
		break;
	case FAT_LONG_ORDER:
		if (cut)
			return;
		doubt_long(entry, F_LONG_ORDER);
		return;
	case FAT_LONG_CHECKSUM:
		doubt_long(entry, F_LONG_CHECKSUM);
		return;
	case FAT_LONG_LENGTH:
	case FAT_LONG_CHARS:
		entry_fault(entry, F_LONG_UNUSABLE);
		return;
	}
	if (flaws & FAT_LONG_PADDING)
		entry_fault(entry, F_LONG_PADDING);
	if (flaws & FAT_LONG_TYPE)
		entry_fault(entry, F_LONG_FIELDS);
	if (flaws & (FAT_LONG_FORBIDDEN | FAT_LONG_TRAILING))
		entry_fault(entry, F_LONG_CHARS);
}

/* A blank with something behind it, in the name's or the extension's part. */
static bool has_inner_blank(const uint8_t *name)
{
	for (size_t i = 0; i + 1 < FAT_SHORT_BYTES; i++)
		if (name[i] == ' ' && name[i + 1] != ' ' && i != 7)
			return true;
	return false;
}

static void check_short(const struct entry *entry)
{
	unsigned flaws = fat_short_check(entry->dirent.name);

	if (flaws & FAT_SHORT_CONTROL)
		entry_fault(entry, F_NAME_CHARS);
	else if (flaws & FAT_SHORT_RESERVED)
		entry_fault(entry, F_NAME_RESERVED);
	else if (flaws & FAT_SHORT_LOWER)
		entry_fault(entry, F_NAME_LOWER);
	if (entry->check->fsck->options->no_spaces && has_inner_blank(entry->dirent.name))
		entry_fault(entry, F_NAME_BLANK);
}

/* The 11 bytes in ASCII capitals, as a hash: drivers compare short names so. */
static uint64_t short_hash(const uint8_t *name)
{
	uint16_t units[FAT_SHORT_BYTES];

	for (size_t i = 0; i < FAT_SHORT_BYTES; i++)
		units[i] = name[i] < 0x80 ? name[i] : (uint16_t)(0xE000 + name[i]);
	return fat_units_hash(units, FAT_SHORT_BYTES);
}

static bool is_twin(const struct entry *entry, const struct name_item *first)
{
	return first->start == entry->dirent.start_clus &&
	       (first->start != 0 || first->size == entry->dirent.size_bytes);
}

static enum fat_status add_name(struct name_set *set, uint64_t hash, const struct entry *entry)
{
	struct name_item item = {
		.hash = hash,
		.entry_off = entry->off,
		.start = entry->dirent.start_clus,
		.size = entry->dirent.size_bytes,
	};

	return name_set_add(set, &item) ? FAT_OK : FAT_ERR_MEMORY;
}

/* Sets *twin if this is the same entry once more. */
static enum fat_status check_unique(struct entry *entry, bool *twin)
{
	struct dir_check *check = entry->check;
	uint64_t hash = short_hash(entry->dirent.name), short_name, long_name;
	const struct name_item *first = name_set_find(&check->shorts, hash);
	enum fat_status status;
	uint16_t units[13];

	*twin = first && is_twin(entry, first);
	if (first)
		entry_fault(entry, *twin ? F_TWIN : F_NAME_TWICE);
	status = add_name(&check->shorts, hash, entry);
	short_name = fat_units_hash(units, fat_short_to_units(entry->dirent.name, 0,
							      &check->fsck->options->page, units));
	long_name = entry->has_long ?
			    fat_units_hash(entry->longname.unit, entry->longname.n_units) :
			    short_name;
	if (!first && name_set_find(&check->names, long_name))
		entry_fault(entry, entry->has_long ? F_LONG_TWICE : F_NAME_TWICE);
	if (status == FAT_OK)
		status = add_name(&check->names, long_name, entry);
	if (status == FAT_OK && entry->has_long)
		status = add_name(&check->names, short_name, entry);
	return status;
}

static void check_fields(const struct entry *entry)
{
	const struct fat_dirent *d = &entry->dirent;
	bool dates = (!d->create_date || fat_date_is_valid(d->create_date)) &&
		     (!d->access_date || fat_date_is_valid(d->access_date)) &&
		     (!d->write_date || fat_date_is_valid(d->write_date));

	if (d->attr & ~FAT_ATTR_KNOWN)
		entry_fault(entry, F_ATTR_RESERVED);
	if (d->name_case & ~(FAT_CASE_LOWER_BASE | FAT_CASE_LOWER_EXT))
		entry_fault(entry, F_CASE_RESERVED);
	if (!dates || !fat_time_is_valid(d->create_time) || !fat_time_is_valid(d->write_time) ||
	    d->create_fine > 199)
		entry_fault(entry, F_TIME);
}

/* ---- chains ---- */

static void fill_walk(struct fault *fault, const struct walk *walk, uint64_t need)
{
	if (!fault)
		return;
	fault->n = walk->n;
	fault->need = (uint32_t)need;
	fault->last = walk->last;
	fault->clus = walk->stop;
	fault->b = walk->end;
}

static enum fault_id fault_of_end(enum walk_end end)
{
	switch (end) {
	case WALK_END:
		return F_CHAIN_SHORT;
	case WALK_FREE:
		return F_CHAIN_FREE;
	case WALK_BAD:
		return F_CHAIN_BAD;
	case WALK_RANGE:
		return F_CHAIN_RANGE;
	case WALK_SHARED:
		return F_CHAIN_SHARED;
	case WALK_BLIND:
		return F_CHAIN_BLIND;
	case WALK_LOOP:
		break;
	}
	return F_CHAIN_LOOP;
}

static void sick_fault(const struct entry *entry, const struct walk *walk)
{
	struct fault *fault = entry_fault(entry, F_SICK_FILE);

	if (!fault)
		return;
	fault->n = walk->n_sick;
	fault->clus = walk->sick;
	fault->b = entry->check->fsck->count.free;
}

static void beyond_fault(const struct entry *entry, const struct walk *walk)
{
	struct fault *fault = entry_fault(entry, F_FILE_BEYOND);

	if (!fault)
		return;
	fault->n = walk->n_beyond;
	fault->need = walk->n;
}

/* What it has is not what its size needs: a directory that lost its bit, perhaps. */
static enum fat_status doubt_file(const struct entry *entry)
{
	struct fsck *fsck = entry->check->fsck;
	enum cluster_look look;
	uint32_t dotdot;
	enum fat_status status = cluster_look(fsck, entry->dirent.start_clus, &look, &dotdot);

	if (status == FAT_OK && look == LOOK_DIR && dir_is_parent(fsck, entry->check->dir, dotdot))
		fsck->dirs_first = true;
	return status;
}

static enum fat_status check_file_chain(const struct entry *entry)
{
	struct fsck *fsck = entry->check->fsck;
	uint64_t need = fat_geometry_clus_for(&fsck->geometry, entry->dirent.size_bytes);
	enum fat_status status;
	struct walk walk;

	if (fsck->sweep == SWEEP_DIRS)
		return FAT_OK;
	status = chain_claim(fsck, entry->dirent.start_clus, (uint32_t)need, &walk);
	if (status != FAT_OK)
		return status;
	if (walk.n_sick > 0)
		sick_fault(entry, &walk);
	if (walk.n_beyond > 0)
		beyond_fault(entry, &walk);
	if (need == 0) {
		struct fault *fault = entry_fault(entry, F_SIZE_ZERO);

		fill_walk(fault, &walk, need);
		if (fault)
			fault->clus = fault->start;
	} else if (walk.n == need && walk.end == WALK_BLIND) {
		return FAT_OK; /* it has what it needs */
	} else if (walk.n >= need && (walk.n > need || walk.end != WALK_END)) {
		struct fault *fault = entry_fault(entry, F_CHAIN_LONG);

		fill_walk(fault, &walk, need);
		if (fault)
			fault->last = walk.nth;
	} else if (walk.n < need) {
		fill_walk(entry_fault(entry, fault_of_end(walk.end)), &walk, need);
	} else {
		fsck->count.sound++;
		return FAT_OK;
	}
	return need && walk.n ? doubt_file(entry) : FAT_OK;
}

/* The directory below, to be read later; its name goes to the arena. */
static void push_dir(struct fsck *fsck, const struct fault *of, uint32_t n_clus)
{
	struct dir_node *node = fat_vec_push(&fsck->dirs);
	const char *name = of->path ? strrchr(of->path, '/') : NULL;

	if (!node) {
		fault_again(fsck, of, F_TOO_MANY_DIRS);
		return;
	}
	*node = (struct dir_node){
		.parent = of->dir,
		.start = of->start,
		.entry_off = of->entry_off,
		.n_clus = n_clus,
		.name_at = (uint32_t)fsck->names.n,
	};
	while (name && *++name) {
		char *c = fat_vec_push(&fsck->names);

		if (!c)
			return;
		*c = *name;
		node->name_bytes++;
	}
}

/* Nothing but garbage in it, and some of that. */
static enum fat_status holds_only_garbage(const struct entry *entry, bool *garbage)
{
	struct fsck *fsck = entry->check->fsck;
	struct fat_dir dir;
	enum fat_status status = fat_dir_open(&dir, &fsck->table, entry->dirent.start_clus);
	size_t n_units = 0, n_garbage = 0;

	for (unsigned i = 0; i < MAX_LOOK_PIECES && status == FAT_OK; i++) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		for (size_t at = 0; at < dir.len_bytes;
		     at += (size_t)SLOT_GARBAGE_UNIT * FAT_SLOT_BYTES) {
			n_units++;
			n_garbage += slots_are_noise(fsck, dir.buf + at, SLOT_GARBAGE_UNIT);
		}
	}
	fat_dir_close(&dir);
	*garbage = n_units > 0 && n_garbage * 4 >= n_units * 3;
	return status;
}

/* An entry with the directory bit: does it lead to a directory? */
static enum fat_status is_really_file(const struct entry *entry, enum cluster_look look,
				      bool *is_file)
{
	struct fsck *fsck = entry->check->fsck;
	uint64_t need = fat_geometry_clus_for(&fsck->geometry, entry->dirent.size_bytes);
	enum fat_status status;
	struct walk walk;

	*is_file = false;
	if (look == LOOK_DIR || need > fsck->geometry.n_clus)
		return FAT_OK;
	status = chain_peek(fsck, entry->dirent.start_clus, (uint32_t)need + 1, &walk);
	if (status != FAT_OK)
		return status;
	if (need > 0 && walk.n == need && walk.end == WALK_END) {
		*is_file = true;
		return FAT_OK;
	}
	return look == LOOK_NOT_DIR ? holds_only_garbage(entry, is_file) : FAT_OK;
}

enum fat_status check_claim_dir(struct fsck *fsck, const struct fault *of)
{
	enum fat_status status;
	struct walk walk;

	status = chain_claim_dir(fsck, of->start, &walk);
	if (status != FAT_OK)
		return status;
	if (walk.n == 0 && walk.end == WALK_SHARED) {
		fill_walk(fault_again(fsck, of, F_DIR_START_SHARED), &walk, 0);
		return FAT_OK;
	}
	if (walk.end != WALK_END)
		fill_walk(fault_again(fsck, of, fault_of_end(walk.end)), &walk, 0);
	else
		fsck->count.sound++;
	if (of->size && of->is_dir)
		fault_again(fsck, of, F_DIR_SIZE);
	if (walk.n > 0)
		push_dir(fsck, of, walk.n);
	return FAT_OK;
}

static enum fat_status claim_dir(const struct entry *entry)
{
	struct fault of = describe(entry);
	enum fat_status status = check_claim_dir(entry->check->fsck, &of);

	fault_clear(&of);
	return status;
}

/*
 * Whose it is shows when all others have claimed theirs. id: what it is if it is nobody else's.
 * maybe_dir: it may be a directory all the same. foreign: of another parent, so that even those
 * others come first; and last of all who is not even marked as a directory.
 */
static enum fat_status judge_last(const struct entry *entry, enum fault_id id, bool maybe_dir,
				  bool foreign)
{
	struct fsck *fsck = entry->check->fsck;
	struct fault *fault, *place;

	fault = entry_fault(entry, id);
	if (!fault)
		return FAT_OK;
	fault->a = id == F_FILE_IS_DIR ? 2 : foreign;
	fault->b = maybe_dir;
	place = fat_vec_push(&fsck->doubtful);
	if (place) {
		*place = *fault;
		fsck->faults.n--; /* moved */
	}
	return FAT_OK;
}

/* It has no dots. Where only directories are looked at it claims nothing. */
static enum fat_status put_aside(const struct entry *entry, bool maybe_dir)
{
	return entry->check->fsck->sweep == SWEEP_CHECK ?
		       judge_last(entry, F_DIR_IS_FILE, maybe_dir, false) :
		       FAT_OK;
}

/*
 * A directory with its dots. Where something is shared it waits if its ".." or the time of its "."
 * speaks for another entry; but not where the clusters of all directories are collected: there each
 * claims its own, whoever leads to it.
 */
static enum fat_status claim_or_wait(const struct entry *entry, uint32_t dotdot)
{
	struct fsck *fsck = entry->check->fsck;
	bool foreign = !dir_is_parent(fsck, entry->check->dir, dotdot);

	if (fsck->has_dir_clusters && (foreign || dir_other_birth(fsck, &entry->dirent)))
		return judge_last(entry, F_DIR_IS_FILE, true, foreign);
	return claim_dir(entry);
}

/* In a trial of what a FAT says it is there all the same: the more it holds, the more is wrong. */
static enum fat_status enter_free_dir(const struct entry *entry)
{
	struct fsck *fsck = entry->check->fsck;
	struct fault of;

	entry_fault(entry, F_DIR_START_FREE);
	if (!fsck->weighs_fats)
		return FAT_OK;
	if (fat_bitmap_set(&fsck->reached, entry->dirent.start_clus) == FAT_BIT_NO_MEMORY)
		return FAT_ERR_MEMORY;
	fsck->count.used++;
	of = describe(entry);
	push_dir(fsck, &of, 1);
	fault_clear(&of);
	return FAT_OK;
}

static enum fat_status check_dir_chain(struct entry *entry)
{
	struct fsck *fsck = entry->check->fsck;
	uint32_t start = entry->dirent.start_clus, value, dotdot;
	enum cluster_look look;
	enum fat_status status;
	bool is_file;

	if (start == 0 || !fat_geometry_has_clus(&fsck->geometry, start)) {
		entry_fault(entry, start ? F_DIR_START_RANGE : F_DIR_START_MISSING);
		return FAT_OK;
	}
	status = fat_table_get(&fsck->table, start, &value);
	if (status == FAT_OK)
		status = cluster_look(fsck, start, &look, &dotdot);
	if (status != FAT_OK)
		return status;
	if (fat_bitmap_get(&fsck->reached, start))
		return look == LOOK_DIR ? claim_dir(entry) : put_aside(entry, true);
	if ((value == 0 || value == fat_entry_bad(fsck->geometry.type)) && look == LOOK_DIR)
		return enter_free_dir(entry);
	status = is_really_file(entry, look, &is_file);
	if (status != FAT_OK)
		return status;
	if (!is_file && look == LOOK_DIR)
		return claim_or_wait(entry, dotdot);
	if (!is_file)
		return look == LOOK_UNREADABLE ? claim_dir(entry) : put_aside(entry, true);
	if (!entry->dirent.size_bytes)
		return put_aside(entry, false);
	entry_fault(entry, F_DIR_IS_FILE);
	return check_file_chain(entry);
}

/*
 * Directories were looked at before files, or are just now: what they lead to is known to be
 * theirs.
 */
static bool knows_dirs(const struct fsck *fsck)
{
	return fsck->has_dir_clusters || fsck->sweep == SWEEP_DIRS;
}

/*
 * A file that leads to a directory: the bit got lost. One with a size must be of this parent, and
 * not be just as long as its chain: else it is what somebody saved of a directory.
 */
static enum fat_status is_really_dir(const struct entry *entry, bool *is_dir, bool *foreign)
{
	struct fsck *fsck = entry->check->fsck;
	uint32_t start = entry->dirent.start_clus, value, dotdot;
	uint64_t need = fat_geometry_clus_for(&fsck->geometry, entry->dirent.size_bytes);
	enum cluster_look look;
	enum fat_status status;

	*is_dir = *foreign = false;
	if ((need && !knows_dirs(fsck)) || fat_bitmap_get(&fsck->reached, start))
		return FAT_OK;
	if (need && need <= fsck->geometry.n_clus && chain_has_just(fsck, start, (uint32_t)need))
		return FAT_OK;
	status = fat_table_get(&fsck->table, start, &value);
	if (status == FAT_OK && value != 0 && value != fat_entry_bad(fsck->geometry.type)) {
		status = cluster_look(fsck, start, &look, &dotdot);
		*foreign = !dir_is_parent(fsck, entry->check->dir, dotdot);
		*is_dir = status == FAT_OK && look == LOOK_DIR && !(need && *foreign);
	}
	return status;
}

static enum fat_status check_chain(struct entry *entry)
{
	struct fsck *fsck = entry->check->fsck;
	uint32_t start = entry->dirent.start_clus;
	enum fat_status status;
	bool is_dir, foreign;

	if (entry->dirent.attr & FAT_ATTR_DIRECTORY)
		return check_dir_chain(entry);
	if (start == 0) {
		if (entry->dirent.size_bytes)
			entry_fault(entry, F_START_MISSING);
		return FAT_OK;
	}
	if (!fat_geometry_has_clus(&fsck->geometry, start)) {
		entry_fault(entry, F_START_RANGE);
		return FAT_OK;
	}
	status = is_really_dir(entry, &is_dir, &foreign);
	if (status != FAT_OK || !is_dir)
		return status != FAT_OK ? status : check_file_chain(entry);
	if (knows_dirs(fsck))
		return judge_last(entry, F_FILE_IS_DIR, true, foreign);
	entry_fault(entry, F_FILE_IS_DIR);
	return claim_dir(entry);
}

static enum fat_status note_links(struct entry *entry)
{
	struct dir_check *check = entry->check;
	char name[FAT_NAME_BYTES];

	entry_name(entry, name, sizeof name);
	check->n_pend = 0;
	return links_entry(check->fsck, check->dir, entry->off, &entry->dirent, name);
}

static void list_entry(const struct entry *entry)
{
	struct dir_check *check = entry->check;
	const struct fsck_lister *lister = check->fsck->lister;
	char name[FAT_NAME_BYTES], alias[64];
	char *path;

	entry_name(entry, name, sizeof name);
	fat_short_to_utf8(entry->dirent.name, 0, &check->fsck->options->page, alias, sizeof alias);
	path = entry_path(check->fsck, check->dir, name);
	if (path)
		lister->entry(lister->context, path, entry->has_long ? alias : NULL);
	free(path);
}

bool check_long_fits(const struct dir_check *check, const uint8_t *slot)
{
	struct fat_long_name longname;
	unsigned flaws;

	return check->n_pend > 0 && !check->after_gap &&
	       fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])check->pend, check->n_pend, slot,
				 &longname, &flaws) == FAT_LONG_OK;
}

/* More than one thing is wrong with it, and no long name is right: not an entry. */
static bool is_garbage(const struct entry *entry)
{
	const struct fat_dirent *d = &entry->dirent;

	if (slot_is_garbage(entry->check->fsck, entry->slot))
		return !check_long_fits(entry->check, entry->slot);
	return fat_short_check(d->name) & FAT_SHORT_CONTROL &&
	       (d->attr & ~FAT_ATTR_KNOWN ||
		(d->start_clus &&
		 !fat_geometry_has_clus(&entry->check->fsck->geometry, d->start_clus)));
}

enum fat_status check_entry(struct dir_check *check, const uint8_t *slot, uint64_t off)
{
	struct entry entry = { .check = check, .slot = slot, .off = off };
	enum fat_status status;
	bool twin;

	fat_dirent_decode(slot, check->fsck->geometry.type, &entry.dirent);
	if (is_garbage(&entry)) {
		entry_fault(&entry, F_ENTRY_GARBAGE);
		check->n_pend = 0;
		return FAT_OK;
	}
	check->fsck->count.files++;
	check_long(&entry);
	if (check->fsck->sweep == SWEEP_LINKS)
		return note_links(&entry);
	if (check->fsck->sweep == SWEEP_LIST)
		list_entry(&entry);
	check_short(&entry);
	check_fields(&entry);
	status = check_unique(&entry, &twin);
	if (status == FAT_OK && !twin)
		status = check_chain(&entry);
	check->n_pend = 0;
	return status;
}
