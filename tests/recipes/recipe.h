/* SPDX-License-Identifier: MIT */
/*
 * recipe: a text that describes a sound FAT volume, damage to it, and what fsck owes (README.md has
 * the language), and the image built from it.
 *
 * This is a second, independent implementation of the format: of libfat it uses the device layer
 * and nothing else, so that a misreading of the format there cannot hide here.
 */
#ifndef RECIPES_RECIPE_H
#define RECIPES_RECIPE_H

#include "kit.h"
#include "lib/libfat.h"

/* ---- text ---------------------------------------------------------------------------------- */

/* One line: its words; a quoted word may hold blanks. */
struct statement {
	unsigned line;
	unsigned widths; /* bit 0: FAT12, bit 1: FAT16, bit 2: FAT32; where it holds */
	char **word;
	size_t n_words;
};

struct recipe {
	char *path;
	char *name; /* the file's, without folder and suffix */
	struct statement *statement;
	size_t n_statements;
};

/* One of the volumes that a recipe describes. */
struct instance {
	unsigned bits; /* 12, 16, 32 */
	uint32_t sector_bytes;
};

#define MAX_INSTANCES 16u

/*
 * Reads a recipe and calls each() with it, or with each of its variants ("vary A B": "$" stands for
 * A, then for B). Dies, naming the line, on one that is none.
 */
void recipe_each(const char *path, void (*each)(const struct recipe *recipe, void *ctx), void *ctx);
/* The same for a file, or for all "*.recipe" of a folder, by name. */
void recipe_each_in(const char *path, void (*each)(const struct recipe *recipe, void *ctx),
		    void *ctx);
struct recipe *recipe_parse(const char *name, const char *text);
void recipe_free(struct recipe *recipe);
size_t recipe_instances(const struct recipe *recipe, struct instance list[MAX_INSTANCES]);
/* "R01.fat16.512"; the caller frees it. */
char *recipe_instance_name(const struct recipe *recipe, const struct instance *instance);

