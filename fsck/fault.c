/* SPDX-License-Identifier: MIT */
/*
 * fault: the table of faults, and the list of those found.
 *
 * The list is bounded: what does not fit is counted and found again in the next round.
 */
#include "fsck.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fault_kind kinds[N_FAULT_IDS] = {
#define FAULT(code_, id_, severity_, auto_, level_, how_, message_, fix_)                          \
	[F_##id_] = { .code = "F" #code_,                                                          \
		      .id = #id_,                                                                  \
		      .severity = SEV_##severity_,                                                 \
		      .automatic = AUTO_##auto_,                                                   \
		      .level = LEVEL_##level_,                                                     \
		      .how = HOW_##how_,                                                           \
		      .message = (message_),                                                       \
		      .fix = (fix_) },
#include "faults.def"
#undef FAULT
};

const struct fault_kind *fault_kind(enum fault_id id)
{
	return &kinds[id];
}

void fault_clear(struct fault *fault)
{
	free(fault->path);
	free(fault->text);
	free(fault->long_off);
}

struct fault *fsck_fault(struct fsck *fsck, const struct fault *fault)
{
	struct fault copy = *fault;
	struct fault *place = NULL;

	if (fsck->sweep == SWEEP_CHECK) {
		place = fat_vec_push(&fsck->faults);
		fsck->n_faults_dropped += !place;
	}
	if (!place) {
		fault_clear(&copy);
		return NULL;
	}
	*place = copy;
	return place;
}

void fsck_drop_faults(struct fsck *fsck, size_t n_kept)
{
	for (size_t i = n_kept; i < fsck->faults.n; i++)
		fault_clear(fat_vec_at(&fsck->faults, i));
	if (fsck->faults.n > n_kept)
		fsck->faults.n = n_kept;
	fsck->n_faults_dropped = 0;
}

void fault_set_text(struct fault *fault, const char *text)
{
	free(fault->text);
	fault->text = strdup(text);
}

/* ---- messages ---- */

struct writer {
	char *buf;
	size_t room, n;
};

static void put(struct writer *writer, const char *text)
{
	size_t n = strlen(text);

	if (writer->n + 1 >= writer->room)
		return;
	if (n > writer->room - 1 - writer->n)
		n = writer->room - 1 - writer->n;
	memcpy(writer->buf + writer->n, text, n);
	writer->n += n;
	writer->buf[writer->n] = '\0';
}

static void put_number(struct writer *writer, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, number);
	put(writer, digits);
}

static void put_field(struct writer *writer, const struct fault *fault, const char *name, size_t n)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "clus", fault->clus }, { "last", fault->last }, { "n", fault->n },
		{ "need", fault->need }, { "size", fault->size }, { "a", fault->a },
		{ "b", fault->b },
	};

	if (n == 4 && memcmp(name, "path", 4) == 0) {
		put(writer, fault->path ? fault->path : "?");
	} else if (n == 4 && memcmp(name, "text", 4) == 0) {
		put(writer, fault->text ? fault->text : "?");
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strlen(numbers[i].name) == n && memcmp(numbers[i].name, name, n) == 0)
			put_number(writer, numbers[i].value);
}

void fault_text(const char *form, const struct fault *fault, char *buf, size_t buf_bytes)
{
	struct writer writer = { .buf = buf, .room = buf_bytes };

	buf[0] = '\0';
	while (*form) {
		const char *end = *form == '{' ? strchr(form, '}') : NULL;
		char one[2] = { *form, '\0' };

		if (end) {
			put_field(&writer, fault, form + 1, (size_t)(end - form - 1));
			form = end + 1;
		} else {
			put(&writer, one);
			form++;
		}
	}
}
