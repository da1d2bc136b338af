/* SPDX-License-Identifier: MIT */
/*
 * boot_code: what a BIOS runs that was told to boot from a volume without a system: a message.
 *
 * Lies between the fields of the boot sector and its signature. The only place with machine code.
 */
#include "libfat.h"

#include <string.h>

#include "bytes.h"

#define LOAD_ADDRESS	  0x7C00u
#define CODE_OFF_16	  62u
#define CODE_OFF_32	  90u
#define TABLE_OFF	  440u /* a disk signature and a partition table, if there are any */
#define SIGNATURE_OFF	  510u
#define CODE_MESSAGE_PART 3u /* offset of the message's address in the code */

static const uint8_t code[] = {
	0x0E,		  /*       push cs              */
	0x1F,		  /*       pop  ds              */
	0xBE, 0x00, 0x00, /*       mov  si, message     */
	0xFC,		  /*       cld                  */
	0xAC,		  /* next: lodsb                */
	0x84, 0xC0,	  /*       test al, al          */
	0x74, 0x09,	  /*       jz   key             */
	0xBB, 0x07, 0x00, /*       mov  bx, 7           */
	0xB4, 0x0E,	  /*       mov  ah, 0Eh         */
	0xCD, 0x10,	  /*       int  10h: show al    */
	0xEB, 0xF2,	  /*       jmp  next            */
	0x31, 0xC0,	  /* key:  xor  ax, ax          */
	0xCD, 0x16,	  /*       int  16h: wait       */
	0xCD, 0x19,	  /*       int  19h: boot again */
	0xF4,		  /* halt: hlt                  */
	0xEB, 0xFD,	  /*       jmp  halt            */
};

static const char own_message[] =
	"No system here: this volume holds data only.\r\n"
	"Take it out, or choose another device, and press a key.\r\n";

static uint32_t code_off(enum fat_type type)
{
	return type == FAT_TYPE_32 ? CODE_OFF_32 : CODE_OFF_16;
}

size_t fat_boot_message_max(enum fat_type type, bool has_table)
{
	return (has_table ? TABLE_OFF : SIGNATURE_OFF) - code_off(type) - sizeof code - 1;
}

void fat_boot_code_put(enum fat_type type, const uint8_t *message, size_t message_bytes,
		       uint8_t sector[FAT_BOOT_BYTES])
{
	uint32_t message_off = code_off(type) + (uint32_t)sizeof code;

	memcpy(sector + code_off(type), code, sizeof code);
	put_le16(sector + code_off(type) + CODE_MESSAGE_PART,
		 (uint16_t)(LOAD_ADDRESS + message_off));
	if (message)
		memcpy(sector + message_off, message, message_bytes);
	else
		memcpy(sector + message_off, own_message, sizeof own_message - 1);
}
