/* SPDX-License-Identifier: MIT */
/*
 * label: a volume label from the command line, judged by libfat and told in dosfstools' words.
 */
#include <string.h>

#include "mkfs.h"

static bool refuse(enum fat_label_flaw flaw)
{
	static const struct {
		const char *why, *advice;
	} words[] = {
		[FAT_LABEL_UTF8] = { "The label is not valid UTF-8", "give it in UTF-8" },
		[FAT_LABEL_LONG] = { "Label can be no longer than 11 characters", "shorten it" },
		[FAT_LABEL_CONTROL] = { "Labels with characters below 0x20 are not allowed",
					"leave out control characters" },
		[FAT_LABEL_RESERVED] = {
			"Labels with characters *?.,;:/\\|+=<>[]\" are not allowed",
			"leave them out" },
		[FAT_LABEL_LEADING_BLANK] = { "Label can't start with a space character",
					      "leave out the blank" },
		[FAT_LABEL_CODEPAGE] = { "The label has a character that its code page lacks",
					 "choose another with --codepage" },
	};

	cli_error(&mkfs_program, "%s; %s", words[flaw].why, words[flaw].advice);
	return false;
}

bool mkfs_label_encode(const char *text, unsigned codepage, uint8_t label[11], bool *has_label)
{
	struct fat_codepage page;
	enum fat_label_flaw flaw;

	*has_label = false;
	if (fat_codepage_init(&page, codepage) != FAT_OK) {
		cli_error(&mkfs_program,
			  "Invalid codepage : %u; give one that iconv knows, or 437, or 850",
			  codepage);
		return false;
	}
	if (!text)
		return true;
	flaw = fat_label_encode(text, &page, label);
	if (flaw == FAT_LABEL_BLANK) /* none */
		return strlen(text) <= FAT_SHORT_BYTES || refuse(FAT_LABEL_LONG);
	if (flaw != FAT_LABEL_OK)
		return refuse(flaw);
	if (fat_label_has_lower(label, &page))
		cli_error(&mkfs_program,
			  "warning: lowercase labels might not work properly on some systems");
	*has_label = !fat_label_is_none(label);
	return true;
}
