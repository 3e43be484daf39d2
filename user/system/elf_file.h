/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probing needs from an ELF file: its function symbols, its build ID, the way from symbol values to
 * file offsets, and code bytes. Files are untrusted; libelf does the decoding, and everything is
 * checked against the file's size.
 */
#ifndef SYSTEM_ELF_FILE_H
#define SYSTEM_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file;

/* A function that the file defines. */
struct elf_function {
	const char *name; /* without a version; belongs to the file */
	uint64_t file_offset; /* of its first instruction: what a uprobe takes */
	uint64_t size; /* bytes; 0 = the symbol has none */
	bool indirect; /* STT_GNU_IFUNC: the offset is that of the resolver */
};

/*
 * Read the file behind `fd`, which stays the caller's. NULL on failure, with `error` filled: not an ELF file, not of
 * this machine's word size, truncated. Free with elf_file_close.
 */
struct elf_file *elf_file_open(int fd, struct error *error);
void elf_file_close(struct elf_file *file);

/*
 * Calls `visit` for each defined function symbol of .dynsym, .symtab and .gnu_debugdata (in this order; a name at the
 * same offset is reported once). `visit` returns false to stop.
 */
void elf_file_functions(struct elf_file *file,
			bool (*visit)(void *context, const struct elf_function *function),
			void *context);

/* Copies at most `size` bytes at a file offset; returns how many were there. */
size_t elf_file_read(struct elf_file *file, uint64_t file_offset, void *bytes, size_t size);

/* Size of the build ID in bytes, at most `capacity`; 0 = none. */
size_t elf_file_build_id(struct elf_file *file, unsigned char *id, size_t capacity);

/* File offset <-> virtual address by the loadable segments. False if no segment holds it. */
bool elf_file_offset_to_address(struct elf_file *file, uint64_t file_offset, uint64_t *ret_address);
bool elf_file_address_to_offset(struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* The program interpreter (PT_INTERP), or NULL: a static program. Belongs to the file. */
const char *elf_file_interpreter(struct elf_file *file);

#endif
