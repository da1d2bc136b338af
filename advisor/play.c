/* SPDX-License-Identifier: MIT */
/*
 * play: see play.h.
 *
 * Sources: requests of Linux 6.1 traced at the block layer (by writer: default mount, fragmented
 * free space, -o sync); FatFs and its like write cluster by cluster and a FAT sector when it is
 * full or the file is closed.
 */
#include "play.h"

#include "bytes.h"

#define N_FOLDERS    20
#define FOLDER_BYTES 2048 /* the entries of its files, at once */
#define N_APPENDS    100
#define APPEND_BYTES 3000
#define ASKEW_BYTES  (704u << 10) /* so that no file begins with an erase block */

struct play {
	const struct advise_layout *l;
	const struct play_sink *sink;
	enum advise_writer writer;
	uint64_t stride; /* 2 where every second cluster is taken by somebody else */
	uint64_t next_clus;
	uint64_t
		read_sector; /* FAT sector read last; entries are looked up as clusters are taken */
	uint64_t dirty_clus; /* first whose entry is not written yet */
	uint64_t folder_off;
};

static void request(struct play *p, enum sim_op op, uint64_t off, uint64_t len_bytes)
{
	p->sink->request(p->sink->ctx, op, off, len_bytes);
}

/* ---- places -------------------------------------------------------------------------------- */

/* The sector of a cluster's entry, in bytes from the start of a FAT. */
static uint64_t entry_off(const struct play *p, uint64_t clus)
{
	return (clus + 2) * (uint64_t)p->l->fat_bits / 8 / p->l->sector_bytes * p->l->sector_bytes;
}

static uint64_t clus_off(const struct play *p, uint64_t clus)
{
	return p->l->data_off + clus * p->l->cluster_bytes;
}

static uint64_t whole_sectors(const struct play *p, uint64_t bytes)
{
	return round_up(bytes, p->l->sector_bytes);
}

static void write_entries(struct play *p, uint64_t first_clus, uint64_t last_clus)
{
	uint64_t from = entry_off(p, first_clus);
	uint64_t len = entry_off(p, last_clus) + p->l->sector_bytes - from;

	request(p, SIM_WRITE, p->l->fat1_off + from, len);
	request(p, SIM_WRITE, p->l->fat2_off + from, len);
}

static void write_folder(struct play *p, uint64_t len_bytes)
{
	request(p, SIM_WRITE, p->folder_off, len_bytes);
}

static uint64_t take_cluster(struct play *p)
{
	uint64_t clus = p->next_clus;

	p->next_clus += p->stride;
	return clus;
}

/* ---- through a page cache ------------------------------------------------------------------ */

static void look_up(struct play *p, uint64_t clus)
{
	uint64_t sector = entry_off(p, clus);

	if (sector == p->read_sector)
		return;
	p->read_sector = sector;
	request(p, SIM_READ, p->l->fat1_off + sector, p->l->sector_bytes);
}

static void write_back(struct play *p)
{
	if (p->next_clus == p->dirty_clus)
		return;
	request(p, SIM_WRITE, p->l->sector_bytes, p->l->sector_bytes); /* FSInfo */
	write_entries(p, p->dirty_clus, p->next_clus - p->stride);
	p->dirty_clus = p->next_clus;
}

/* One request for each run of free clusters; the rest of the last cluster is not written. */
static void cached_data(struct play *p, uint64_t bytes)
{
	uint64_t run_off = clus_off(p, p->next_clus), run = 0;

	while (bytes > 0) {
		uint64_t n = min_u64(bytes, p->l->cluster_bytes);
		uint64_t clus = take_cluster(p);

		look_up(p, clus);
		if (run > 0 && clus_off(p, clus) != run_off + run) {
			request(p, SIM_WRITE, run_off, run);
			run = 0;
		}
		if (run == 0)
			run_off = clus_off(p, clus);
		run += whole_sectors(p, n);
		bytes -= n;
	}
	request(p, SIM_WRITE, run_off, run);
}

