/* SPDX-License-Identifier: MIT */
/*
 * populate: what populate*.c share. Not part of the public face.
 *
 * Life of a tree: collected (nodes are added) -> named (order, aliases, slots; independent of any
 * volume) -> placed (each node has its clusters on one geometry) -> written. Placing may be done
 * again for another geometry.
 */
#ifndef FATWISE_POPULATE_H
#define FATWISE_POPULATE_H

#include "libfat.h"

struct populate_node {
	size_t name_off; /* in names */
	uint64_t size_bytes;
	uint32_t folder;      /* the node that it lies in */
	uint32_t first_child; /* a folder's children: place in child[] */
	uint32_t n_children;
	uint32_t path_units; /* UTF-16 units of its path from the root */
	uint32_t n_slots;    /* a folder's content, dots included, without the label */
	uint32_t first_clus; /* 0: none */
	uint32_t n_clus;
	struct fat_datetime time;
	struct fat_alias alias;
	uint8_t attr;
	bool is_folder;
	bool has_long; /* long-name slots go before its entry */
};

struct populate_child {
	const char *name; /* the key of the order; valid once no node is added any more */
	uint32_t node;
};

struct fat_populate {
	struct populate_node *node; /* node[0] is the root */
	uint32_t n_nodes, max_nodes;
	char *names;
	size_t names_bytes, max_names_bytes;
	struct populate_child *child; /* all children, folder by folder, in order of name */
	uint32_t *folder;             /* folders, each before its subfolders, in order of path */
	uint32_t n_folders;
	uint64_t content_bytes; /* of all files */
	struct fat_populate_objection *objection;
	size_t n_objections, max_objections;
	size_t n_name_objections; /* those that hold on any volume */
	bool has_label;
	uint8_t label[11];
	struct fat_datetime label_time;

	/* placed */
	struct fat_geometry geometry;
	const uint32_t *bad; /* the caller's, ascending */
	size_t n_bad;
	struct fat_run *run;
	size_t n_runs;
	uint32_t end_clus; /* behind the last one in use */
	uint32_t n_used_clus;

	uint32_t failed_node; /* whose content could not be had */
};

static inline const char *populate_name(const struct fat_populate *populate, uint32_t node)
{
	return populate->names + populate->node[node].name_off;
}

enum fat_status fat_populate_object(struct fat_populate *populate,
				    struct fat_populate_objection objection);

/* populate_names.c: checks the names of one folder's children, and gives them aliases. */
enum fat_status fat_populate_name_folder(struct fat_populate *populate,
					 const struct fat_codepage *codepage, uint32_t folder);

/* populate_place.c: nodes in the order of their clusters; all zero but populate at first. */
struct populate_walk {
	const struct fat_populate *populate;
	uint32_t folder_at; /* place in folder[] */
	uint32_t child_at;
	bool in_files;
};

/* The next folder; after the last one, the next file; FAT_POPULATE_NO_NODE at the end. */
uint32_t fat_populate_walk_next(struct populate_walk *walk);

/* How many of n clusters from clus (a good one) on lie before the next bad one.
 */
uint32_t fat_populate_run(const struct fat_populate *populate, uint32_t clus, uint32_t n);

/* The next cluster from clus on that is not bad. */
uint32_t fat_populate_skip_bad(const struct fat_populate *populate, uint32_t clus);

/* The first bad cluster's place in bad[] from clus on; n_bad: none. O(log n). */
size_t fat_populate_find_bad(const struct fat_populate *populate, uint32_t clus);

/* populate_runs.c: sets run[]. FAT_ERR_MEMORY. */
enum fat_status fat_populate_make_runs(struct fat_populate *populate);

/* populate_dir.c: the slots of a folder, one by one. */
struct populate_slots {
	const struct fat_populate *populate;
	uint32_t folder;
	uint32_t next_child; /* among the folder's */
	uint32_t n_specials; /* label or dots still to come */
	bool in_child;       /* its long name is split */
	size_t n_long, long_done;
	uint8_t long_slot[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
};

void fat_populate_slots_init(struct populate_slots *slots, const struct fat_populate *populate,
			     uint32_t folder);
/* Fills the next slot; false after the last one. */
bool fat_populate_slots_next(struct populate_slots *slots, uint8_t slot[FAT_SLOT_BYTES]);

#endif
