/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The census of one allocator: census ALLOCATOR SOURCE, a PID or a recorded image's path. Prints a line of JSON: all totals, and the blocks that begin as those of
 * tests/targets/filled.c do: with their address ^ FILLED_KEY, and the size that was asked for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_image.h"
#include "base/clock.h"
#include "base/memory.h"
#include "heap/census.h"

#define FILLED_KEY 0x6c61766f696e7573ull

struct found {
	uint64_t blocks, bytes, usable; /* of the program's */
	uint64_t all, all_bytes; /* that were passed to us */
	uint64_t too_small; /* blocks of the program's that are smaller than what it asked for */
};

static bool found_block(void *context, const struct census_block *block)
{
	struct found *found = context;
	uint64_t words[2];

	found->all++;
	found->all_bytes += block->size;
	if (!block->bytes || block->length < sizeof(words))
		return true;
	memcpy(words, block->bytes, sizeof(words));
	if (words[0] != (block->address ^ FILLED_KEY))
		return true;
	found->blocks++;
	found->bytes += words[1];
	found->usable += block->size;
	found->too_small += words[1] > block->size;
	return true;
}

static void print_remarks(const struct heap_totals *totals)
{
	size_t i;

	printf(", \"remarks\": \"");
	for (i = 0; i < totals->remarks.length; i++)
		putchar(totals->remarks.data[i] == '\n' ? ';' : totals->remarks.data[i]);
	printf("\"");
}

static void print_totals(const struct heap_totals *totals)
{
#define PRINT(field) printf(", \"" #field "\": %" PRIu64, totals->field)
	printf(", \"version\": \"%s\", \"counts_only\": %d", totals->version, totals->counts_only);
	PRINT(arenas);
	PRINT(threads);
	PRINT(live_blocks);
	PRINT(live_bytes);
	PRINT(mapped_blocks);
	PRINT(mapped_bytes);
	PRINT(overhead_bytes);
	PRINT(free_bytes);
	PRINT(bins_resident);
	PRINT(fast_resident);
	PRINT(thread_caches_resident);
	PRINT(top_resident);
	PRINT(live_resident);
	PRINT(trim_bytes);
	PRINT(stuck_bytes);
	PRINT(shared_pages_bytes);
	PRINT(unknown_bytes);
	PRINT(resyncs);
	print_remarks(totals);
}

/* The purposes by which the allocator's memory is claimed, in bytes in memory. */
static void print_claims(const struct heap_allocator *allocator, const struct heap_layout *layout,
			 struct image *image)
{
	struct purpose_sum sums[PURPOSE_COUNT] = { 0 };
	struct claims *claims = claims_new();

	allocator->claim(layout, image, claims);
	claims_sum(claims, image, NULL, sums);
	printf(", \"claimed_rss\": %" PRIu64 ", \"unclaimed_rss\": %" PRIu64,
	       sums[PURPOSE_MALLOC_ARENA].rss + sums[PURPOSE_MALLOC_MAIN].rss +
		       sums[PURPOSE_MALLOC_LARGE].rss,
	       sums[PURPOSE_UNKNOWN].rss);
	claims_free(claims);
}

static void census(const struct heap_allocator *allocator, struct image *image,
		   const struct thread_list *threads)
{
	struct found found = { 0 };
	struct census_sink sink = { .block = found_block, .context = &found };
	struct heap_layout *layout = NULL;
	struct error reason = { 0 };
	struct heap_totals totals = { 0 };
	uint64_t begin_ns = clock_thread_ns();
	int code = allocator->find(image, threads, &layout, &reason);

	printf("{\"find\": %d, \"reason\": \"%s\", \"find_ns\": %" PRIu64, code, reason.text,
	       clock_thread_ns() - begin_ns);
	if (!code) {
		begin_ns = clock_thread_ns();
		printf(", \"walk\": %d", allocator->walk(layout, image, &sink, &totals));
		printf(", \"walk_ns\": %" PRIu64, clock_thread_ns() - begin_ns);
		printf(", \"blocks\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"usable\": %" PRIu64,
		       found.blocks, found.bytes, found.usable);
		printf(", \"all\": %" PRIu64 ", \"all_bytes\": %" PRIu64
		       ", \"too_small\": %" PRIu64,
		       found.all, found.all_bytes, found.too_small);
		print_totals(&totals);
		print_claims(allocator, layout, image);
		heap_totals_free(&totals);
		allocator->free(layout);
	}
	printf(", \"reads\": %" PRIu64 ", \"read_bytes\": %" PRIu64 "}\n", image->usage.reads,
	       image->usage.bytes);
}

int main(int argc, char **argv)
{
	struct thread_list threads = { 0 };
	struct error error = { 0 };
	struct image *image;
	size_t i;

	if (argc < 3)
		return 2;
	if (any_image_open(argv[2], &image, &error)) {
		fprintf(stderr, "census: %s\n", error.text);
		return 1;
	}
	thread_list_find(image, &threads);
	for (i = 0; census_allocators[i]; i++)
		if (!strcmp(census_allocators[i]->name, argv[1]))
			census(census_allocators[i], image, &threads);
	thread_list_free(&threads);
	image_free(image);
	return 0;
}
