/* SPDX-License-Identifier: MIT */
/*
 * geometry: heads and sectors per track, as the kernel has them or makes them up.
 */
#include "host.h"

#include <errno.h>
#include <linux/hdreg.h>
#include <sys/ioctl.h>

enum host_answer host_geometry_read(int fd, struct host_geometry *geometry)
{
	struct hd_geometry kernel = { .heads = 0 };

	*geometry = (struct host_geometry){ .heads = 0 };
	if (ioctl(fd, HDIO_GETGEO, &kernel) != 0)
		return errno == ENOTTY || errno == EINVAL ? HOST_NO : HOST_UNKNOWN;
	if (kernel.heads == 0 || kernel.sectors == 0)
		return HOST_NO;
	geometry->heads = kernel.heads;
	geometry->sectors_per_track = kernel.sectors;
	geometry->start_sec = kernel.start;
	return HOST_YES;
}
