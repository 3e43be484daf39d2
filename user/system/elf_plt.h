/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function that an entry of a file's procedure linkage table jumps to. Only 64-bit files of this machine; the file
 * is untrusted.
 */
#ifndef SYSTEM_ELF_PLT_H
#define SYSTEM_ELF_PLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/elf_file.h"

#define ELF_PLT_NAME_MAX 64

/*
 * The name, without a version, that the dynamic linker looks up for the entry at `file_offset`. False, with `ret_name`
 * untouched, if there is no such entry, or its name is too long.
 */
bool elf_plt_name(struct elf_file *file, uint64_t file_offset, char ret_name[ELF_PLT_NAME_MAX]);

/*
 * Where the function begins that chooses what the entry at `file_offset` leads to: that of an indirect function
 * (STT_GNU_IFUNC) of the file's own. False if there is none.
 */
bool elf_plt_resolver(struct elf_file *file, uint64_t file_offset, uint64_t *ret_offset);

#endif
