/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program or library with its debug information: offsets in the file to functions, source lines and
 * inlined calls. Decoding is elfutils'. The files are hostile and elfutils is large, so the tracer uses this
 * only in a sandboxed process (worker.h).
 */
#ifndef DECODE_DWARF_IMAGE_H
#define DECODE_DWARF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/debug_want.h"

/* Most functions that one frame is unfolded into. */
#define DWARF_IMAGE_DEPTH_MAX 64

struct dwarf_image;

/* One function of a frame. */
struct dwarf_image_name {
	char *function; /* demangled; NULL = unknown */
	char *file; /* absolute if it is so in the debug information; NULL = unknown */
	uint32_t line; /* 0 = unknown */
};

/* Innermost first; each but the last is inlined into the next one. */
struct dwarf_image_names {
	size_t count;
	struct dwarf_image_name items[DWARF_IMAGE_DEPTH_MAX];
};

/*
 * Open the ELF file behind `fd`, which is owned from now on, also on failure. Debug files that it lacks are asked
 * from `source`, which must outlive the image, when the first name is looked up. NULL if it is not a program or
 * library of this machine's byte order.
 */
struct dwarf_image *dwarf_image_open(int fd, const struct debug_source *source);

/*
 * The functions at a file offset: that of an instruction, so for a return address the caller passes the
 * offset minus one. Fills `names`, which has no items if nothing is known; clear it with dwarf_image_names_clear.
 */
void dwarf_image_lookup(struct dwarf_image *image, uint64_t offset,
			struct dwarf_image_names *names);

/* An address, as the file has it, and the symbol that covers it. */
struct dwarf_image_place {
	uint64_t address, start; /* where the symbol begins */
	/* The linker's name, which belongs to the image; NULL = there is none. */
	const char *symbol;
	uint32_t index; /* the caller's */
	bool is_local; /* to its object file */
};

/* Find the symbols of places that are in the order of addresses: functions and variables. */
void dwarf_image_name_places(struct dwarf_image *image, struct dwarf_image_place *places,
			     size_t count);

void dwarf_image_names_clear(struct dwarf_image_names *names);
void dwarf_image_free(struct dwarf_image *image);

#endif