static void cached_file(struct play *p, uint64_t bytes)
{
	if (bytes <= PLAY_PHOTO_BYTES) { /* written back with those after it */
		cached_data(p, bytes);
		return;
	}
	while (bytes > 0) {
		uint64_t n = min_u64(bytes, PLAY_WRITE_BACK_BYTES);

		cached_data(p, n);
		bytes -= n;
		write_back(p);
		write_folder(p, p->l->sector_bytes);
	}
}

/* ---- mounted with sync --------------------------------------------------------------------- */

/* Each new cluster is marked as the end and linked to, in both FATs, one write after the other. */
static void sync_file(struct play *p, uint64_t bytes)
{
	uint64_t first = p->next_clus, n_clusters = 0;

	for (uint64_t done = 0; done < bytes; done += PLAY_CALL_BYTES) {
		uint64_t n = min_u64(bytes - done, PLAY_CALL_BYTES);

		while (n_clusters * p->l->cluster_bytes < done + n) {
			uint64_t clus = take_cluster(p);

			for (int link = 0; link < (n_clusters == 0 ? 1 : 2); link++)
				write_entries(p, clus, clus);
			n_clusters++;
		}
		request(p, SIM_WRITE, clus_off(p, first) + done, whole_sectors(p, n));
		write_folder(p, p->l->sector_bytes);
		request(p, SIM_FLUSH, 0, 0);
	}
}

/* ---- cluster by cluster -------------------------------------------------------------------- */

static void cluster_file(struct play *p, uint64_t bytes)
{
	uint64_t clus = p->next_clus;

	while (bytes > 0) {
		uint64_t n = min_u64(bytes, p->l->cluster_bytes), before = clus;

		clus = take_cluster(p);
		if (entry_off(p, clus) != entry_off(p, before))
			write_entries(p, before, before);
		request(p, SIM_WRITE, clus_off(p, clus), whole_sectors(p, n));
		bytes -= n;
	}
	write_entries(p, clus, clus);
	write_folder(p, p->l->sector_bytes);
}

/* ---- workloads ----------------------------------------------------------------------------- */

static bool is_cached(const struct play *p)
{
	return p->writer == ADVISE_CACHED || p->writer == ADVISE_AGED;
}

static void write_file(struct play *p, uint64_t bytes)
{
	switch (p->writer) {
	case ADVISE_CACHED:
	case ADVISE_AGED:
		cached_file(p, bytes);
		break;
	case ADVISE_SYNC:
		sync_file(p, bytes);
		break;
	case ADVISE_CLUSTER:
	case ADVISE_N_WRITERS:
		cluster_file(p, bytes);
		break;
	}
}

/* A new folder is a cluster of zeros. */
static void make_folder(struct play *p)
{
	uint64_t clus = take_cluster(p);

	request(p, SIM_WRITE, clus_off(p, clus), p->l->cluster_bytes);
	if (!is_cached(p)) {
		write_entries(p, clus, clus);
		write_folder(p, p->l->sector_bytes); /* its entry, in the one above */
	}
	p->folder_off = clus_off(p, clus);
}

/* So many clusters are left to write to. */
static uint64_t room_clus(const struct play *p)
{
	return p->l->n_clusters > p->next_clus ? (p->l->n_clusters - p->next_clus) / p->stride : 0;
}

/* So many things of this many clusters each, as far as there is room; one at least. */
static uint64_t as_many(const struct play *p, uint64_t n_clus, uint64_t most)
{
	return max_u64(min_u64(room_clus(p) / n_clus, most), 1);
}

static uint64_t play_photos(struct play *p)
{
	uint64_t n_photos;

	make_folder(p);
	n_photos = as_many(p, div_ceil(PLAY_PHOTO_BYTES, p->l->cluster_bytes), PLAY_N_PHOTOS);
	for (uint64_t i = 0; i < n_photos; i++)
		write_file(p, PLAY_PHOTO_BYTES);
	if (is_cached(p))
		write_folder(p, FOLDER_BYTES);
	return n_photos * PLAY_PHOTO_BYTES;
}

