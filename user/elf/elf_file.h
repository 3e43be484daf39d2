/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from ELF files what probing needs: function symbols, the build ID, the mapping of symbol
 * values to file offsets, and code bytes. Files are untrusted; libelf decodes the headers, and
 * everything is checked against the file's size. Nothing is mapped, so a file that shrinks
 * meanwhile cannot kill the tracer.
 */
#ifndef ELF_ELF_FILE_H
#define ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file;

/* A function that the file defines. */
struct elf_function {
	const char *name; /* without a version; belongs to the file */
	uint64_t file_offset; /* of its first instruction, as a uprobe needs it */
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

/* Does it have .symtab, which stripping would remove? */
bool elf_file_has_symbols(struct elf_file *file);

/*
 * Add the function symbols of its separate debug file, open as `fd`. The caller must have verified
 * that they match. True if it could be read.
 */
bool elf_file_add_symbols(struct elf_file *file, int fd);

#define ELF_LINK_NAME_MAX 256
/* The name and checksum of the debug file, from .gnu_debuglink. False if there is none. */
bool elf_file_debug_link(struct elf_file *file, char ret_name[ELF_LINK_NAME_MAX],
			 uint32_t *ret_crc);

/* Copy up to `size` bytes at a file offset; returns the number of bytes copied. */
size_t elf_file_read(struct elf_file *file, uint64_t file_offset, void *bytes, size_t size);

/* Does it have a section of this name, with contents? */
bool elf_file_has_section(struct elf_file *file, const char *name);

/* Size of the build ID in bytes; 0 = none, or it is longer than `capacity`. */
size_t elf_file_build_id(struct elf_file *file, unsigned char *id, size_t capacity);

/*
 * Convert between file offsets and virtual addresses by the loadable segments, as far as they have
 * bytes in the file. False if no segment contains it.
 */
bool elf_file_offset_to_address(struct elf_file *file, uint64_t file_offset, uint64_t *ret_address);
bool elf_file_address_to_offset(struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* The program interpreter (PT_INTERP), or NULL: a static program or a library. Belongs to the file. */
const char *elf_file_interpreter(struct elf_file *file);

#endif
