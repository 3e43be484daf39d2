/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, inlined calls and lines from DWARF. Units and functions are indexed by address once, so that a lookup
 * walks one function and not a whole unit.
 */
#include "decode/dwarf_image_parts.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "base/memory.h"
#include "decode/demangle.h"

/* Bounds of the work on one file, far above those of the largest real ones. */
#define ENTRIES_MAX (256u << 20)
#define RANGES_MAX (32u << 20)

/* Entries within entries: scopes around a function, blocks within it. */
#define SCOPES_MAX 32
#define BLOCKS_MAX 256

/* Ranges may overlap; how many are tried before the last one that begins in front of an address. */
#define OVERLAPS_MAX 16

static int dwarf_image_range_compare(const void *left, const void *right)
{
	const struct dwarf_image_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void dwarf_image_ranges_add(struct dwarf_image_ranges *ranges, Dwarf_Die *entry)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (ranges->count < RANGES_MAX &&
	       (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		ranges->items = memory_grow(ranges->items, ranges->count, &ranges->capacity,
					    sizeof(*ranges->items));
		ranges->items[ranges->count++] =
			(struct dwarf_image_range){ low, high, dwarf_dieoffset(entry) };
	}
}

static void dwarf_image_ranges_sort(struct dwarf_image_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items),
		      dwarf_image_range_compare);
}

/* The entry that has `pc`, the one that begins last if there are several. */
static bool dwarf_image_ranges_find(const struct dwarf_image_ranges *ranges, uint64_t pc,
				    Dwarf_Off *ret_entry)
{
	size_t low = 0, high = ranges->count, tries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].low <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	for (tries = 0; tries < OVERLAPS_MAX && low-- > 0; tries++) {
		if (pc >= ranges->items[low].high)
			continue;
		*ret_entry = ranges->items[low].entry;
		return true;
	}
	return false;
}

static bool dwarf_image_functions_is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return true;
	default:
		return false;
	}
}

/* Every function of a unit, except functions within functions. */
static void dwarf_image_functions_collect(Dwarf_Die *unit, struct dwarf_image_ranges *ranges)
{
	Dwarf_Die scopes[SCOPES_MAX];
	size_t depth = 0, left;

	if (dwarf_child(unit, &scopes[0]))
		return;
	for (left = ENTRIES_MAX; left; left--) {
		Dwarf_Die *entry = &scopes[depth];
		int tag = dwarf_tag(entry);

		if (tag == DW_TAG_subprogram)
			dwarf_image_ranges_add(ranges, entry);
		if (depth + 1 < SCOPES_MAX && dwarf_image_functions_is_scope(tag) &&
		    !dwarf_child(entry, &scopes[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&scopes[depth], &scopes[depth])) {
			if (!depth)
				return;
			depth--;
		}
	}
}

static const struct dwarf_image_ranges *dwarf_image_functions_of(struct dwarf_image *image,
								 Dwarf_Die *unit)
{
	uint64_t key = dwarf_dieoffset(unit);
	struct dwarf_image_ranges *ranges = table_get(&image->functions, key);

	if (ranges)
		return ranges;
	ranges = memory_alloc(1, sizeof(*ranges));
	dwarf_image_functions_collect(unit, ranges);
	dwarf_image_ranges_sort(ranges);
	table_put(&image->functions, key, ranges);
	return ranges;
}

/* Compilers may leave out .debug_aranges, or write it for some units only; the units themselves know. */
static const struct dwarf_image_ranges *dwarf_image_functions_units(struct dwarf_image *image)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	uint8_t type;
	size_t left;

	if (image->units)
		return image->units;
	image->units = memory_alloc(1, sizeof(*image->units));
	for (left = ENTRIES_MAX; left; left--) {
		if (dwarf_get_units(image->dwarf, unit, &unit, NULL, &type, &entry, NULL))
			break;
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			dwarf_image_ranges_add(image->units, &entry);
	}
	dwarf_image_ranges_sort(image->units);
	return image->units;
}

static bool dwarf_image_functions_unit(struct dwarf_image *image, uint64_t pc, Dwarf_Die *ret_unit)
{
	Dwarf_Off offset;

	if (dwarf_addrdie(image->dwarf, pc, ret_unit))
		return true;
	return dwarf_image_ranges_find(dwarf_image_functions_units(image), pc, &offset) &&
	       dwarf_offdie(image->dwarf, offset, ret_unit);
}

