/* SPDX-License-Identifier: MIT */
/*
 * populate: a tree of folders and files that is to fill a new volume.
 *
 * Collects nodes, brings them into an order that depends on nothing but their names, and keeps the
 * list of all that FAT objects to. Knows no host file system and no device; where the clusters go
 * is populate_place.c's, what is written populate_write.c's.
 */
#include "populate.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* ---- growing arrays ---- */

static enum fat_status reserve(void **array, size_t *max, size_t need, size_t item_bytes)
{
	size_t n = *max ? *max : 64;
	void *grown;

	if (need <= *max)
		return FAT_OK;
	while (n < need) {
		if (n > SIZE_MAX / 2 / item_bytes)
			return FAT_ERR_MEMORY;
		n *= 2;
	}
	grown = realloc(*array, n * item_bytes);
	if (!grown)
		return FAT_ERR_MEMORY;
	*array = grown;
	*max = n;
	return FAT_OK;
}

static enum fat_status reserve_node(struct fat_populate *populate)
{
	void *array = populate->node;
	size_t max = populate->max_nodes;
	enum fat_status status;

	if (populate->n_nodes >= FAT_POPULATE_MAX_NODES)
		return FAT_ERR_MEMORY;
	status = reserve(&array, &max, (size_t)populate->n_nodes + 1, sizeof *populate->node);
	populate->node = array;
	populate->max_nodes = (uint32_t)min_u64(max, FAT_POPULATE_MAX_NODES);
	return status;
}

static enum fat_status keep_name(struct fat_populate *populate, const char *name, size_t *name_off)
{
	size_t n = strlen(name) + 1;
	void *array = populate->names;
	enum fat_status status =
		reserve(&array, &populate->max_names_bytes, populate->names_bytes + n, 1);

	populate->names = array;
	if (status != FAT_OK)
		return status;
	memcpy(populate->names + populate->names_bytes, name, n);
	*name_off = populate->names_bytes;
	populate->names_bytes += n;
	return FAT_OK;
}

/* ---- objections ---- */

enum fat_status fat_populate_object(struct fat_populate *populate,
				    struct fat_populate_objection objection)
{
	void *array = populate->objection;
	enum fat_status status = reserve(&array, &populate->max_objections,
					 populate->n_objections + 1, sizeof *populate->objection);

	populate->objection = array;
	if (status == FAT_OK)
		populate->objection[populate->n_objections++] = objection;
	return status;
}

const struct fat_populate_objection *fat_populate_objections(const struct fat_populate *populate,
							     size_t *n)
{
	*n = populate->n_objections;
	return populate->objection;
}

static const struct {
	bool is_refusal;
	const char *words;
} objections[] = {
#define OBJECTION_ROW(name, refusal, sentence) [FAT_POPULATE_##name] = { refusal, sentence },
	FAT_POPULATE_OBJECTIONS(OBJECTION_ROW)
#undef OBJECTION_ROW
};

bool fat_populate_objection_is_refusal(enum fat_populate_objection_id id)
{
	return objections[id].is_refusal;
}

const char *fat_populate_objection_text(enum fat_populate_objection_id id)
{
	return objections[id].words;
}

bool fat_populate_is_refused(const struct fat_populate *populate)
{
	for (size_t i = 0; i < populate->n_objections; i++)
		if (objections[populate->objection[i].id].is_refusal)
			return true;
	return false;
}

/* ---- collecting ---- */

enum fat_status fat_populate_open(struct fat_populate **populate)
{
	struct fat_populate_entry root = { .name = "", .is_folder = true };
	uint32_t number;
	enum fat_status status;

	*populate = calloc(1, sizeof **populate);
	if (!*populate)
		return FAT_ERR_MEMORY;
	(*populate)->failed_node = FAT_POPULATE_NO_NODE;
	status = fat_populate_add(*populate, &root, &number);
	if (status != FAT_OK) {
		fat_populate_close(*populate);
		*populate = NULL;
	}
	return status;
}

void fat_populate_close(struct fat_populate *populate)
{
	if (!populate)
		return;
	free(populate->node);
	free(populate->names);
	free(populate->child);
	free(populate->folder);
	free(populate->objection);
	free(populate->run);
	free(populate);
}

static bool may_hold(const struct fat_populate *populate, uint32_t folder)
{
	if (populate->n_nodes == 0)
		return true; /* this is the root */
	return folder < populate->n_nodes && populate->node[folder].is_folder;
}

enum fat_status fat_populate_add(struct fat_populate *populate,
				 const struct fat_populate_entry *entry, uint32_t *number)
{
	struct populate_node node = {
		.size_bytes = entry->is_folder ? 0 : entry->size_bytes,
		.folder = entry->folder,
		.time = entry->time,
		.attr = (uint8_t)(entry->attr | (entry->is_folder ? FAT_ATTR_DIRECTORY : 0)),
		.is_folder = entry->is_folder,
	};
	enum fat_status status;

	if (!may_hold(populate, entry->folder) || populate->child)
		return FAT_ERR_ARGUMENT;
	status = reserve_node(populate);
	if (status == FAT_OK)
		status = keep_name(populate, entry->name, &node.name_off);
	if (status != FAT_OK)
		return status;
	*number = populate->n_nodes++;
	populate->node[*number] = node;
	populate->content_bytes += node.size_bytes;
	return FAT_OK;
}

