/* SPDX-License-Identifier: MIT */
/*
 * names: short and long names as bytes of directory slots. The test machines' own, not libfat's.
 */
#ifndef RECIPES_NAMES_H
#define RECIPES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LFN_UNITS_A_SLOT 13u
#define LFN_MAX_UNITS    255u

/* "README.TXT" -> "README  TXT"; false if it is no plain upper-case 8.3 name. */
bool name_to_short(const char *name, uint8_t short_name[11]);
/* "README  TXT" -> "README.TXT", case_bits as Windows NT keeps them; bytes above 7Fh as \xNN. */
void name_from_short(const uint8_t short_name[11], uint8_t case_bits, char to[64]);
/* The alias number `n` of a long name: "LONGNA~1TXT". */
void name_alias(const char *name, unsigned n, uint8_t short_name[11]);
bool name_short_is_valid(const uint8_t short_name[11]);
uint8_t name_checksum(const uint8_t short_name[11]);

/* UTF-8 to UTF-16; how many units, at most LFN_MAX_UNITS. */
size_t name_to_units(const char *name, uint16_t units[LFN_MAX_UNITS]);
/* UTF-16 to UTF-8; lone surrogates become "?". to has room for 3 bytes a unit and a 0. */
void name_from_units(const uint16_t *units, size_t n, char *to);
size_t name_lfn_slots(size_t n_units);
/* Slot `seq` (1 is the first part of the name) of n. */
void name_lfn_slot(const uint16_t *units, size_t n_units, unsigned seq, uint8_t checksum,
		   uint8_t slot[32]);
/* The unit number i (0 to 12) of a slot: its byte offset. */
size_t name_unit_off(size_t i);

#endif
