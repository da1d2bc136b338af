/* SPDX-License-Identifier: MIT */
/*
 * dirent: the 32 bytes of a directory slot, short entry or long-name slot [FATSPEC 6, 7].
 *
 * Pure functions on bytes. Nothing is judged while decoding. Encoding keeps what the struct does
 * not hold: on FAT12/16 the two bytes that FAT32 uses for the high half of the start cluster (OS/2
 * kept handles there), in a long-name slot nothing.
 */
#include "libfat.h"

#include <string.h>

#include "bytes.h"

enum short_off {
	OFF_ATTR = 11,
	OFF_CASE = 12,
	OFF_CREATE_FINE = 13,
	OFF_CREATE_TIME = 14,
	OFF_CREATE_DATE = 16,
	OFF_ACCESS_DATE = 18,
	OFF_START_HIGH = 20,
	OFF_WRITE_TIME = 22,
	OFF_WRITE_DATE = 24,
	OFF_START_LOW = 26,
	OFF_SIZE = 28,
};

enum long_off { OFF_ORDER = 0, OFF_LONG_TYPE = 12, OFF_CHECKSUM = 13 };

static const uint8_t unit_off[FAT_LONG_SLOT_UNITS] = { 1,  3,  5,  7,  9,  14, 16,
						       18, 20, 22, 24, 28, 30 };

enum fat_slot_kind fat_slot_classify(const uint8_t slot[FAT_SLOT_BYTES])
{
	uint8_t attr = slot[OFF_ATTR];

	if (slot[0] == 0)
		return FAT_SLOT_END;
	if (slot[0] == FAT_SLOT_DELETED_MARK)
		return FAT_SLOT_DELETED;
	if ((attr & FAT_ATTR_KNOWN) == FAT_ATTR_LONG)
		return FAT_SLOT_LONG;
	if (attr & FAT_ATTR_VOLUME)
		return FAT_SLOT_LABEL;
	if (memcmp(slot, ".          ", 11) == 0)
		return FAT_SLOT_DOT;
	if (memcmp(slot, "..         ", 11) == 0)
		return FAT_SLOT_DOTDOT;
	return attr & FAT_ATTR_DIRECTORY ? FAT_SLOT_DIRECTORY : FAT_SLOT_FILE;
}

void fat_dirent_decode(const uint8_t slot[FAT_SLOT_BYTES], enum fat_type type,
		       struct fat_dirent *dirent)
{
	memcpy(dirent->name, slot, sizeof dirent->name);
	dirent->attr = slot[OFF_ATTR];
	dirent->name_case = slot[OFF_CASE];
	dirent->create_fine = slot[OFF_CREATE_FINE];
	dirent->create_time = get_le16(slot + OFF_CREATE_TIME);
	dirent->create_date = get_le16(slot + OFF_CREATE_DATE);
	dirent->access_date = get_le16(slot + OFF_ACCESS_DATE);
	dirent->write_time = get_le16(slot + OFF_WRITE_TIME);
	dirent->write_date = get_le16(slot + OFF_WRITE_DATE);
	dirent->start_clus = get_le16(slot + OFF_START_LOW);
	if (type == FAT_TYPE_32)
		dirent->start_clus |= (uint32_t)get_le16(slot + OFF_START_HIGH) << 16;
	dirent->size_bytes = get_le32(slot + OFF_SIZE);
}

void fat_dirent_encode(const struct fat_dirent *dirent, enum fat_type type,
		       uint8_t slot[FAT_SLOT_BYTES])
{
	memcpy(slot, dirent->name, sizeof dirent->name);
	slot[OFF_ATTR] = dirent->attr;
	slot[OFF_CASE] = dirent->name_case;
	slot[OFF_CREATE_FINE] = dirent->create_fine;
	put_le16(slot + OFF_CREATE_TIME, dirent->create_time);
	put_le16(slot + OFF_CREATE_DATE, dirent->create_date);
	put_le16(slot + OFF_ACCESS_DATE, dirent->access_date);
	put_le16(slot + OFF_WRITE_TIME, dirent->write_time);
	put_le16(slot + OFF_WRITE_DATE, dirent->write_date);
	put_le16(slot + OFF_START_LOW, (uint16_t)dirent->start_clus);
	if (type == FAT_TYPE_32)
		put_le16(slot + OFF_START_HIGH, (uint16_t)(dirent->start_clus >> 16));
	put_le32(slot + OFF_SIZE, dirent->size_bytes);
}

void fat_long_slot_decode(const uint8_t slot[FAT_SLOT_BYTES], struct fat_long_slot *part)
{
	part->order = slot[OFF_ORDER];
	part->attr = slot[OFF_ATTR];
	part->type = slot[OFF_LONG_TYPE];
	part->checksum = slot[OFF_CHECKSUM];
	part->start_clus = get_le16(slot + OFF_START_LOW);
	for (size_t i = 0; i < FAT_LONG_SLOT_UNITS; i++)
		part->unit[i] = get_le16(slot + unit_off[i]);
}

void fat_long_slot_encode(const struct fat_long_slot *part, uint8_t slot[FAT_SLOT_BYTES])
{
	slot[OFF_ORDER] = part->order;
	slot[OFF_ATTR] = part->attr;
	slot[OFF_LONG_TYPE] = part->type;
	slot[OFF_CHECKSUM] = part->checksum;
	put_le16(slot + OFF_START_LOW, part->start_clus);
	for (size_t i = 0; i < FAT_LONG_SLOT_UNITS; i++)
		put_le16(slot + unit_off[i], part->unit[i]);
}

/* ---- dates and times ---- */

static uint8_t days_in(uint32_t year, uint32_t month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return (uint8_t)(days[month - 1] + (month == 2 && leap));
}

bool fat_date_is_valid(uint16_t date)
{
	uint32_t month = date >> 5 & 15, day = date & 31;

	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

bool fat_time_is_valid(uint16_t time)
{
	return time >> 11 < 24 && (time >> 5 & 63) < 60 && (time & 31) < 30;
}

bool fat_datetime_encode(const struct fat_datetime *at, uint16_t *date, uint16_t *time,
			 uint8_t *fine)
{
	if (at->year < 1980 || at->year > 2107 || at->month < 1 || at->month > 12 || at->day < 1 ||
	    at->day > days_in(at->year, at->month) || at->hour > 23 || at->minute > 59 ||
	    at->second > 59 || at->hundredths > 99)
		return false;
	*date = (uint16_t)((at->year - 1980u) << 9 | (uint32_t)at->month << 5 | at->day);
	*time = (uint16_t)((unsigned)at->hour << 11 | (unsigned)at->minute << 5 | at->second / 2u);
	*fine = (uint8_t)(at->second % 2 * 100 + at->hundredths);
	return true;
}

void fat_datetime_decode(uint16_t date, uint16_t time, uint8_t fine, struct fat_datetime *at)
{
	at->year = (uint16_t)(1980 + (date >> 9));
	at->month = date >> 5 & 15;
	at->day = date & 31;
	at->hour = (uint8_t)(time >> 11);
	at->minute = time >> 5 & 63;
	at->second = (uint8_t)((time & 31) * 2 + fine / 100);
	at->hundredths = fine % 100;
}
