/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See elf_symbol.h. Tables of symbols are copied out of the file and searched there. */
#include "elf/elf_symbol.h"

#include <stdlib.h>
#include <string.h>

#include "elf/elf_strings.h"

/* More than any honest file has, per table. */
#define SYMBOLS_MAX (4u << 20)

/* Of what is searched for. */
#define NAME_MAX_LENGTH 256u

struct symbol_search {
	const char *const *names;
	size_t count;
	bool undefined; /* references to them are wanted */
	size_t found; /* the index of the name that was found */
	Elf64_Sym symbol; /* it */
};

/* A reference may have no type. */
static bool symbol_is_wanted(const struct symbol_search *search, const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (search->undefined)
		return symbol->st_shndx == SHN_UNDEF;
	return symbol->st_shndx != SHN_UNDEF && (type == STT_OBJECT || type == STT_FUNC);
}

static bool symbol_matches(struct symbol_search *search, const Elf64_Sym *symbol,
			   struct elf_strings *strings)
{
	char name[NAME_MAX_LENGTH];
	size_t i, length, longest = 0;

	if (!symbol_is_wanted(search, symbol))
		return false;
	for (i = 0; i < search->count; i++) {
		length = strlen(search->names[i]);
		longest = length > longest ? length : longest;
	}
	if (longest >= sizeof(name))
		return false;
	length = elf_strings_copy(strings, symbol->st_name, name, longest + 1);
	for (i = 0; i < search->count; i++)
		if (length == strlen(search->names[i]) && !memcmp(name, search->names[i], length))
			break;
	search->found = i;
	search->symbol = *symbol;
	return i < search->count;
}

static bool symbol_search_table(struct elf_file *file, const Elf64_Shdr *table,
				struct symbol_search *search)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), i;
	Elf_Scn *section = elf_getscn(file->elf, table->sh_link);
	const Elf64_Shdr *names = section ? elf64_getshdr(section) : NULL;
	struct elf_strings strings;
	Elf64_Sym *symbols;
	bool found = false;

	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_flags & SHF_COMPRESSED)
		return false;
	symbols = elf_file_copy(file, table->sh_offset, count * sizeof(Elf64_Sym),
				SYMBOLS_MAX * sizeof(Elf64_Sym));
	if (symbols && elf_strings_open(&strings, file, names)) {
		for (i = 0; i < count && !found; i++)
			found = symbol_matches(search, &symbols[i], &strings);
		elf_strings_close(&strings);
	}
	free(symbols);
	return found;
}

static bool symbol_search_type(struct elf_file *file, Elf64_Word type, struct symbol_search *search)
{
	Elf_Scn *section = NULL;
	size_t seen = 0;

	while ((section = elf_nextscn(file->elf, section)) && seen++ < ELF_SECTIONS_MAX) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		/* A file has at most one table of a type; of more, only the first is believed. */
		if (header && header->sh_type == type)
			return symbol_search_table(file, header, search);
	}
	return false;
}

static bool symbol_find_in(struct elf_file *file, Elf64_Word type, const char *name,
			   struct elf_symbol *ret_symbol)
{
	struct symbol_search search = { .names = &name, .count = 1 };

	if (!symbol_search_type(file, type, &search))
		return false;
	*ret_symbol = (struct elf_symbol){ search.symbol.st_value, search.symbol.st_size };
	return true;
}

bool elf_symbol_find_exported(struct elf_file *file, const char *name,
			      struct elf_symbol *ret_symbol)
{
	return symbol_find_in(file, SHT_DYNSYM, name, ret_symbol);
}

bool elf_symbol_find(struct elf_file *file, const char *name, struct elf_symbol *ret_symbol)
{
	return symbol_find_in(file, SHT_DYNSYM, name, ret_symbol) ||
	       symbol_find_in(file, SHT_SYMTAB, name, ret_symbol);
}

int elf_symbol_find_used(struct elf_file *file, const char *const *names, size_t count)
{
	struct symbol_search search = { .names = names, .count = count, .undefined = true };
	struct elf_symbol exported;

	if (symbol_search_type(file, SHT_DYNSYM, &search))
		return (int)search.found;
	search.undefined = false;
	if (symbol_search_type(file, SHT_SYMTAB, &search) &&
	    !elf_symbol_find_exported(file, names[search.found], &exported))
		return (int)search.found;
	return -1;
}