static uint64_t play_small(struct play *p)
{
	uint64_t n_clus = PLAY_N_FILES * div_ceil(PLAY_FILE_BYTES, p->l->cluster_bytes) + 1;
	uint64_t n_folders = as_many(p, n_clus, N_FOLDERS);

	for (uint64_t folder = 0; folder < n_folders; folder++) {
		make_folder(p);
		for (int i = 0; i < PLAY_N_FILES; i++)
			write_file(p, PLAY_FILE_BYTES);
		if (is_cached(p))
			write_folder(p, FOLDER_BYTES);
	}
	return n_folders * PLAY_N_FILES * PLAY_FILE_BYTES;
}

/* A record at a time, each safe before the next: data, entry in the folder, FATs when they grow. */
static uint64_t play_log(struct play *p)
{
	uint64_t first = p->next_clus, n_clusters = 0, sector = p->l->sector_bytes;

	for (uint64_t i = 0; i < N_APPENDS; i++) {
		uint64_t from = i * APPEND_BYTES / sector * sector;
		uint64_t to = round_up((i + 1) * APPEND_BYTES, sector);

		request(p, SIM_WRITE, clus_off(p, first) + from, to - from);
		write_folder(p, sector);
		for (; n_clusters * p->l->cluster_bytes < to; n_clusters++)
			write_entries(p, first + n_clusters, first + n_clusters);
		if (p->writer != ADVISE_CLUSTER)
			request(p, SIM_FLUSH, 0, 0);
	}
	return (uint64_t)N_APPENDS * APPEND_BYTES;
}

static uint64_t play(struct play *p, enum advise_workload workload, uint64_t large_bytes)
{
	switch (workload) {
	case ADVISE_LARGE:
		write_file(p, large_bytes);
		return large_bytes;
	case ADVISE_PHOTOS:
		return play_photos(p);
	case ADVISE_SMALL:
		return play_small(p);
	case ADVISE_LOG:
	case ADVISE_N_WORKLOADS:
		break;
	}
	return play_log(p);
}

uint64_t play_workload(const struct advise_layout *layout, enum advise_writer writer,
		       enum advise_workload workload, uint64_t first_clus, uint64_t large_bytes,
		       const struct play_sink *sink)
{
	struct play p = { .l = layout,
			  .sink = sink,
			  .writer = writer,
			  .stride = writer == ADVISE_AGED ? 2 : 1,
			  .next_clus = first_clus,
			  .read_sector = UINT64_MAX,
			  .dirty_clus = first_clus,
			  .folder_off = layout->root_off };
	uint64_t bytes = play(&p, workload, large_bytes);

	if (is_cached(&p) && workload != ADVISE_LOG)
		write_back(&p);
	return bytes;
}

/* ---- on a model ---------------------------------------------------------------------------- */

struct stage {
	struct sim *sim;
	uint64_t now_ns;
};

static void send_to_model(void *ctx, enum sim_op op, uint64_t off, uint64_t len_bytes)
{
	struct stage *stage = ctx;

	stage->now_ns = sim_request(stage->sim, op, off, len_bytes, stage->now_ns);
}

double play_on_model(const struct sim_params *params, const struct advise_layout *layout,
		     enum advise_writer writer, enum advise_workload workload, uint64_t large_bytes)
{
	struct stage stage = { .sim = sim_new(params) };
	const struct play_sink sink = { send_to_model, &stage };
	uint64_t third = (params->size_bytes / 3 + ASKEW_BYTES) / layout->cluster_bytes;
	uint64_t start_ns, bytes;

	if (!stage.sim)
		return 0;
	/* a first file, so that the device is at work when the time begins */
	play_workload(layout, writer, ADVISE_LARGE, third, 1 << 20, &sink);
	third += div_ceil(1 << 20, layout->cluster_bytes) * (writer == ADVISE_AGED ? 2 : 1);
	start_ns = stage.now_ns;
	bytes = play_workload(layout, writer, workload, third, large_bytes, &sink);
	send_to_model(&stage, SIM_FLUSH, 0, 0);
	sim_free(stage.sim);
	return (double)bytes * 1e9 / (double)(stage.now_ns - start_ns);
}