static bool dwarf_image_functions_has_code(int tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

/* The entry right within `parent` that has `pc`. */
static bool dwarf_image_functions_descend(Dwarf_Die *parent, uint64_t pc, Dwarf_Die *ret_entry)
{
	Dwarf_Die entry;
	size_t left;

	if (dwarf_child(parent, &entry))
		return false;
	for (left = ENTRIES_MAX; left; left--) {
		if (dwarf_image_functions_has_code(dwarf_tag(&entry)) &&
		    dwarf_haspc(&entry, pc) == 1) {
			*ret_entry = entry;
			return true;
		}
		if (dwarf_siblingof(&entry, &entry))
			return false;
	}
	return false;
}

/* The function and what is inlined into it at `pc`, outermost first. Returns how many there are. */
static size_t dwarf_image_functions_chain(Dwarf_Die *function, uint64_t pc, Dwarf_Die *chain)
{
	Dwarf_Die at = *function;
	size_t count = 1, left;

	chain[0] = at;
	for (left = BLOCKS_MAX; left && count < DWARF_IMAGE_DEPTH_MAX; left--) {
		if (!dwarf_image_functions_descend(&at, pc, &at))
			break;
		/* A function within the function begins anew: it is called, not inlined. */
		if (dwarf_tag(&at) == DW_TAG_subprogram)
			count = 0;
		if (dwarf_tag(&at) == DW_TAG_subprogram ||
		    dwarf_tag(&at) == DW_TAG_inlined_subroutine)
			chain[count++] = at;
	}
	return count;
}

/* The linker's name has more information where it is mangled, and less where it is not ("__GI___libc_malloc"). */
static char *dwarf_image_functions_name(Dwarf_Die *entry, bool *ret_plain)
{
	Dwarf_Attribute attribute;
	const char *linker = NULL, *plain = dwarf_diename(entry);

	if (dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(entry, DW_AT_MIPS_linkage_name, &attribute))
		linker = dwarf_formstring(&attribute);
	*ret_plain = !linker || !demangle_is_mangled(linker);
	if (linker && linker[0] && (!*ret_plain || !plain))
		return demangle_symbol(linker);
	return plain && plain[0] ? demangle_symbol(plain) : NULL;
}

/* A file of a line table; relative names are relative to the folder of the compiler. */
static char *dwarf_image_functions_file(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *folder = NULL;

	if (!file || !file[0] || !strcmp(file, "???"))
		return NULL;
	if (file[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		folder = dwarf_formstring(&attribute);
	return folder && folder[0] ? memory_format("%s/%s", folder, file)
				   : memory_copy_string(file);
}

/* Where `entry` was called, according to its own entry. */
static void dwarf_image_functions_call_site(Dwarf_Die *unit, Dwarf_Die *entry,
					    struct dwarf_image_name *name)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word value;
	size_t count;

	if (dwarf_attr(entry, DW_AT_call_line, &attribute) && !dwarf_formudata(&attribute, &value))
		name->line = value <= UINT32_MAX ? (uint32_t)value : 0;
	if (!dwarf_attr(entry, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &value))
		return;
	if (!dwarf_getsrcfiles(unit, &files, &count) && value < count)
		name->file =
			dwarf_image_functions_file(unit, dwarf_filesrc(files, value, NULL, NULL));
}

static void dwarf_image_functions_line(Dwarf_Die *unit, uint64_t pc, struct dwarf_image_name *name)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int number;

	if (!line)
		return;
	if (!dwarf_lineno(line, &number) && number > 0)
		name->line = (uint32_t)number;
	name->file = dwarf_image_functions_file(unit, dwarf_linesrc(line, NULL, NULL));
}

static void dwarf_image_functions_open(struct dwarf_image *image)
{
	if (image->dwarf_known)
		return;
	image->dwarf_known = true;
	image->dwarf = dwfl_module_getdwarf(image->module, &image->dwarf_bias);
	if (image->dwarf)
		dwarf_image_debug_attach_alternate(image);
}

void dwarf_image_functions_lookup(struct dwarf_image *image, uint64_t address,
				  struct dwarf_image_names *names,
				  struct dwarf_image_function *ret_function)
{
	Dwarf_Die chain[DWARF_IMAGE_DEPTH_MAX], unit, function;
	Dwarf_Addr start;
	struct dwarf_image_name name = { 0 };
	Dwarf_Off offset;
	size_t count = 0;
	uint64_t pc;

	dwarf_image_functions_open(image);
	pc = address - image->dwarf_bias;
	if (!image->dwarf || !dwarf_image_functions_unit(image, pc, &unit))
		return;
	if (dwarf_image_ranges_find(dwarf_image_functions_of(image, &unit), pc, &offset) &&
	    dwarf_offdie(image->dwarf, offset, &function))
		count = dwarf_image_functions_chain(&function, pc, chain);
	if (count && !dwarf_entrypc(&chain[0], &start))
		ret_function->start = start + image->dwarf_bias;
	/* The innermost place is that of the instruction; the others are those of the inlined calls. */
	dwarf_image_functions_line(&unit, pc, &name);
	while (count-- > 0) {
		name.function = dwarf_image_functions_name(&chain[count], &ret_function->plain);
		names->items[names->count++] = name;
		name = (struct dwarf_image_name){ 0 };
		if (count)
			dwarf_image_functions_call_site(&unit, &chain[count], &name);
	}
	if (!names->count && (name.file || name.line))
		names->items[names->count++] = name;
}

void dwarf_image_functions_free(struct dwarf_image *image)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&image->functions, &cursor))) {
		struct dwarf_image_ranges *ranges = slot->value;

		free(ranges->items);
		free(ranges);
	}
	table_free(&image->functions);
	if (image->units)
		free(image->units->items);
	free(image->units);
}
