/* SPDX-License-Identifier: MIT */
/*
 * view: which FAT to believe, where the copies differ.
 *
 * By trial: a look at the whole volume with each copy, and the one that makes more sense wins. If
 * faults remain, damage hit more than one copy: each sector that differs is tried by itself, for
 * damage comes in sectors, and then each group of entries that differ. Looks only.
 */
#include "engine.h"

#include <stdlib.h>

#include "bytes.h"

#define MAX_GROUPS   32u
#define MAX_PARTS    20000u
#define NEAR_ENTRIES 1u
#define MAX_SPLIT    4096u /* entries of a run that is looked at one by one */

/* What a look made of the volume. */
struct verdict {
	int64_t score;
	uint64_t n_used; /* clusters in use */
	size_t n_lost;	 /* chains */
	bool sound;
};

/* Entries that differ, in groups, and the copy that each comes from. */
struct grouping {
	struct fat_table_range group[MAX_GROUPS];
	uint32_t choice[MAX_GROUPS];
	uint32_t n;
};

struct trial {
	struct fsck *fsck;
	struct fsck probe;
	struct grouping groups;
	uint32_t copy; /* for all that is in no group */
};

static enum fat_status look(struct trial *trial, struct verdict *verdict)
{
	struct fsck *probe = &trial->probe;
	struct fat_table_range ranges[MAX_GROUPS];
	size_t n = 0;
	enum fat_status status;

	for (uint32_t i = 0; i < trial->groups.n; i++)
		if (trial->groups.choice[i] != trial->copy) {
			ranges[n] = trial->groups.group[i];
			ranges[n++].copy = trial->groups.choice[i];
		}
	fsck_reset(probe);
	fat_table_set_source(&probe->table, trial->copy, ranges, n);
	status = pass_fat(probe);
	if (status == FAT_OK)
		status = pass_tree(probe);
	if (status == FAT_OK)
		status = pass_lost(probe);
	*verdict = (struct verdict){
		.score = trial_score(probe),
		.n_used = probe->count.used - probe->count.invalid,
		.n_lost = probe->lost.n,
		.sound = trial_is_sound(probe),
	};
	fat_table_set_source(&probe->table, trial->copy, NULL, 0);
	return status;
}

static int by_first(const void *a, const void *b)
{
	const struct fat_table_range *left = a, *right = b;

	return (left->first_clus > right->first_clus) - (left->first_clus < right->first_clus);
}

/*
 * Which copies have an entry as free, and which have it alike: where that changes, another kind of
 * damage begins.
 */
static enum fat_status pattern_of(struct trial *trial, uint32_t clus, uint32_t *pattern)
{
	const struct fat_geometry *geometry = &trial->fsck->geometry;
	enum fat_status status = FAT_OK;
	uint32_t first = 0;

	*pattern = 0;
	for (uint32_t i = 0; i < geometry->n_fats && i < 16 && status == FAT_OK; i++) {
		uint32_t value;

		status = fat_table_get_in_copy(&trial->fsck->table, i, clus, &value);
		first = i == 0 ? value : first;
		*pattern |= (uint32_t)(value == 0) << i | (uint32_t)(value == first) << (16 + i);
	}
	return status;
}

/* The runs again, parted where the pattern changes. */
static enum fat_status split_runs(struct trial *trial, struct fat_vec *parts)
{
	const struct fat_vec *runs = &trial->fsck->differing;
	enum fat_status status = FAT_OK;

	for (size_t i = 0; i < runs->n && status == FAT_OK; i++) {
		const struct fat_table_range *run = fat_vec_at(runs, i);
		bool whole = run->last_clus - run->first_clus >= MAX_SPLIT;
		struct fat_table_range *part = NULL;
		uint32_t last_pattern = 0, pattern = 0;

		for (uint32_t c = run->first_clus; c <= run->last_clus && status == FAT_OK; c++) {
			if (!whole)
				status = pattern_of(trial, c, &pattern);
			if (!part || pattern != last_pattern) {
				part = fat_vec_push(parts);
				if (!part) /* enough of them, or no memory */
					return fat_vec_is_full(parts) ? FAT_OK : FAT_ERR_MEMORY;
				part->first_clus = c;
			}
			last_pattern = pattern;
			part->last_clus = whole ? run->last_clus : c;
			if (whole)
				break;
		}
	}
	return status;
}

