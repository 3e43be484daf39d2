/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of an image, and reads of it: see image.h. */
#include "image/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define REFRESH_TRIES 5 /* where lists are cut, and there is time left */

struct image *image_new(const struct image_source *source, void *context, uint64_t page_size)
{
	struct image *image = memory_alloc(1, sizeof(*image));

	image->source = source;
	image->context = context;
	image->page_size = page_size;
	return image;
}

static void image_free_mappings(struct image_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free((char *)mappings[i].name);
	free(mappings);
}

static void image_free_lists(struct image *image)
{
	image_free_mappings(image->mappings, image->mapping_count);
	free(image->runs);
}

void image_free(struct image *image)
{
	if (!image)
		return;
	if (image->source->close)
		image->source->close(image->context);
	if (image->keep_calls)
		image->keep_calls->end(image);
	image_free_lists(image);
	free(image);
}

static void image_take_back(struct image *image, const struct image *before)
{
	image_free_lists(image);
	image->mappings = before->mappings;
	image->mapping_count = before->mapping_count;
	image->mapping_capacity = before->mapping_capacity;
	image->runs = before->runs;
	image->run_count = before->run_count;
	image->run_capacity = before->run_capacity;
	image->mapping_last = image->run_last = 0;
	image->pages_unknown = before->pages_unknown;
	image->mappings_cut = before->mappings_cut;
	image->huge_unknown = before->huge_unknown;
}

/* Into new lists. False if the process has gone. */
static bool image_list(struct image *image)
{
	size_t i;

	image->mappings = NULL;
	image->runs = NULL;
	image->mapping_count = image->mapping_capacity = image->mapping_last = 0;
	image->run_count = image->run_capacity = image->run_last = 0;
	image->pages_unknown = image->mappings_cut = false;
	if (!image->source->mappings(image->context, image))
		return false;
	for (i = 0; i < image->mapping_count; i++)
		if (!image->source->pages(image->context, image, image->mappings[i].start,
					  image->mappings[i].end))
			image->pages_unknown = true;
	return true;
}

/* Are the new lists worse than those before: cut, where these were not or there is no time to read what is new? */
static bool image_is_worse(struct image *image, const struct image *before)
{
	return image->pages_unknown && before->mapping_count &&
	       (!before->pages_unknown || image_is_over(image));
}

bool image_refresh(struct image *image)
{
	struct image before = *image;

	if (!image_list(image) || image_is_worse(image, &before)) {
		image_take_back(image, &before);
		return false;
	}
	image_free_lists(&before);
	if (image->keep_calls)
		image->keep_calls->forget(image);
	image->refreshes++;
	return image_is_alive(image);
}

int image_refresh_whole(struct image *image, struct error *error)
{
	unsigned int tries;

	for (tries = 0; tries < REFRESH_TRIES; tries++) {
		if (image_refresh(image))
			return 0;
		if (!image_is_alive(image))
			return error_set(error, ERROR_TARGET, -ESRCH,
					 "process %d has ended, or executed another program",
					 (int)image->pid);
		if (image_is_over(image))
			break;
	}
	return error_set(error, ERROR_PERMISSION, -ETIMEDOUT,
			 "there was no time to list all memory of process %d, which runs: "
			 "--deadline is longer",
			 (int)image->pid);
}

bool image_is_alive(const struct image *image)
{
	return !image->source->alive || image->source->alive(image->context);
}

void image_add_mapping(struct image *image, const struct image_mapping *mapping)
{
	uint64_t mask = image->page_size - 1;

	if (mapping->start >= mapping->end || (mapping->start | mapping->end) & mask ||
	    (image->mapping_count &&
	     mapping->start < image->mappings[image->mapping_count - 1].end))
		return;
	image->mappings = memory_grow(image->mappings, image->mapping_count,
				      &image->mapping_capacity, sizeof(*mapping));
	image->mappings[image->mapping_count] = *mapping;
	image->mappings[image->mapping_count++].name =
		memory_copy_string(mapping->name ? mapping->name : "");
}

