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

#define WRITE_BACK_BYTES (64.0 * 1048576)
#define LARGE_BYTES      (128.0 * 1048576)
#define PHOTO_BYTES      (3456.0 * 1024)

/* The prices of a volume's writes, ns. */
struct prices {
	double cluster;    /* one cluster, in a row of them */
	double meta;       /* a sector of each FAT and one of the directory */
	double come_back;  /* what the next data write costs more */
	double max_stream; /* a byte in a long stream */
	double far_read;
	bool rehearsed;
};

/* A write of len_bytes in a row of its like: measured, between two measured, or several requests. */
static double write_ns(const struct advise_measured *measured,
		       const struct advise_inferred *inferred, uint32_t len_bytes)
{
	uint32_t max = min_u32(measured->max_bytes, advise_size_bytes(ADVISE_N_SIZES - 1));

	if (len_bytes > max)
		return write_ns(measured, inferred, max) * (double)div_ceil(len_bytes, max);
	for (size_t i = 0; i < ADVISE_N_SIZES; i++)
		if (advise_size_bytes(i) >= len_bytes && inferred->write_ns[i] > 0)
			return inferred->write_ns[i];
	return inferred->command_ns + inferred->ns_per_byte * len_bytes;
}

static bool price_by_rehearsal(const struct advise_rehearsal *r, struct prices *prices)
{
	double all = (double)(r->data_ns + r->first_ns + r->meta_ns);
	double owed; /* the flush at the end is owed by all writes before it */

	if (r->n_rounds == 0 || r->n_data == 0 || all <= 0)
		return false;
	owed = 1 + (double)r->flush_ns / all;
	prices->cluster = owed * (double)r->data_ns / (double)r->n_data;
	prices->meta = owed * (double)r->meta_ns / r->n_rounds;
	prices->come_back = fmax(owed * (double)r->first_ns / r->n_rounds - prices->cluster, 0);
	return true;
}

/* The metadata's price from the rehearsal of the cluster size that lies nearest. */
static void borrow_meta(const struct advise_measured *measured, size_t index,
			struct prices *prices)
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

static struct prices price(const struct advise_measured *measured,
			   const struct advise_inferred *inferred, size_t index)
{
	uint32_t cluster = 512u << index;
	double sector = write_ns(measured, inferred, measured->block_bytes);
	struct prices prices = { .meta = 3 * sector, .far_read = inferred->far_read_ns };

	prices.rehearsed = price_by_rehearsal(&measured->rehearsal[index], &prices);
	if (!prices.rehearsed) {
		prices.cluster = write_ns(measured, inferred, max_u32(cluster, measured->block_bytes));
		borrow_meta(measured, index, &prices);
	}
	if (inferred->write_bytes_per_s > 0)
		prices.max_stream = 1e9 / inferred->write_bytes_per_s;
	else
		prices.max_stream = write_ns(measured, inferred, measured->max_bytes) /
				    measured->max_bytes;
	return prices;
}

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
	double n_write_backs = ceil(bytes / WRITE_BACK_BYTES);

	return bytes * prices->max_stream + n_fat_sectors * prices->far_read +
	       2 * fat_bytes * prices->max_stream +
	       n_write_backs * (prices->meta * 4 / 3 + prices->come_back);
}

static void predict_row(const struct prices *prices, struct advise_row *row)
{
	const struct advise_layout *l = &row->layout;
	double *cached = row->bytes_per_s[ADVISE_CACHED];
	double *cluster = row->bytes_per_s[ADVISE_CLUSTER];
	const double n_photos = 32;

	cached[ADVISE_LARGE] = LARGE_BYTES * 1e9 / cached_writer_ns(l, prices, LARGE_BYTES);
	cached[ADVISE_PHOTOS] = n_photos * PHOTO_BYTES * 1e9 /
				(cached_writer_ns(l, prices, n_photos * PHOTO_BYTES) +
				 prices->cluster); /* the folder's cluster */
	cluster[ADVISE_LARGE] = LARGE_BYTES * 1e9 / cluster_writer_ns(l, prices, LARGE_BYTES);
	cluster[ADVISE_PHOTOS] = PHOTO_BYTES * 1e9 / cluster_writer_ns(l, prices, PHOTO_BYTES);
	row->rehearsed = prices->rehearsed;
}

void advise_predict(const struct advise_measured *measured, const struct advise_inferred *inferred,
		    const struct advise_layout *layouts, uint64_t n_files,
		    struct advise_prediction *prediction)
{
	*prediction = (struct advise_prediction){ 0 };
	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		struct advise_row *row = &prediction->rows[i];
		struct prices prices = price(measured, inferred, i);

		row->layout = layouts[i];
		row->slack_bytes = n_files * row->layout.cluster_bytes / 2;
		if (row->layout.fat_bits != 0 && prices.cluster > 0)
			predict_row(&prices, row);
	}
}
