/* SPDX-License-Identifier: MIT */
/*
 * repair_run: the rest of a file whose FAT entries were wiped.
 *
 * Where a sector of every FAT is zero, or ones, chains run into clusters that are free, or that end
 * there one by one. Files mostly lie in one piece: if just what is missing lies in a row behind the
 * break, and nothing else lays claim to it, it is the file's. It may end in a lost chain that is
 * just as long as the rest.
 */
#include <stdlib.h>

#include "repair.h"

static int by_head(const void *key, const void *item)
{
	uint32_t head = *(const uint32_t *)key;
	const struct lost_chain *lost = item;

	return (head > lost->head) - (head < lost->head);
}

static struct lost_chain *lost_at(const struct fsck *fsck, uint32_t head)
{
	return fsck->lost.n ? bsearch(&head, fsck->lost.items, fsck->lost.n,
				      sizeof(struct lost_chain), by_head)
			    : NULL;
}

static bool is_single(const struct lost_chain *lost)
{
	return lost && lost->n == 1 && !lost->is_dir && !lost->is_open;
}

/* Whether a run may go on in that cluster. */
static enum fat_status may_take(struct repair *repair, const struct repair_link *link,
				uint32_t clus, bool free_too, bool *take)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status;
	uint32_t value;

	*take = false;
	if (!fat_geometry_has_clus(&fsck->geometry, clus))
		return FAT_OK;
	status = fat_table_get(&fsck->table, clus, &value);
	if (status == FAT_OK)
		*take = value == 0 ? free_too && (clus == link->run ||
						  !repair_is_wanted(repair, clus)) :
				     is_single(lost_at(fsck, clus));
	return status;
}

enum fat_status repair_find_run(struct repair *repair, uint32_t n_missing, bool free_too,
				struct repair_link *link)
{
	struct fsck *fsck = repair->fsck;
	enum fat_status status = FAT_OK;
	bool take = true;
	uint32_t n = 0;

	link->n_run = 0;
	while (status == FAT_OK && n < n_missing) {
		const struct lost_chain *lost = lost_at(fsck, link->run + n);

		if (n > 0 && lost && lost->n == n_missing - n && !lost->is_dir && !lost->is_open) {
			link->head = lost->head;
			link->n_run = n;
			return FAT_OK;
		}
		status = may_take(repair, link, link->run + n, free_too, &take);
		if (!take)
			return status;
		n++;
	}
	link->n_run = status == FAT_OK ? n : 0;
	return status;
}

void repair_take_run(struct repair *repair, const struct repair_link *link)
{
	for (uint32_t i = 0; i < link->n_run; i++) {
		struct lost_chain *lost = lost_at(repair->fsck, link->run + i);

		if (lost)
			lost->n = 0;
	}
}

/*
 * From its end to its beginning: nothing leads to what has no end. After PREPARE, which ends lost
 * chains that may lead here.
 */
enum fat_status repair_join_run(struct repair *repair, const struct repair_link *link)
{
	enum fat_status status = FAT_OK;

	for (uint32_t i = link->n_run; i-- > 0 && status == FAT_OK;) {
		uint32_t clus = link->run + i;
		enum fat_stage stage = i > 0 ? FAT_STAGE_DETACH : FAT_STAGE_ATTACH;

		if (i + 1 < link->n_run)
			status = repair_set_entry(repair, stage, clus, clus + 1);
		else if (link->head)
			status = repair_set_entry(repair, stage, clus, link->head);
		else
			status = repair_set_end(repair, stage, clus);
	}
	return status;
}
