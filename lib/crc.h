/* SPDX-License-Identifier: MIT */
/* crc: CRC-32C (Castagnoli), as RFC 3720 defines it. A leaf. */
#ifndef FATWISE_CRC_H
#define FATWISE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of bytes whose beginning had the CRC `crc` (0 for none). Cost: two table steps a byte. */
uint32_t fat_crc32c(uint32_t crc, const void *bytes, size_t len_bytes);

#endif
