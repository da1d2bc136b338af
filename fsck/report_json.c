/* SPDX-License-Identifier: MIT */
/*
 * report_json: one object a line, so that a reader needs no more than a line at a time; the summary
 * comes last, whatever happened.
 */
#include "report_json.h"

#include <inttypes.h>

static const char *const severities[] = {
	[SEV_COSMETIC] = "cosmetic", [SEV_MINOR] = "minor", [SEV_DAMAGE] = "damage",
	[SEV_DANGER] = "danger",     [SEV_FATAL] = "fatal",
};

static void begin(const char *type)
{
	printf("{\"type\":\"%s\"", type);
}

static void put_text(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	cli_put_json_string(stdout, text);
}

static void put_number(const char *name, uint64_t number)
{
	printf(",\"%s\":%" PRIu64, name, number);
}

static void end(void)
{
	printf("}\n");
}

void report_json_volume(const struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;

	begin("volume");
	put_text("device", fsck->options->device);
	put_number("fat_bits", (unsigned)geometry->type);
	put_number("sector_bytes", geometry->sector_bytes);
	put_number("cluster_bytes", geometry->cluster_bytes);
	put_number("sectors", geometry->total_sec);
	put_number("reserved_sectors", geometry->reserved_sec);
	put_number("fats", geometry->n_fats);
	put_number("fat_sectors", geometry->fat_sec);
	put_number("root_entries", geometry->root_entries);
	put_number("clusters", geometry->n_clus);
	end();
}

void report_json_fault(const struct fault *fault, const char *action, const char *done)
{
	const struct fault_kind *kind = fault_kind(fault->id);
	char text[2048];

	begin("fault");
	put_text("code", kind->code);
	put_text("name", kind->id);
	put_text("severity", severities[kind->severity]);
	if (fault->path)
		put_text("path", fault->path);
	if (fault->clus)
		put_number("cluster", fault->clus);
	fault_text(kind->message, fault, text, sizeof text);
	put_text("message", text);
	put_text("action", action);
	if (done && *done) {
		fault_text(done, fault, text, sizeof text);
		put_text("done", text);
	}
	end();
}

void report_json_entry(const char *path, const char *alias)
{
	begin("entry");
	put_text("path", path);
	if (alias)
		put_text("short_name", alias);
	end();
}

void report_json_stats(struct fat_dev *dev)
{
	const struct fat_dev_stats *s = &fat_dev_base(dev)->stats;
	uint64_t memory_kib, cpu_us;

	cli_resources(&memory_kib, &cpu_us);
	begin("stats");
	put_number("reads", s->n_reads);
	put_number("read_bytes", s->read_bytes);
	put_number("read_aheads", s->n_readaheads);
	put_number("read_ahead_bytes", s->readahead_bytes);
	put_number("writes", s->n_writes);
	put_number("written_bytes", s->write_bytes);
	put_number("flushes", s->n_flushes);
	put_number("errors", s->n_errors);
	put_number("memory_kib", memory_kib);
	put_number("cpu_ms", cpu_us / 1000);
	end();
}

void report_json_summary(const struct fsck_options *options, const struct engine *engine,
			 int exit_status)
{
	const struct fsck *fsck = engine ? &engine->fsck : NULL;

	begin("summary");
	put_text("device", options->device);
	put_number("status", (unsigned)exit_status);
	if (engine) {
		put_number("repaired", engine->n_fixed);
		put_number("left", engine->n_left + engine->n_refused);
	}
	if (fsck && fsck->geometry.n_clus && !options->boot_only && fsck->dirs.n > 0) {
		put_number("files", fsck->count.files);
		put_number("clusters_used", fsck->geometry.n_clus - fsck->count.free);
		put_number("clusters_bad", fsck->count.bad);
		put_number("clusters", fsck->geometry.n_clus);
	}
	printf(",\"written\":%s",
	       exit_status & EXIT_CORRECTED && options->mode != MODE_LOOK ? "true" : "false");
	end();
}
