/* SPDX-License-Identifier: MIT */
/*
 * fatadvise: how to format this device with FAT.
 *
 * Exit status: 0 advice was given, also "it does not matter"; 1 error, refusal, or stopped; 2 the
 * answer is "don't know".
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "facts.h"
#include "options.h"
#include "record.h"
#include "report.h"
#include "sim.h"

enum { EXIT_ADVICE = 0, EXIT_ERROR = 1, EXIT_DO_NOT_KNOW = 2 };

static bool stop_on_signal(void *ctx)
{
	(void)ctx;
	return cli_signal() != 0;
}

static void show_step(void *ctx, const char *name, uint64_t left_ns)
{
	if (ctx)
		fprintf(stderr, "\r\033[Kfatadvise: measuring: %s (at most %.0f s left) ", name,
			(double)left_ns / 1e9);
}

static int say_open_error(const struct advise_options *options, const struct fat_error *error)
{
	if (error->status == FAT_ERR_KIND && error->sys_errno == EINVAL) {
		cli_error(&advise_program,
			  "%s: don't know: it cannot be opened past the page cache (O_DIRECT), and "
			  "through it the cache would be measured",
			  options->path);
		return EXIT_DO_NOT_KNOW;
	}
	if (error->status == FAT_ERR_BUSY)
		cli_error(&advise_program,
			  "%s: somebody else has it (mounted, swap, or another program); unmount "
			  "it first",
			  options->path);
	else
		cli_device_error(&advise_program, options->path, error);
	return EXIT_ERROR;
}

/* Sectors of the volume, where others than the device's are wanted. Closes the target if not. */
static int take_sector(const struct advise_options *options, struct advise_target *target,
		       struct advise_facts *facts)
{
	facts->asked_sector_bytes = options->sector_bytes;
	if (options->sector_bytes == 0)
		return EXIT_ADVICE;
	if (options->sector_bytes >= target->sector_bytes) {
		target->sector_bytes = options->sector_bytes;
		return EXIT_ADVICE;
	}
	cli_error(&advise_program, "%s: its blocks are of %u bytes: no sector can be shorter",
		  options->model ? options->model->name : options->path, target->sector_bytes);
	advise_target_close(target);
	return EXIT_ERROR;
}

/* Returns an exit status; EXIT_ADVICE: *target is open. */
static int open_target(const struct advise_options *options, struct advise_target *target,
		       struct advise_facts *facts)
{
	struct fat_error error = { 0 };
	char why[512];

	if (options->model) {
		*facts = (struct advise_facts){ .size_bytes = options->model->size_bytes };
		if (advise_target_simulate(options->model, NULL, target) != FAT_OK) {
			cli_error(&advise_program, "%s: out of memory", options->model->name);
			return EXIT_ERROR;
		}
		target->dev->read_only = options->read_only;
		return take_sector(options, target, facts);
	}
	if (!advise_may_touch(options->path, why, sizeof why)) {
		cli_error(&advise_program, "%s: %s", options->path, why);
		return EXIT_ERROR;
	}
	if (advise_target_open(options->path, !options->read_only, target, &error) != FAT_OK)
		return say_open_error(options, &error);
	advise_facts_read(options->path, target->dev->size_bytes, facts);
	advise_current_read(target, facts->start_bytes, &facts->current);
	return take_sector(options, target, facts);
}

/* Before it starts: what it will write, how much, how long. */
static void announce(const struct advise_options *options, const char *name)
{
	FILE *out = options->format == ADVISE_TEXT ? stdout : stderr;
	double seconds = (double)options->budget.max_ns / 1e9;
	char bytes[32];

	fputs("fatadvise: ", out);
	cli_put_text(out, name);
	if (options->read_only)
		fprintf(out, ": reads, and writes nothing, in about %.0f s\n", seconds);
	else
		fprintf(out,
			": reads, and writes back what it has read, at most %s, in about %.0f s; "
			"the content stays as it is\n",
			cli_size_text(options->budget.max_bytes, bytes, sizeof bytes),
			seconds);
	fflush(stdout);
}

