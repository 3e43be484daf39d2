/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of glibc's malloc whose memory the input has written over: triples of a place, what to do there, and a word. The census must
 * end after a bounded number of reads, give only blocks in the process's mappings, and count those that it gives.
 */
#include "fuzz.h"
#include "heap/census.h"
#include "../unit/glibc_world.h"

#define READS_MAX 20000
#define EDITS_MAX 32

struct edit {
	uint64_t address, before;
};

static struct glibc_world *worlds[GLIBC_WORLD_RELEASES];
static uint64_t given;

static bool see(void *context, const struct census_block *block)
{
	struct image *image = context;

	MUST(image_find(image, block->address));
	given++;
	return true;
}

/* Places of metadata, most of them: arenas, malloc_par, headers. */
static uint64_t place(uint16_t number)
{
	static const uint64_t starts[] = { WORLD_ARENA,		WORLD_PAR - 64,
					   WORLD_HEAP,		WORLD_SECOND,
					   WORLD_MAPPED,	WORLD_TLS + 0x700,
					   WORLD_HEAP + 0x8000, WORLD_SECOND + 0x800 };

	return starts[number & 7] + (number >> 3) % 0x400 * 8;
}

/* A word of the input, or one that leads somewhere. */
static uint64_t word_of(const uint8_t *data, uint64_t before)
{
	static const uint64_t words[] = { WORLD_HEAP, WORLD_SECOND, WORLD_ARENA, WORLD_MAPPED };
	uint64_t word;

	memcpy(&word, data + 3, sizeof(word));
	if (data[2] & 1)
		return words[data[2] >> 1 & 3] + (word & 0xfffff8);
	if (data[2] & 2)
		return before ^ 1ull << (data[2] >> 2);
	return data[2] & 4 ? before + (word & 0xffff) * 16 : word;
}

static size_t change(struct glibc_world *world, const uint8_t *data, size_t size,
		     struct edit edits[EDITS_MAX])
{
	size_t count = 0;
	uint16_t number;

	for (; size >= 11 && count < EDITS_MAX; data += 11, size -= 11) {
		memcpy(&number, data, sizeof(number));
		edits[count].address = place(number);
		edits[count].before = image_word(world->fake->image, edits[count].address);
		glibc_world_put(world, edits[count].address, word_of(data, edits[count].before));
		count++;
	}
	return count;
}

static void look(struct glibc_world *world)
{
	struct image *image = fake_image_open(world->fake);
	struct census_sink sink = { .block = see, .context = image };
	struct heap_layout *layout = NULL;
	struct heap_totals totals = { 0 };

	given = 0;
	world->fake->reads = 0;
	if (!heap_glibc.find(image, NULL, &layout, NULL)) {
		if (!heap_glibc.walk(layout, image, &sink, &totals))
			MUST(given == totals.live_blocks);
		heap_glibc.free(layout);
	}
	MUST(world->fake->reads <= READS_MAX);
	heap_totals_free(&totals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit edits[EDITS_MAX];
	struct glibc_world **world;
	size_t count;

	if (!size)
		return 0;
	world = &worlds[*data % GLIBC_WORLD_RELEASES];
	if (!*world)
		*world = glibc_world_sample(*data % GLIBC_WORLD_RELEASES);
	count = change(*world, data + 1, size - 1, edits);
	look(*world);
	while (count--)
		glibc_world_put(*world, edits[count].address, edits[count].before);
	return 0;
}
