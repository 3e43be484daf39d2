/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a symbol of an ELF file by name, data or function. The file is untrusted. */
#ifndef ELF_ELF_SYMBOL_H
#define ELF_ELF_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct elf_symbol {
	uint64_t address; /* virtual address in the file */
	uint64_t size; /* bytes; 0 = unknown */
};

/*
 * Find a defined symbol that is not thread-local, in .dynsym or else in .symtab, by its exact name (without a version).
 * False, with `*ret_symbol` untouched, if there is none.
 */
bool elf_symbol_find(struct elf_file *file, const char *name, struct elf_symbol *ret_symbol);

/* The same in .dynsym only, which lists what other files can use. Fast for large files. */
bool elf_symbol_find_exported(struct elf_file *file, const char *name,
			      struct elf_symbol *ret_symbol);

/*
 * Which of `count` names does the file import (undefined in .dynsym), or define privately (in
 * .symtab, not in .dynsym)? Returns the index of one, or -1.
 */
int elf_symbol_find_used(struct elf_file *file, const char *const *names, size_t count);

#endif
