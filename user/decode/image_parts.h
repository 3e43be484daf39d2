/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of an image share: image.c (the file), image_debug.c (separate debug files), image_symbols.c
 * (ELF symbols) and image_functions.c (DWARF). For these four only.
 */
#ifndef DECODE_IMAGE_PARTS_H
#define DECODE_IMAGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

#include "base/table.h"
#include "decode/image.h"

/* A function of the symbol tables. */
struct image_symbol {
	uint64_t start, end; /* addresses as the file has them */
	uint64_t reach; /* the highest `end` of this one and of all before it */
	const char *name; /* belongs to the Dwfl */
	bool sized; /* `end` comes from the symbol, not from what follows it */
	unsigned char binding; /* STB_* */
};

/* A run of code that belongs to a debugging entry: a unit or a function. */
struct image_range {
	uint64_t low, high;
	Dwarf_Off entry;
};

/* Sorted by `low`. */
struct image_ranges {
	struct image_range *items;
	size_t count, capacity;
};

struct image {
	const struct debug_source *source;
	Dwfl *dwfl;
	Dwfl_Module *module;

	bool symbols_known;
	struct image_symbol *symbols; /* sorted by image_symbol_compare */
	size_t symbol_count, symbol_capacity;

	bool dwarf_known;
	Dwarf *dwarf; /* belongs to the Dwfl; NULL = none */
	GElf_Addr dwarf_bias; /* address in the file = address in the DWARF + this */
	Dwarf *alternate; /* of .gnu_debugaltlink; owned */
	int alternate_fd;
	struct image_ranges *units; /* NULL = not read */
	struct table functions; /* offset of a unit -> struct image_ranges of its functions */
};

/* image_debug.c */

/* The callback of libdwfl: a descriptor of the separate debug file, or -1. Never asks the network. */
int image_debug_find(Dwfl_Module *module, void **userdata, const char *module_name, Dwarf_Addr base,
		     const char *file_name, const char *debuglink, GElf_Word debuglink_crc,
		     char **ret_path);
/* Gives `image->dwarf` the shared file that it refers to, if it refers to one. */
void image_debug_attach_alternate(struct image *image);

/* image_symbols.c */

/* The function symbol at an address, or NULL. */
const struct image_symbol *image_symbols_find(struct image *image, uint64_t address);

/* image_functions.c */

/* The outermost function of a look-up, as the DWARF has it. */
struct image_function {
	uint64_t start; /* its first address; UINT64_MAX = unknown */
	bool plain; /* the name is not the linker's: without namespaces and parameters */
};

/*
 * Fills `names` from the DWARF. Leaves it empty, and `ret_function` untouched, if the DWARF does not know the address.
 */
void image_functions_lookup(struct image *image, uint64_t address, struct image_names *names,
			    struct image_function *ret_function);
void image_functions_free(struct image *image);

#endif
