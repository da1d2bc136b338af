/* SPDX-License-Identifier: MIT */
/*
 * advise: the values that the parts of fatadvise hand to each other.
 *
 *   target -> measure -> infer -> fit -> predict -> choose -> report
 *
 * measure is the only part that does I/O and looks at a clock; infer, fit, predict and choose are
 * pure functions of what it recorded, so that a recorded or a simulated device goes the same way.
 */
#ifndef FATWISE_ADVISE_H
#define FATWISE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfat.h"
#include "sim.h"
#include "vec.h"

/* ---- target: a device and a clock ---------------------------------------------------------- */

/*
 * A device that is written and read past every cache of this machine, and the clock that its time
 * is measured with: a real one, or one that a model moves.
 */
struct advise_target {
	struct fat_dev *dev;
	uint64_t (*now_ns)(struct advise_target *target);
	/* Reads through the page cache, what it held of this being dropped first; NULL: there is
	 * none */
	enum fat_status (*read_buffered)(struct advise_target *target, uint64_t off, void *buf,
					 size_t len_bytes);
	int buffered_fd;       /* of read_buffered */
	void *clock;           /* of now_ns */
	uint32_t block_bytes;  /* offsets and lengths are multiples of it; a power of two */
	uint32_t sector_bytes; /* of a volume on it: the device's logical block, 512 on an image */
	uint32_t max_bytes;    /* longest request that reaches the device as one command */
	bool is_file;          /* an image: what lies below its file system is measured */
};

/*
 * Opens path with O_DIRECT and for itself alone; never through the page cache. FAT_ERR_KIND in
 * *error with sys_errno EINVAL: this path cannot be opened past the cache. Otherwise as
 * fat_dev_file_open().
 */
enum fat_status advise_target_open(const char *path, bool writable, struct advise_target *target,
				   struct fat_error *error);

/*
 * A simulated device in virtual time. It takes over the device that holds its content; NULL:
 * memory, empty. On failure content stays the caller's.
 */
enum fat_status advise_target_simulate(const struct sim_params *params, struct fat_dev *content,
				       struct advise_target *target);

/* How often one block of a simulated target was erased, of those from from_off on. */
unsigned advise_target_sim_worst_erases(const struct advise_target *target, uint64_t from_off);

/* Closes the device; a simulated one's clock goes with it. */
void advise_target_close(struct advise_target *target);

/* ---- facts: what the host says, believed only where it can be checked ---------------------- */

/* The FAT volume that is there now, on the target or in its first partition. */
struct advise_current {
	int fat_bits; /* 0: none */
	uint32_t cluster_bytes;
	uint64_t part_off, data_off; /* from the start of the target */
	bool is_factory;             /* as the SD Association's formatter lays it out */
};

/* Reads what is on the target now, by its first blocks. */
void advise_current_read(struct advise_target *target, uint64_t start_bytes,
			 struct advise_current *current);

struct advise_facts {
	char model[64];            /* "" where unknown */
	uint64_t size_bytes;       /* of the target */
	uint64_t start_bytes;      /* where the target begins on the whole disk */
	bool is_whole_disk;        /* surely: then a partition may be advised */
	uint64_t erase_hint_bytes; /* what the kernel says; 0: nothing */
	bool card_says;            /* that is the card's own word, not the kernel's guess */
	char serial[64], bus[16];
	uint32_t optimal_bytes, discard_bytes; /* as the block layer has them; 0: nothing */
	uint32_t asked_sector_bytes;           /* -S; 0: as the device has them */
	struct advise_current current;         /* what is on it now */
};

/* ---- measure ------------------------------------------------------------------------------- */

/* Below, there is no room to measure in. */
#define ADVISE_SMALLEST_BYTES (8u << 20)

/* Sizes of single requests: 512 B << index, up to 128 KiB. */
#define ADVISE_N_SIZES 9
static inline uint32_t advise_size_bytes(size_t index)
{
	return 512u << index;
}

/* Clusters: 512 B << index, up to 256 KiB. Above 64 KiB only with sectors longer than 512 bytes. */
#define ADVISE_N_CLUSTERS 10

#define ADVISE_MAX_SAMPLES 64

/* Times of one kind of request, in the order they were made. */
struct advise_samples {
	size_t n;
	uint64_t ns[ADVISE_MAX_SAMPLES];
};

/*
 * A write (or, len_bytes 0, the settling of those before) as it was made: what the model of the
 * device is fitted to.
 */
