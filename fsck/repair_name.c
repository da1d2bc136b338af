/* SPDX-License-Identifier: MIT */
/*
 * repair_name: short names made valid and unique, long names put in order.
 *
 * A long name is kept wherever it is whole and the alias says that it belongs to its entry; a new
 * short name carries its long name along.
 */
#include <string.h>

#include "repair.h"

#define MAX_TAIL 999999u

struct name_edit {
	struct repair *repair;
	struct fault *fault;
	uint32_t dir_start;
	struct fat_dirent dirent;
	uint8_t slot[FAT_SLOT_BYTES];
	uint8_t part[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	struct fat_long_name longname;
	enum fat_long_verdict verdict;
};

/* ---- names taken ---- */

static uint64_t hash_of(const uint8_t *name)
{
	uint16_t units[FAT_SHORT_BYTES];

	for (size_t i = 0; i < FAT_SHORT_BYTES; i++)
		units[i] = name[i] < 0x80 ? name[i] : (uint16_t)(0xE000 + name[i]);
	return fat_units_hash(units, FAT_SHORT_BYTES);
}

static enum fat_status add_names(struct repair *repair, const struct fat_dir *dir, uint64_t own_off)
{
	for (size_t at = 0; at + FAT_SLOT_BYTES <= dir->len_bytes; at += FAT_SLOT_BYTES) {
		const uint8_t *slot = dir->buf + at;
		enum fat_slot_kind kind = fat_slot_classify(slot);
		struct name_item item = { .hash = hash_of(slot), .entry_off = dir->off + at };

		if (kind != FAT_SLOT_FILE && kind != FAT_SLOT_DIRECTORY)
			continue;
		if (item.entry_off != own_off && !name_set_add(&repair->names, &item))
			return FAT_ERR_MEMORY;
	}
	return FAT_OK;
}

/* The names of a directory stay while they are asked for again and again. */
static enum fat_status load_names(struct repair *repair, uint32_t start)
{
	struct fat_dir dir;
	enum fat_status status;

	if (repair->has_names && repair->names_dir == start)
		return FAT_OK;
	name_set_clear(&repair->names);
	repair->names_dir = start;
	repair->has_names = true;
	status = fat_dir_open(&dir, &repair->fsck->table, start);
	while (status == FAT_OK) {
		status = fat_dir_read(&dir);
		if (status != FAT_OK || dir.len_bytes == 0)
			break;
		status = add_names(repair, &dir, 0);
	}
	fat_dir_close(&dir);
	return status;
}

/* Taken by another entry than the one at own_off. */
static bool is_taken(const struct repair *repair, const uint8_t *name, uint64_t own_off)
{
	const struct name_item *item = name_set_find(&repair->names, hash_of(name));

	return item && item->entry_off != own_off;
}

enum fat_status repair_unique_name(struct repair *repair, uint32_t start, uint64_t own_off,
				   uint8_t name[FAT_SHORT_BYTES])
{
	const struct fat_codepage *page = &repair->fsck->options->page;
	enum fat_status status = load_names(repair, start);
	struct name_item item = { .entry_off = own_off };
	uint16_t units[13];
	size_t n = fat_short_to_units(name, 0, page, units);

	if (status != FAT_OK)
		return status;
	for (uint32_t tail = 1; is_taken(repair, name, own_off) && tail <= MAX_TAIL; tail++)
		fat_short_alias(units, n, tail, page, name);
	item.hash = hash_of(name);
	if (!name_set_add(&repair->names, &item))
		return FAT_ERR_MEMORY;
	return FAT_OK;
}

/* ---- reading and writing an entry with its long name ---- */

static enum fat_status read_edit(struct repair *repair, struct fault *fault, struct name_edit *edit)
{
	const struct dir_node *node = fat_vec_at(&repair->fsck->dirs, fault->dir);
	enum fat_status status = repair_read_slot(repair, fault->entry_off, edit->slot);
	unsigned flaws;

	edit->repair = repair;
	edit->fault = fault;
	edit->dir_start = node->start;
	for (uint32_t i = 0; i < fault->n_long && status == FAT_OK; i++)
		status = repair_read_slot(repair, fault->long_off[i], edit->part[i]);
	fat_dirent_decode(edit->slot, repair->fsck->geometry.type, &edit->dirent);
	edit->verdict = fat_long_assemble((const uint8_t (*)[FAT_SLOT_BYTES])edit->part,
					  fault->n_long, edit->dirent.name, &edit->longname,
					  &flaws);
	return status;
}

static enum fat_status write_short(struct name_edit *edit)
{
	fat_dirent_encode(&edit->dirent, edit->repair->fsck->geometry.type, edit->slot);
	return repair_write(edit->repair, FAT_STAGE_DETACH, edit->fault->entry_off, edit->slot,
			    sizeof edit->slot);
}

static enum fat_status write_parts(struct name_edit *edit)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < edit->fault->n_long && status == FAT_OK; i++)
		status = repair_write(edit->repair, FAT_STAGE_DETACH, edit->fault->long_off[i],
				      edit->part[i], FAT_SLOT_BYTES);
	return status;
}

