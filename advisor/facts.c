/* SPDX-License-Identifier: MIT */
/*
 * facts: what the host says of the device, and whether it may be touched at all.
 */
#include "facts.h"

#include <stdio.h>

#include "host.h"

bool advise_may_touch(const char *path, char *why, size_t why_bytes)
{
	struct host_target target;
	struct host_use use = { 0 };
	char text[HOST_NAME_BYTES + HOST_TEXT_BYTES + 64];

	host_target_init(&target, path);
	if (host_use_find(NULL, &target, &use) == HOST_YES) {
		snprintf(why, why_bytes, "%s%sis %s; unmount or detach it first", use.device,
			 use.device[0] ? " " : "", host_use_text(&use, text, sizeof text));
		return false;
	}
	if (target.kind == HOST_BLOCK && host_on_system_disk(NULL, &target) == HOST_YES) {
		snprintf(why, why_bytes, "it is on the disk that this system runs from");
		return false;
	}
	return true;
}

void advise_facts_read(const char *path, uint64_t size_bytes, struct advise_facts *facts)
{
	struct host_device device;

	host_device_read(NULL, path, -1, &device);
	*facts = (struct advise_facts){ .size_bytes = size_bytes };
	if (device.target.kind != HOST_BLOCK)
		return;
	snprintf(facts->model, sizeof facts->model, "%.30s%s%.30s", device.identity.vendor,
		 device.identity.vendor[0] ? " " : "", device.identity.model);
	facts->is_whole_disk = device.topology.name[0] && !device.topology.is_partition;
	facts->start_bytes = device.topology.part_start_bytes;
	facts->card_says = device.flash.au_bytes != 0;
	facts->erase_hint_bytes =
		facts->card_says ? device.flash.au_bytes : device.flash.preferred_erase_bytes;
	facts->optimal_bytes = device.topology.optimal_io_bytes;
	facts->discard_bytes = device.topology.discard_granularity_bytes;
	snprintf(facts->serial, sizeof facts->serial, "%.60s", device.identity.serial);
	snprintf(facts->bus, sizeof facts->bus, "%.15s", device.identity.bus);
}
