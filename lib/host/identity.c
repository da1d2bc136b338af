/* SPDX-License-Identifier: MIT */
/*
 * identity: which device it is.
 *
 * udev has it best (it asked the device itself); without libudev, or where udev does not run, the
 * attributes that the transports leave in sysfs serve.
 */
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_UDEV
#include <libudev.h>
#endif

#include "sysfs.h"

#ifdef HAVE_UDEV
static void take(struct udev_device *dev, const char *key, char *text, size_t text_bytes)
{
	const char *value = udev_device_get_property_value(dev, key);

	if (value)
		host_copy(text, text_bytes, value);
}

static void read_udev(dev_t number, struct host_identity *id)
{
	struct udev *udev = udev_new();
	struct udev_device *dev = udev ? udev_device_new_from_devnum(udev, 'b', number) : NULL;

	if (dev) {
		take(dev, "ID_BUS", id->bus, sizeof id->bus);
		take(dev, "ID_VENDOR", id->vendor, sizeof id->vendor);
		take(dev, "ID_MODEL", id->model, sizeof id->model);
		take(dev, "ID_REVISION", id->revision, sizeof id->revision);
		take(dev, "ID_SERIAL", id->serial, sizeof id->serial);
		udev_device_unref(dev);
	}
	if (udev)
		udev_unref(udev);
}
#else
static void read_udev(dev_t number, struct host_identity *id)
{
	(void)number;
	(void)id;
}
#endif

static void fill(const char *dir, const char *name, char *text, size_t text_bytes)
{
	if (!text[0])
		host_attr_text(dir, name, text, text_bytes);
}

/* A USB stick's serial number belongs to the USB device, a few parents above the disk. */
static void fill_from_usb(const char *device_dir, struct host_identity *id)
{
	char *dir = realpath(device_dir, NULL);
	char *slash;

	for (int up = 0; dir && up < 6; up++) {
		char vendor_id[HOST_NAME_BYTES];

		if (host_attr_text(dir, "idVendor", vendor_id, sizeof vendor_id)) {
			if (!id->bus[0])
				host_copy(id->bus, sizeof id->bus, "usb");
			fill(dir, "manufacturer", id->vendor, sizeof id->vendor);
			fill(dir, "product", id->model, sizeof id->model);
			fill(dir, "serial", id->serial, sizeof id->serial);
			break;
		}
		slash = strrchr(dir, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	free(dir);
}

static void read_sysfs(const char *disk_dir, struct host_identity *id)
{
	char device[HOST_PATH_BYTES];
	char subsystem[HOST_NAME_BYTES];

	if (!host_join(device, disk_dir, "device"))
		return;
	host_link_name(device, "subsystem", subsystem, sizeof subsystem);
	if (!id->bus[0] && (strcmp(subsystem, "mmc") == 0 || strcmp(subsystem, "nvme") == 0))
		host_copy(id->bus, sizeof id->bus, subsystem);
	fill(device, "vendor", id->vendor, sizeof id->vendor);
	if (strncmp(id->vendor, "0x", 2) == 0)
		id->vendor[0] = '\0'; /* virtio: a number, which names nobody */
	fill(device, "model", id->model, sizeof id->model);
	fill(device, "name", id->model, sizeof id->model);
	fill(device, "rev", id->revision, sizeof id->revision);
	fill(device, "serial", id->serial, sizeof id->serial);
	fill_from_usb(device, id);
}

enum host_answer host_identity_read(const struct host_roots *roots,
				    const struct host_target *target,
				    struct host_identity *identity)
{
	char dir[HOST_PATH_BYTES], disk_dir[HOST_PATH_BYTES];
	uint64_t index;

	*identity = (struct host_identity){ .bus = "" };
	if (target->kind != HOST_BLOCK && target->kind != HOST_FILE)
		return HOST_UNKNOWN;
	if (!roots)
		read_udev(target->number, identity);
	host_block_dir(roots, target->number, dir);
	if (host_join(disk_dir, dir, host_attr_u64(dir, "partition", &index) ? ".." : ""))
		read_sysfs(disk_dir, identity);
	return identity->model[0] || identity->serial[0] ? HOST_YES : HOST_UNKNOWN;
}