static enum fat_status drop_parts(struct name_edit *edit)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < edit->fault->n_long && status == FAT_OK; i++)
		status = repair_delete_slot(edit->repair, FAT_STAGE_RELEASE,
					    edit->fault->long_off[i]);
	return status;
}

static void seal_parts(struct name_edit *edit)
{
	uint8_t sum = fat_short_checksum(edit->dirent.name);

	for (uint32_t i = 0; i < edit->fault->n_long; i++) {
		struct fat_long_slot part;

		fat_long_slot_decode(edit->part[i], &part);
		part.checksum = sum;
		part.order = (uint8_t)((edit->fault->n_long - i) | (i == 0 ? FAT_LONG_LAST : 0));
		fat_long_slot_encode(&part, edit->part[i]);
	}
}

/* The name as it is now, in the same slots; slots that it does not need are deleted. */
static enum fat_status rewrite_long(struct name_edit *edit)
{
	uint32_t n = edit->fault->n_long;
	uint8_t part[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	size_t n_new = fat_long_split(edit->longname.unit, edit->longname.n_units,
				      edit->dirent.name, part);
	enum fat_status status = FAT_OK;

	if (n_new == 0 || n_new > n)
		return drop_parts(edit);
	for (uint32_t i = 0; i < n - n_new && status == FAT_OK; i++)
		status = repair_delete_slot(edit->repair, FAT_STAGE_DETACH,
					    edit->fault->long_off[i]);
	for (size_t i = 0; i < n_new && status == FAT_OK; i++)
		status =
			repair_write(edit->repair, FAT_STAGE_DETACH,
				     edit->fault->long_off[n - n_new + i], part[i], FAT_SLOT_BYTES);
	return status;
}

/* ---- short names ---- */

static void make_valid(uint8_t *name)
{
	if (name[0] == ' ')
		name[0] = '_';
	for (size_t i = 0; i < FAT_SHORT_BYTES; i++) {
		uint8_t one[] = "AAAAAAAAAAA";

		if (i == 0 && name[0] == 0x05)
			continue;
		one[1] = name[i];
		if (fat_short_check(one) & (FAT_SHORT_CONTROL | FAT_SHORT_RESERVED))
			name[i] = '_';
		else if (name[i] >= 'a' && name[i] <= 'z')
			name[i] = (uint8_t)(name[i] - 32);
	}
}

/* Blanks with something behind them, in the name's and in the extension's part. */
static void fill_blanks(uint8_t *name)
{
	for (size_t i = FAT_SHORT_BYTES - 1; i-- > 0;)
		if (name[i] == ' ' && name[i + 1] != ' ' && i != 7)
			name[i] = '_';
}

/* A long name makes a better alias than a damaged short one. */
static void remake(struct name_edit *edit)
{
	const struct fat_codepage *page = &edit->repair->fsck->options->page;

	if (edit->verdict == FAT_LONG_OK)
		fat_short_alias(edit->longname.unit, edit->longname.n_units, 1, page,
				edit->dirent.name);
	make_valid(edit->dirent.name);
}

static void tell_name(struct name_edit *edit)
{
	char text[64];

	fat_short_to_utf8(edit->dirent.name, 0, &edit->repair->fsck->options->page, text,
			  sizeof text);
	fault_set_text(edit->fault, text);
}

static enum fat_status rename_short(struct name_edit *edit)
{
	bool keep_long = edit->verdict == FAT_LONG_OK;
	enum fat_status status;

