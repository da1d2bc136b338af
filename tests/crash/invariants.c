/* SPDX-License-Identifier: MIT */
/*
 * invariants: what must hold of a volume that was cut off in mid-repair, and of the same volume
 * once it has been repaired.
 *
 * S0 is the volume before, S1 after a whole repair, C any state in between. Reads volumes as a
 * driver does: the active FAT, the tree from the root; whatever is broken ends a chain quietly.
 */
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "lib/bytes.h"
#include "tests/recipes/dev_snap.h"

#define ATTR_DIR   0x10u
#define ATTR_LABEL 0x08u

/* ---- references ---------------------------------------------------------------------------- */

struct gather {
	struct crash_refs *refs;
	struct fat_dev *dev;
	const struct shape *shape;
	uint8_t *seen; /* a byte a cluster: reached from an entry */
	uint8_t *is_dir;
	uint32_t *todo; /* first clusters of folders */
	size_t n_todo;
};

static bool in_volume(const struct shape *shape, uint32_t clus)
{
	return clus >= 2 && clus < shape->n_clus + 2;
}

static void add_ref(struct crash_refs *refs, struct crash_ref ref)
{
	GROW_ARRAY(refs->ref, refs->n);
	refs->ref[refs->n++] = ref;
}

static void read_fat(struct gather *gather)
{
	const struct shape *shape = gather->shape;
	size_t n = (size_t)shape->n_clus + 2, bytes = (n * shape->bits + 7) / 8;
	uint8_t *raw = xalloc(bytes + 4, 1);

	gather->refs->fat = xalloc(n, sizeof(uint32_t));
	get_bytes(gather->dev, shape_fat_off(shape, shape->active_fat), raw, bytes);
	for (size_t c = 0; c < n; c++) {
		uint32_t v = get_le32(raw + c * shape->bits / 8);

		v = shape->bits == 12 && c & 1 ? v >> 4 : v;
		gather->refs->fat[c] = v & shape_mask(shape);
	}
	free(raw);
}

static uint32_t start_of(const struct shape *shape, const uint8_t *slot)
{
	return (shape->bits == 32 ? (uint32_t)get_le16(slot + 20) << 16 : 0) | get_le16(slot + 26);
}

static void reach(struct gather *gather, uint32_t clus)
{
	while (in_volume(gather->shape, clus) && !gather->seen[clus]) {
		gather->seen[clus] = 1;
		clus = gather->refs->fat[clus];
	}
}

/* false: the end mark. */
static bool take_slot(struct gather *gather, const uint8_t *slot, uint64_t off)
{
	uint32_t start = start_of(gather->shape, slot);

	if (slot[0] == 0)
		return false;
	if (slot[0] == 0xE5 || slot[0] == '.' || slot[11] & ATTR_LABEL || start == 0)
		return true;
	add_ref(gather->refs, (struct crash_ref){ .clus = start, .off = off, .reachable = true });
	reach(gather, start);
	if (slot[11] & ATTR_DIR && in_volume(gather->shape, start) && !gather->is_dir[start]) {
		gather->is_dir[start] = 1;
		GROW_ARRAY(gather->todo, gather->n_todo);
		gather->todo[gather->n_todo++] = start;
	}
	return true;
}

static bool take_slots(struct gather *gather, uint64_t off, uint32_t bytes)
{
	uint8_t *raw = xalloc(bytes, 1);
	bool more = true;

	get_bytes(gather->dev, off, raw, bytes);
	for (uint32_t at = 0; more && at < bytes; at += DIRENT_BYTES)
		more = take_slot(gather, raw + at, off + at);
	free(raw);
	return more;
}

static void take_folder(struct gather *gather, uint32_t clus)
{
	uint32_t steps = 0;

	while (in_volume(gather->shape, clus) && steps++ < 65536 &&
	       take_slots(gather, shape_cluster_off(gather->shape, clus),
			  gather->shape->cluster_bytes)) {
		gather->is_dir[clus] = 1;
		clus = gather->refs->fat[clus];
	}
}

static int by_cluster(const void *a, const void *b)
{
	const struct crash_ref *x = a, *y = b;

	return x->clus < y->clus ? -1 : x->clus > y->clus;
}

