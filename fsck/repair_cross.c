/* SPDX-License-Identifier: MIT */
/*
 * repair_cross: two chains that went on as each other.
 *
 * One is too long, the other too short, and where each leaves its row of clusters it goes on with
 * the one that is next in the other's row: with both links led back, both are just as long as their
 * files. If there is one such pair of links only, and one partner, that is what happened. Where a
 * file lies in pieces, the row of one of them tells as much, if no pair is better; else nothing is
 * done.
 *
 * Of two files that each have as many clusters as the other needs, starts or sizes were exchanged;
 * which, nobody knows. The longer chain keeps all its clusters and takes the other's size: no byte
 * gets out of its file, whichever it was.
 */
#include "repair.h"

#define MAX_JUMPS    32u
#define MAX_PARTNERS 1000u

/* A link to another cluster than the next. */
struct jump {
	uint32_t from, to;
	uint32_t n; /* clusters of the chain up to `from` */
};

struct jumps {
	struct jump jump[MAX_JUMPS];
	uint32_t n, n_clus;
	bool ended; /* with an end mark, and all jumps are there */
};

struct crossing {
	struct jump a, b;
	unsigned rows; /* how many of the two go back to their row */
	unsigned n;    /* pairs of links of which as many do */
};

static enum fat_status find_jumps(struct fsck *fsck, uint32_t clus, struct jumps *jumps)
{
	enum fat_status status = FAT_OK;
	uint32_t value = 0;

	*jumps = (struct jumps){ .n = 0 };
	while (status == FAT_OK && fat_geometry_has_clus(&fsck->geometry, clus) &&
	       jumps->n_clus < fsck->geometry.n_clus) {
		status = fat_table_get(&fsck->table, clus, &value);
		jumps->n_clus++;
		if (value != clus + 1 && fat_geometry_has_clus(&fsck->geometry, value)) {
			if (jumps->n == MAX_JUMPS)
				return status;
			jumps->jump[jumps->n++] = (struct jump){ clus, value, jumps->n_clus };
		}
		clus = value;
	}
	jumps->ended = status == FAT_OK && value >= fat_entry_end_min(fsck->geometry.type);
	return status;
}

static void cross(const struct jumps *a, uint32_t need_a, const struct jumps *b, uint32_t need_b,
		  struct crossing *crossing)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++) {
			const struct jump *x = &a->jump[i], *y = &b->jump[k];
			unsigned rows = (x->from + 1 == y->to ? 1u : 0) +
					(y->from + 1 == x->to ? 1u : 0);

			if (rows == 0 || rows < crossing->rows ||
			    x->n + (b->n_clus - y->n) != need_a ||
			    y->n + (a->n_clus - x->n) != need_b)
				continue;
			crossing->n = rows > crossing->rows ? 1 : crossing->n + 1;
			crossing->rows = rows;
			crossing->a = *x;
			crossing->b = *y;
		}
}

enum fat_status repair_uncross(struct repair *repair, const struct fault *fault, bool *crossed)
{
	struct fsck *fsck = repair->fsck;
	struct crossing crossing = { .n = 0 };
	struct jumps own, other;
	enum fat_status status = find_jumps(fsck, fault->start, &own);

	*crossed = false;
	for (size_t i = 0; i < fsck->faults.n && i < MAX_PARTNERS && own.ended && status == FAT_OK;
	     i++) {
		const struct fault *partner = fat_vec_at(&fsck->faults, i);

		if (partner->id != F_CHAIN_SHORT || partner->is_dir)
			continue;
		status = find_jumps(fsck, partner->start, &other);
		if (other.ended)
			cross(&own, fault->need, &other, partner->need, &crossing);
	}
	if (status != FAT_OK || crossing.n != 1)
		return status;
	*crossed = true;
	status = repair_set_entry(repair, FAT_STAGE_DETACH, crossing.a.from, crossing.b.to);
	return status == FAT_OK ? repair_set_entry(repair, FAT_STAGE_DETACH, crossing.b.from,
						   crossing.a.to) :
				  status;
}

static bool are_exchanged(struct fsck *fsck, const struct fault *longer,
			  const struct fault *shorter)
{
	return longer->id == F_CHAIN_LONG && longer->b == WALK_END && !longer->is_dir &&
	       shorter->id == F_CHAIN_SHORT && !shorter->is_dir &&
	       shorter->n == longer->need && chain_has_just(fsck, longer->start, shorter->need);
}

/* What the shorter one misses is lost: that is its own rest. */
static bool has_rest(const struct fsck *fsck, const struct fault *shorter)
{
	for (size_t i = 0; i < fsck->lost.n; i++)
		if (((const struct lost_chain *)fat_vec_at(&fsck->lost, i))->n ==
		    shorter->need - shorter->n)
			return true;
	return false;
}

enum fat_status repair_take_size(struct repair *repair, const struct fault *fault, bool *taken)
{
	struct fsck *fsck = repair->fsck;
	const struct fault *partner = NULL;
	size_t n_partners = 0, n_rivals = 0;

	*taken = false;
	for (size_t i = 0; i < fsck->faults.n && i < MAX_PARTNERS; i++)
		if (are_exchanged(fsck, fault, fat_vec_at(&fsck->faults, i))) {
			partner = fat_vec_at(&fsck->faults, i);
			n_partners++;
		}
	for (size_t i = 0; i < fsck->faults.n && i < MAX_PARTNERS && n_partners == 1; i++)
		n_rivals += are_exchanged(fsck, fat_vec_at(&fsck->faults, i), partner);
	if (n_partners != 1 || n_rivals != 1 || has_rest(fsck, partner))
		return FAT_OK;
	*taken = true;
	return repair_set_start(repair, FAT_STAGE_DETACH, fault->entry_off, fault->start,
				partner->size);
}