struct advise_request {
	uint64_t off, ns;
	uint32_t len_bytes;
	uint32_t step; /* requests of one kind have the same */
};

/* Adds one to a vector that was of zeros at first. false: no memory, or a million already. */
bool advise_trace_add(struct fat_vec *trace, const struct advise_request *request);

/* Where a volume of one cluster size would have its parts, from the start of the target. */
struct advise_layout {
	uint32_t cluster_bytes;
	uint32_t sector_bytes;
	int fat_bits; /* 0: no FAT volume of this size has such clusters */
	uint32_t reserved_sec;
	uint64_t fat1_off, fat2_off, root_off, data_off;
	uint64_t fat_bytes; /* of one FAT */
	uint64_t n_clusters;
};

/* A stretch of a stream. */
struct advise_stream {
	uint64_t bytes, ns; /* ns 0: not measured */
};

/* Reads across a boundary that was foretold, each beside one across none, at places not seen
 * before. */
#define ADVISE_MAX_PAIRS 48
struct advise_pairs {
	size_t n;
	uint64_t across_ns[ADVISE_MAX_PAIRS], beside_ns[ADVISE_MAX_PAIRS];
};

/*
 * The search for pages: a row of reads, each across one point of a grid, the best time of some
 * passes. Grids shifted against multiples of the step are tried until one shows a comb.
 */
#define ADVISE_SCAN_POINTS  192
#define ADVISE_LONGEST_PAGE (256u << 10) /* of several planes at once */
struct advise_page_scan {
	uint64_t off; /* the first point */
	uint64_t step_bytes;
	size_t n;
	uint64_t ns[ADVISE_SCAN_POINTS];
	struct advise_pairs pairs;
};

/* The search for erase blocks: page boundaries that cost more still. */
#define ADVISE_MAX_BOUNDARIES 64
struct advise_block_scan {
	uint64_t step_bytes, from_off, to_off; /* each step of this range was looked at */
	size_t n;
	uint64_t off[ADVISE_MAX_BOUNDARIES];
	uint64_t excess_ns[ADVISE_MAX_BOUNDARIES]; /* over the point beside it */
	uint64_t period_bytes, phase_off;          /* 0: none; what the pairs are of */
	struct advise_pairs pairs;
};

/* Data of some clusters, then a sector of each FAT and one of the directory, several times. */
struct advise_rehearsal {
	uint32_t cluster_bytes; /* 0: not rehearsed */
	uint32_t n_rounds;
	uint64_t data_ns;  /* all data writes but the first of each round */
	uint64_t n_data;   /* so many */
	uint64_t first_ns; /* the first data write of each round, after the metadata */
	uint64_t meta_ns;  /* FAT 1, FAT 2, directory */
};

/* What single writes into erase blocks, here and there, told. */
#define ADVISE_MAX_VISITS 48
struct advise_inside {
	bool tried;
	/* where reads show no blocks: a page each in blocks far apart, and what it cost */
	size_t n_visits;
	uint64_t visit_off[ADVISE_MAX_VISITS], visit_ns[ADVISE_MAX_VISITS];
	bool costs;             /* some writes cost the closing of a block */
	uint32_t open_segments; /* so many blocks were taken in turn without it; 0: not found out */
	uint32_t open_at_least; /* as far as it was found out */
	uint32_t fat_blocks;    /* so many at the start take writes anywhere, as FATs need */
};

/* Gaps between two writes of these lengths: 4 KiB, 32 KiB. */
#define ADVISE_N_GAPS 2
static inline uint32_t advise_gap_len_bytes(size_t index)
{
	return index == 0 ? 4096 : 32768;
}

/* Distances that a disk's tracks are counted by, each eight times the last; the last one: a third
 * of the device. */
#define ADVISE_N_APART 8
static inline uint64_t advise_apart_bytes(size_t index, uint64_t size_bytes)
{
	uint64_t third = size_bytes / 3 / 4096 * 4096, apart = (uint64_t)1 << (20 + 3 * index);

	return apart < third && index + 1 < ADVISE_N_APART ? apart : third;
}

/* When a write is over, though the device has said so before. */
enum advise_settle {
	ADVISE_SETTLED,         /* at once: there is no cache to be seen */
	ADVISE_SETTLE_BY_FLUSH, /* after a flush: a cache that obeys */
	ADVISE_SETTLE_BY_READ,  /* when reads are as fast again as ever: a cache that does not */
};

