/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of elf_file share. Not for other users. */
#ifndef SYSTEM_ELF_FILE_PRIVATE_H
#define SYSTEM_ELF_FILE_PRIVATE_H

#include <gelf.h>

#include "base/buffer.h"
#include "system/elf_file.h"

/* More than any honest file has. */
#define ELF_SEGMENTS_MAX 4096
#define ELF_SECTIONS_MAX 1000000

struct elf_file {
	int fd; /* own duplicate; -1 = the file is in memory: */
	struct buffer bytes; /* owned */
	uint64_t size; /* of the file, bytes, when it was opened */
	Elf *elf;
	Elf64_Phdr *segments; /* owned */
	size_t segment_count;
	char *interpreter; /* owned; NULL = none */
	struct elf_function *functions; /* owned; valid when functions_read */
	size_t function_count, function_capacity;
	char **strings; /* owned memory that the names of the functions are in */
	size_t string_count, string_capacity;
	size_t string_left; /* bytes of the last that are unused */
	bool functions_read;
};

/*
 * A part of the file in own memory with a NUL behind it, at most `limit` bytes. NULL if the file does not have it
 * all. Free with free().
 */
void *elf_file_copy(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t limit);

/* Like elf_file_address_to_offset, for an address in an executable segment. */
bool elf_file_code_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* Like elf_file_address_to_offset, for `size` bytes in a writable segment. */
bool elf_file_data_offset(const struct elf_file *file, uint64_t address, uint64_t size,
			  uint64_t *ret_offset);

/* Fill in file->functions. Damaged tables count as empty. */
void elf_functions_read(struct elf_file *file);

/* The section with contents of this name, or NULL. */
const Elf64_Shdr *elf_section_find(struct elf_file *file, const char *name);

/* As elf_file_open, for an ELF file in memory; takes over `bytes`. */
struct elf_file *elf_file_open_memory(struct buffer *bytes);

/*
 * The ELF file that .gnu_debugdata holds, decompressed; or NULL. Free with elf_file_close.
 */
struct elf_file *elf_debugdata_open(struct elf_file *file);

#endif
