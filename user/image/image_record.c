/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing an image to a file: see image_record.h. */
#include "image/image_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "image/image_record_private.h"

/* False once a write has failed. */
struct writing {
	gzFile file;
	bool good;
};

static void writing_put(struct writing *writing, const void *bytes, size_t size)
{
	writing->good = writing->good &&
			(!size || gzwrite(writing->file, bytes, (unsigned int)size) == (int)size);
}

static void writing_put_mapping(struct writing *writing, const struct image_mapping *mapping)
{
	size_t length = strnlen(mapping->name, RECORD_NAME_MAX);
	const struct record_mapping record = {
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.device = mapping->device,
		.inode = mapping->inode,
		.flags = (mapping->readable ? RECORD_READABLE : 0u) |
			 (mapping->writable ? RECORD_WRITABLE : 0u) |
			 (mapping->executable ? RECORD_EXECUTABLE : 0u) |
			 (mapping->shared ? RECORD_SHARED : 0u) |
			 (mapping->deleted ? RECORD_DELETED : 0u) |
			 (mapping->device_memory ? RECORD_DEVICE : 0u) |
			 (mapping->huge_pages ? RECORD_HUGE : 0u) |
			 (mapping->unchanged ? RECORD_UNCHANGED : 0u),
		.name_length = (uint32_t)length,
	};

	writing_put(writing, &record, sizeof(record));
	writing_put(writing, mapping->name, length);
}

/* The present part of a run; what has gone since the image was looked at is left out. */
static void writing_put_memory(struct writing *writing, struct image *image, uint64_t start,
			       uint64_t end, unsigned char *bytes)
{
	struct record_piece piece;
	uint64_t step;

	for (; start < end && writing->good; start += step) {
		step = end - start < RECORD_PIECE_MAX ? end - start : RECORD_PIECE_MAX;
		piece = (struct record_piece){ start, image_read_part(image, start, bytes, step) };
		if (piece.size) {
			writing_put(writing, &piece, sizeof(piece));
			writing_put(writing, bytes, piece.size);
		}
		/* Behind a page that has gone there may be more. */
		if (piece.size < step)
			step = (piece.size / image->page_size + 1) * image->page_size;
	}
}

/* Of a file that can be read in place of pages that are not in memory, as image_read does. */
static bool writing_has_file(const struct image *image, const struct image_mapping *mapping)
{
	return image->source->read_file && mapping->inode && !mapping->writable && !mapping->shared;
}

static void writing_put_mapped(struct writing *writing, struct image *image,
			       const struct image_mapping *mapping, unsigned char *bytes)
{
	uint64_t at = mapping->start, start, end;

	if (writing_has_file(image, mapping)) {
		writing_put_memory(writing, image, mapping->start, mapping->end, bytes);
		return;
	}
	while (image_next_present(image, at, mapping->end, &start, &end)) {
		writing_put_memory(writing, image, start, end, bytes);
		at = end;
	}
}

static void writing_put_image(struct writing *writing, struct image *image)
{
	unsigned char *bytes = memory_alloc(1, RECORD_PIECE_MAX);
	const struct record_piece last = { 0, 0 };
	size_t i;

	for (i = 0; i < image->mapping_count; i++)
		writing_put_mapping(writing, &image->mappings[i]);
	for (i = 0; i < image->run_count; i++) {
		const struct record_run run = { image->runs[i].start, image->runs[i].end,
						image->runs[i].bits };

		writing_put(writing, &run, sizeof(run));
	}
	for (i = 0; i < image->mapping_count; i++)
		writing_put_mapped(writing, image, &image->mappings[i], bytes);
	writing_put(writing, &last, sizeof(last));
	free(bytes);
}

int image_record(struct image *image, int fd, struct error *error)
{
	const struct record_head head = { RECORD_MAGIC, image->page_size, (uint64_t)image->own_pid,
					  image->mapping_count, image->run_count };
	int copy = dup(fd);
	struct writing writing = { .file = copy < 0 ? NULL : gzdopen(copy, "wb1"), .good = true };

	if (!writing.file) {
		if (copy >= 0)
			close(copy);
		return error_set(error, ERROR_PERMISSION, -ENOMEM, "cannot write the image");
	}
	writing_put(&writing, &head, sizeof(head));
	writing_put_image(&writing, image);
	if (gzclose(writing.file) != Z_OK || !writing.good)
		return error_set(error, ERROR_PERMISSION, -EIO,
				 "the image could not be written whole");
	return 0;
}
