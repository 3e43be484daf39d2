/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probing needs from an ELF file: its function symbols, its build ID, the way from symbol values to
 * file offsets, and code bytes. Files are untrusted; libelf decodes the headers, and everything is
 * checked against the file's size. Nothing is mapped: a file that shrinks meanwhile must not kill the
 * tracer.
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
 * Read the file behind `fd`, which stays the caller's and may be closed at any time. NULL on failure, with `error`
 * (ERROR_NOTHING) filled: not an ELF file, not for this machine, damaged. Free with elf_file_close.
 */
struct elf_file *elf_file_open(int fd, struct error *error);
void elf_file_close(struct elf_file *file);

/*
 * Calls `visit` for each defined function symbol of .dynsym, .symtab and .gnu_debugdata (in this order; a name at the
 * same offset is reported once). Only functions in executable segments count: a probe elsewhere would damage data.
 * `visit` returns false to stop. The tables are read at the first call and kept.
 */
void elf_file_functions(struct elf_file *file,
			bool (*visit)(void *context, const struct elf_function *function),
			void *context);

/* Has it a symbol table of its own, beside the dynamic one, that stripping would take away? */
bool elf_file_has_symbols(struct elf_file *file);

/*
 * Add the function symbols of its separate debug file, behind the descriptor `fd`, to those of the file; what they are
 * worth is for the caller to know. True if it could be read.
 */
bool elf_file_add_symbols(struct elf_file *file, int fd);

#define ELF_LINK_NAME_MAX 256
/* The name of the debug file, and its checksum, that .gnu_debuglink has. False if there is none. */
bool elf_file_debug_link(struct elf_file *file, char ret_name[ELF_LINK_NAME_MAX],
			 uint32_t *ret_crc);

/* Copies at most `size` bytes at a file offset; returns how many were there. */
size_t elf_file_read(struct elf_file *file, uint64_t file_offset, void *bytes, size_t size);

/* Has it a section with contents of this name? */
bool elf_file_has_section(struct elf_file *file, const char *name);

/* Size of the build ID in bytes; 0 = none, or it is longer than `capacity`. */
size_t elf_file_build_id(struct elf_file *file, unsigned char *id, size_t capacity);

/*
 * File offset <-> virtual address by the loadable segments, as far as they have bytes in the file. False if no
 * segment holds it.
 */
bool elf_file_offset_to_address(struct elf_file *file, uint64_t file_offset, uint64_t *ret_address);
bool elf_file_address_to_offset(struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* The program interpreter (PT_INTERP), or NULL: a static program or a library. Belongs to the file. */
const char *elf_file_interpreter(struct elf_file *file);

#endif
