/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image in a file: mappings, which pages are present, and what these hold, so that what looks at a process can look at it again
 * later and elsewhere. The file has all that the process's memory has, secrets too. It is compressed (gzip); numbers are of
 * little-endian machines.
 */
#ifndef HEAP_IMAGE_RECORD_H
#define HEAP_IMAGE_RECORD_H

#include "heap/image.h"

/*
 * Write all of an image to `fd`, which stays open; also what of files behind read-only private mappings is not in memory, since
 * that can be read of a process, too.
 * Returns 0, or a negative errno with `error` filled.
 */
int image_record(struct image *image, int fd, struct error *error);

/*
 * The image that image_record has written to `fd`, which stays open. Whoever wrote it may have written anything: what cannot be is
 * left out, or is -EINVAL; -EFBIG if it has more than `most` bytes, uncompressed. Returns 0, or a negative errno with `error` filled.
 * Free with image_free. It stays as it is: image_refresh changes nothing.
 */
int image_load(int fd, uint64_t most, struct image **ret_image, struct error *error);

#endif
