/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of elf_file; private to them. */
#ifndef ELF_ELF_FILE_PRIVATE_H
#define ELF_ELF_FILE_PRIVATE_H

#include <gelf.h>

#include "base/buffer.h"
#include "elf/elf_file.h"

/* More than any honest file has. */
#define ELF_SEGMENTS_MAX 4096
#define ELF_SECTIONS_MAX 1000000

struct elf_file {
	int fd; /* own duplicate; -1 = the file is in `bytes` */
	struct buffer bytes; /* owned */
	uint64_t size; /* of the file when it was opened, bytes */
	Elf *elf;
	Elf64_Phdr *segments; /* owned */
	size_t segment_count;
	char *interpreter; /* owned; NULL = none */
	struct elf_function *functions; /* owned; valid when functions_read */
	size_t function_count, function_capacity;
	char **strings; /* owned memory holding the functions' names */
	size_t string_count, string_capacity;
	size_t string_left; /* unused bytes of the last one */
	bool functions_read;
};

/*
 * A NUL-terminated copy of a part of the file, at most `limit` bytes. NULL if the file lacks any of
 * it. Free with free().
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

/* As elf_file_open, for an ELF file in memory; takes ownership of `bytes`. */
struct elf_file *elf_file_open_memory(struct buffer *bytes);

/* The decompressed ELF file in .gnu_debugdata, or NULL. Free with elf_file_close. */
struct elf_file *elf_debugdata_open(struct elf_file *file);

#endif
