/* SPDX-License-Identifier: MIT */
/*
 * flash: what an SD or MMC card says of itself.
 *
 * Knows the mmc layer's attributes and the SD status register. Whether the erase size is the card's
 * word or the kernel's guess by capacity looks the same there: au_bytes is set only from the
 * register.
 */
#include <ctype.h>
#include <string.h>

#include "sysfs.h"

#define SSR_BYTES ((size_t)64)

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Codes of AU_SIZE and UHS_AU_SIZE. [SD Physical Layer 4.10.2, tables 4-46 and 4-62] */
static uint64_t au_bytes_of(unsigned code)
{
	static const uint32_t au_kib[16] = {
		0,    16,   32,   64,    128,   256,   512,   1024,
		2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536,
	};

	return (uint64_t)au_kib[code & 15] * 1024;
}

static uint32_t speed_class_of(unsigned code)
{
	static const uint32_t classes[] = { 0, 2, 4, 6, 10 };

	return code < sizeof classes / sizeof *classes ? classes[code] : 0;
}

bool host_flash_decode_ssr(const char *hex, struct host_flash *flash)
{
	uint8_t ssr[SSR_BYTES];
	unsigned any = 0;

	if (strlen(hex) < 2 * SSR_BYTES)
		return false;
	for (size_t i = 0; i < SSR_BYTES; i++) {
		int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ssr[i] = (uint8_t)(high << 4 | low);
		any |= ssr[i];
	}
	if (!any)
		return false;
	flash->speed_class = speed_class_of(ssr[8]);
	flash->au_bytes = au_bytes_of(ssr[10] >> 4);
	flash->uhs_au_bytes = au_bytes_of(ssr[14] & 15);
	return true;
}

static uint32_t attr_id(const char *dir, const char *name)
{
	uint64_t v;

	host_attr_u64(dir, name, &v);
	return (uint32_t)v;
}

enum host_answer host_flash_read(const struct host_roots *roots, const struct host_target *target,
				 struct host_flash *flash)
{
	char dir[HOST_PATH_BYTES], card[HOST_PATH_BYTES], ssr[2 * SSR_BYTES + 2];
	uint64_t index;
	bool part;

	*flash = (struct host_flash){ .is_mmc = HOST_UNKNOWN };
	host_block_dir(roots, target->number, dir);
	if (!host_attr_text(dir, "dev", card, sizeof card))
		return HOST_UNKNOWN;
	part = host_attr_u64(dir, "partition", &index);
	if (!host_join(card, dir, part ? "../device" : "device"))
		return HOST_UNKNOWN;
	flash->is_mmc = HOST_NO;
	if (!host_attr_u64(card, "preferred_erase_size", &flash->preferred_erase_bytes))
		return HOST_NO;
	flash->is_mmc = HOST_YES;
	flash->manufacturer_id = attr_id(card, "manfid");
	flash->oem_id = attr_id(card, "oemid");
	host_attr_text(card, "type", flash->type, sizeof flash->type);
	host_attr_text(card, "name", flash->name, sizeof flash->name);
	host_attr_text(card, "serial", flash->serial, sizeof flash->serial);
	host_attr_text(card, "date", flash->date, sizeof flash->date);
	if (host_attr_text(card, "ssr", ssr, sizeof ssr))
		host_flash_decode_ssr(ssr, flash);
	return HOST_YES;
}
