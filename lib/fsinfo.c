/* SPDX-License-Identifier: MIT */
/*
 * fsinfo: FAT32's sector of free-space hints. Pure functions on bytes.
 */
#include "libfat.h"

#include "bytes.h"

#define LEAD_SIG   0x41615252u /* "RRaA" */
#define STRUCT_SIG 0x61417272u /* "rrAa" */
#define TRAIL_SIG  0xAA550000u

enum fsinfo_off { OFF_LEAD = 0, OFF_STRUCT = 484, OFF_FREE = 488, OFF_NEXT = 492, OFF_TRAIL = 508 };

void fat_fsinfo_decode(const uint8_t sector[FAT_FSINFO_BYTES], struct fat_fsinfo *fsinfo)
{
	*fsinfo = (struct fat_fsinfo){
		.lead_ok = get_le32(sector + OFF_LEAD) == LEAD_SIG,
		.struct_ok = get_le32(sector + OFF_STRUCT) == STRUCT_SIG,
		.trail_ok = get_le32(sector + OFF_TRAIL) == TRAIL_SIG,
		.n_free = get_le32(sector + OFF_FREE),
		.next_clus = get_le32(sector + OFF_NEXT),
	};
}

void fat_fsinfo_encode(const struct fat_fsinfo *fsinfo, uint8_t sector[FAT_FSINFO_BYTES])
{
	put_le32(sector + OFF_LEAD, LEAD_SIG);
	put_le32(sector + OFF_STRUCT, STRUCT_SIG);
	put_le32(sector + OFF_FREE, fsinfo->n_free);
	put_le32(sector + OFF_NEXT, fsinfo->next_clus);
	put_le32(sector + OFF_TRAIL, TRAIL_SIG);
}
