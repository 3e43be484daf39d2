/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of a process's private, writable memory, made as it is read: who goes through it many times, as a search for what holds objects
 * does, reads it once, and sees each page as it was at one moment. What has no room in the copy is read as without one.
 */
#ifndef HEAP_IMAGE_KEEP_H
#define HEAP_IMAGE_KEEP_H

#include "heap/image.h"

/* Keep from now on what is read, in at most `max_bytes` and a quarter of what the caller may have of memory (RLIMIT_DATA). */
void image_keep_begin(struct image *image, uint64_t max_bytes);
/* Give the copy back; also done by image_free. No effect if there is none. */
void image_keep_end(struct image *image);
/* Forget what was read: mappings are not what they were. */
void image_keep_forget(struct image *image);

/* From now on reads go to the process, past the copy, or to the copy again: for what is looked at until it is whole. */
void image_keep_pass_by(struct image *image, bool passes);

/*
 * The copy itself of what begins at `address`: as far as one piece of it has that, at most `size` bytes, until the copy is forgotten or given
 * back. NULL = it is not kept.
 */
const unsigned char *image_keep_view(struct image *image, uint64_t address, size_t size,
				     size_t *ret_size);

#endif
