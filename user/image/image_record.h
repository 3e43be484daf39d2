/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images in files: mappings, resident pages and their contents, so that a process can be examined
 * again later and elsewhere. The file contains the process's memory, including secrets. Compressed
 * (gzip); numbers are little-endian.
 */
#ifndef IMAGE_IMAGE_RECORD_H
#define IMAGE_IMAGE_RECORD_H

#include "image/image.h"

/*
 * Write an image to `fd`, which stays open; includes what is not resident of files behind read-only
 * private mappings, since a live process can be read so, too. Returns 0, or a negative errno with
 * `error` filled.
 */
int image_record(struct image *image, int fd, struct error *error);

/*
 * Load an image that image_record has written to `fd`, which stays open. The file is untrusted:
 * impossible parts are left out, or are -EINVAL; -EFBIG if it has more than `most` bytes
 * uncompressed. Returns 0, or a negative errno with `error` filled. Free with image_free. It never
 * changes: image_refresh does nothing.
 */
int image_load(int fd, uint64_t most, struct image **ret_image, struct error *error);

#endif
