/* SPDX-License-Identifier: MIT */
/*
 * boot_atari: what is different on a volume of Atari's GEMDOS.
 */
#ifndef FATWISE_FSCK_BOOT_ATARI_H
#define FATWISE_FSCK_BOOT_ATARI_H

#include "fsck.h"

/* Asked for, or known by its 68000 jump. */
bool boot_is_atari(const struct fsck_options *options, const struct fat_boot *boot);
/* Takes out what is no deviation there. */
void boot_atari_allow(struct fat_boot_report *report);
/* The width of its FAT: 16 bits on disks however few clusters there are, 12 on floppies. */
enum fat_type boot_atari_type(const struct fat_geometry *geometry);

#endif