bool statement_holds(const struct statement *s, const struct instance *instance);
/* Dies with the place in the recipe. */
_Noreturn void statement_die(const struct recipe *recipe, const struct statement *s,
			     const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- image --------------------------------------------------------------------------------- */

struct shape {
	unsigned bits;
	uint32_t sector_bytes, cluster_sec, cluster_bytes;
	uint32_t reserved_sec, n_fats, fat_sec, root_entries, root_sec;
	uint32_t n_clus, total_sec;
	uint32_t fsinfo_sec, backup_sec, root_clus;
	uint32_t active_fat;
	bool mirrored;
};

uint64_t shape_fat_off(const struct shape *shape, uint32_t copy);
uint64_t shape_root_off(const struct shape *shape);
uint64_t shape_data_off(const struct shape *shape);
uint64_t shape_cluster_off(const struct shape *shape, uint32_t clus);
uint32_t shape_mask(const struct shape *shape);
uint32_t shape_end_min(const struct shape *shape);
uint32_t shape_bad(const struct shape *shape);

/* What is owed to a file or folder of the description after the repair. */
enum owed {
	OWED_INTACT,  /* same path, content, entry */
	OWED_DATA,    /* same path and content; its entry may differ */
	OWED_SAMEDIR, /* the content in a file of its folder */
	OWED_SAVED,   /* the content in a file, anywhere */
	OWED_PARTS,   /* the ranges given, at their place or anywhere */
	OWED_GONE,    /* the path must not be there */
	OWED_NOTHING,
	OWED_BY_PARENT, /* comes back with a folder that moved */
	OWED_MOVED,     /* a folder: somewhere, with its whole tree */
};

struct owed_part {
	uint64_t from, to;
	bool in_place;
};

#define MAX_LFN_SLOTS 20u
#define DIRENT_BYTES  32u

struct node {
	char *path;       /* "/D1/SUB", "/" for the root, "lost:3" for a chain without an entry */
	const char *base; /* last component, in path */
	struct node *parent;
	bool is_dir, deleted, hole, is_lost;
	uint32_t size;
	uint64_t seed;
	uint8_t short_name[11];
	uint8_t attr, case_bits;
	uint16_t date;
	uint32_t *chain;
	size_t n_chain;
	uint32_t n_slots; /* folders: slots in use; grows with its children */
	uint32_t min_clus;
	uint64_t entry_off;
	uint64_t lfn_off[MAX_LFN_SLOTS]; /* in disk order */
	size_t n_lfn;
	uint8_t entry[DIRENT_BYTES];

	enum owed owed;
	struct owed_part *part;
	size_t n_parts;
	const char *content_of; /* path of the node whose content it must have; NULL: its own */
	uint64_t owed_size;     /* with OWED_DATA and has_owed_size */
	bool has_owed_size;
};

struct bad_range {
	uint64_t off, len;
};

struct image {
	const struct recipe *recipe;
	struct instance instance;
	struct shape shape;
	struct fat_dev *dev;
	uint64_t device_bytes; /* size of the device after damage */
	char label[12], root_label[12];
	uint32_t serial;
	bool has_root_label;
	struct node **node; /* [0] is the root */
	size_t n_nodes;
	uint8_t *taken; /* a byte a cluster */
	uint32_t next_clus;
	uint32_t *fat; /* the sound table */
	struct bad_range *unreadable;
	size_t n_unreadable;
	size_t n_lost;
};

/*
 * Builds the volume of one instance on a dev_snap and damages it; image->dev lives until
 * image_free(). Dies on a recipe that cannot be built.
 */
struct image *image_build(const struct recipe *recipe, const struct instance *instance);
/* The same without the damage. */
struct image *image_build_sound(const struct recipe *recipe, const struct instance *instance);
void image_free(struct image *image);
struct node *image_find(const struct image *image, const char *path); /* NULL: none */

/* Parts of the builder (image.c, tree.c, damage.c). */
bool image_shape_word(const char *word); /* statements that shape the volume */
bool tree_word(const char *word);
bool damage_word(const char *word);
void tree_build(struct image *image);
void image_write_table(struct image *image);
void image_write_boot(struct image *image);
void damage_apply(struct image *image);

uint32_t table_get(struct fat_dev *dev, const struct shape *shape, uint32_t copy, uint32_t clus);
/* FAT32's reserved bits stay. */
void table_set(struct fat_dev *dev, const struct shape *shape, uint32_t copy, uint32_t clus,
	       uint32_t value);
void put_bytes(struct fat_dev *dev, uint64_t off, const void *bytes, size_t len);
void get_bytes(struct fat_dev *dev, uint64_t off, void *bytes, size_t len);

/* Places in the image that statements name (place.c). */
struct clusters {
	uint32_t *clus;
	size_t n;
};

/* "500", "500-510", "7,9,12-14", "/A.BIN[2]", "/A.BIN[*]", "/A.BIN[-1]", "/A.BIN[1-3]" */
struct clusters place_clusters(struct image *image, const struct statement *s, const char *word);
/* "end", "last+3", "/A.BIN[1]", "old+7*cluster" */
uint64_t place_value(struct image *image, const struct statement *s, const char *word,
		     uint64_t old);

struct place {
	uint64_t off;
	size_t len; /* of the field; numbers are up to 4 bytes */
	bool is_text;
	uint64_t high_off; /* "start" of an entry on FAT32: its upper half; else 0 */
};

/* "boot FIELD", "entry PATH FIELD", ...: from word *i on, which moves past it. May be several. */
struct place place_field(struct image *image, const struct statement *s, size_t *i);
bool place_is_field(const char *word);
/* "cluster 7", "fat1 sector 2", "boot" ...: whole regions. Returns how many. */
size_t place_regions(struct image *image, const struct statement *s, size_t *i,
		     struct bad_range **regions);
/* A slot of a folder, in the order of its clusters as described. Dies if it has none such. */
uint64_t place_slot(struct image *image, const struct statement *s, const struct node *dir,
		    uint32_t slot);

#endif
