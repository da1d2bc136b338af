/* SPDX-License-Identifier: MIT */
/*
 * predict: what each cluster size would bring, for each kind of writer. Pure.
 *
 * The patterns are those traced from Linux's driver and known of small systems: through a page
 * cache a large file goes out in the queue's largest requests whatever the cluster size, and only
 * the FAT's traffic changes; other writers make one request per cluster and write a FAT sector when
 * it is full [PROBING 2, 5].
 */
#include "advise.h"

#include <math.h>

#include "bytes.h"
#include "play.h"

#define LARGE_BYTES       (128.0 * 1048576)
#define LEAST_LARGE_BYTES (2u << 20)
#define FILE_BYTES        ((PLAY_FILE_BYTES + 511ull) & ~511ull)
#define APPEND_BYTES      3584u /* of whole sectors, in the mean */
#define LARGEST_CACHE     (128u << 20)
#define ALIKE             0.15
#define N_ANGLES          8 /* of a disk */
#define ANGLE_BYTES       3
#define COMMAND_PART      0.004 /* of a turn */

/* The prices of a volume's writes, ns. */
struct prices {
	double cluster;      /* one cluster, in a row of them */
	double meta;         /* a sector of each FAT and one of the directory */
	double come_back;    /* what the next data write costs more */
	double file, pieces; /* a small file's data at once, and cluster by cluster */
	double append;       /* a record of a log */
	double max_stream;   /* a byte in a long stream */
	double far_read;
};

/* A write of len_bytes in a row of its like: by the sizes measured, or several requests. */
static double write_ns(const struct advise_measured *measured,
		       const struct advise_inferred *inferred, uint32_t len_bytes)
{
	uint32_t max = min_u32(measured->max_bytes, advise_size_bytes(ADVISE_N_SIZES - 1));

	if (len_bytes > max)
		return write_ns(measured, inferred, max) * (double)div_ceil(len_bytes, max);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++) {
		double size = advise_size_bytes(i), ns = inferred->write_ns[i];
		double less_ns = i > 0 && ns > 0 ? inferred->write_ns[i - 1] : 0;

		if (size < len_bytes || ns <= 0)
			continue;
		/* the size before is half as long */
		return less_ns > 0 ? less_ns + (ns - less_ns) * (2 * len_bytes / size - 1) : ns;
	}
	return inferred->command_ns + inferred->ns_per_byte * len_bytes;
}

/*
 * Where it was not rehearsed because a write elsewhere closes a block, visits have told what that
 * takes: one for the metadata of a file is the least.
 */
static double visit_ns(const struct advise_inside *inside)
{
	return inside->costs ? advise_middle(inside->visit_ns, inside->n_visits) : 0;
}

static bool price_by_rehearsal(const struct advise_rehearsal *r, struct prices *prices)
{
	if (r->n_rounds == 0 || r->n_data == 0)
		return false;
	prices->cluster = (double)r->data_ns / (double)r->n_data;
	prices->meta = (double)r->meta_ns / r->n_rounds;
	prices->come_back = fmax((double)r->first_ns / r->n_rounds - prices->cluster, 0);
	return true;
}

/* The metadata's price from the rehearsal of the cluster size that lies nearest. */
static void borrow_meta(const struct advise_measured *measured, size_t index, struct prices *prices)
{
	for (size_t far = 1; far < ADVISE_N_CLUSTERS; far++) {
		struct prices other;

		if ((index + far < ADVISE_N_CLUSTERS &&
		     price_by_rehearsal(&measured->rehearsal[index + far], &other)) ||
		    (index >= far &&
		     price_by_rehearsal(&measured->rehearsal[index - far], &other))) {
			prices->meta = other.meta;
			prices->come_back = other.come_back;
			return;
		}
	}
}

/* Data of less than some clusters, in requests of one at most. */
static double pieces_ns(const struct advise_measured *measured,
			const struct advise_inferred *inferred, uint32_t cluster_bytes,
			uint32_t len_bytes)
{
	double ns = 0;

	while (len_bytes > 0) {
		uint32_t n = min_u32(len_bytes, cluster_bytes);

		ns += write_ns(measured, inferred, max_u32(n, measured->block_bytes));
		len_bytes -= n;
	}
	return ns;
}

