/* SPDX-License-Identifier: MIT */
/*
 * bytes: little-endian numbers in byte arrays, and arithmetic that notices overflow.
 *
 * A leaf: knows nothing of FAT. Every access to a disk structure's bytes goes through here, so
 * that nothing depends on the host's byte order or alignment.
 */
#ifndef FATWISE_BYTES_H
#define FATWISE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)get_le16(p) | (uint32_t)get_le16(p + 2) << 16;
}

static inline uint64_t get_le64(const uint8_t *p)
{
	return (uint64_t)get_le32(p) | (uint64_t)get_le32(p + 4) << 32;
}

static inline void put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
	put_le16(p, (uint16_t)v);
	put_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void put_le64(uint8_t *p, uint64_t v)
{
	put_le32(p, (uint32_t)v);
	put_le32(p + 4, (uint32_t)(v >> 32));
}

static inline bool is_pow2(uint64_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

static inline uint64_t div_ceil(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* The smallest multiple of step (> 0) that is >= v. The caller knows that it fits. */
static inline uint64_t round_up(uint64_t v, uint64_t step)
{
	return div_ceil(v, step) * step;
}

/* false, and *sum untouched, if a + b does not fit. */
static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
	if (a > UINT64_MAX - b)
		return false;
	*sum = a + b;
	return true;
}

/* false, and *product untouched, if a * b does not fit. */
static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *product)
{
	if (b != 0 && a > UINT64_MAX / b)
		return false;
	*product = a * b;
	return true;
}

/* Puts those bits of from over to that are set in mask. */
static inline void put_bits(uint8_t *to, const uint8_t *from, const uint8_t *mask, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)((to[i] & ~mask[i]) | (from[i] & mask[i]));
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
