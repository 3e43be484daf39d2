/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of an ELF file. */
#include "elf/elf_file_private.h"

#include <string.h>

/* By name, as every reader of these sections finds them: they have no types of their own. */
const Elf64_Shdr *elf_section_find(struct elf_file *file, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);
		const char *name;

		if (!header || (header->sh_type != SHT_PROGBITS && header->sh_type != SHT_NOTE))
			continue;
		name = elf_strptr(file->elf, names, header->sh_name);
		if (name && strcmp(name, wanted) == 0)
			return header;
	}
	return NULL;
}