/* A cache is full when so many pieces in a row took longer. */
#define ADVISE_CACHE_PIECE_BYTES (64u << 10)
#define ADVISE_CACHE_SLOW        3

struct advise_measured {
	uint32_t block_bytes, max_bytes;
	uint64_t size_bytes;
	bool capacity_tested; /* there was enough content to tell a repetition */
	uint64_t real_bytes;  /* beyond, it repeats what lies below: a fake; 0: not seen to */
	enum advise_settle settle;
	uint64_t cache_bytes; /* taken at the speed of the bus before writes slowed down, if so */
	struct advise_stream cache_stream; /* what it took in all, until it had settled */
	struct fat_vec trace;              /* of struct advise_request, in their order */
	struct advise_inside inside;
	uint64_t gap_bytes[ADVISE_N_GAPS]; /* a disk: the shortest that costs no turn; 0: unknown */
	struct advise_samples seek_near, seek_third; /* a disk: 4 KiB reads 2 MiB, a third away */
	struct advise_samples apart[ADVISE_N_APART]; /* ... and exactly so far behind the last */
	struct advise_samples seek;                  /* 4 KiB reads at random places */
	struct advise_samples again;                 /* the same read, again and again */
	struct advise_samples read[ADVISE_N_SIZES];  /* rising, one after the other */
	struct advise_samples write[ADVISE_N_SIZES];
	struct advise_page_scan page_scan;
	struct advise_block_scan block_scan,
		write_scan; /* by reads; by the ends of a stream's blocks */
	struct advise_stream read_stream, write_stream, two_streams, four_streams;
	struct advise_stream buffered;     /* reads through the page cache */
	struct advise_stream burst;        /* its first MiB, but for the going there */
	struct advise_samples long_stream; /* each MiB of a last, long one */
	struct advise_samples flush;
	struct advise_rehearsal rehearsal[ADVISE_N_CLUSTERS];
	uint64_t read_bytes, written_bytes;
	uint64_t elapsed_ns;
	uint64_t n_read_errors;
	bool read_only;     /* nothing was written */
	bool out_of_budget; /* some steps were cut short or left out */
	bool interrupted;
	bool content_differs; /* the device did not return what was written to it */
	uint64_t differs_off;
};

struct advise_budget {
	uint64_t max_ns, max_bytes;
};

/* Called between requests. */
struct advise_watch {
	bool (*stop)(void *ctx);                                     /* true: end now */
	void (*step)(void *ctx, const char *name, uint64_t left_ns); /* at most so long still */
	void *ctx;
};

/*
 * Measures target. Writes only what it has just read from the same place, so that the content is
 * the same at every moment. Ends early when the budget is used up or watch says so. Returns a
 * status only where nothing can be measured at all: FAT_ERR_IO (writes fail; target->dev->error),
 * FAT_ERR_MEMORY, FAT_ERR_SIZE (too small to measure).
 */
enum fat_status advise_measure(struct advise_target *target, const struct advise_layout *layouts,
			       const struct advise_budget *budget, const struct advise_watch *watch,
			       struct advise_measured *measured);

/* Frees what advise_measure() recorded. */
void advise_measured_fini(struct advise_measured *measured);

/* ---- infer --------------------------------------------------------------------------------- */

/* How sure: 0 not at all, 1 certain. */
struct advise_value {
	uint64_t value; /* 0 where unknown */
	double confidence;
};

struct advise_inferred {
	bool enough;                     /* was timed to say what other requests take */
	double noise;                    /* relative spread of equal requests; 1: not known */
	bool heads_move;                 /* random places cost milliseconds more */
	double far_read_ns;              /* 4 KiB at a random place */
	double write_ns[ADVISE_N_SIZES]; /* 0: not measured */
	double read_size_ns[ADVISE_N_SIZES];
	struct advise_value page;  /* bytes */
	struct advise_value block; /* erase block, bytes */
	bool block_by_visits;      /* only the price of single writes tells of it */
	double block_off_confidence;
	struct advise_value open_segments;
	uint64_t page_off, block_off;   /* first boundary, from the start of the target */
	double command_ns, ns_per_byte; /* the line through write_ns */
	double read_bytes_per_s, buffered_bytes_per_s;
	double write_bytes_per_s, burst_bytes_per_s; /* over some MiB; the first one */
	/* what a long stream came down to, and how much was taken faster; 0: not seen to */
	double sustained_bytes_per_s;
	uint64_t fast_bytes;
	double two_streams_bytes_per_s, four_streams_bytes_per_s;
	bool cache_answers; /* the same read again is much faster than the first time */
	double flush_ns;
};

