/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of an image share: image.c (the file), dwarf_image_debug.c (separate debug files), dwarf_image_symbols.c
 * (ELF symbols) and dwarf_image_functions.c (DWARF). For these four only.
 */
#ifndef DECODE_DWARF_IMAGE_PARTS_H
#define DECODE_DWARF_IMAGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

#include "base/table.h"
#include "decode/dwarf_image.h"

/* A function of the symbol tables. */
struct dwarf_image_symbol {
	uint64_t start, end; /* addresses as the file has them */
	uint64_t reach; /* the highest `end` of this one and of all before it */
	const char *name; /* belongs to the Dwfl */
	bool sized; /* `end` comes from the symbol, not from what follows it */
	unsigned char binding; /* STB_* */
};

/* A run of code that belongs to a debugging entry: a unit or a function. */
struct dwarf_image_range {
	uint64_t low, high;
	Dwarf_Off entry;
};

/* Sorted by `low`. */
struct dwarf_image_ranges {
	struct dwarf_image_range *items;
	size_t count, capacity;
};

struct dwarf_image {
	const struct debug_source *source;
	Dwfl *dwfl;
	Dwfl_Module *module;

	bool symbols_known;
	struct dwarf_image_symbol *symbols; /* sorted by dwarf_image_symbol_compare */
	size_t symbol_count, symbol_capacity;

	bool dwarf_known;
	Dwarf *dwarf; /* belongs to the Dwfl; NULL = none */
	GElf_Addr dwarf_bias; /* address in the file = address in the DWARF + this */
	Dwarf *alternate; /* of .gnu_debugaltlink; owned */
	int alternate_fd;
	struct dwarf_image_ranges *units; /* NULL = not read */
	struct table functions; /* offset of a unit -> struct dwarf_image_ranges of its functions */
};

/* dwarf_image_debug.c */

/* The callback of libdwfl: a descriptor of the separate debug file, or -1. Never asks the network. */
int dwarf_image_debug_find(Dwfl_Module *module, void **userdata, const char *module_name,
			   Dwarf_Addr base, const char *file_name, const char *debuglink,
			   GElf_Word debuglink_crc, char **ret_path);
/* Gives `image->dwarf` the shared file that it refers to, if it refers to one. */
void dwarf_image_debug_attach_alternate(struct dwarf_image *image);

/* dwarf_image_symbols.c */

/* The function symbol at an address, or NULL. */
const struct dwarf_image_symbol *dwarf_image_symbols_find(struct dwarf_image *image,
							  uint64_t address);

/* dwarf_image_functions.c */

/* The outermost function of a look-up, as the DWARF has it. */
struct dwarf_image_function {
	uint64_t start; /* its first address; UINT64_MAX = unknown */
	bool plain; /* the name is not the linker's: without namespaces and parameters */
};

/*
 * Fills `names` from the DWARF. Leaves it empty, and `ret_function` untouched, if the DWARF does not know the address.
 */
void dwarf_image_functions_lookup(struct dwarf_image *image, uint64_t address,
				  struct dwarf_image_names *names,
				  struct dwarf_image_function *ret_function);
void dwarf_image_functions_free(struct dwarf_image *image);

#endif
