/* SPDX-License-Identifier: MIT */
/*
 * entry: one FAT entry of 12, 16 or 32 bits [FATSPEC 4].
 *
 * Pure functions on bytes. Setting keeps what is not the entry's: the other nibble of a FAT12
 * pair, the four reserved bits of FAT32.
 */
#include "libfat.h"

#include "bytes.h"

#define FAT32_RESERVED_BITS 0xF0000000u

uint32_t fat_entry_mask(enum fat_type type)
{
	return type == FAT_TYPE_32 ? ~FAT32_RESERVED_BITS : (1u << (unsigned)type) - 1;
}

uint32_t fat_entry_bad(enum fat_type type)
{
	return fat_entry_mask(type) - 8;
}

uint32_t fat_entry_end_min(enum fat_type type)
{
	return fat_entry_mask(type) - 7;
}

uint64_t fat_entry_off(enum fat_type type, uint32_t n)
{
	return (uint64_t)n * (unsigned)type / 8;
}

uint32_t fat_entry_get(enum fat_type type, const uint8_t *table, uint32_t n)
{
	const uint8_t *p = table + fat_entry_off(type, n);

	switch (type) {
	case FAT_TYPE_12:
		return n & 1 ? get_le16(p) >> 4 : get_le16(p) & 0x0FFF;
	case FAT_TYPE_16:
		return get_le16(p);
	case FAT_TYPE_32:
		break;
	}
	return get_le32(p) & ~FAT32_RESERVED_BITS;
}

void fat_entry_set(enum fat_type type, uint8_t *table, uint32_t n, uint32_t value)
{
	uint8_t *p = table + fat_entry_off(type, n);

	switch (type) {
	case FAT_TYPE_12:
		if (n & 1)
			put_le16(p, (uint16_t)((get_le16(p) & 0x000F) | value << 4));
		else
			put_le16(p, (uint16_t)((get_le16(p) & 0xF000) | (value & 0x0FFF)));
		break;
	case FAT_TYPE_16:
		put_le16(p, (uint16_t)value);
		break;
	case FAT_TYPE_32:
		put_le32(p, (get_le32(p) & FAT32_RESERVED_BITS) | (value & ~FAT32_RESERVED_BITS));
		break;
	}
}

enum fat_entry_kind fat_entry_classify(enum fat_type type, uint32_t value, uint32_t last_clus)
{
	if (value == 0)
		return FAT_ENTRY_FREE;
	if (value >= FAT_FIRST_CLUS && value <= last_clus)
		return FAT_ENTRY_NEXT;
	if (value >= fat_entry_end_min(type))
		return FAT_ENTRY_END;
	if (value == fat_entry_bad(type))
		return FAT_ENTRY_BAD;
	return FAT_ENTRY_INVALID;
}

uint32_t fat_entry_clean_bit(enum fat_type type)
{
	return type == FAT_TYPE_12 ? 0 : type == FAT_TYPE_16 ? 0x8000 : 0x08000000;
}

uint32_t fat_entry_no_error_bit(enum fat_type type)
{
	return fat_entry_clean_bit(type) >> 1;
}
