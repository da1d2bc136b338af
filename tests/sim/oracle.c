/* SPDX-License-Identifier: MIT */
/*
 * oracle: see oracle.h. The patterns are those of traced systems: Linux's vfat through its page
 * cache, and writers that make one request per cluster.
 */
#include "oracle.h"

#include "lib/bytes.h"

#define WRITE_BACK_BYTES (64ull << 20)

struct play {
	struct sim *sim;
	const struct advise_layout *l;
	uint64_t now_ns;
	uint64_t next_clus;
	uint64_t dir_off;
};

static void request(struct play *p, enum sim_op op, uint64_t off, uint64_t len_bytes)
{
	p->now_ns = sim_request(p->sim, op, off, len_bytes, p->now_ns);
}

static uint64_t entry_sector(const struct advise_layout *l, uint64_t clus)
{
	return (clus + 2) * (uint64_t)l->fat_bits / 8 / l->sector_bytes * l->sector_bytes;
}

static uint64_t clus_off(const struct advise_layout *l, uint64_t clus)
{
	return l->data_off + clus * l->cluster_bytes;
}

static void write_entries(struct play *p, uint64_t first, uint64_t last)
{
	uint64_t from = entry_sector(p->l, first);
	uint64_t len = entry_sector(p->l, last) + p->l->sector_bytes - from;

	request(p, SIM_WRITE, p->l->fat1_off + from, len);
	request(p, SIM_WRITE, p->l->fat2_off + from, len);
}

static void write_dir(struct play *p)
{
	request(p, SIM_WRITE, p->dir_off, p->l->sector_bytes);
}

static void make_dir(struct play *p)
{
	p->dir_off = clus_off(p->l, p->next_clus);
	request(p, SIM_WRITE, p->dir_off, p->l->cluster_bytes);
	p->next_clus++;
}

/* The data of a file through a page cache; its FAT sectors are read as clusters are taken. */
static void cached_data(struct play *p, uint64_t bytes)
{
	uint64_t n = div_ceil(bytes, p->l->cluster_bytes);

	for (uint64_t s = entry_sector(p->l, p->next_clus);
	     s <= entry_sector(p->l, p->next_clus + n - 1); s += p->l->sector_bytes)
		request(p, SIM_READ, p->l->fat1_off + s, p->l->sector_bytes);
	request(p, SIM_WRITE, clus_off(p->l, p->next_clus), round_up(bytes, p->l->sector_bytes));
	p->next_clus += n;
}

static void cached_write_back(struct play *p, uint64_t first_clus)
{
	request(p, SIM_WRITE, p->l->sector_bytes, p->l->sector_bytes); /* FSInfo */
	write_entries(p, first_clus, p->next_clus - 1);
	write_dir(p);
}

static void cached_large(struct play *p, uint64_t bytes)
{
	while (bytes > 0) {
		uint64_t n = min_u64(bytes, WRITE_BACK_BYTES), first = p->next_clus;

		cached_data(p, n);
		cached_write_back(p, first);
		bytes -= n;
	}
}

static void cluster_file(struct play *p, uint64_t bytes)
{
	const struct advise_layout *l = p->l;
	uint64_t end = p->next_clus + div_ceil(bytes, l->cluster_bytes);

	for (; p->next_clus < end; p->next_clus++) {
		request(p, SIM_WRITE, clus_off(l, p->next_clus), l->cluster_bytes);
		if (p->next_clus + 1 < end &&
		    entry_sector(l, p->next_clus) != entry_sector(l, p->next_clus + 1))
			write_entries(p, p->next_clus, p->next_clus);
	}
	write_entries(p, end - 1, end - 1);
	write_dir(p);
}

static uint64_t play_large(struct play *p, enum advise_writer writer)
{
	const uint64_t bytes = 128ull << 20;

	if (writer == ADVISE_CACHED)
		cached_large(p, bytes);
	else
		cluster_file(p, bytes);
	return bytes;
}

static uint64_t play_photos(struct play *p, enum advise_writer writer)
{
	const uint64_t n_photos = 16, photo_bytes = 3456ull << 10;
	uint64_t first = p->next_clus;

	make_dir(p);
	for (uint64_t i = 0; i < n_photos; i++) {
		if (writer == ADVISE_CACHED)
			cached_data(p, photo_bytes);
		else
			cluster_file(p, photo_bytes);
	}
	if (writer == ADVISE_CACHED)
		cached_write_back(p, first);
	return n_photos * photo_bytes;
}

double oracle_rate(const struct sim_params *params, const struct advise_layout *layout,
		   enum advise_writer writer, enum advise_workload workload)
{
	struct play p = { .sim = sim_new(params), .l = layout };
	uint64_t start_ns, bytes;

	if (!p.sim)
		return 0;
	p.next_clus = layout->n_clusters / 3;
	p.dir_off = layout->root_off;
	cluster_file(&p, 1 << 20); /* so that segments are in use when the time begins */
	start_ns = p.now_ns;
	bytes = workload == ADVISE_LARGE ? play_large(&p, writer) : play_photos(&p, writer);
	request(&p, SIM_FLUSH, 0, 0);
	sim_free(p.sim);
	return (double)bytes * 1e9 / (double)(p.now_ns - start_ns);
}