static struct prices price(const struct advise_measured *measured,
			   const struct advise_inferred *inferred, size_t index)
{
	uint32_t cluster = 512u << index;
	double sector = write_ns(measured, inferred, measured->block_bytes);
	struct prices prices = { .meta = fmax(3 * sector, visit_ns(&measured->inside)),
				 .far_read = inferred->far_read_ns };

	if (!price_by_rehearsal(&measured->rehearsal[index], &prices)) {
		prices.cluster =
			write_ns(measured, inferred, max_u32(cluster, measured->block_bytes));
		borrow_meta(measured, index, &prices);
	}
	prices.pieces = pieces_ns(measured, inferred, cluster, FILE_BYTES);
	/* in two of a page's places out of four it is cut where a page ends */
	prices.file = (pieces_ns(measured, inferred, UINT32_MAX, FILE_BYTES) + prices.pieces) / 2;
	prices.append = write_ns(measured, inferred, max_u32(APPEND_BYTES, measured->block_bytes));
	if (inferred->write_bytes_per_s > 0)
		prices.max_stream = 1e9 / inferred->write_bytes_per_s;
	else
		prices.max_stream =
			write_ns(measured, inferred, measured->max_bytes) / measured->max_bytes;
	return prices;
}

/* ---- by prices ----------------------------------------------------------------------------- */

/* One request per cluster; a FAT sector when its entries are used up, all metadata at the end. */
static double cluster_writer_ns(const struct advise_layout *l, const struct prices *prices,
				double file_bytes)
{
	double n_clusters = ceil(file_bytes / l->cluster_bytes);
	double entries = l->sector_bytes * 8.0 / l->fat_bits;
	double n_meta = 1 + floor(n_clusters / entries);

	return n_clusters * prices->cluster + n_meta * (prices->meta + prices->come_back);
}

/* Data in long requests, FAT sectors read as clusters are taken, metadata once per write-back. */
static double cached_writer_ns(const struct advise_layout *l, const struct prices *prices,
			       double bytes)
{
	double n_clusters = ceil(bytes / l->cluster_bytes);
	double fat_bytes = n_clusters * l->fat_bits / 8;
	double n_fat_sectors = ceil(fat_bytes / l->sector_bytes);
	double n_write_backs = ceil(bytes / PLAY_WRITE_BACK_BYTES);

	return bytes * prices->max_stream + n_fat_sectors * prices->far_read +
	       2 * fat_bytes * prices->max_stream +
	       n_write_backs * (prices->meta * 4 / 3 + prices->come_back);
}

/* Per call of 128 KiB: each cluster's entry marked and linked in both FATs, data, folder, flush. */
static double sync_writer_ns(const struct advise_layout *l, const struct prices *prices,
			     double bytes)
{
	double n_clusters = ceil(bytes / l->cluster_bytes), n_calls = ceil(bytes / PLAY_CALL_BYTES);

	return n_clusters * 4 * prices->meta / 3 + bytes * prices->max_stream +
	       n_calls * (prices->meta / 3 + prices->come_back);
}

/* A request per cluster, the rest as through any cache. */
static double aged_writer_ns(const struct advise_layout *l, const struct prices *prices,
			     double bytes)
{
	double n_clusters = ceil(bytes / l->cluster_bytes);

	return cached_writer_ns(l, prices, bytes) +
	       fmax(n_clusters * prices->cluster - bytes * prices->max_stream, 0);
}

static double writer_ns(const struct advise_layout *l, const struct prices *prices,
			enum advise_writer writer, double bytes)
{
	switch (writer) {
	case ADVISE_CACHED:
		return cached_writer_ns(l, prices, bytes);
	case ADVISE_AGED:
		return aged_writer_ns(l, prices, bytes);
	case ADVISE_SYNC:
		return sync_writer_ns(l, prices, bytes);
	case ADVISE_CLUSTER:
	case ADVISE_N_WRITERS:
		break;
	}
	return cluster_writer_ns(l, prices, bytes);
}

