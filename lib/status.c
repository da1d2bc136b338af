/* SPDX-License-Identifier: MIT */
/*
 * status: words for statuses.
 */
#include "libfat.h"

const char *fat_status_text(enum fat_status status)
{
	switch (status) {
	case FAT_OK:
		return "success";
	case FAT_ERR_IO:
		return "input/output error";
	case FAT_ERR_MEMORY:
		return "out of memory";
	case FAT_ERR_RANGE:
		return "beyond the end of the device";
	case FAT_ERR_READ_ONLY:
		return "opened for reading only";
	case FAT_ERR_BUSY:
		return "in use by somebody else";
	case FAT_ERR_OPEN:
		return "cannot be opened";
	case FAT_ERR_SIZE:
		return "has no size";
	case FAT_ERR_KIND:
		return "not a regular file or block device";
	case FAT_ERR_ARGUMENT:
		return "invalid argument";
	case FAT_ERR_FORMAT:
		return "not a FAT volume";
	case FAT_ERR_CANCELLED:
		return "cancelled";
	}
	return "unknown status";
}
