/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc as one of the allocators. It is found by its segments, which all have one cookie, each by another address; the cookie
 * is also a word of the main heap, in a module's data.
 */
#include "heap/mimalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Segments of a process have one cookie; other cookies are other memory. */
#define COOKIES 16
#define RELEASE 16 /* bytes of text */

struct mimalloc_finder {
	struct image *image;
	uint64_t cookies[COOKIES];
	uint64_t sound[COOKIES]; /* segments */
	size_t count;
	uint64_t found;
};

/* All its slices follow each other, to the end. */
static bool mimalloc_is_whole(struct image *image, const struct mimalloc_segment *segment)
{
	struct mimalloc_page page;
	uint64_t index, slices;

	for (index = segment->first; index < segment->entries; index += slices)
		if (!mimalloc_page_read(image, segment, index, &page, &slices))
			return false;
	return index == segment->entries || segment->huge;
}

static bool mimalloc_find_segment(void *context, const struct mimalloc_segment *segment)
{
	struct mimalloc_finder *finder = context;
	struct mimalloc_segment again;
	uint64_t cookie;
	size_t i;

	if (!mimalloc_segment_read(finder->image, segment->address, &again, &cookie) || !cookie ||
	    !mimalloc_is_whole(finder->image, segment))
		return true;
	for (i = 0; i < finder->count && finder->cookies[i] != cookie; i++)
		;
	if (i == COOKIES)
		return true;
	if (i == finder->count)
		finder->cookies[finder->count++] = cookie;
	finder->sound[i]++;
	return true;
}

static bool mimalloc_find_word(void *context, uint64_t address, uint64_t word)
{
	struct mimalloc_finder *finder = context;
	size_t i;

	(void)address;
	for (i = 0; i < finder->count; i++)
		if (word == finder->cookies[i])
			finder->found = word;
	return !finder->found;
}

/* The release in the name of a library, "2.2" of "libmimalloc.so.2.2", or "": of untrusted text, digits and dots. */
static void mimalloc_release(const char *name, char ret_release[RELEASE])
{
	size_t length;

	ret_release[0] = 0;
	name = strrchr(name, '/');
	name = name && !strncmp(name, "/libmimalloc", 12) ? strstr(name, ".so.") : NULL;
	length = name ? strspn(name + 4, "0123456789.") : 0;
	if (length && length < RELEASE)
		snprintf(ret_release, RELEASE, "%.*s", (int)length, name + 4);
}

/* Is a library of a release mapped whose records differ? Some of them pass for those of 2.0, and are none. */
static int mimalloc_refuse_release(const struct image *image, struct error *reason)
{
	char release[RELEASE];
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		mimalloc_release(image->mappings[i].name, release);
		/* "2" may be any of them. */
		if (release[0] && strcmp(release, "2") != 0 && strncmp(release, "2.0", 3) != 0)
			return error_set(reason, ERROR_TARGET, -ENOTSUP,
					 "libmimalloc.so.%s is mapped: only heaps of mimalloc 2.0 "
					 "are understood",
					 release);
	}
	return 0;
}

/* No heap of 2.0 was found: is its library mapped? Before 2.0.9 its records were others. */
static int mimalloc_refuse(const struct image *image, struct error *reason)
{
	char release[RELEASE];
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		mimalloc_release(image->mappings[i].name, release);
		if (release[0])
			return error_set(reason, ERROR_TARGET, -ENOTSUP,
					 "libmimalloc.so.%s is mapped, but no heap of it is "
					 "understood",
					 release);
	}
	return -ENOENT;
}

static int mimalloc_find(struct image *image, const struct thread_list *threads,
			 struct heap_layout **ret_layout, struct error *reason)
{
	struct mimalloc_finder finder = { .image = image };
	struct mimalloc_visit visit = { .segment = mimalloc_find_segment, .context = &finder };
	struct heap_range range;
	size_t cursor = 0;

	(void)threads;
	*ret_layout = NULL;
	if (mimalloc_refuse_release(image, reason))
		return -ENOTSUP;
	mimalloc_visit(0, image, &visit);
	while (finder.count && !finder.found && heap_search_data(image, &cursor, &range))
		heap_search_words(image, &range, mimalloc_find_word, &finder);
	if (!finder.found && finder.count == 1 && finder.sound[0] > 1)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "there are segments of mimalloc, but no heap with their cookie");
	if (!finder.found)
		return mimalloc_refuse(image, reason);
	*ret_layout = memory_alloc(1, sizeof(**ret_layout));
	(*ret_layout)->cookie = finder.found;
	return 0;
}

struct mimalloc_claim {
	struct image *image;
	struct claims *claims;
};

static bool mimalloc_claim_segment(void *context, const struct mimalloc_segment *segment)
{
	struct mimalloc_claim *claim = context;
	uint64_t end = segment->address + segment->size;

	if (!segment->huge || heap_search_anonymous(claim->image, end - MIMALLOC_SLICE, 4096))
		claims_add(claim->claims,
			   segment->huge ? PURPOSE_MALLOC_LARGE : PURPOSE_MALLOC_ARENA,
			   segment->address, end, 0);
	return true;
}

static void mimalloc_claim(const struct heap_layout *layout, struct image *image,
			   struct claims *claims)
{
	struct mimalloc_claim claim = { .image = image, .claims = claims };
	struct mimalloc_visit visit = { .segment = mimalloc_claim_segment, .context = &claim };

	mimalloc_visit(layout->cookie, image, &visit);
}

static void mimalloc_free(struct heap_layout *layout)
{
	free(layout);
}

const struct heap_allocator heap_mimalloc = {
	.name = "mimalloc",
	.find = mimalloc_find,
	.claim = mimalloc_claim,
	.walk = mimalloc_walk,
	.free = mimalloc_free,
};