size_t image_find_index(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->mapping_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (image->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct image_mapping *image_find(const struct image *image, uint64_t address)
{
	size_t index = image_find_index(image, address);

	return index < image->mapping_count && image->mappings[index].start <= address
		       ? &image->mappings[index]
		       : NULL;
}

/* The same, and quick where the last one is asked for again. */
static const struct image_mapping *image_find_again(struct image *image, uint64_t address)
{
	const struct image_mapping *mapping;

	if (image->mapping_last < image->mapping_count) {
		mapping = &image->mappings[image->mapping_last];
		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	mapping = image_find(image, address);
	if (mapping)
		image->mapping_last = (size_t)(mapping - image->mappings);
	return mapping;
}

bool image_holds(const struct image *image, uint64_t address, uint64_t size)
{
	const struct image_mapping *mapping = image_find(image, address);

	return mapping && size <= mapping->end - address;
}

static size_t image_read_file(struct image *image, const struct image_mapping *mapping,
			      uint64_t address, void *bytes, size_t size)
{
	if (!image->source->read_file || mapping->writable || mapping->shared || !mapping->inode)
		return 0;
	return image->source->read_file(image->context, mapping, address, bytes, size);
}

/* Of a mapping of what may be a device. */
static size_t image_read_anonymous(struct image *image, const struct image_mapping *mapping,
				   uint64_t address, unsigned char *bytes, size_t size)
{
	size_t done = 0, got;

	if (!image->source->read_anonymous || mapping->shared ||
	    !(mapping->inode || mapping->device))
		return 0;
	while (done < size) {
		got = image->source->read_anonymous(image->context, address + done, bytes + done,
						    size - done);
		if (!got || got > size - done)
			break;
		image->usage.reads++;
		image->usage.bytes += got;
		done += got;
	}
	return done;
}

/* What lies in one mapping. */
static size_t image_read_mapping(struct image *image, const struct image_mapping *mapping,
				 uint64_t address, unsigned char *bytes, size_t size)
{
	size_t done = 0, got;

	if (mapping->device_memory)
		return image_read_anonymous(image, mapping, address, bytes, size);
	while (done < size) {
		got = image->source->read(image->context, address + done, bytes + done,
					  size - done);
		if (!got)
			got = image_read_file(image, mapping, address + done, bytes + done,
					      size - done);
		if (!got || got > size - done)
			break;
		image->usage.reads++;
		image->usage.bytes += got;
		done += got;
	}
	return done;
}

bool image_is_over(struct image *image)
{
	const struct image_patience *patience = image->patience;

	if (patience && patience->is_over && patience->is_over())
		return true;
	if (!image->until_ns || clock_now_ns() < image->until_ns)
		return false;
	if (patience && patience->extend)
		image->until_ns += patience->extend(patience->context);
	return clock_now_ns() >= image->until_ns;
}

size_t image_read_part(struct image *image, uint64_t address, void *bytes, size_t size)
{
	const struct image_mapping *mapping;
	size_t done = 0, part, got;

	if (image_is_over(image))
		return 0;
	if (image->keep_calls)
		done = image->keep_calls->read(image, address, bytes, size);
	while (done < size) {
		mapping = image_find_again(image, address + done);
		if (!mapping)
			break;
		part = size - done;
		if (part > mapping->end - (address + done))
			part = mapping->end - (address + done);
		got = image_read_mapping(image, mapping, address + done,
					 (unsigned char *)bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

bool image_read(struct image *image, uint64_t address, void *bytes, size_t size)
{
	return image_read_part(image, address, bytes, size) == size;
}

uint64_t image_word(struct image *image, uint64_t address)
{
	uint64_t word;

	return image_read(image, address, &word, sizeof(word)) ? word : 0;
}
