/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images of processes, recorded and looked at again. SOURCE is a PID, or a recorded image's path with a slash in it.
 *
 *	recorded save SOURCE FILE	all of it
 *	recorded trim SOURCE FILE	only the pages that the censuses of allocators read, and no directories: for tests/data/images
 *	recorded look SOURCE		all analyses of `tracer memory --objects --samples`, but names from files: its JSON
 */
#include <stdio.h>

#include "base/memory.h"
#include "heap/address_set.h"
#include "heap/census.h"
#include "any_image.h"
#include "memory/memory_look.h"
#include "render/memory.h"

/* An image that remembers which pages of another one were read; `only_these`: has no others any more. */
struct trimming {
	struct image *from;
	struct address_set pages;
	bool only_these;
};

static size_t trimming_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct trimming *trimming = context;
	uint64_t page = address & ~4095ull;
	size_t most = page + 4096 - address;

	if (trimming->only_these && !address_set_has(&trimming->pages, page))
		return 0;
	size = image_read_part(trimming->from, address, bytes, size < most ? size : most);
	if (size && !trimming->only_these)
		address_set_add(&trimming->pages, page);
	return size;
}

static bool trimming_mappings(void *context, struct image *image)
{
	struct trimming *trimming = context;
	size_t i;

	for (i = 0; i < trimming->from->mapping_count; i++) {
		struct image_mapping mapping = trimming->from->mappings[i];
		const char *slash = strrchr(mapping.name, '/');

		mapping.name = slash ? slash : mapping.name;
		image_add_mapping(image, &mapping);
	}
	return true;
}

static bool trimming_pages(void *context, struct image *image, uint64_t start, uint64_t end)
{
	struct trimming *trimming = context;
	struct image_run run;

	while (image_next_run(trimming->from, start, end, &run)) {
		image_add_pages(image, run.start, run.end, run.bits);
		start = run.end;
	}
	return true;
}

static const struct image_source trimming_source = {
	.read = trimming_read,
	.mappings = trimming_mappings,
	.pages = trimming_pages,
};

static bool ignore_block(void *context, const struct census_block *block)
{
	(void)context;
	(void)block;
	return true;
}

/* All that a census reads; those of allocators that are not there, too. */
static void read_heaps(struct image *image)
{
	const struct census_sink sink = { .block = ignore_block };
	struct thread_list threads;
	size_t i;

	thread_list_find(image, &threads);
	for (i = 0; census_allocators[i]; i++) {
		const struct heap_allocator *allocator = census_allocators[i];
		struct claims *claims = claims_new();
		struct heap_totals totals = { 0 };
		struct heap_layout *layout;

		if (!allocator->find(image, &threads, &layout, NULL)) {
			allocator->claim(layout, image, claims);
			allocator->walk(layout, image, &sink, &totals);
			heap_totals_free(&totals);
			allocator->free(layout);
		}
		claims_free(claims);
	}
	thread_list_free(&threads);
}

static int trim(struct image *from, int fd, struct error *error)
{
	struct trimming trimming = { .from = from };
	struct image *image = image_new(&trimming_source, &trimming, from->page_size);
	int code;

	image->own_pid = from->own_pid;
	image_refresh(image);
	read_heaps(image);
	trimming.only_these = true;
	code = image_record(image, fd, error);
	image_free(image);
	address_set_free(&trimming.pages);
	return code;
}

static int save(struct image *image, const char *path, bool is_trimmed, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), code;

	if (fd < 0)
		return error_set(error, ERROR_USAGE, -errno, "%s cannot be written", path);
	code = is_trimmed ? trim(image, fd, error) : image_record(image, fd, error);
	close(fd);
	return code;
}

static void look(struct image *image)
{
	const struct memory_wanted wanted = { .holders = true, .objects = true, .samples = true };
	const struct render_memory_options options = { .top = 0 };
	struct memory_report report = { 0 };
	struct buffer text = { 0 };

	memory_look_image(image, &wanted, &report);
	render_memory_json(&report, &options, &text);
	fwrite(text.data, 1, text.length, stdout);
	buffer_free(&text);
	memory_report_free(&report);
}

int main(int argc, char **argv)
{
	struct error error = { 0 };
	struct image *image;
	int code = 0;

	if (argc < 3 || (strcmp(argv[1], "look") && argc < 4))
		return 2;
	if (any_image_open(argv[2], &image, &error)) {
		fprintf(stderr, "recorded: %s\n", error.text);
		return 1;
	}
	if (!strcmp(argv[1], "look"))
		look(image);
	else
		code = save(image, argv[3], !strcmp(argv[1], "trim"), &error);
	if (code)
		fprintf(stderr, "recorded: %s\n", error.text);
	image_free(image);
	return code != 0;
}