static int say_measure_error(const char *name, enum fat_status status,
			     const struct advise_target *target)
{
	if (status == FAT_ERR_MEMORY)
		cli_error(&advise_program, "%s: out of memory", name);
	else
		cli_device_error(&advise_program, name, &target->dev->error);
	return EXIT_ERROR;
}

static void print_report(enum advise_format format, const struct advise_report *report)
{
	switch (format) {
	case ADVISE_TEXT:
		advise_report_text(report, stdout);
		break;
	case ADVISE_JSON:
		advise_report_json(report, stdout);
		break;
	case ADVISE_HWDB:
		advise_report_hwdb(report, stdout);
		break;
	case ADVISE_OPTIONS_ONLY:
		printf("%s\n", report->choice->mkfs);
		break;
	}
}

/* The files asked for, opened before the measurement, so that it is not made for nothing. */
struct outputs {
	struct cli_output svg, record;
};

static bool open_outputs(const struct advise_options *options, struct outputs *outputs)
{
	*outputs = (struct outputs){ 0 };
	return cli_output_open(&advise_program, options->svg_path, &outputs->svg) &&
	       cli_output_open(&advise_program, options->record_path, &outputs->record);
}

static void drop_outputs(struct outputs *outputs)
{
	cli_output_drop(&outputs->svg);
	cli_output_drop(&outputs->record);
}

static bool write_outputs(struct outputs *outputs, const struct advise_report *report)
{
	if (outputs->svg.stream)
		advise_report_svg(report, outputs->svg.stream);
	if (outputs->record.stream)
		advise_record_write(outputs->record.stream, report->facts, report->measured);
	return cli_output_finish(&outputs->svg) && cli_output_finish(&outputs->record);
}

/* From measurements to the report. */
static int advise(const struct advise_options *options, const char *name,
		  const struct advise_facts *facts, const struct advise_layout *layouts,
		  const struct advise_measured *measured, struct outputs *outputs,
		  struct advise_choice *choice)
{
	struct advise_inferred inferred;
	struct advise_fit fit;
	struct sim_params model;
	struct advise_prediction prediction;
	struct advise_report report = { .path = name,
					.facts = facts,
					.measured = measured,
					.inferred = &inferred,
					.fit = &fit,
					.prediction = &prediction,
					.purpose = options->purpose,
					.choice = choice };

	advise_infer(measured, &inferred);
	advise_fit_model(measured, &inferred, &model, &fit);
	advise_revise(&fit, &inferred);
	advise_predict(measured, &inferred, &fit, layouts, options->n_files, &prediction);
	advise_choose(facts, measured, &inferred, &fit, &prediction, options->purpose, choice);
	print_report(options->format, &report);
	if (!write_outputs(outputs, &report))
		return EXIT_ERROR;
	return choice->verdict == ADVISE_DO_NOT_KNOW ? EXIT_DO_NOT_KNOW : EXIT_ADVICE;
}

/* What is wrong with a measurement that came to its end; EXIT_ADVICE if nothing. */
static int judge(const char *name, const struct advise_measured *measured)
{
	if (measured->content_differs) {
		cli_error(&advise_program,
			  "%s: it returns other bytes at %llu than were written there: it is "
			  "failing; save what it holds",
			  name, (unsigned long long)measured->differs_off);
		return EXIT_ERROR;
	}
	if (measured->interrupted) {
		cli_error(&advise_program, "%s: stopped; the content is as it was", name);
		return EXIT_ERROR;
	}
	return EXIT_ADVICE;
}

static int run(const struct advise_options *options, const char *name, struct advise_target *target,
	       const struct advise_facts *facts, struct outputs *outputs,
	       struct advise_choice *choice)
{
	bool progress = isatty(STDERR_FILENO) && !options->model;
	struct advise_watch watch = { .stop = stop_on_signal,
				      .step = show_step,
				      .ctx = progress ? (void *)target : NULL };
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_measured measured;
	enum fat_status status;
	int result;

