/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a copy of a process's private, writable memory as it is read. A search that visits it many
 * times, as for holders of objects, reads it only once, and sees each page as of one moment. What
 * does not fit into the copy is read directly.
 */
#ifndef IMAGE_IMAGE_KEEP_H
#define IMAGE_IMAGE_KEEP_H

#include "image/image.h"

/*
 * Start keeping what is read, limited to `max_bytes` and a quarter of the caller's memory limit
 * (RLIMIT_DATA).
 */
void image_keep_begin(struct image *image, uint64_t max_bytes);
/* Free the copy; image_free does so, too. Does nothing without one. */
void image_keep_end(struct image *image);
/* Discard the copy's contents: mappings have changed. */
void image_keep_forget(struct image *image);

/*
 * Bypass the copy for reads from now on, or use it again: for data that is read until it is
 * consistent.
 */
void image_keep_pass_by(struct image *image, bool passes);

/*
 * A pointer into the copy at `address`, for at most `size` bytes and as far as one piece of it
 * reaches; valid until the copy is discarded or freed. NULL = not in the copy.
 */
const unsigned char *image_keep_view(struct image *image, uint64_t address, size_t size,
				     size_t *ret_size);

#endif