/* Runs that differ, of any copy, as at most MAX_GROUPS groups of neighbours. */
static void make_groups(struct trial *trial, struct fat_vec *runs)
{
	uint32_t near = NEAR_ENTRIES;

	fat_vec_sort(runs, by_first);
	do {
		trial->groups.n = 0;
		for (size_t i = 0; i < runs->n; i++) {
			const struct fat_table_range *run = fat_vec_at(runs, i);
			struct fat_table_range *last =
				trial->groups.n ? &trial->groups.group[trial->groups.n - 1] : NULL;

			if (last && run->first_clus < (uint64_t)last->last_clus + near) {
				if (run->last_clus > last->last_clus)
					last->last_clus = run->last_clus;
			} else if (trial->groups.n == MAX_GROUPS) {
				trial->groups.n++;
				break;
			} else {
				trial->groups.group[trial->groups.n++] = *run;
			}
		}
		near = near * 4 + 1;
	} while (trial->groups.n > MAX_GROUPS);
}

/* The first entry that begins in a sector of a FAT, or behind it. */
static uint32_t first_of_sector(const struct fat_geometry *geometry, uint64_t sector)
{
	uint32_t bits = (uint32_t)geometry->type;
	uint64_t clus = (sector * geometry->sector_bytes * 8 + bits - 1) / bits;

	return (uint32_t)min_u64(clus, (uint64_t)fat_geometry_last_clus(geometry) + 1);
}

/*
 * The run, a sector a piece, whole ones: FAT32's reserved bits may differ where the entries do not.
 */
static enum fat_status push_sectors(const struct trial *trial, const struct fat_table_range *run,
				    struct fat_vec *sectors)
{
	const struct fat_geometry *geometry = &trial->fsck->geometry;
	uint64_t first = fat_entry_off(geometry->type, run->first_clus) / geometry->sector_bytes;
	uint64_t last = fat_entry_off(geometry->type, run->last_clus) / geometry->sector_bytes;

	for (uint64_t sector = first; sector <= last; sector++) {
		struct fat_table_range *piece = fat_vec_push(sectors);

		if (!piece && !fat_vec_is_full(sectors))
			return FAT_ERR_MEMORY;
		if (!piece) { /* enough of them: the last one takes in the rest */
			piece = fat_vec_at(sectors, sectors->n - 1);
			piece->last_clus = first_of_sector(geometry, last + 1) - 1;
			return FAT_OK;
		}
		*piece = (struct fat_table_range){
			.first_clus = first_of_sector(geometry, sector),
			.last_clus = first_of_sector(geometry, sector + 1) - 1,
			.copy = run->copy,
		};
		if (sector == first)
			piece->first_clus = min_u32(piece->first_clus, run->first_clus);
	}
	return FAT_OK;
}

static enum fat_status make_sector_groups(struct trial *trial)
{
	const struct fat_vec *runs = &trial->fsck->differing;
	enum fat_status status = FAT_OK;
	struct fat_vec sectors;

	fat_vec_init(&sectors, sizeof(struct fat_table_range), MAX_PARTS);
	for (size_t i = 0; i < runs->n && status == FAT_OK; i++)
		status = push_sectors(trial, fat_vec_at(runs, i), &sectors);
	make_groups(trial, &sectors);
	fat_vec_fini(&sectors);
	return status;
}

static enum fat_status make_part_groups(struct trial *trial)
{
	struct fat_vec parts;
	enum fat_status status;

	fat_vec_init(&parts, sizeof(struct fat_table_range), MAX_PARTS);
	status = split_runs(trial, &parts);
	make_groups(trial, &parts);
	fat_vec_fini(&parts);
	return status;
}

static void choose_all(struct trial *trial, uint32_t copy)
{
	for (uint32_t i = 0; i < trial->groups.n; i++)
		trial->groups.choice[i] = copy;
	trial->copy = copy;
}

/*
 * Of equals the one that has more in use: freeing what was a file's is what cannot be undone. Of
 * those the one that has less of it in pieces: a cut left them in FAT 1.
 */
static bool is_better(const struct verdict *verdict, const struct verdict *best)
{
	if (verdict->score != best->score)
		return verdict->score < best->score;
	if (verdict->n_used != best->n_used)
		return verdict->n_used > best->n_used;
	return verdict->n_lost < best->n_lost;
}

static enum fat_status try_copies(struct trial *trial, struct verdict *best)
{
	uint32_t best_copy = 0;
	enum fat_status status = FAT_OK;

	for (uint32_t i = 0; i < trial->fsck->geometry.n_fats && status == FAT_OK; i++) {
		struct verdict verdict;

		choose_all(trial, i);
		status = look(trial, &verdict);
		if (i == 0 || is_better(&verdict, best)) {
			*best = verdict;
			best_copy = i;
		}
	}
	choose_all(trial, best_copy);
	return status;
}

static enum fat_status try_groups(struct trial *trial, struct verdict *best)
{
	enum fat_status status = FAT_OK;

