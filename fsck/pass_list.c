/* SPDX-License-Identifier: MIT */
/*
 * pass_list: the paths of all files and directories (-l), of the volume as it will be.
 */
#include "fsck.h"

enum fat_status pass_list(struct fsck *fsck, const struct fsck_lister *lister)
{
	enum fat_status status;

	fsck_reset(fsck);
	fsck->sweep = SWEEP_LIST;
	fsck->lister = lister;
	status = pass_tree(fsck);
	fsck->lister = NULL;
	fsck->sweep = SWEEP_CHECK;
	return status;
}