void fat_populate_set_label(struct fat_populate *populate, const uint8_t label[11],
			    const struct fat_datetime *time)
{
	populate->has_label = label != NULL;
	if (!label)
		return;
	memcpy(populate->label, label, sizeof populate->label);
	populate->label_time = *time;
}

/* ---- order ---- */

static int by_name(const void *a, const void *b)
{
	const struct populate_child *x = a, *y = b;
	int order = strcmp(x->name, y->name); /* by bytes: no locale */

	if (order != 0)
		return order;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Each folder's children, next to each other and in order. */
static void sort_children(struct fat_populate *populate)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < populate->n_nodes; i++)
		populate->node[populate->node[i].folder].n_children++;
	for (uint32_t i = 0; i < populate->n_nodes; i++) {
		populate->node[i].first_child = first;
		first += populate->node[i].n_children;
		populate->node[i].n_children = 0;
	}
	for (uint32_t i = 1; i < populate->n_nodes; i++) {
		struct populate_node *folder = &populate->node[populate->node[i].folder];
		uint32_t place = folder->first_child + folder->n_children++;

		populate->child[place] =
			(struct populate_child){ .name = populate_name(populate, i), .node = i };
	}
	for (uint32_t i = 0; i < populate->n_nodes; i++)
		if (populate->node[i].n_children > 1)
			qsort(populate->child + populate->node[i].first_child,
			      populate->node[i].n_children, sizeof *populate->child, by_name);
}

/*
 * Folders in the order of a walk. folder[] serves as the list of those still to visit as well: they
 * lie at its end, the next one first, where the places of those visited do not reach yet.
 */
static void order_folders(struct fat_populate *populate, uint32_t n_folders)
{
	uint32_t waiting = n_folders - 1; /* place of the first that waits */

	populate->folder[waiting] = 0;
	for (uint32_t done = 0; done < n_folders; done++) {
		uint32_t folder = populate->folder[waiting++];
		const struct populate_node *node = &populate->node[folder];

		populate->folder[done] = folder;
		for (uint32_t i = node->n_children; i > 0; i--) {
			uint32_t child = populate->child[node->first_child + i - 1].node;

			if (populate->node[child].is_folder)
				populate->folder[--waiting] = child;
		}
	}
	populate->n_folders = n_folders;
}

static enum fat_status order_nodes(struct fat_populate *populate)
{
	uint32_t n_folders = 0;

	for (uint32_t i = 0; i < populate->n_nodes; i++)
		n_folders += populate->node[i].is_folder;
	if (n_folders == 0)
		return FAT_ERR_RANGE; /* not even the root */
	populate->child = calloc(populate->n_nodes, sizeof *populate->child);
	populate->folder = calloc(n_folders, sizeof *populate->folder);
	if (!populate->child || !populate->folder)
		return FAT_ERR_MEMORY;
	sort_children(populate);
	order_folders(populate, n_folders);
	return FAT_OK;
}

enum fat_status fat_populate_finish(struct fat_populate *populate,
				    const struct fat_codepage *codepage)
{
	enum fat_status status;

	if (populate->child)
		return FAT_ERR_ARGUMENT;
	status = order_nodes(populate);
	for (uint32_t i = 0; i < populate->n_folders && status == FAT_OK; i++)
		status = fat_populate_name_folder(populate, codepage, populate->folder[i]);
	populate->n_name_objections = populate->n_objections;
	return status;
}

/* ---- questions ---- */

uint32_t fat_populate_n_nodes(const struct fat_populate *populate)
{
	return populate->n_nodes;
}

bool fat_populate_is_folder(const struct fat_populate *populate, uint32_t node)
{
	return populate->node[node].is_folder;
}

uint32_t fat_populate_folder_of(const struct fat_populate *populate, uint32_t node)
{
	return populate->node[node].folder;
}

uint64_t fat_populate_content_bytes(const struct fat_populate *populate)
{
	return populate->content_bytes;
}

uint32_t fat_populate_failed_node(const struct fat_populate *populate)
{
	return populate->failed_node;
}

size_t fat_populate_path(const struct fat_populate *populate, uint32_t node, char *path,
			 size_t path_bytes)
{
	size_t length = 0, end;

	for (uint32_t i = node; i != 0; i = populate->node[i].folder)
		length += strlen(populate_name(populate, i)) + (length > 0);
	if (path_bytes <= length)
		return length;
	path[length] = '\0';
	end = length;
	for (uint32_t i = node; i != 0; i = populate->node[i].folder) {
		size_t n = strlen(populate_name(populate, i));

		if (end < length)
			path[--end] = '/';
		memcpy(path + end - n, populate_name(populate, i), n);
		end -= n;
	}
	return length;
}