	for (uint32_t g = 0; g < trial->groups.n && status == FAT_OK && !best->sound; g++) {
		uint32_t kept = trial->groups.choice[g];

		for (uint32_t i = 0; i < trial->fsck->geometry.n_fats && status == FAT_OK; i++) {
			struct verdict verdict;

			if (i == kept)
				continue;
			trial->groups.choice[g] = i;
			status = look(trial, &verdict);
			if (is_better(&verdict, best)) {
				*best = verdict;
				kept = i;
			}
		}
		trial->groups.choice[g] = kept;
	}
	return status;
}

/* The copy that the sector was found in is where its parts begin. */
static void inherit_choices(struct trial *trial, const struct grouping *sectors)
{
	struct grouping *parts = &trial->groups;

	for (uint32_t i = 0; i < parts->n; i++)
		for (uint32_t k = 0; k < sectors->n; k++)
			if (sectors->group[k].first_clus <= parts->group[i].first_clus &&
			    parts->group[i].first_clus <= sectors->group[k].last_clus)
				parts->choice[i] = sectors->choice[k];
}

/* A copy that has the part in use, where another has it as free. */
static enum fat_status choose_used(struct trial *trial)
{
	struct grouping *parts = &trial->groups;
	enum fat_status status = FAT_OK;

	for (uint32_t g = 0; g < parts->n && status == FAT_OK; g++) {
		uint32_t clus = parts->group[g].first_clus, value;

		status = fat_table_get_in_copy(&trial->fsck->table, parts->choice[g], clus, &value);
		for (uint32_t i = 0; value == 0 && i < trial->fsck->geometry.n_fats; i++) {
			status = fat_table_get_in_copy(&trial->fsck->table, i, clus, &value);
			if (value)
				parts->choice[g] = i;
		}
	}
	return status;
}

/* Both FATs are old, each in another place: what any of them has in use is. */
static enum fat_status try_used(struct trial *trial, struct verdict *best)
{
	struct grouping before = trial->groups;
	enum fat_status status = choose_used(trial);
	struct verdict verdict;

	if (status == FAT_OK)
		status = look(trial, &verdict);
	if (status == FAT_OK && is_better(&verdict, best))
		*best = verdict;
	else
		trial->groups = before;
	return status;
}

/* Parts of sectors, from the best sectors on; the parts are taken if that is better. */
static enum fat_status try_parts(struct trial *trial, const struct verdict *by_sectors)
{
	struct grouping sectors = trial->groups;
	struct verdict by_parts = { 0 };
	enum fat_status status = make_part_groups(trial);

	choose_all(trial, trial->copy);
	inherit_choices(trial, &sectors);
	if (status == FAT_OK)
		status = look(trial, &by_parts);
	if (status == FAT_OK)
		status = try_used(trial, &by_parts);
	if (status == FAT_OK)
		status = try_groups(trial, &by_parts);
	if (status == FAT_OK && !is_better(&by_parts, by_sectors))
		trial->groups = sectors;
	return status;
}

static enum fat_status apply(struct trial *trial)
{
	struct fsck *fsck = trial->fsck;

	fsck->ranges.n = 0;
	for (uint32_t i = 0; i < trial->groups.n; i++) {
		struct fat_table_range *range;

		if (trial->groups.choice[i] == trial->copy)
			continue;
		range = fat_vec_push(&fsck->ranges);
		if (!range)
			return FAT_ERR_MEMORY;
		*range = trial->groups.group[i];
		range->copy = trial->groups.choice[i];
	}
	fat_table_set_source(&fsck->table, trial->copy, fsck->ranges.items, fsck->ranges.n);
	return FAT_OK;
}

enum fat_status view_choose(struct fsck *fsck)
{
	struct trial *trial = calloc(1, sizeof *trial);
	enum fat_status status;
	struct verdict best = { 0 };

	if (!trial)
		return FAT_ERR_MEMORY;
	trial->fsck = fsck;
	fsck_init(&trial->probe, fsck->options, fsck->dev);
	trial->probe.geometry = fsck->geometry;
	trial->probe.boot = fsck->boot;
	trial->probe.weighs_fats = true;
	status = fat_table_init(&trial->probe.table, fsck->dev, &trial->probe.geometry, 4u << 20);
	trial->probe.has_table = true;
	if (status == FAT_OK)
		status = make_sector_groups(trial);
	if (status == FAT_OK)
		status = try_copies(trial, &best);
	if (status == FAT_OK && !best.sound)
		status = try_groups(trial, &best);
	if (status == FAT_OK && !best.sound)
		status = try_parts(trial, &best);
	if (status == FAT_OK)
		status = apply(trial);
	fsck_fini(&trial->probe);
	free(trial);
	return status;
}