/* Points first, first + period ... of a row stand out. period 0: nothing does. */
struct advise_comb {
	size_t period, first;
	double fit; /* 1: exactly these points and no others */
};

/* A period may be at most n / 4 points. Pure; O(n^2). */
struct advise_comb advise_find_comb(const uint64_t *ns, size_t n, double noise);

/* Which period explains the boundaries of a scan best; fit as above. *first_off: one of them. */
double advise_find_period(const struct advise_block_scan *scan, uint64_t *period_bytes,
			  uint64_t *first_off);

/* What the page scan shows, confirmed or not: 0 for nothing. *phase_off: below the page size. */
uint64_t advise_page_of(const struct advise_measured *measured, uint64_t *phase_off);

/*
 * Where writes pay for the pages before theirs in the block, and for those that the block closed
 * for them lacks, their times say where in its block each lay: the block size, offset and number of
 * blocks open at once that explain the visits. Pure; some ms.
 */
struct advise_sawtooth {
	uint64_t block_bytes, block_off; /* 0: none does */
	uint32_t open_segments;
	double left; /* the part of their variance that remains, 0..1 */
};
void advise_find_sawtooth(const struct advise_inside *inside, uint64_t page_bytes,
			  struct advise_sawtooth *found);

/*
 * The visits leave open where exactly, between two of them, the blocks begin: at *low or above,
 * below *high (0 <= *low < block, *high - *low <= block). More visits in between narrow it.
 */
void advise_sawtooth_gap(const struct advise_inside *inside, uint64_t block_bytes,
			 uint64_t block_off, uint64_t *low, uint64_t *high);

/* How many of the pairs say that the boundary costs something: 0 none, 1 all of them. */
double advise_pairs_agree(const struct advise_pairs *pairs, double noise);

/* Relative spread of a request repeated at one place. */
double advise_noise(const struct advise_measured *measured);

void advise_infer(const struct advise_measured *measured, struct advise_inferred *inferred);

/* Mean of what lies within four medians, median, and a percentile; 0 without samples. */
double advise_mean(const struct advise_samples *samples);
double advise_median(const struct advise_samples *samples);
double advise_middle(const uint64_t *ns, size_t n); /* n <= ADVISE_SCAN_POINTS */
/* The part-th of all writes recorded, by their time. */
double advise_write_percentile(const struct fat_vec *trace, double part);
double advise_percentile(const struct advise_samples *samples, double part);

/* ---- fit: a model of the device ------------------------------------------------------------ */

/*
 * The simulated device (sim.h) whose replay of the recorded writes comes nearest to the times
 * measured. error: mean relative difference, over kinds of requests; what is above
 * ADVISE_FIT_LIMIT is no description of the device.
 */
#define ADVISE_FIT_LIMIT 0.10
/* Where the platter is, or what waits in a cache, cannot be foretold that well. */
#define ADVISE_FIT_DISK_LIMIT   0.35
#define ADVISE_FIT_CACHED_LIMIT 0.20
/* A model of a disk or a cache that is off by more says which size is better, not how fast. */
#define ADVISE_TELL_LIMIT 0.10
/* Equal requests that differ by more tell nothing of a device that no model explains. */
#define ADVISE_TOO_NOISY_ALONE 0.1
struct advise_fit {
	const struct sim_params *params; /* NULL: no model */
	double error;
	bool angles_known; /* of a disk: between places a third of it apart */
	uint64_t doubt_ns; /* so much more or less a command may take, by few pauses seen */
};

/* Fills *params; fit->params points to it or is NULL. */
void advise_fit_model(const struct advise_measured *measured,
		      const struct advise_inferred *inferred, struct sim_params *params,
		      struct advise_fit *fit);

/*
 * What was inferred from reads, or from few writes, and does not hold against all of the writes, is
 * not known: a row of reads tells a boundary, and not what of.
 */
void advise_revise(const struct advise_fit *fit, struct advise_inferred *inferred);

/* ---- layout -------------------------------------------------------------------------------- */

/* How a volume is to be aligned, in the planner's words. */
struct advise_align {
	enum fat_layout_align kind;
	uint64_t bytes, phase_bytes; /* boundaries, from the start of the whole disk */
	uint32_t reserved_sec;       /* exactly; 0: as it comes */
};