	if (target->dev->size_bytes < ADVISE_SMALLEST_BYTES) {
		cli_error(&advise_program,
			  "%s: don't know: it is too small to measure (below 8 MiB)", name);
		return EXIT_DO_NOT_KNOW;
	}
	advise_layouts(facts, target->sector_bytes, layouts);
	announce(options, name);
	status = advise_measure(target, layouts, &options->budget, &watch, &measured);
	if (progress)
		fprintf(stderr, "\r\033[K");
	result =
		status != FAT_OK ? say_measure_error(name, status, target) : judge(name, &measured);
	if (result == EXIT_ADVICE)
		result = advise(options, name, facts, layouts, &measured, outputs, choice);
	advise_measured_fini(&measured);
	return result;
}

/* Advice by a record of somebody else's device. */
static int replay(const struct advise_options *options, struct outputs *outputs)
{
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_measured measured = { 0 };
	struct advise_facts facts;
	struct advise_choice choice;
	unsigned line = 0;
	int result = EXIT_ERROR;
	FILE *in = fopen(options->replay_path, "r");

	if (!in) {
		cli_error(&advise_program, "%s: cannot open: %s", options->replay_path,
			  strerror(errno));
		return EXIT_ERROR;
	}
	if (advise_record_read(in, &facts, &measured, &line)) {
		advise_layouts(&facts, facts.asked_sector_bytes ? facts.asked_sector_bytes : 512,
			       layouts);
		result = advise(options, options->replay_path, &facts, layouts, &measured, outputs,
				&choice);
	} else {
		cli_error(&advise_program, "%s: line %u: not a record of fatadvise",
			  options->replay_path, line);
	}
	advise_measured_fini(&measured);
	fclose(in);
	return result;
}

/* Asks, and puts mkfs.fat in this program's place. */
static int format(const char *path, const struct advise_choice *choice)
{
	char options[sizeof choice->mkfs], device[4096], answer[16] = "", name[] = "mkfs.fat";
	char end[] = "--", *argv[16] = { name };
	int n = 1;

	printf("\nThis destroys what ");
	cli_put_text(stdout, path);
	printf(" holds. Run mkfs.fat %s ", choice->mkfs);
	cli_put_text(stdout, path);
	printf("? [yes/no] ");
	fflush(stdout);
	if (!fgets(answer, sizeof answer, stdin) || strcmp(answer, "yes\n") != 0 ||
	    strlen(path) >= sizeof device) {
		cli_error(&advise_program, "%s: not formatted", path);
		return EXIT_ERROR;
	}
	memcpy(options, choice->mkfs, sizeof options);
	memcpy(device, path, strlen(path) + 1);
	for (char *word = strtok(options, " "); word && n < 13; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n++] = end;
	argv[n] = device;
	execvp(name, argv);
	cli_error(&advise_program, "mkfs.fat: cannot run it: %s", strerror(errno));
	return EXIT_ERROR;
}

static int measure_and_advise(const struct advise_options *options, struct outputs *outputs)
{
	const char *name = options->model ? options->model->name : options->path;
	struct advise_target target;
	struct advise_facts facts;
	struct advise_choice choice;
	int status = open_target(options, &target, &facts);

	if (status != EXIT_ADVICE)
		return status;
	status = run(options, name, &target, &facts, outputs, &choice);
	if (options->stats)
		cli_print_stats(options->format == ADVISE_TEXT ? stdout : stderr, target.dev);
	advise_target_close(&target);
	return status == EXIT_ADVICE && options->format_it ? format(name, &choice) : status;
}

static int advise_with_outputs(const struct advise_options *options)
{
	struct outputs outputs;
	int status = EXIT_ERROR;

	if (open_outputs(options, &outputs))
		status = options->replay_path ? replay(options, &outputs)
					      : measure_and_advise(options, &outputs);
	drop_outputs(&outputs);
	return status;
}

int main(int argc, char **argv)
{
	struct advise_options options;
	int status;

	switch (advise_options_parse(argc, argv, &options)) {
	case ADVISE_DONE:
		return cli_close_stdout(&advise_program, EXIT_ADVICE, EXIT_ERROR);
	case ADVISE_WRONG:
		return EXIT_ERROR;
	case ADVISE_RUN:
		break;
	}
	cli_catch_signals();
	status = advise_with_outputs(&options);
	return cli_close_stdout(&advise_program, status, EXIT_ERROR);
}