/*
 * A file and its part of a folder, which is a cluster of zeros. Through a cache the metadata come
 * once in all; else its entry comes with it, and a write to each FAT, and, mounted with sync, two
 * more for each cluster but the first.
 */
static double small_file_ns(const struct advise_layout *l, const struct prices *prices,
			    enum advise_writer writer)
{
	double n_clusters = (double)div_ceil(FILE_BYTES, l->cluster_bytes);
	bool at_once = writer == ADVISE_CACHED || writer == ADVISE_SYNC;
	double data_ns = at_once ? prices->file : prices->pieces;
	double meta_ns = prices->meta + prices->come_back;

	data_ns += prices->cluster / PLAY_N_FILES;
	if (writer == ADVISE_CACHED || writer == ADVISE_AGED)
		return data_ns;
	if (writer == ADVISE_SYNC)
		meta_ns += (n_clusters - 1) * prices->meta * 4 / 3;
	return data_ns + meta_ns * (1 + 1.0 / PLAY_N_FILES);
}

static void predict_by_prices(const struct prices *prices, struct advise_row *row)
{
	const struct advise_layout *l = &row->layout;

	for (int w = 0; w < ADVISE_N_WRITERS; w++) {
		double *rate = row->bytes_per_s[w];
		enum advise_writer writer = (enum advise_writer)w;
		bool cached = writer == ADVISE_CACHED || writer == ADVISE_AGED;
		/* what is open at once: all photos together, or one after the other */
		double photos = cached ? PLAY_N_PHOTOS * PLAY_PHOTO_BYTES : PLAY_PHOTO_BYTES;
		double append_ns = prices->append + prices->meta / 3 + prices->come_back +
				   (double)APPEND_BYTES / l->cluster_bytes * prices->meta * 2 / 3;

		rate[ADVISE_LARGE] = LARGE_BYTES * 1e9 / writer_ns(l, prices, writer, LARGE_BYTES);
		rate[ADVISE_PHOTOS] = photos * 1e9 / writer_ns(l, prices, writer, photos);
		rate[ADVISE_SMALL] = (double)FILE_BYTES * 1e9 / small_file_ns(l, prices, writer);
		rate[ADVISE_LOG] = APPEND_BYTES * 1e9 / append_ns;
	}
}

/* ---- by the model -------------------------------------------------------------------------- */

/* Long enough for some erase blocks, short enough for small clusters and small volumes. */
static uint64_t large_bytes(const struct advise_layout *l)
{
	return min_u64(min_u64((uint64_t)LARGE_BYTES, 16384ull * l->cluster_bytes),
		       play_most_bytes(l));
}

/*
 * Where on its turn a disk's sector lies decides between sizes when files are small: a mean of some
 * plays. Where the angles are known commands differ a little, else tracks by a few bytes, which add
 * up to any angle.
 */
static double play_at_angles(const struct advise_fit *fit, const struct advise_layout *l,
			     enum advise_writer writer, enum advise_workload workload)
{
	struct sim_params turned = *fit->params;
	uint64_t step_ns = (uint64_t)(60e9 / turned.rpm * COMMAND_PART);
	double s_per_byte = 0;

	if (fit->angles_known) /* from less to more */
		turned.write_command_ns -= min_u64(turned.write_command_ns, N_ANGLES / 2 * step_ns);
	for (int i = 0; i < N_ANGLES; i++) {
		double rate = play_on_model(&turned, l, writer, workload, large_bytes(l));

		if (rate <= 0)
			return 0;
		s_per_byte += 1 / rate;
		if (fit->angles_known)
			turned.write_command_ns += step_ns;
		else
			turned.track_bytes += ANGLE_BYTES;
	}
	return N_ANGLES / s_per_byte;
}

static double play(const struct advise_fit *fit, const struct advise_layout *l,
		   enum advise_writer writer, enum advise_workload workload)
{
	if (fit->params->kind == SIM_DISK && workload == ADVISE_SMALL)
		return play_at_angles(fit, l, writer, workload);
	return play_on_model(fit->params, l, writer, workload, large_bytes(l));
}

