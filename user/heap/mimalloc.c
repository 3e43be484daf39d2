/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc as one of the allocators. It is found by its segments, which all have one cookie, each by another address; the cookie
 * is also a word of the main heap, in a module's data.
 */
#include "heap/mimalloc_walk.h"

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
	struct heap_layout layout; /* of any cookie */
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

	if (!mimalloc_segment_read(segment->form, finder->image, segment->address, &again,
				   &cookie) ||
	    !cookie || !mimalloc_is_whole(finder->image, segment))
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

/* May a library of this release have heaps of this form? "2" may be any. */
static bool mimalloc_may_be(const char *release, const struct mimalloc_form *form)
{
	size_t length = strlen(form->version);

	return !release[0] || strcmp(release, "2") == 0 ||
	       (!strncmp(release, form->version, length) &&
		(!release[length] || release[length] == '.'));
}

/* Is a library of a release mapped whose records differ? Some of them pass for those of 2.0, and are none. */
static int mimalloc_refuse_release(const struct image *image, bool ret_may[MIMALLOC_FORMS],
				   struct error *reason)
{
	char release[RELEASE];
	size_t i, form, left;

	memset(ret_may, true, MIMALLOC_FORMS * sizeof(*ret_may));
	for (i = 0; i < image->mapping_count; i++) {
		mimalloc_release(image->mappings[i].name, release);
		for (form = left = 0; form < MIMALLOC_FORMS; form++)
			left += ret_may[form] &= mimalloc_may_be(release, &mimalloc_forms[form]);
		if (!left)
			return error_set(reason, ERROR_TARGET, -ENOTSUP,
					 "libmimalloc.so.%s is mapped: only heaps of mimalloc 2.0 "
					 "and 2.1 are understood",
					 release);
	}
	return 0;
}

/* No heap was found: is its library mapped? Before 2.0.9 and from 2.1.4 on its records were others. */
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

/* The segments that are sound if they are of this form, of the cookie that is in a module's data; 0 = there is none. */
static uint64_t mimalloc_find_form(struct image *image, const struct mimalloc_form *form,
				   struct mimalloc_finder *ret_finder)
{
	struct mimalloc_visit visit = { .segment = mimalloc_find_segment, .context = ret_finder };
	struct heap_range range;
	size_t cursor = 0, i;

	*ret_finder = (struct mimalloc_finder){ .image = image, .layout.form = form };
	mimalloc_visit(&ret_finder->layout, image, &visit);
	while (ret_finder->count && !ret_finder->found && image_search_data(image, &cursor, &range))
		image_search_words(image, &range, mimalloc_find_word, ret_finder);
	for (i = 0; ret_finder->found && i < ret_finder->count; i++)
		if (ret_finder->cookies[i] == ret_finder->found)
			return ret_finder->sound[i];
	return 0;
}

/* The form that most segments have. Segments of large blocks alone are the same in several: there the library's name decides. */
static int mimalloc_find(struct image *image, const struct thread_list *threads,
			 struct heap_layout **ret_layout, struct error *reason)
{
	struct mimalloc_finder finders[MIMALLOC_FORMS];
	const struct mimalloc_finder *best = NULL;
	bool may[MIMALLOC_FORMS], sure = true, lost = false;
	uint64_t sound, most = 0;
	size_t i;

	(void)threads;
	*ret_layout = NULL;
	if (mimalloc_refuse_release(image, may, reason))
		return -ENOTSUP;
	for (i = 0; i < MIMALLOC_FORMS; i++) {
		sound = mimalloc_find_form(image, &mimalloc_forms[i], &finders[i]);
		lost |= !finders[i].found && finders[i].count == 1 && finders[i].sound[0] > 1;
		if (sound && (sound > most || (sound == most && may[i]))) {
			sure = sound > most || !may[best - finders];
			best = &finders[i];
			most = sound;
		}
	}
	if (best && !sure)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "mimalloc's heap may be of two releases");
	if (!best && lost)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "there are segments of mimalloc, but no heap with their cookie");
	if (!best || !may[best - finders])
		return mimalloc_refuse(image, reason);
	*ret_layout = memory_alloc(1, sizeof(**ret_layout));
	**ret_layout = best->layout;
	(*ret_layout)->cookie = best->found;
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

	if (!segment->huge || image_search_anonymous(claim->image, end - MIMALLOC_SLICE, 4096))
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

	mimalloc_visit(layout, image, &visit);
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
