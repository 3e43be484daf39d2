/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * musl: where its context is, and what it claims. The context begins with a secret, which each page of metas
 * begins with, too; a pointer in a module's data to such a page is the list's head.
 */
#include "heap/musl.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

/* From the context to the list's head; where the page size is no constant of the C library, it lies between. */
#define HEAD 56
#define HEAD_AND_PAGE_SIZE 64
#define CANDIDATES 65536

struct musl_finder {
	struct image *image;
	struct heap_layout *layout;
	unsigned int tried;
	bool found;
};

static bool musl_try(struct musl_finder *finder, uint64_t context, uint64_t offset)
{
	uint64_t words[HEAD_AND_PAGE_SIZE / 8 + 2], *head = words + offset / 8;

	if (!image_read(finder->image, context, words, sizeof(words)))
		return false;
	/* init_done is in front of the other seven fields. */
	if ((uint32_t)head[-6] != 1 || !musl_is_area(finder->image, head[0], words[0]))
		return false;
	/* The last one may be newer than the list of mappings. */
	if (!musl_is_area(finder->image, head[1], words[0]) &&
	    (!head[1] || head[1] & (MUSL_AREA - 1) || image_find(finder->image, head[1])))
		return false;
	*finder->layout = (struct heap_layout){ .context = context,
						.head = context + offset,
						.secret = words[0] };
	return true;
}

static bool musl_find_word(void *context, uint64_t address, uint64_t word)
{
	struct musl_finder *finder = context;
	const struct image_mapping *mapping;

	if (word & (MUSL_AREA - 1) || word >> 48)
		return true;
	mapping = image_find(finder->image, word);
	if (!mapping || !mapping->writable || mapping->inode)
		return true;
	finder->found = musl_try(finder, address - HEAD, HEAD) ||
			musl_try(finder, address - HEAD_AND_PAGE_SIZE, HEAD_AND_PAGE_SIZE);
	return !finder->found && ++finder->tried < CANDIDATES;
}

static int musl_find(struct image *image, const struct thread_list *threads,
		     struct heap_layout **ret_layout, struct error *reason)
{
	struct heap_layout *layout = memory_alloc(1, sizeof(*layout));
	struct musl_finder finder = { .image = image, .layout = layout };
	struct heap_range range;
	size_t cursor = 0;

	(void)threads;
	(void)reason;
	while (!finder.found && finder.tried < CANDIDATES &&
	       image_search_data(image, &cursor, &range))
		image_search_words(image, &range, musl_find_word, &finder);
	*ret_layout = finder.found ? layout : NULL;
	if (!finder.found)
		free(layout);
	return finder.found ? 0 : -ENOENT;
}

static bool musl_claim_group(void *context, const struct musl_group *group)
{
	enum purpose purpose = group->slots == 1 ? PURPOSE_MALLOC_LARGE : PURPOSE_MALLOC_ARENA;

	if (group->mapped)
		claims_add(context, purpose, group->memory, group->memory + group->mapped, 0);
	return true;
}

static void musl_claim_area(void *context, uint64_t address)
{
	claims_add(context, PURPOSE_MALLOC_ARENA, address, address + MUSL_AREA, 0);
}

static void musl_claim(const struct heap_layout *layout, struct image *image, struct claims *claims)
{
	struct musl_visit visit = { .group = musl_claim_group,
				    .area = musl_claim_area,
				    .context = claims };

	musl_visit(layout, image, &visit);
}

static void musl_free(struct heap_layout *layout)
{
	free(layout);
}

const struct heap_allocator heap_musl = {
	.name = "musl",
	.find = musl_find,
	.claim = musl_claim,
	.walk = musl_walk,
	.free = musl_free,
};
