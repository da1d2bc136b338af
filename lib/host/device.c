/* SPDX-License-Identifier: MIT */
/*
 * device: everything that the other files of this room find out, in one struct.
 */
#include "host.h"

void host_device_read(const struct host_roots *roots, const char *path, int fd,
		      struct host_device *device)
{
	*device = (struct host_device){ .in_use = HOST_UNKNOWN };
	if (host_target_init(&device->target, path) != 0)
		return;
	device->in_use = host_use_find(roots, &device->target, &device->use);
	device->on_system_disk = host_on_system_disk(roots, &device->target);
	host_topology_read(roots, &device->target, &device->topology);
	host_flash_read(roots, &device->target, &device->flash);
	host_identity_read(roots, &device->target, &device->identity);
	if (fd < 0)
		return;
	if (device->target.kind == HOST_BLOCK)
		host_geometry_read(fd, &device->geometry);
	device->has_signature = host_signature_read(fd, 0, 0, &device->signature);
}