	if (edit->fault->id == F_NAME_TWICE || edit->fault->id == F_NAME_CHARS)
		remake(edit);
	else
		make_valid(edit->dirent.name);
	if (edit->fault->id == F_NAME_BLANK)
		fill_blanks(edit->dirent.name);
	status = repair_unique_name(edit->repair, edit->dir_start, edit->fault->entry_off,
				    edit->dirent.name);
	if (status != FAT_OK)
		return status;
	tell_name(edit);
	if (keep_long)
		seal_parts(edit);
	status = write_short(edit);
	if (status == FAT_OK && edit->fault->n_long > 0)
		status = keep_long ? write_parts(edit) : drop_parts(edit);
	return status;
}

/* ---- long names ---- */

/* Does the alias look as if it had been made of this long name? */
static bool alias_fits(const struct name_edit *edit)
{
	const struct fat_codepage *page = &edit->repair->fsck->options->page;
	uint8_t alias[FAT_SHORT_BYTES];
	const uint8_t *name = edit->dirent.name;
	size_t n = 0;

	if (edit->longname.n_units == 0 || edit->longname.n_units > FAT_NAME_UNITS)
		return false;
	fat_short_alias(edit->longname.unit, edit->longname.n_units, 0, page, alias);
	if (memcmp(alias + 8, name + 8, 3) != 0)
		return false;
	while (n < 8 && alias[n] == name[n])
		n++;
	return n == 8 || (n >= 2 && name[n] == '~');
}

/* How many of the parts have the checksum, and how many the number, that they ought to have. */
static void count_right(const struct name_edit *edit, uint32_t *n_sums, uint32_t *n_orders)
{
	uint8_t sum = fat_short_checksum(edit->dirent.name);
	uint32_t n = edit->fault->n_long;

	*n_sums = *n_orders = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct fat_long_slot part;

		fat_long_slot_decode(edit->part[i], &part);
		*n_sums += part.checksum == sum;
		*n_orders += (part.order & 0x3F) == n - i;
	}
}

static bool has_bad_units(const struct name_edit *edit)
{
	for (size_t i = 0; i < edit->longname.n_units; i++)
		if (edit->longname.unit[i] < 0x20 || edit->longname.unit[i] == '/')
			return true;
	return edit->longname.n_units == 0 || edit->longname.n_units > FAT_NAME_UNITS;
}

/* Parts out of order or with a wrong checksum: theirs all the same? fault->a: the name is taken. */
static enum fat_status settle_long(struct name_edit *edit)
{
	uint32_t n = edit->fault->n_long, n_sums, n_orders;
	bool ours;

	count_right(edit, &n_sums, &n_orders);
	ours = alias_fits(edit) && n_orders + 1 >= n;
	ours = ours || (n > 1 && n_sums == n && n_orders + 1 >= n && alias_fits(edit));
	if (!ours || has_bad_units(edit) || edit->fault->a)
		return drop_parts(edit);
	return rewrite_long(edit);
}

static void replace_units(struct name_edit *edit)
{
	uint16_t *unit = edit->longname.unit;
	size_t n = edit->longname.n_units;

	for (size_t i = 0; i < n; i++)
		if (unit[i] < 0x20 || unit[i] == 0xFFFF ||
		    (unit[i] < 0x80 && strchr("\"*/:<>?\\|", unit[i])))
			unit[i] = '_';
	for (size_t i = n; i-- > 0 && (unit[i] == '.' || unit[i] == ' ');)
		unit[i] = '_';
}

/* In place: two characters before the extension become "~" and a digit. */
static enum fat_status vary_long(struct name_edit *edit)
{
	uint16_t *unit = edit->longname.unit;
	size_t n = edit->longname.n_units, dot = n;

	for (size_t i = n; i-- > 2 && dot == n;)
		if (unit[i] == '.')
			dot = i;
	if (dot < 3)
		return drop_parts(edit);
	unit[dot - 1] = (uint16_t)(unit[dot - 2] == '~' && unit[dot - 1] >= '1' &&
						   unit[dot - 1] < '9' ?
					   unit[dot - 1] + 1 :
					   '1');
	unit[dot - 2] = '~';
	return rewrite_long(edit);
}

enum fat_status repair_name(struct repair *repair, struct fault *fault)
{
	struct name_edit edit = { .repair = repair };
	enum fat_status status = read_edit(repair, fault, &edit);

	if (status != FAT_OK)
		return status;
	switch ((int)fault->id) {
	case F_NAME_CHARS:
	case F_NAME_RESERVED:
	case F_NAME_LOWER:
	case F_NAME_TWICE:
	case F_NAME_BLANK:
		return rename_short(&edit);
	case F_LONG_TWICE:
		return vary_long(&edit);
	case F_LONG_ORDER:
	case F_LONG_CHECKSUM:
		return settle_long(&edit);
	case F_LONG_UNUSABLE:
	case F_LONG_CHARS:
		if (edit.longname.n_units == 0 || edit.longname.n_units > FAT_NAME_UNITS)
			return drop_parts(&edit);
		replace_units(&edit);
		return rewrite_long(&edit);
	default: /* LONG_PADDING, LONG_FIELDS */
		return rewrite_long(&edit);
	}
}
