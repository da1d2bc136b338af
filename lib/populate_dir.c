/* SPDX-License-Identifier: MIT */
/*
 * populate_dir: the slots of a folder, one after the other.
 *
 * Label (root) or dots first, then the children in order of name, each entry behind its long-name
 * slots. Holds one name at a time, so a folder of any size takes no memory.
 */
#include "populate.h"

#include <string.h>

#include "bytes.h"

void fat_populate_slots_init(struct populate_slots *slots, const struct fat_populate *populate,
			     uint32_t folder)
{
	*slots = (struct populate_slots){
		.populate = populate,
		.folder = folder,
		.n_specials = folder == 0 ? populate->has_label : 2,
	};
}

static void set_time(struct fat_dirent *entry, const struct fat_datetime *time)
{
	static const struct fat_datetime first = { 1980, 1, 1, 0, 0, 0, 0 };
	static const struct fat_datetime last = { 2107, 12, 31, 23, 59, 59, 99 };
	const struct fat_datetime *told = time->year < 1980   ? &first
					  : time->year > 2107 ? &last
							      : time;

	if (!fat_datetime_encode(told, &entry->create_date, &entry->create_time,
				 &entry->create_fine))
		fat_datetime_encode(&first, &entry->create_date, &entry->create_time,
				    &entry->create_fine);
	entry->write_date = entry->create_date;
	entry->write_time = entry->create_time;
	entry->access_date = entry->create_date;
}

static void put(const struct populate_slots *slots, const struct fat_dirent *entry, uint8_t *slot)
{
	memset(slot, 0, FAT_SLOT_BYTES);
	fat_dirent_encode(entry, slots->populate->geometry.type, slot);
}

static void put_label(const struct populate_slots *slots, uint8_t *slot)
{
	struct fat_dirent entry = { .attr = FAT_ATTR_VOLUME };

	memcpy(entry.name, slots->populate->label, FAT_SHORT_BYTES);
	if (entry.name[0] == FAT_SLOT_DELETED_MARK)
		entry.name[0] = 0x05;
	set_time(&entry, &slots->populate->label_time);
	put(slots, &entry, slot);
}

/* "." and ".."; the root is 0 to "..", on FAT32 too [FATSPEC 6.5]. */
static void put_dots(const struct populate_slots *slots, bool parent, uint8_t *slot)
{
	const struct populate_node *folder = &slots->populate->node[slots->folder];
	struct fat_dirent entry = { .attr = FAT_ATTR_DIRECTORY, .start_clus = folder->first_clus };

	if (parent)
		entry.start_clus =
			folder->folder ? slots->populate->node[folder->folder].first_clus : 0;
	memset(entry.name, ' ', sizeof entry.name);
	memset(entry.name, '.', parent ? 2 : 1);
	set_time(&entry, &folder->time);
	put(slots, &entry, slot);
}

static void put_special(struct populate_slots *slots, uint8_t *slot)
{
	slots->n_specials--;
	if (slots->folder == 0)
		put_label(slots, slot);
	else
		put_dots(slots, slots->n_specials == 0, slot);
}

static void put_entry(const struct populate_slots *slots, const struct populate_node *node,
		      uint8_t *slot)
{
	struct fat_dirent entry = {
		.attr = node->attr,
		.name_case = node->alias.case_flags,
		.start_clus = node->first_clus,
		.size_bytes = (uint32_t)node->size_bytes,
	};

	memcpy(entry.name, node->alias.name, sizeof entry.name);
	set_time(&entry, &node->time);
	put(slots, &entry, slot);
}

static const struct populate_node *child_at_hand(const struct populate_slots *slots,
						 uint32_t *number)
{
	const struct fat_populate *populate = slots->populate;

	*number =
		populate->child[populate->node[slots->folder].first_child + slots->next_child].node;
	return &populate->node[*number];
}

static void split_long_name(struct populate_slots *slots, const struct populate_node *node,
			    uint32_t number)
{
	uint16_t unit[FAT_NAME_UNITS];
	size_t n_units;

	slots->n_long = slots->long_done = 0;
	if (node->has_long && fat_units_from_utf8(populate_name(slots->populate, number), unit,
						  FAT_NAME_UNITS, &n_units))
		slots->n_long = fat_long_split(unit, n_units, node->alias.name, slots->long_slot);
}

bool fat_populate_slots_next(struct populate_slots *slots, uint8_t slot[FAT_SLOT_BYTES])
{
	const struct populate_node *node;
	uint32_t number;

	if (slots->n_specials > 0) {
		put_special(slots, slot);
		return true;
	}
	if (slots->next_child == slots->populate->node[slots->folder].n_children)
		return false;
	node = child_at_hand(slots, &number);
	if (!slots->in_child)
		split_long_name(slots, node, number);
	slots->in_child = slots->long_done < slots->n_long;
	if (slots->in_child) {
		memcpy(slot, slots->long_slot[slots->long_done++], FAT_SLOT_BYTES);
		return true;
	}
	put_entry(slots, node, slot);
	slots->next_child++;
	return true;
}
