/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolves entries of a file's procedure linkage table. Only 64-bit files of this machine; the file
 * is untrusted.
 */
#ifndef ELF_ELF_PLT_H
#define ELF_ELF_PLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define ELF_PLT_NAME_MAX 64

/*
 * The name, without version, that the dynamic linker resolves for the entry at `file_offset`.
 * False, with `ret_name` untouched, if there is no such entry, or its name is too long.
 */
bool elf_plt_name(struct elf_file *file, uint64_t file_offset, char ret_name[ELF_PLT_NAME_MAX]);

/*
 * The start of the resolver of the entry at `file_offset`, if the entry calls an indirect function
 * (STT_GNU_IFUNC) of this file. False if it does not.
 */
bool elf_plt_resolver(struct elf_file *file, uint64_t file_offset, uint64_t *ret_offset);

#endif
