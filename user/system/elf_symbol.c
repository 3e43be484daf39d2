/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See elf_symbol.h. Tables are copied out of the file and searched there. */
#include "system/elf_symbol.h"

#include <stdlib.h>
#include <string.h>

#include "system/elf_file_private.h"

/* More than any honest file has, per table. */
#define SYMBOLS_MAX (4u << 20)
#define STRINGS_MAX (1u << 30)

struct symbol_search {
	const char *name;
	struct elf_symbol *found;
};

static bool symbol_matches(const struct symbol_search *search, const Elf64_Sym *symbol,
			   const char *strings, uint64_t size)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || (type != STT_OBJECT && type != STT_FUNC))
		return false;
	/* The copy of the strings ends in a NUL that is not counted. */
	return symbol->st_name < size &&
	       !strncmp(strings + symbol->st_name, search->name, size - symbol->st_name + 1);
}

static bool symbol_search_table(struct elf_file *file, const Elf64_Shdr *table,
				const struct symbol_search *search)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), i;
	Elf_Scn *section = elf_getscn(file->elf, table->sh_link);
	const Elf64_Shdr *names = section ? elf64_getshdr(section) : NULL;
	Elf64_Sym *symbols;
	char *strings;

	if (!names || names->sh_type != SHT_STRTAB || table->sh_entsize != sizeof(Elf64_Sym) ||
	    (table->sh_flags | names->sh_flags) & SHF_COMPRESSED)
		return false;
	symbols = elf_file_copy(file, table->sh_offset, count * sizeof(Elf64_Sym),
				SYMBOLS_MAX * sizeof(Elf64_Sym));
	strings = elf_file_copy(file, names->sh_offset, names->sh_size, STRINGS_MAX);
	for (i = 0; symbols && strings && i < count; i++)
		if (symbol_matches(search, &symbols[i], strings, names->sh_size))
			break;
	if (symbols && strings && i < count)
		*search->found = (struct elf_symbol){ symbols[i].st_value, symbols[i].st_size };
	else
		i = count;
	free(symbols);
	free(strings);
	return i < count;
}

static bool symbol_search_type(struct elf_file *file, Elf64_Word type, const char *name,
			       struct elf_symbol *ret_symbol)
{
	struct symbol_search search = { name, ret_symbol };
	Elf_Scn *section = NULL;
	size_t seen = 0;

	while ((section = elf_nextscn(file->elf, section)) && seen++ < ELF_SECTIONS_MAX) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		/* A file has at most one table of a type; of more, only the first is believed. */
		if (header && header->sh_type == type)
			return symbol_search_table(file, header, &search);
	}
	return false;
}

bool elf_symbol_find_exported(struct elf_file *file, const char *name,
			      struct elf_symbol *ret_symbol)
{
	return symbol_search_type(file, SHT_DYNSYM, name, ret_symbol);
}

bool elf_symbol_find(struct elf_file *file, const char *name, struct elf_symbol *ret_symbol)
{
	return symbol_search_type(file, SHT_DYNSYM, name, ret_symbol) ||
	       symbol_search_type(file, SHT_SYMTAB, name, ret_symbol);
}