/* One layout; false, and fat_bits 0, where there is no such volume. Pure. */
bool advise_layout_plan(const struct advise_facts *facts, uint32_t sector_bytes,
			uint32_t cluster_bytes, const struct advise_align *align,
			struct advise_layout *layout);

/* Layouts of all cluster sizes as mkfs.fat makes them unless told otherwise, index 0 for 512 B. */
void advise_layouts(const struct advise_facts *facts, uint32_t sector_bytes,
		    struct advise_layout layouts[ADVISE_N_CLUSTERS]);

/* ---- predict ------------------------------------------------------------------------------- */

enum advise_writer {
	ADVISE_CACHED,  /* Linux and other systems with a page cache, fresh volume */
	ADVISE_AGED,    /* the same, free space in pieces of one cluster */
	ADVISE_SYNC,    /* Linux, mounted with -o sync */
	ADVISE_CLUSTER, /* one write per cluster: cameras, players, small systems */
	ADVISE_N_WRITERS,
};

enum advise_workload {
	ADVISE_LARGE,  /* one large file */
	ADVISE_PHOTOS, /* files of 3.4 MiB in a folder */
	ADVISE_SMALL,  /* files of 6000 bytes in folders of 20 */
	ADVISE_LOG,    /* records of 3000 bytes appended, each safe before the next */
	ADVISE_N_WORKLOADS,
};

struct advise_row {
	struct advise_layout layout;
	double bytes_per_s[ADVISE_N_WRITERS][ADVISE_N_WORKLOADS]; /* 0: cannot tell */
	/* how fast that is; else it only ranks this size among the others */
	bool known[ADVISE_N_WRITERS][ADVISE_N_WORKLOADS];
	uint64_t slack_bytes;        /* of the files expected */
	double check_s, mount_s;     /* reading the FATs for a check; one FAT for the first df */
	uint64_t check_memory_bytes; /* of dosfstools' fsck.fat 4.2; ours needs a few MiB */
	const char *hosts;           /* which read it */
};

struct advise_prediction {
	struct advise_row rows[ADVISE_N_CLUSTERS];
};

/* A row's speed, for people and programs to rely on; 0 where it is not known. */
static inline double advise_told(const struct advise_row *row, size_t writer, size_t workload)
{
	return row->known[writer][workload] ? row->bytes_per_s[writer][workload] : 0;
}

/* By playing on the model where fit has one, else from the prices that were rehearsed. */
void advise_predict(const struct advise_measured *measured, const struct advise_inferred *inferred,
		    const struct advise_fit *fit, const struct advise_layout *layouts,
		    uint64_t n_files, struct advise_prediction *prediction);

/* ---- choose -------------------------------------------------------------------------------- */

enum advise_verdict {
	ADVISE_DO_NOT_KNOW,
	ADVISE_NO_MATTER, /* cluster size does not matter here */
	ADVISE_CHOSEN,
};

struct advise_choice {
	enum advise_verdict verdict;
	size_t row; /* of the recommendation; a default where the verdict is "do not know" */
	double confidence;
	struct advise_layout layout; /* of that row, padded if that is worth it */
	bool align_tried, is_padded;
	double align_gain;      /* times as fast as unpadded */
	uint64_t align_bytes;   /* the erase block that the data area is aligned to; 0: none */
	uint64_t partition_off; /* where a partition should begin on the whole disk */
	char reason[256];
	char mkfs[128]; /* options, without the device */
};

/* What counts how much in the score: what the volume is for. */
struct advise_purpose {
	const char *name, *text;
	double weight[ADVISE_N_WRITERS][ADVISE_N_WORKLOADS];
};

/* index 0: nothing said; NULL after the last. */
const struct advise_purpose *advise_purpose(size_t index);

/* Weighted geometric mean of a row's speeds; 0 where one that counts is not known. */
double advise_score(const struct advise_row *row, const struct advise_purpose *purpose);

/* Fills in layout and what says align in *choice. Pure; plays some workloads. */
void advise_choose_align(const struct advise_facts *facts, const struct advise_inferred *inferred,
			 const struct advise_fit *fit, const struct advise_layout *usual,
			 const struct advise_purpose *purpose, struct advise_choice *choice);

void advise_choose(const struct advise_facts *facts, const struct advise_measured *measured,
		   const struct advise_inferred *inferred, const struct advise_fit *fit,
		   const struct advise_prediction *prediction, const struct advise_purpose *purpose,
		   struct advise_choice *choice);

#endif
