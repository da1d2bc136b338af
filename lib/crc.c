/* SPDX-License-Identifier: MIT */
/* crc: CRC-32C by half bytes: a table of 16 words, fast enough for an undo file. */
#include "crc.h"

uint32_t fat_crc32c(uint32_t crc, const void *bytes, size_t len_bytes)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
		0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
		0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
	};
	const uint8_t *p = bytes;

	crc = ~crc;
	while (len_bytes-- > 0) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}
