/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads all of a process's memory that an image can have: image_read PID. Prints bytes and reads as JSON. What that does to the
 * process is the test's to measure.
 */
#include <stdio.h>
#include <stdlib.h>

#include "image/image.h"

#define PIECE (1u << 20)

static void read_run(struct image *image, uint64_t start, uint64_t end, unsigned char *bytes)
{
	size_t size;

	for (; start < end; start += size) {
		size = end - start < PIECE ? end - start : PIECE;
		image_read_part(image, start, bytes, size);
	}
}

int main(int count, char **arguments)
{
	unsigned char *bytes = malloc(PIECE);
	struct error error = { 0 };
	struct image *image;
	uint64_t present = 0;
	size_t i;

	if (count != 2 || !bytes || image_open(atoi(arguments[1]), 0, &image, &error)) {
		fprintf(stderr, "image_read: %s\n", error.text);
		return 1;
	}
	for (i = 0; i < image->run_count; i++)
		if (image->runs[i].bits & IMAGE_PRESENT) {
			present += image->runs[i].end - image->runs[i].start;
			read_run(image, image->runs[i].start, image->runs[i].end, bytes);
		}
	/* And what is absent, which must stay so. */
	for (i = 0; i < image->mapping_count; i++)
		if (image->mappings[i].end - image->mappings[i].start < 1u << 30)
			read_run(image, image->mappings[i].start, image->mappings[i].end, bytes);
	printf("{\"present\": %llu, \"bytes\": %llu, \"reads\": %llu}\n",
	       (unsigned long long)present, (unsigned long long)image->usage.bytes,
	       (unsigned long long)image->usage.reads);
	image_free(image);
	free(bytes);
	return 0;
}
