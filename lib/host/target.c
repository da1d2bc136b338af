/* SPDX-License-Identifier: MIT */
/*
 * target: what a path stands for, by one stat(). Opens nothing.
 */
#include "host.h"

#include <errno.h>
#include <sys/stat.h>

int host_target_init(struct host_target *target, const char *path)
{
	struct stat st;

	*target = (struct host_target){ .path = path };
	if (stat(path, &st) != 0)
		return errno;
	target->kind = S_ISREG(st.st_mode)   ? HOST_FILE
		       : S_ISBLK(st.st_mode) ? HOST_BLOCK
					     : HOST_OTHER;
	target->number = target->kind == HOST_BLOCK ? st.st_rdev : st.st_dev;
	target->file_dev = st.st_dev;
	target->file_ino = st.st_ino;
	return 0;
}