void crash_refs_read(struct crash_refs *refs, struct fat_dev *dev, const struct shape *shape)
{
	struct gather gather = { .refs = refs, .dev = dev, .shape = shape };
	size_t n = (size_t)shape->n_clus + 2;

	*refs = (struct crash_refs){ 0 };
	gather.seen = xalloc(n, 1);
	gather.is_dir = xalloc(n, 1);
	read_fat(&gather);
	if (shape->bits == 32) {
		reach(&gather, shape->root_clus);
		take_folder(&gather, shape->root_clus);
	} else {
		take_slots(&gather, shape_root_off(shape), shape->root_entries * DIRENT_BYTES);
	}
	for (size_t i = 0; i < gather.n_todo; i++)
		take_folder(&gather, gather.todo[i]);
	for (uint32_t c = 2; c < n; c++)
		if (in_volume(shape, refs->fat[c]))
			add_ref(refs, (struct crash_ref){ .clus = refs->fat[c],
							  .from = c,
							  .reachable = gather.seen[c] });
	qsort(refs->ref, refs->n, sizeof *refs->ref, by_cluster);
	free(gather.seen);
	free(gather.is_dir);
	free(gather.todo);
}

void crash_refs_free(struct crash_refs *refs)
{
	free(refs->ref);
	free(refs->fat);
	*refs = (struct crash_refs){ 0 };
}

/* ---- states -------------------------------------------------------------------------------- */

bool crash_is_dirty(struct fat_dev *dev, const struct shape *shape)
{
	uint32_t clean = shape->bits == 16 ? 0x8000u : shape->bits == 32 ? 0x08000000u : 0;
	uint8_t state;

	get_bytes(dev, shape->bits == 32 ? 65 : 37, &state, 1);
	if (state & 1)
		return true;
	for (uint32_t copy = 0; clean && copy < shape->n_fats; copy++)
		if (!(table_get(dev, shape, copy, 1) & clean))
			return true;
	return false;
}

/* Whether S0 has the same reference at the same place. */
static bool was_there(const struct crash_world *world, const struct crash_ref *ref)
{
	uint8_t was[DIRENT_BYTES];

	if (ref->from)
		return world->before.fat[ref->from] == ref->clus;
	get_bytes(world->s0, ref->off, was, DIRENT_BYTES);
	return was[0] != 0xE5 && was[0] != 0 && start_of(&world->shape, was) == ref->clus;
}

static size_t refs_to(const struct crash_refs *refs, uint32_t clus)
{
	size_t n = 0;

	for (size_t i = 0; i < refs->n; i++)
		n += refs->ref[i].clus == clus;
	return n;
}

/* ref[i..i+n) all point to one cluster. Those that stood in S0 already are nobody's new fault. */
static void check_double(const struct crash_world *world, const struct crash_ref *ref, size_t n,
			 struct notes *complaints)
{
	size_t old = 0, before;

	for (size_t i = 0; i < n; i++)
		old += was_there(world, &ref[i]);
	if (n < 2 || old == n)
		return;
	before = refs_to(&world->before, ref->clus);
	if (n > (before > old ? before : old))
		notes_add(complaints, "cluster %u has %zu references, %zu before", ref->clus, n,
			  before);
}

static void check_free(const struct crash_world *world, const struct crash_refs *refs,
		       const struct crash_ref *ref, struct notes *complaints)
{
	if (!ref->reachable || !in_volume(&world->shape, ref->clus) || refs->fat[ref->clus] != 0)
		return;
	if (was_there(world, ref) && world->before.fat[ref->clus] == 0)
		return;
	notes_add(complaints, "a chain runs into the free cluster %u (from %s %llu)", ref->clus,
		  ref->from ? "entry" : "slot at",
		  (unsigned long long)(ref->from ? ref->from : ref->off));
}

/*
 * A boot sector that was torn while it was restored: it was unusable and is so still. FAT12 has no
 * other place for a mark.
 */
static bool is_half_a_boot(const struct crash_world *world, struct fat_dev *state)
{
	uint8_t s0[512], s1[512], now[512];

	if (world->shape.bits != 12)
		return false;
	get_bytes(world->s0, 0, s0, 512);
	get_bytes(world->s1, 0, s1, 512);
	get_bytes(state, 0, now, 512);
	return memcmp(now, s0, 512) != 0 && memcmp(now, s1, 512) != 0;
}

