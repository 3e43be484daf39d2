/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A string table of an ELF file, read by parts as they are asked for: a file of a few kilobytes can have tables of
 * gigabytes. Not for other users than the parts of elf_file.
 */
#ifndef SYSTEM_ELF_STRINGS_H
#define SYSTEM_ELF_STRINGS_H

#include "system/elf_file_private.h"

/* Bytes of one part. */
#define ELF_STRINGS_PART 65536u

struct elf_strings {
	struct elf_file *file;
	uint64_t offset, size; /* in the file */
	char **parts; /* owned; NULL = not read */
	size_t held; /* parts that are kept */
	uint64_t read; /* bytes that were read so far */
};

/*
 * Use the table that the section header describes, of a file that must stay open. False if it cannot be used: it is
 * compressed, or not in the file. Close with elf_strings_close in any case.
 */
bool elf_strings_open(struct elf_strings *strings, struct elf_file *file, const Elf64_Shdr *header);
void elf_strings_close(struct elf_strings *strings);

/*
 * Copy the string at `at`, at most `capacity` bytes without a terminator. Returns its length; `capacity` if it is as long or
 * longer; 0 also where there is none, or when too much was read already.
 */
size_t elf_strings_copy(struct elf_strings *strings, uint64_t at, char *name, size_t capacity);

#endif
