/* SPDX-License-Identifier: MIT */
/*
 * populate_names: one folder's names: which FAT cannot hold, which are the same to it, and the
 * short names of all.
 *
 * Names that are short by themselves go first, so that a tail never takes the name of a file that
 * is really called that.
 */
#include "populate.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define NO_TWIN UINT32_MAX

/* A child's name as the disk will have it. */
struct item {
	const uint16_t *unit;
	size_t n_units;
	struct populate_node *node;
	uint64_t hash;  /* of the name in capitals */
	uint32_t place; /* among the folder's children */
	uint32_t twin;  /* place of the first child that drivers cannot tell from this one */
	bool is_valid;
};

struct names {
	struct fat_populate *populate;
	const struct fat_codepage *codepage;
	const struct populate_child *child;
	struct populate_node *folder;
	struct item *item; /* by place */
	uint32_t n_items;
	uint16_t *units; /* of all names, one behind the other */
	struct fat_alias_set set;
};

static enum fat_status object(struct names *names, const struct item *item,
			      enum fat_populate_objection_id id, uint64_t found, uint64_t limit)
{
	struct fat_populate_objection objection = {
		.id = id,
		.node = names->child[item->place].node,
		.found = found,
		.limit = limit,
	};

	if (id == FAT_POPULATE_NAME_TWICE)
		objection.other = names->child[item->twin].node;
	return fat_populate_object(names->populate, objection);
}

/* ---- Unicode ---- */

static enum fat_status load(struct names *names)
{
	size_t n_bytes = 0, used = 0;

	for (uint32_t i = 0; i < names->n_items; i++)
		n_bytes += strlen(names->child[i].name);
	names->units =
		calloc(n_bytes + 1, sizeof *names->units); /* units are never more than bytes */
	names->item = calloc((size_t)names->n_items + 1, sizeof *names->item);
	if (!names->units || !names->item)
		return FAT_ERR_MEMORY;
	for (uint32_t i = 0; i < names->n_items; i++) {
		struct item *item = &names->item[i];

		item->place = i;
		item->twin = NO_TWIN;
		item->node = &names->populate->node[names->child[i].node];
		item->unit = names->units + used;
		item->is_valid = fat_units_from_utf8(names->child[i].name, names->units + used,
						     n_bytes - used, &item->n_units);
		if (item->is_valid)
			used += item->n_units;
		item->hash = fat_units_hash(item->unit, item->n_units);
	}
	return FAT_OK;
}

/* ---- twins ---- */

static int by_hash(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void find_twin(struct item **sorted, uint32_t i)
{
	struct item *item = sorted[i];

	for (uint32_t k = i; k > 0 && sorted[k - 1]->hash == item->hash; k--)
		if (sorted[k - 1]->is_valid &&
		    fat_units_same(sorted[k - 1]->unit, sorted[k - 1]->n_units, item->unit,
				   item->n_units))
			item->twin = sorted[k - 1]->place;
}

static enum fat_status find_twins(struct names *names)
{
	struct item **sorted = calloc((size_t)names->n_items + 1, sizeof(struct item *));

	if (!sorted)
		return FAT_ERR_MEMORY;
	for (uint32_t i = 0; i < names->n_items; i++)
		sorted[i] = &names->item[i];
	qsort(sorted, names->n_items, sizeof(struct item *), by_hash);
	for (uint32_t i = 0; i < names->n_items; i++)
		if (sorted[i]->is_valid)
			find_twin(sorted, i);
	free(sorted);
	return FAT_OK;
}

/* ---- what FAT cannot hold ---- */

/* The first unit that no long name may have; 0: there is none. [FATSPEC 7] */
static uint16_t find_forbidden(const struct item *item)
{
	for (size_t i = 0; i < item->n_units; i++)
		if (item->unit[i] < 0x20 ||
		    (item->unit[i] < 0x80 && strchr("\"*/:<>?\\|", item->unit[i])))
			return item->unit[i];
	return 0;
}

static enum fat_status check_name(struct names *names, struct item *item)
{
	uint16_t forbidden = find_forbidden(item);
	uint16_t last = item->n_units ? item->unit[item->n_units - 1] : '.';
	enum fat_status status = FAT_OK;

	if (!item->is_valid)
		return object(names, item, FAT_POPULATE_NAME_UTF8, 0, 0);
	if (forbidden)
		status = object(names, item, FAT_POPULATE_NAME_CHARACTER, forbidden, 0);
	if (status == FAT_OK && (last == '.' || last == ' '))
		status = object(names, item, FAT_POPULATE_NAME_END, last, 0);
	if (status == FAT_OK && item->n_units > FAT_NAME_UNITS)
		status = object(names, item, FAT_POPULATE_NAME_LENGTH, item->n_units,
				FAT_NAME_UNITS);
	if (status == FAT_OK && item->twin != NO_TWIN)
		status = object(names, item, FAT_POPULATE_NAME_TWICE, 0, 0);
	item->is_valid = !forbidden && last != '.' && last != ' ' &&
			 item->n_units <= FAT_NAME_UNITS && item->twin == NO_TWIN;
	return status;
}

static enum fat_status check_size(struct names *names, const struct item *item)
{
	struct populate_node *node = item->node;
	size_t slash = names->folder->path_units > 0;
	enum fat_status status = FAT_OK;

	node->path_units = (uint32_t)min_u64(names->folder->path_units + slash + item->n_units,
					     UINT32_MAX / 2);
	if (node->size_bytes > FAT_MAX_FILE_BYTES)
		status = object(names, item, FAT_POPULATE_FILE_LARGE, node->size_bytes,
				FAT_MAX_FILE_BYTES);
	if (status == FAT_OK && node->path_units > FAT_MAX_PATH_UNITS)
		status = object(names, item, FAT_POPULATE_PATH_LONG, node->path_units,
				FAT_MAX_PATH_UNITS);
	return status;
}

static enum fat_status check(struct names *names)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < names->n_items && status == FAT_OK; i++) {
		status = check_name(names, &names->item[i]);
		if (status == FAT_OK)
			status = check_size(names, &names->item[i]);
	}
	return status;
}

