/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See image_keep.h. Memory is kept in chunks, each with bits of the pages that are there. */
#include "image/image_keep.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/table.h"

#define CHUNK (256u << 10)
#define PART 4096u /* a bit of a chunk; pages are as large, or several of them */
#define SLAB (2u << 20) /* chunks are allocated by: a huge page, which takes one fault */
#define LIMIT_SHARE 4

_Static_assert(CHUNK / PART == 64, "there is a bit for each part");

struct keep_chunk {
	uint64_t address;
	uint64_t parts; /* that are kept, as bits */
	unsigned char *bytes; /* in a slab */
};

struct image_keep {
	uint64_t room; /* bytes for which slabs may still be allocated */
	bool passed_by;
	struct table chunks; /* number of the chunk -> struct keep_chunk, owned */
	struct keep_chunk *last; /* that was asked for; NULL = none */
	unsigned char **slabs; /* owned */
	size_t slab_count, slab_capacity;
	size_t slab_used; /* bytes of the last one */
};

void image_keep_forget(struct image *image)
{
	struct image_keep *keep = image->keep;
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!keep)
		return;
	while ((slot = table_next(&keep->chunks, &cursor)))
		free(slot->value);
	table_free(&keep->chunks);
	keep->last = NULL;
	keep->room += (uint64_t)keep->slab_count * SLAB;
	while (keep->slab_count)
		free(keep->slabs[--keep->slab_count]);
	keep->slab_used = 0;
}

void image_keep_end(struct image *image)
{
	if (!image->keep)
		return;
	image_keep_forget(image);
	free(image->keep->slabs);
	free(image->keep);
	image->keep = NULL;
	image->keep_calls = NULL;
}

void image_keep_pass_by(struct image *image, bool passes)
{
	if (image->keep)
		image->keep->passed_by = passes;
}

/* Room for the bytes of a chunk; NULL = there is none left. */
static unsigned char *keep_allocate(struct image_keep *keep)
{
	unsigned char *slab;

	if (!keep->slab_count || keep->slab_used == SLAB) {
		slab = keep->room >= SLAB ? aligned_alloc(SLAB, SLAB) : NULL;
		if (!slab)
			return NULL;
		madvise(slab, SLAB, MADV_HUGEPAGE);
		keep->room -= SLAB;
		keep->slabs = memory_grow(keep->slabs, keep->slab_count, &keep->slab_capacity,
					  sizeof(keep->slabs[0]));
		keep->slabs[keep->slab_count++] = slab;
		keep->slab_used = 0;
	}
	slab = keep->slabs[keep->slab_count - 1] + keep->slab_used;
	keep->slab_used += CHUNK;
	return slab;
}

static bool keep_may_hold(const struct image_mapping *mapping)
{
	return mapping && mapping->readable && mapping->writable && !mapping->shared &&
	       !mapping->device_memory;
}

/* Read [start, end) of the process, which is in one chunk, and mark what is there. */
static void keep_fill_run(struct image *image, struct keep_chunk *chunk, uint64_t start,
			  uint64_t end)
{
	size_t got =
		image_read_part(image, start, chunk->bytes + (start - chunk->address), end - start);
	uint64_t part;

	for (part = 0; (part + 1) * PART <= got; part++)
		chunk->parts |= 1ull << ((start - chunk->address) / PART + part);
}

/* All that is present of a chunk, in mappings that are kept. */
static void keep_fill(struct image *image, struct keep_chunk *chunk)
{
	uint64_t at = chunk->address, end = chunk->address + CHUNK, start, run_end;
	const struct image_mapping *mapping;

	image->keep->passed_by = true;
	while (image_next_present(image, at, end, &start, &run_end)) {
		mapping = image_find(image, start);
		at = mapping && mapping->end < run_end ? mapping->end : run_end;
		if (keep_may_hold(mapping))
			keep_fill_run(image, chunk, start, at);
	}
	image->keep->passed_by = false;
}

/* The chunk that has `address`, read if it is new; NULL = it is not kept. */
static struct keep_chunk *keep_chunk(struct image *image, uint64_t address)
{
	struct image_keep *keep = image->keep;
	uint64_t first = address & ~(uint64_t)(CHUNK - 1);
	struct keep_chunk *chunk = keep->last;
	unsigned char *bytes;

	if (chunk && chunk->address == first)
		return chunk;
	chunk = table_get(&keep->chunks, first / CHUNK);
	if (!chunk) {
		bytes = keep_may_hold(image_find(image, address)) ? keep_allocate(keep) : NULL;
		if (!bytes)
			return NULL;
		chunk = memory_alloc(1, sizeof(*chunk));
		*chunk = (struct keep_chunk){ .address = first, .bytes = bytes };
		table_put(&keep->chunks, first / CHUNK, chunk);
		keep_fill(image, chunk);
	}
	keep->last = chunk;
	return chunk;
}

const unsigned char *image_keep_view(struct image *image, uint64_t address, size_t size,
				     size_t *ret_size)
{
	const struct keep_chunk *chunk;
	uint64_t into = address % CHUNK, end = into;

	*ret_size = 0;
	if (!image->keep || image->keep->passed_by)
		return NULL;
	chunk = keep_chunk(image, address);
	if (!chunk)
		return NULL;
	while (end < CHUNK && end - into < size && chunk->parts >> end / PART & 1)
		end = (end / PART + 1) * PART;
	*ret_size = end - into < size ? end - into : size;
	return *ret_size ? chunk->bytes + into : NULL;
}

static size_t keep_read(struct image *image, uint64_t address, void *bytes, size_t size)
{
	const unsigned char *kept;
	size_t done = 0, part;

	while (done < size) {
		kept = image_keep_view(image, address + done, size - done, &part);
		if (!kept)
			break;
		memcpy((char *)bytes + done, kept, part);
		done += part;
	}
	return done;
}

static const struct image_keep_calls keep_calls = { .read = keep_read,
						    .forget = image_keep_forget,
						    .end = image_keep_end };

void image_keep_begin(struct image *image, uint64_t max_bytes)
{
	struct rlimit limit;

	image_keep_end(image);
	image->keep = memory_alloc(1, sizeof(*image->keep));
	image->keep_calls = &keep_calls;
	image->keep->room = max_bytes;
	if (!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur / LIMIT_SHARE < max_bytes)
		image->keep->room = limit.rlim_cur / LIMIT_SHARE;
}
