/* SPDX-License-Identifier: MIT */
/*
 * sim_models: the models that --simulate knows by name.
 *
 * Each stands for a kind of device that people own; the figures come from published measurements
 * of such devices, rounded.
 */
#include "sim.h"

#include <string.h>

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define US  1000ull
#define MS  (1000 * US)

static const struct sim_params models[] = {
	{
		.name = "old-stick",
		.text = "old 4 GB USB stick: 4 MiB erase blocks, one open at a time",
		.size_bytes = 4 * GIB,
		.kind = SIM_LINEAR,
		.page_bytes = 8 * KIB,
		.block_bytes = 4 * MIB,
		.open_segments = 1,
		.read_command_ns = 400 * US,
		.write_command_ns = 700 * US,
		.flush_ns = 300 * US,
		.read_ns_per_byte = 45,
		.write_ns_per_byte = 45,
		.sense_ns = 100 * US,
		.program_ns = 1000 * US,
		.copy_ns = 1100 * US,
		.erase_ns = 2 * MS,
		.lookup_ns = 120 * US,
		.max_command_bytes = 120 * KIB,
		.host_ns = 15 * US,
	},
	{
		.name = "sd-card",
		.text = "16 GB SD card: 4 MiB allocation units, two open, the first three for the "
			"FAT",
		.size_bytes = 16 * GIB,
		.kind = SIM_LINEAR,
		.page_bytes = 16 * KIB,
		.block_bytes = 4 * MIB,
		.open_segments = 2,
		.fat_blocks = 3,
		.read_command_ns = 600 * US,
		.write_command_ns = 1200 * US,
		.flush_ns = 300 * US,
		.read_ns_per_byte = 50,
		.write_ns_per_byte = 50,
		.sense_ns = 150 * US,
		.program_ns = 1700 * US,
		.copy_ns = 1000 * US,
		.erase_ns = 3 * MS,
		.lookup_ns = 150 * US,
		.max_command_bytes = 512 * KIB,
		.host_ns = 15 * US,
	},
	{
		.name = "disk-64k",
		.text = "7200 rpm disk without a write cache, 64 KiB a command",
		.size_bytes = 20 * GIB,
		.kind = SIM_DISK,
		.page_bytes = 512,
		.block_bytes = 512,
		.read_command_ns = 200 * US,
		.write_command_ns = 200 * US,
		.flush_ns = 100 * US,
		.read_ns_per_byte = 30,
		.write_ns_per_byte = 30,
		.rpm = 7200,
		.track_bytes = 220 * KIB,
		.seek_min_ns = 1 * MS,
		.seek_full_ns = 18 * MS,
		.max_command_bytes = 64 * KIB,
		.host_ns = 15 * US,
	},
	{
		.name = "ssd",
		.text = "SSD behind a fast bridge: nothing of its inside to be seen",
		.size_bytes = 128 * GIB,
		.kind = SIM_FLAT,
		.page_bytes = 4 * KIB,
		.block_bytes = 4 * KIB,
		.read_command_ns = 60 * US,
		.write_command_ns = 20 * US,
		.flush_ns = 50 * US,
		.read_ns_per_byte = 2.2,
		.write_ns_per_byte = 2.5,
		.sense_ns = 8 * US,
		.program_ns = 9 * US,
		.max_command_bytes = 1024 * KIB,
		.host_ns = 15 * US,
	},
	{
		.name = "tlc-stick",
		.text = "cheap 32 GB TLC stick: 6 MiB erase blocks, 24 KiB pages, two open",
		.size_bytes = 32 * GIB,
		.kind = SIM_LINEAR,
		.page_bytes = 24 * KIB,
		.block_bytes = 6 * MIB,
		.open_segments = 2,
		.read_command_ns = 350 * US,
		.write_command_ns = 1000 * US,
		.flush_ns = 300 * US,
		.read_ns_per_byte = 30,
		.write_ns_per_byte = 30,
		.sense_ns = 120 * US,
		.program_ns = 2400 * US,
		.copy_ns = 2500 * US,
		.erase_ns = 4 * MS,
		.lookup_ns = 150 * US,
		.max_command_bytes = 120 * KIB,
		.host_ns = 15 * US,
	},
	{
		.name = "slow-bus",
		.text = "a stick behind a bus of 1 MB/s: the bus is all there is",
		.size_bytes = 4 * GIB,
		.kind = SIM_FLAT,
		.page_bytes = 4 * KIB,
		.block_bytes = 4 * KIB,
		.read_command_ns = 100 * US,
		.write_command_ns = 100 * US,
		.flush_ns = 100 * US,
		.read_ns_per_byte = 1000,
		.write_ns_per_byte = 1000,
		.sense_ns = 25 * US,
		.program_ns = 30 * US,
		.max_command_bytes = 64 * KIB,
		.host_ns = 15 * US,
	},
};

const struct sim_params *sim_model(size_t index)
{
	return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

const struct sim_params *sim_model_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strcmp(models[i].name, name) == 0)
			return &models[i];
	return NULL;
}
