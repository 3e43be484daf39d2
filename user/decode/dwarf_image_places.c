/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of all kinds, functions and variables, that cover given addresses. The table is gone through once for all of them, and is
 * not kept.
 */
#include "decode/dwarf_image_parts.h"

#include <string.h>

#define SYMBOLS_MAX (16 << 20)

/* The first place at or above `address`. */
static size_t dwarf_image_places_from(const struct dwarf_image_place *places, size_t count,
				      uint64_t address)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of symbols that begin at one address, that which others refer to by fewer underscores. */
static bool dwarf_image_places_is_better(const struct dwarf_image_place *place, uint64_t start,
					 const char *name, int binding)
{
	size_t own = strspn(name, "_"), other;

	if (!place->symbol || start != place->start)
		return !place->symbol || start > place->start;
	if ((binding == STB_LOCAL) != place->is_local)
		return place->is_local;
	other = strspn(place->symbol, "_");
	return own != other ? own < other : strcmp(name, place->symbol) < 0;
}

static bool dwarf_image_places_is_named(const GElf_Sym *symbol, GElf_Word section, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	if (!name || !name[0] || name[0] == '$' || !strncmp(name, ".L", 2) ||
	    section == SHN_UNDEF || (section >= SHN_LORESERVE && section < 0x10000))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

void dwarf_image_name_places(struct dwarf_image *image, struct dwarf_image_place *places,
			     size_t count)
{
	int symbols = dwfl_module_getsymtab(image->module), i;
	GElf_Addr start, bias;
	GElf_Word section;
	GElf_Sym symbol;
	Elf *elf;

	for (i = 1; i < symbols && i < SYMBOLS_MAX; i++) {
		const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &start,
							   &section, &elf, &bias);
		int binding = GELF_ST_BIND(symbol.st_info);
		size_t at;

		if (!dwarf_image_places_is_named(&symbol, section, name))
			continue;
		for (at = dwarf_image_places_from(places, count, start);
		     at < count &&
		     places[at].address - start < (symbol.st_size ? symbol.st_size : 1);
		     at++)
			if (dwarf_image_places_is_better(&places[at], start, name, binding)) {
				places[at].symbol = name;
				places[at].start = start;
				places[at].is_local = binding == STB_LOCAL;
			}
	}
}
