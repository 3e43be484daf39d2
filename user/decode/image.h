/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program or library with its debug information: offsets in the file to functions, source lines and
 * inlined calls. Decoding is elfutils'. The files are hostile and elfutils is large, so the tracer uses this
 * only in a sandboxed process (worker.h).
 */
#ifndef DECODE_IMAGE_H
#define DECODE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "discover/debug_want.h"

/* Most functions that one frame is unfolded into. */
#define IMAGE_DEPTH_MAX 64

struct image;

/* One function of a frame. */
struct image_name {
	char *function; /* demangled; NULL = unknown */
	char *file; /* absolute if it is so in the debug information; NULL = unknown */
	uint32_t line; /* 0 = unknown */
};

/* Innermost first; each but the last is inlined into the next one. */
struct image_names {
	size_t count;
	struct image_name items[IMAGE_DEPTH_MAX];
};

/*
 * Open the ELF file behind `fd`, which is owned from now on, also on failure. Debug files that it lacks are asked
 * from `source`, which must outlive the image, when the first name is looked up. NULL if it is not a program or
 * library of this machine's byte order.
 */
struct image *image_open(int fd, const struct debug_source *source);

/*
 * The functions at a file offset: that of an instruction, so for a return address the caller passes the
 * offset minus one. Fills `names`, which has no items if nothing is known; clear it with image_names_clear.
 */
void image_lookup(struct image *image, uint64_t offset, struct image_names *names);

void image_names_clear(struct image_names *names);
void image_free(struct image *image);

#endif