/* ---- aliases ---- */

/* The name's own short form, unless it needs a tail; *done says whether it was taken. */
static enum fat_status take_own(struct names *names, const struct item *item, bool *done)
{
	struct fat_alias *alias = &item->node->alias;
	enum fat_alias_kind kind =
		fat_alias_make(names->codepage, item->unit, item->n_units, alias);

	*done = false;
	if (kind == FAT_ALIAS_LOSSY)
		return FAT_OK;
	item->node->has_long = kind != FAT_ALIAS_WHOLE;
	return fat_alias_set_add(&names->set, alias->name, done);
}

static enum fat_status give_aliases(struct names *names)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < names->n_items && status == FAT_OK; i++) {
		struct item *item = &names->item[i];
		bool done = false;

		if (item->is_valid)
			status = take_own(names, item, &done);
		item->is_valid = item->is_valid && !done; /* from here on: still wants one */
	}
	for (uint32_t i = 0; i < names->n_items && status == FAT_OK; i++) {
		struct item *item = &names->item[i];

		if (!item->is_valid)
			continue;
		item->node->has_long = true;
		status = fat_alias_make_unique(names->codepage, item->unit, item->n_units,
					       &names->set, &item->node->alias);
	}
	return status;
}

/* ---- slots ---- */

static enum fat_status count_slots(struct names *names)
{
	struct populate_node *folder = names->folder;
	bool is_root = folder == names->populate->node;
	uint64_t n_slots = is_root ? 0 : 2;

	for (uint32_t i = 0; i < names->n_items; i++) {
		const struct item *item = &names->item[i];

		n_slots += 1 + (item->node->has_long ? div_ceil(item->n_units, FAT_LONG_SLOT_UNITS)
						     : 0);
	}
	folder->n_slots = (uint32_t)min_u64(n_slots, UINT32_MAX - 1);
	if (n_slots <= FAT_MAX_DIR_SLOTS)
		return FAT_OK;
	return fat_populate_object(names->populate,
				   (struct fat_populate_objection){
					   .id = FAT_POPULATE_FOLDER_LARGE,
					   .node = (uint32_t)(folder - names->populate->node),
					   .found = n_slots,
					   .limit = FAT_MAX_DIR_SLOTS,
				   });
}

enum fat_status fat_populate_name_folder(struct fat_populate *populate,
					 const struct fat_codepage *codepage, uint32_t folder)
{
	struct names names = {
		.populate = populate,
		.codepage = codepage,
		.folder = &populate->node[folder],
		.child = populate->child + populate->node[folder].first_child,
		.n_items = populate->node[folder].n_children,
	};
	enum fat_status status = load(&names);

	fat_alias_set_init(&names.set);
	if (status == FAT_OK)
		status = find_twins(&names);
	if (status == FAT_OK)
		status = check(&names);
	if (status == FAT_OK)
		status = give_aliases(&names);
	if (status == FAT_OK)
		status = count_slots(&names);
	fat_alias_set_fini(&names.set);
	free(names.units);
	free(names.item);
	return status;
}