/* It never filled up: it may hold much more than the model's. */
static bool cache_is_open_ended(const struct advise_measured *measured)
{
	return measured->settle != ADVISE_SETTLED &&
	       measured->cache_stream.bytes <
		       measured->cache_bytes +
			       (uint64_t)ADVISE_CACHE_SLOW * ADVISE_CACHE_PIECE_BYTES;
}

/* A speed that depends on what was not seen, or on few events, is not known. */
static void predict_by_model(const struct advise_measured *measured, const struct advise_fit *fit,
			     struct advise_row *row)
{
	bool open_ended = cache_is_open_ended(measured), doubtful = open_ended || fit->doubt_ns > 0;
	struct sim_params model = *fit->params;
	struct advise_fit other = *fit;

	if (open_ended)
		model.cache_bytes = LARGEST_CACHE;
	model.write_command_ns += fit->doubt_ns;
	other.params = &model;
	for (int w = 0; w < ADVISE_N_WRITERS; w++) {
		for (int k = 0; k < ADVISE_N_WORKLOADS; k++) {
			enum advise_writer writer = (enum advise_writer)w;
			enum advise_workload workload = (enum advise_workload)k;
			double rate = play(fit, &row->layout, writer, workload);

			row->bytes_per_s[w][k] = rate;
			if (doubtful && row->known[w][k])
				row->known[w][k] =
					fabs(play(&other, &row->layout, writer, workload) / rate -
					     1) < ALIKE;
		}
	}
}

/* Workloads are long enough to say something. */
static bool has_room(const struct advise_layout *l)
{
	return large_bytes(l) >= LEAST_LARGE_BYTES;
}

/* dosfstools 4.2 keeps the FAT and an owner for each cluster. */
#define CHECK_BYTES_PER_CLUSTER 12

/* What does not depend on writes. */
static void reckon(const struct advise_inferred *inferred, uint64_t n_files, struct advise_row *row)
{
	const struct advise_layout *l = &row->layout;
	double rate = inferred->read_bytes_per_s;

	row->slack_bytes = n_files * l->cluster_bytes / 2;
	row->check_memory_bytes = l->n_clusters * CHECK_BYTES_PER_CLUSTER;
	row->check_s = rate > 0 ? 2 * (double)l->fat_bytes / rate : 0;
	row->mount_s = row->check_s / 2;
	row->hosts = l->sector_bytes > 512      ? "hosts that take long sectors"
		     : l->cluster_bytes > 32768 ? "all but some old hosts (32 KiB: by all)"
						: "all hosts";
}

/*
 * By a model, if it is good; by single prices only where nothing goes on behind them: no cache, and
 * writes here and there that cost no more than others.
 */
static bool tells_speeds(const struct advise_measured *measured,
			 const struct advise_inferred *inferred, const struct advise_fit *fit)
{
	if (fit->params)
		return fit->error <= ADVISE_TELL_LIMIT;
	return inferred->enough && inferred->noise <= ADVISE_TOO_NOISY_ALONE &&
	       !inferred->heads_move && measured->settle == ADVISE_SETTLED &&
	       measured->inside.tried && !measured->inside.costs;
}

void advise_predict(const struct advise_measured *measured, const struct advise_inferred *inferred,
		    const struct advise_fit *fit, const struct advise_layout *layouts,
		    uint64_t n_files, struct advise_prediction *prediction)
{
	bool known = tells_speeds(measured, inferred, fit);

	*prediction = (struct advise_prediction){ 0 };
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		struct advise_row *row = &prediction->rows[i];
		struct prices prices;

		row->layout = layouts[i];
		if (row->layout.fat_bits == 0)
			continue;
		reckon(inferred, n_files, row);
		for (size_t k = 0; k < (size_t)ADVISE_N_WRITERS * ADVISE_N_WORKLOADS; k++)
			row->known[k / ADVISE_N_WORKLOADS][k % ADVISE_N_WORKLOADS] = known;
		prices = price(measured, inferred, i);
		if (fit->params && has_room(&row->layout))
			predict_by_model(measured, fit, row);
		else if (prices.cluster > 0)
			predict_by_prices(&prices, row);
	}
}
