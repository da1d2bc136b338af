/* SPDX-License-Identifier: MIT */
/* fuzz_name: long-name slots, short names, aliases and UTF-8 of any bytes. */
#include <string.h>

#include "fuzz.h"
#include "libfat.h"

/* A usable long name splits into slots that assemble to the same name. */
static void split_and_assemble(const struct fat_long_name *name, const uint8_t *short_name)
{
	uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES];
	struct fat_long_name again;
	unsigned flaws;
	size_t n = fat_long_split(name->unit, name->n_units, short_name, slots);

	must(n > 0 && n <= FAT_LONG_SLOTS);
	must(fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])slots, n, short_name, &again,
			       &flaws) == FAT_LONG_OK);
	must(again.n_units == name->n_units && !(flaws & (FAT_LONG_PADDING | FAT_LONG_TYPE)));
	must(memcmp(again.unit, name->unit, 2 * name->n_units) == 0);
}

static void aliases(const struct fat_long_name *name)
{
	struct fat_codepage page;
	uint8_t alias[FAT_SHORT_BYTES];

	must(fat_codepage_init(&page, 437) == FAT_OK);
	for (uint32_t tail = 0; tail < 1000000; tail = tail * 10 + 1) {
		fat_short_alias(name->unit, name->n_units, tail, &page, alias);
		if (tail > 0)
			must(!(fat_short_check(alias) & (FAT_SHORT_CONTROL | FAT_SHORT_LOWER)));
	}
}

static void as_text(const struct fat_long_name *name)
{
	char text[FAT_NAME_BYTES];
	uint16_t units[FAT_NAME_UNITS];
	size_t n_units;
	size_t n = fat_units_to_utf8(name->unit, name->n_units, text, sizeof text);

	must(n < sizeof text && text[n] == 0);
	must(fat_units_from_utf8(text, units, FAT_NAME_UNITS, &n_units));
	fat_units_hash(units, n_units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES] = { 0 };
	uint8_t short_name[FAT_SHORT_BYTES] = { 0 };
	struct fat_long_name name;
	struct fat_codepage page;
	enum fat_long_verdict verdict;
	unsigned flaws;
	size_t n_slots = 1;
	char text[64];

	if (n_bytes < sizeof short_name + 1)
		return 0;
	memcpy(short_name, data, sizeof short_name);
	data += sizeof short_name;
	n_bytes -= sizeof short_name;
	if (n_bytes > sizeof slots)
		n_bytes = sizeof slots;
	memcpy(slots, data, n_bytes);
	n_slots = (n_bytes + FAT_SLOT_BYTES - 1) / FAT_SLOT_BYTES;
	/* let the fuzzer past the checksum */
	for (size_t i = 0; i < n_slots && (short_name[10] & 1); i++)
		slots[i][13] = fat_short_checksum(short_name);
	verdict = fat_long_assemble((const uint8_t(*)[FAT_SLOT_BYTES])slots, n_slots, short_name,
				    &name, &flaws);
	if (verdict == FAT_LONG_OK) {
		must(name.n_units > 0 && name.n_units <= FAT_NAME_UNITS);
		split_and_assemble(&name, short_name);
		aliases(&name);
		as_text(&name);
	}
	must(fat_codepage_init(&page, 850) == FAT_OK);
	fat_short_to_utf8(short_name, slots[0][0], &page, text, sizeof text);
	fat_slot_classify(slots[0]);
	return 0;
}
