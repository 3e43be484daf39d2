/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A string table of an ELF file, read in parts on demand: a file of a few kilobytes can claim
 * tables of gigabytes. Private to the parts of elf_file.
 */
#ifndef ELF_ELF_STRINGS_H
#define ELF_ELF_STRINGS_H

#include "elf/elf_file_private.h"

/* Bytes of one part. */
#define ELF_STRINGS_PART 65536u

struct elf_strings {
	struct elf_file *file;
	uint64_t offset, size; /* of the table in the file */
	char **parts; /* owned; NULL = not read */
	size_t held; /* parts that are kept */
	uint64_t read; /* bytes read so far */
};

/*
 * Open the table of a section header. The file must stay open. False if the table cannot be used:
 * it is compressed, or not in the file. Close with elf_strings_close in either case.
 */
bool elf_strings_open(struct elf_strings *strings, struct elf_file *file, const Elf64_Shdr *header);
void elf_strings_close(struct elf_strings *strings);

/*
 * Copy the string at offset `at`, at most `capacity` bytes, without terminator. Returns its length;
 * `capacity` if it is as long or longer; 0 if there is none, or the limit of bytes read was
 * reached.
 */
size_t elf_strings_copy(struct elf_strings *strings, uint64_t at, char *name, size_t capacity);

#endif