/* An entry of FAT12 in two sectors of which one arrived, and whatever a tear goes through. */
static bool is_half(const struct shape *shape, uint32_t clus, uint64_t tear)
{
	uint64_t at = (uint64_t)clus * shape->bits / 8, sector = shape->sector_bytes;

	if (shape->bits == 12 && at % sector == sector - 1)
		return true;
	for (uint32_t copy = 0; tear != UINT64_MAX && copy < shape->n_fats; copy++)
		if (shape_fat_off(shape, copy) + at < tear &&
		    tear < shape_fat_off(shape, copy) + at + (shape->bits + 7) / 8)
			return true;
	return false;
}

/* Such an entry refers anywhere. */
static void drop_half_refs(const struct crash_world *world, struct crash_refs *refs, uint64_t tear)
{
	size_t kept = 0;

	for (size_t i = 0; i < refs->n; i++)
		if (refs->ref[i].from == 0 || !is_half(&world->shape, refs->ref[i].from, tear))
			refs->ref[kept++] = refs->ref[i];
	refs->n = kept;
}

void crash_check_state(const struct crash_world *world, struct fat_dev *state,
		       const struct fat_dev *end, uint64_t tear, struct notes *complaints)
{
	struct crash_refs refs;

	if (snap_first_difference(world->s0, state) == UINT64_MAX ||
	    snap_first_difference(end, state) == UINT64_MAX)
		return;
	if (!crash_is_dirty(state, &world->shape) && !(tear && is_half_a_boot(world, state)))
		notes_add(complaints, "the volume is not marked dirty");
	crash_refs_read(&refs, state, &world->shape);
	if (tear)
		drop_half_refs(world, &refs, tear);
	for (size_t i = 0, n; i < refs.n; i += n) {
		for (n = 1; i + n < refs.n && refs.ref[i + n].clus == refs.ref[i].clus;)
			n++;
		check_double(world, &refs.ref[i], n, complaints);
		for (size_t k = 0; k < n; k++)
			check_free(world, &refs, &refs.ref[i + k], complaints);
	}
	crash_refs_free(&refs);
}

/* ---- results ------------------------------------------------------------------------------- */

static bool is_recovered(const char *path)
{
	return strstr(path, "/FSCK") || strstr(path, "/FOUND.");
}

void crash_world_open(struct crash_world *world, struct fat_dev *s0, struct fat_dev *s1,
		      const struct shape *shape)
{
	struct survey survey;

	*world = (struct crash_world){ .s0 = s0, .s1 = s1, .shape = *shape };
	crash_refs_read(&world->before, s0, shape);
	survey_read(&survey, s1);
	for (size_t i = 0; i < survey.n_found; i++) {
		const struct found *found = &survey.found[i];

		if (found->is_dir || found->size == 0)
			continue;
		GROW_ARRAY(world->file, world->n_files);
		world->file[world->n_files++] = (struct crash_file){
			.path = xstrdup(found->path),
			.hash = survey_hash(&survey, found),
			.is_recovered = is_recovered(found->path),
		};
	}
	survey_free(&survey);
}

void crash_world_close(struct crash_world *world)
{
	for (size_t i = 0; i < world->n_files; i++)
		free(world->file[i].path);
	free(world->file);
	crash_refs_free(&world->before);
}

static bool is_in(const struct survey *survey, const struct crash_file *file)
{
	const struct found *same = survey_find(survey, file->path);

	if (same && !same->is_dir && survey_hash(survey, same) == file->hash)
		return true;
	for (size_t i = 0; file->is_recovered && i < survey->n_found; i++)
		if (!survey->found[i].is_dir &&
		    survey_hash(survey, &survey->found[i]) == file->hash)
			return true;
	return false;
}

void crash_check_result(const struct crash_world *world, struct fat_dev *result,
			struct notes *complaints)
{
	struct survey survey;

	survey_read(&survey, result);
	for (size_t i = 0; i < survey.problems.n; i++)
		notes_add(complaints, "after the re-run: %s", survey.problems.line[i]);
	for (size_t i = 0; i < world->n_files; i++)
		if (!is_in(&survey, &world->file[i]))
			notes_add(complaints, "after the re-run %s is lost or altered",
				  world->file[i].path);
	survey_free(&survey);
}
