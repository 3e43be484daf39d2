/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function symbols by address. A name is given only to code that the symbol covers: the usual wrong names come from
 * the nearest exported symbol of a stripped library.
 */
#include "decode/dwarf_image_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SYMBOLS_MAX (16 << 20)

/* Symbols without a size are routines written in assembly, which are short. */
#define SIZELESS_LENGTH_MAX 65536

/*
 * .dynsym of a stripped file leaves gaps full of unnamed functions, so what follows a symbol there is not known to be
 * its own.
 */
static bool dwarf_image_symbols_are_complete(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

/* Where a symbol without a size must end, or 0 if it must not be used. */
static uint64_t dwarf_image_symbols_limit(Elf *elf, GElf_Word section, uint64_t address,
					  GElf_Addr bias)
{
	GElf_Shdr header;
	uint64_t left;

	if (!gelf_getshdr(elf_getscn(elf, section), &header) || !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	if (address - bias < header.sh_addr || address - bias - header.sh_addr >= header.sh_size)
		return 0;
	left = header.sh_size - (address - bias - header.sh_addr);
	return address + (left < SIZELESS_LENGTH_MAX ? left : SIZELESS_LENGTH_MAX);
}

static bool dwarf_image_symbols_is_label(const char *name)
{
	return !name[0] || name[0] == '$' || !strncmp(name, ".L", 2);
}

/* Makes an entry of one ELF symbol. False if it names no code. */
static bool dwarf_image_symbols_read(const struct dwarf_image *image, int index, Elf **last,
				     bool *complete, struct dwarf_image_symbol *ret)
{
	GElf_Word section;
	GElf_Addr start, bias;
	GElf_Sym symbol;
	Elf *elf = NULL;
	const char *name;
	int type;

	name = dwfl_module_getsym_info(image->module, index, &symbol, &start, &section, &elf,
				       &bias);
	if (!name || !elf || dwarf_image_symbols_is_label(name))
		return false;
	type = GELF_ST_TYPE(symbol.st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (section == SHN_UNDEF || (section >= SHN_LORESERVE && section < 0x10000))
		return false;
	*ret = (struct dwarf_image_symbol){ .start = start,
					    .name = name,
					    .sized = symbol.st_size && type != STT_NOTYPE,
					    .binding = GELF_ST_BIND(symbol.st_info) };
	if (ret->sized)
		return !__builtin_add_overflow(start, symbol.st_size, &ret->end);
	if (elf != *last) {
		*last = elf;
		*complete = dwarf_image_symbols_are_complete(elf);
	}
	ret->end = *complete ? dwarf_image_symbols_limit(elf, section, start, bias) : 0;
	return ret->end != 0;
}

static int dwarf_image_symbol_rank(const struct dwarf_image_symbol *symbol)
{
	return symbol->binding == STB_LOCAL ? 0 : symbol->binding == STB_WEAK ? 1 : 2;
}

/* By address; at one address the name that people know comes last. */
static int dwarf_image_symbol_compare(const void *left, const void *right)
{
	const struct dwarf_image_symbol *a = left, *b = right;
	size_t x, y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->sized != b->sized)
		return a->sized ? 1 : -1;
	if (dwarf_image_symbol_rank(a) != dwarf_image_symbol_rank(b))
		return dwarf_image_symbol_rank(a) - dwarf_image_symbol_rank(b);
	x = strspn(a->name, "_");
	y = strspn(b->name, "_");
	if (x != y)
		return x > y ? -1 : 1;
	x = strlen(a->name);
	y = strlen(b->name);
	if (x != y)
		return x > y ? -1 : 1;
	return -strcmp(a->name, b->name);
}

/* What has no size ends where any other symbol begins. */
static void dwarf_image_symbols_trim(struct dwarf_image *image)
{
	uint64_t next = UINT64_MAX, start = UINT64_MAX;
	bool sized = false;
	size_t i;

	for (i = image->symbol_count; i-- > 0;) {
		struct dwarf_image_symbol *symbol = &image->symbols[i];

		if (symbol->start != start) {
			next = start;
			start = symbol->start;
			sized = false;
		}
		sized |= symbol->sized;
		if (!symbol->sized && symbol->end > next)
			symbol->end = next;
		if (!symbol->sized && sized)
			symbol->end = symbol->start;
	}
}

static void dwarf_image_symbols_load(struct dwarf_image *image)
{
	int count = dwfl_module_getsymtab(image->module), i;
	struct dwarf_image_symbol symbol;
	bool complete = false;
	uint64_t reach = 0;
	Elf *last = NULL;
	size_t at;

	for (i = 1; i < count && i < SYMBOLS_MAX; i++) {
		if (!dwarf_image_symbols_read(image, i, &last, &complete, &symbol))
			continue;
		image->symbols = memory_grow(image->symbols, image->symbol_count,
					     &image->symbol_capacity, sizeof(*image->symbols));
		image->symbols[image->symbol_count++] = symbol;
	}
	if (image->symbol_count)
		qsort(image->symbols, image->symbol_count, sizeof(*image->symbols),
		      dwarf_image_symbol_compare);
	dwarf_image_symbols_trim(image);
	for (at = 0; at < image->symbol_count; at++) {
		if (image->symbols[at].end > reach)
			reach = image->symbols[at].end;
		image->symbols[at].reach = reach;
	}
}

const struct dwarf_image_symbol *dwarf_image_symbols_find(struct dwarf_image *image,
							  uint64_t address)
{
	const struct dwarf_image_symbol *fallback = NULL, *symbol;
	size_t low = 0, high;

	if (!image->symbols_known)
		dwarf_image_symbols_load(image);
	image->symbols_known = true;
	for (high = image->symbol_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (image->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		symbol = &image->symbols[low];
		if (symbol->reach <= address)
			break;
		if (symbol->end <= address)
			continue;
		if (symbol->sized)
			return symbol;
		if (!fallback)
			fallback = symbol;
	}
	return fallback;
}
