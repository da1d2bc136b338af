/* SPDX-License-Identifier: MIT */
/*
 * sim: a storage device whose inside is known, in virtual time.
 *
 * A pure function of its parameters and the requests so far: given a request and the time it
 * arrives, says when such a device would be done. Used by --simulate, by the tests as the truth,
 * and by the predictor, which plays write patterns on a model fitted to a real device. Reads no
 * clock, holds no content, does no I/O.
 *
 * The translation layers are those of public literature: page mapping (flat), block-associative
 * logs (log), and segments that take pages in rising order only (linear); a disk turns and seeks.
 */
#ifndef FATWISE_ADVISOR_SIM_H
#define FATWISE_ADVISOR_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_kind {
	SIM_FLAT,   /* any page anywhere for the same price */
	SIM_LOG,    /* an open segment takes any page; out of order, closing copies the block */
	SIM_LINEAR, /* an open segment takes rising pages; gaps are filled by copying */
	SIM_DISK,   /* turns and seeks */
};

enum sim_op { SIM_READ, SIM_WRITE, SIM_FLUSH };

struct sim_params {
	const char *name, *text; /* of a shipped model; NULL else */
	uint64_t size_bytes;
	enum sim_kind kind;
	uint64_t page_bytes;  /* program unit */
	uint64_t block_bytes; /* erase block or allocation unit, a multiple of page_bytes */
	uint64_t block_off;   /* a boundary between blocks, below block_bytes */
	uint32_t open_segments;
	uint32_t fat_blocks; /* so many blocks from the start are page-mapped */
	bool page_buffer;    /* a part-filled page is kept until it is full */
	uint64_t read_command_ns, write_command_ns, flush_ns;
	double read_ns_per_byte, write_ns_per_byte; /* the bus */
	bool overlap; /* the bus works while the medium does: the slower of them counts */
	bool fresh;   /* pages never written need not be copied */
	uint64_t sense_ns, program_ns, copy_ns, erase_ns;
	uint64_t lookup_ns; /* per block that a read touches */
	uint64_t cache_bytes;
	bool cache_lies;      /* a flush does not wait for the cache */
	uint64_t burst_bytes; /* so much is programmed in burst_program_ns a page at first */
	uint64_t burst_program_ns;
	double rpm;
	uint64_t track_bytes, seek_min_ns, seek_full_ns;
	uint64_t max_command_bytes; /* what the host sends at most in one command; 0: no limit */
	uint64_t host_ns;           /* the host's own time per command */
	double noise;               /* relative, triangular */
	double spike_chance;
	uint64_t spike_ns;
	uint64_t stall_every_bytes, stall_ns;
	uint64_t real_bytes; /* a fake: addresses beyond wrap around; 0: honest */
	uint64_t seed;
};

/* What was done so far; times are sums of these, each with its price. */
struct sim_stats {
	uint64_t n_commands, n_bytes;                /* writes */
	uint64_t n_programmed_pages, n_sensed_pages; /* sensed: read because of a partial write */
	uint64_t n_copied_pages, n_erases, n_flushes;
};

struct sim;

/* NULL without memory or with parameters that make no device. */
struct sim *sim_new(const struct sim_params *params);
void sim_free(struct sim *sim);

/*
 * A request that arrives at now_ns; returns when it is done. Commands are cut at max_command_bytes,
 * each taking host_ns in addition; what lies behind the end of the device takes no time.
 */
uint64_t sim_request(struct sim *sim, enum sim_op op, uint64_t off, uint64_t len_bytes,
		     uint64_t now_ns);

struct sim_stats sim_stats(const struct sim *sim);

/* How often the block erased most was, of those that begin at from_off or behind. */
unsigned sim_worst_erases(const struct sim *sim, uint64_t from_off);

/* The shipped models. index 0, 1 ...; NULL after the last. */
const struct sim_params *sim_model(size_t index);
const struct sim_params *sim_model_by_name(const char *name);

#endif
