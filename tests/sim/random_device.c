/* SPDX-License-Identifier: MIT */
/*
 * random_device: see random_device.h. The ranges are those of PROBING.md, section 3.
 */
#include "random_device.h"

#include "lib/bytes.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define US  1000ull

struct dice {
	uint64_t state;
};

static uint64_t roll(struct dice *dice)
{
	uint64_t x = dice->state += 0x9E3779B97F4A7C15u;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

static bool chance(struct dice *dice, unsigned percent)
{
	return roll(dice) % 100 < percent;
}

static uint64_t between(struct dice *dice, uint64_t low, uint64_t high)
{
	return low + roll(dice) % (high - low + 1);
}

static double part(struct dice *dice)
{
	return (double)(roll(dice) >> 11) * 0x1p-53;
}

/* Pages and blocks of SLC and MLC are powers of two, those of TLC have a factor of three. */
static void roll_blocks(struct dice *dice, struct sim_params *p)
{
	static const uint16_t pages_kib[] = { 4, 8, 16, 32 }, blocks_mib[] = { 1, 2, 4, 8, 16 };
	static const uint16_t tlc_pages_kib[] = { 12, 24, 48 }, tlc_blocks_mib[] = { 3, 6, 12, 24 };
	uint64_t page, block;

	if (chance(dice, 30)) {
		page = tlc_pages_kib[roll(dice) % 3];
		block = tlc_blocks_mib[roll(dice) % 4];
	} else {
		page = pages_kib[roll(dice) % 4];
		block = blocks_mib[roll(dice) % 5];
	}
	p->page_bytes = page * KIB;
	p->block_bytes = block * MIB;
	if (chance(dice, 25))
		p->block_off = between(dice, 0, p->block_bytes / p->page_bytes - 1) * p->page_bytes;
	else if (chance(dice, 20))
		p->block_off = between(dice, 0, p->block_bytes / 512 - 1) * 512;
}

/* Programming is as fast as sticks and cards stream; to copy a block takes two seconds at most. */
static void roll_flash(struct dice *dice, struct sim_params *p)
{
	uint64_t slowest;

	roll_blocks(dice, p);
	slowest = max_u64(4, p->block_bytes / (2 * MIB));
	p->open_segments = (uint32_t)between(dice, 1, 6);
	p->fat_blocks = chance(dice, 40) ? (uint32_t)between(dice, 1, 6) : 0;
	p->page_buffer = chance(dice, 20);
	p->fresh = chance(dice, 10);
	p->sense_ns = between(dice, 40, 150) * US;
	p->program_ns = p->page_bytes * 1000 / between(dice, slowest, 40);
	p->copy_ns = p->sense_ns + (uint64_t)((0.5 + part(dice) / 2) * (double)p->program_ns);
	p->erase_ns = between(dice, 2000, 5000) * US;
	p->lookup_ns = chance(dice, 15) ? 0 : between(dice, 40, 200) * US;
}

static void roll_disk(struct dice *dice, struct sim_params *p)
{
	p->kind = SIM_DISK;
	p->page_bytes = p->block_bytes = 512;
	p->block_off = 0;
	p->rpm = chance(dice, 50) ? 5400 : 7200;
	p->track_bytes = between(dice, 100, 1000) * KIB;
	p->seek_min_ns = between(dice, 800, 2000) * US;
	p->seek_full_ns = between(dice, 14000, 24000) * US;
}

static void roll_trouble(struct dice *dice, double max_noise, struct sim_params *p)
{
	p->noise = part(dice) * max_noise;
	if (chance(dice, 15)) {
		p->cache_bytes = 256 * KIB << roll(dice) % 6;
		p->cache_lies = chance(dice, 40);
	}
	if (chance(dice, 10)) {
		p->spike_chance = 0.005;
		p->spike_ns = between(dice, 5, 40) * 1000 * US;
	}
	if (chance(dice, 5)) {
		p->stall_every_bytes = 16 * MIB;
		p->stall_ns = 250000 * US;
	}
	if (chance(dice, 5))
		p->real_bytes = p->size_bytes >> between(dice, 1, 3);
}

void random_device(uint64_t seed, double max_noise, struct sim_params *p)
{
	static const uint16_t commands_kib[] = { 64, 120, 128, 240, 512, 1024 };
	struct dice dice = { seed * 0xD1342543DE82EF95u };
	unsigned kind = (unsigned)(roll(&dice) % 100);

	*p = (struct sim_params){ .name = "random", .seed = seed };
	p->size_bytes = 1024 * MIB << roll(&dice) % 7;
	p->kind = kind < 60 ? SIM_LINEAR : kind < 80 ? SIM_LOG : SIM_FLAT;
	p->read_command_ns = between(&dice, 100, 600) * US;
	p->write_command_ns = between(&dice, 200, 1500) * US;
	p->flush_ns = between(&dice, 50, 500) * US;
	p->read_ns_per_byte = 1e3 / (double)between(&dice, 18, 90);
	p->write_ns_per_byte = 1e3 / (double)between(&dice, 15, 80);
	p->max_command_bytes = commands_kib[roll(&dice) % 6] * KIB;
	p->host_ns = 15 * US;
	p->overlap = chance(&dice, 60);
	roll_flash(&dice, p);
	if (p->kind == SIM_FLAT)
		p->lookup_ns = 0;
	if (kind >= 90)
		roll_disk(&dice, p);
	roll_trouble(&dice, max_noise, p);
}

static double read_ns(const struct sim_params *p)
{
	return (double)(p->read_command_ns + 2 * p->sense_ns + p->lookup_ns) +
	       1024 * p->read_ns_per_byte;
}

bool random_device_shows_block(const struct sim_params *p)
{
	return (p->kind == SIM_LINEAR || p->kind == SIM_LOG) &&
	       (double)p->lookup_ns > 2 * p->noise * read_ns(p);
}

bool random_device_shows_page(const struct sim_params *p)
{
	return p->kind != SIM_DISK && (double)p->sense_ns > 2 * p->noise * read_ns(p);
}
