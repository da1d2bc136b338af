/* SPDX-License-Identifier: MIT */
/*
 * target_sim: a simulated device: a layer that moves a virtual clock, over content in memory.
 */
#include "advise.h"

#include <stdlib.h>

#include "bytes.h"
#include "sim.h"

struct dev_sim {
	struct fat_dev dev;
	struct sim *sim;
	uint64_t now_ns, real_bytes;
};

static struct dev_sim *as_sim(struct fat_dev *dev)
{
	return (struct dev_sim *)dev;
}

static void pass_time(struct dev_sim *sim, enum sim_op op, uint64_t off, size_t len_bytes)
{
	sim->now_ns = sim_request(sim->sim, op, off, len_bytes, sim->now_ns);
}

/* A fake repeats what it has: where its real part ends, the first part begins again. */
static uint64_t real_off(const struct dev_sim *sim, uint64_t off)
{
	return sim->real_bytes ? off % sim->real_bytes : off;
}

static enum fat_status sim_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	pass_time(as_sim(dev), SIM_READ, off, len_bytes);
	return fat_dev_read(dev->below, real_off(as_sim(dev), off), buf, len_bytes);
}

static enum fat_status sim_write(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes)
{
	pass_time(as_sim(dev), SIM_WRITE, off, len_bytes);
	return fat_dev_write(dev->below, real_off(as_sim(dev), off), buf, len_bytes);
}

static enum fat_status sim_flush(struct fat_dev *dev)
{
	pass_time(as_sim(dev), SIM_FLUSH, 0, 0);
	return fat_dev_flush(dev->below);
}

static void sim_close(struct fat_dev *dev)
{
	sim_free(as_sim(dev)->sim);
	free(dev);
}

static const struct fat_dev_ops sim_ops = {
	.name = "sim",
	.read = sim_read,
	.write = sim_write,
	.flush = sim_flush,
	.close = sim_close,
};

static uint64_t virtual_ns(struct advise_target *target)
{
	return ((const struct dev_sim *)target->clock)->now_ns;
}

enum fat_status advise_target_simulate(const struct sim_params *params, struct fat_dev *content,
				       struct advise_target *target)
{
	struct dev_sim *sim = calloc(1, sizeof *sim);
	struct sim *model = sim_new(params);
	enum fat_status status = FAT_ERR_MEMORY;

	if (sim && model)
		status = content ? FAT_OK : fat_dev_mem_open(params->size_bytes, &content);
	if (status != FAT_OK) {
		sim_free(model);
		free(sim);
		return status;
	}
	sim->dev = (struct fat_dev){ .ops = &sim_ops,
				     .below = content,
				     .size_bytes = params->size_bytes,
				     .block_bytes = 512 };
	sim->sim = model;
	sim->real_bytes = params->real_bytes;
	*target = (struct advise_target){ .dev = &sim->dev,
					  .now_ns = virtual_ns,
					  .clock = sim,
					  .block_bytes = 512,
					  .sector_bytes = 512,
					  .max_bytes = 1u << 20 };
	if (params->max_command_bytes)
		target->max_bytes = (uint32_t)min_u64(params->max_command_bytes, 1u << 20);
	return FAT_OK;
}

unsigned advise_target_sim_worst_erases(const struct advise_target *target, uint64_t from_off)
{
	return sim_worst_erases(((const struct dev_sim *)target->clock)->sim, from_off);
}
