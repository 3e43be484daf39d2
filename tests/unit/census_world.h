/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up heap, its census, and damaged copies of it: census_put() writes a word of the metadata, census_check_damage() changes each
 * of them in several ways and expects the same answer, a refusal or a remark, after few reads. `move` changes the heap during a walk.
 */
#ifndef TESTS_CENSUS_WORLD_H
#define TESTS_CENSUS_WORLD_H

#include "heap/census.h"
#include "unit/fake_image.h"

struct census_world {
	const struct heap_allocator *allocator;
	struct fake_image *fake;
	struct image *image;
	uint64_t words[8192], values[8192];
	size_t count;
	/* Called when so many blocks were walked. */
	void (*move)(struct census_world *world);
	uint64_t move_at;
	bool partial; /* blocks are wanted, too, where it is not clear which of some are free */
	/* What the last census came to. */
	uint64_t blocks, bytes, unknown_bytes;
	struct heap_totals totals;
	struct error reason;
};

static inline void census_put(struct census_world *world, uint64_t address, uint64_t value)
{
	fake_image_put_word(world->fake, address, value);
	world->words[world->count] = address;
	world->values[world->count++] = value;
}

static bool census_block(void *context, const struct census_block *block)
{
	struct census_world *world = context;

	world->blocks++;
	world->bytes += block->size;
	if (world->move && world->blocks == world->move_at)
		world->move(world);
	return true;
}

static void census_unknown(void *context, uint64_t start, uint64_t end)
{
	struct census_world *world = context;

	world->unknown_bytes += end - start;
}

/* Find and walk; the first error of both. `totals` are to be freed. */
static inline int census_run(struct census_world *world)
{
	struct census_sink sink = { .block = census_block,
				    .context = world,
				    .unknown = census_unknown,
				    .partial = world->partial };
	struct thread_list threads = { 0 };
	struct heap_layout *layout = NULL;
	int code;

	world->blocks = world->bytes = world->unknown_bytes = 0;
	world->reason = (struct error){ 0 };
	memset(&world->totals, 0, sizeof(world->totals));
	code = world->allocator->find(world->image, &threads, &layout, &world->reason);
	if (code)
		return code;
	code = world->allocator->walk(layout, world->image, &sink, &world->totals);
	world->allocator->free(layout);
	return code;
}

static inline const char *census_remarks(const struct census_world *world)
{
	return world->totals.remarks.data ? world->totals.remarks.data : "";
}

/* Run it while the heap moves: blocks are those that there were, and a remark has the text `said`. */
#define CENSUS_MOVED "in use as the walk came by"
#define CENSUS_GROWN "the heap has grown from "
static inline void census_check_move(struct census_world *world,
				     void (*move)(struct census_world *), uint64_t at,
				     uint64_t blocks, const char *said)
{
	world->move = move;
	world->move_at = at;
	if (census_run(world))
		fail_msg("%s", "no census");
	assert_int_equal(world->blocks, blocks);
	assert_non_null(strstr(census_remarks(world), said));
	heap_totals_free(&world->totals);
	fake_image_free(world->fake);
}

static inline uint64_t census_changed(uint64_t word, unsigned int way, uint64_t other)
{
	const uint64_t ways[] = { ~word, word ^ 1ull << 63, other, word + (1ull << 20),
				  word ^ 1ull << 33 };

	return ways[way];
}

static inline void census_check_damage(struct census_world *world, uint64_t blocks, uint64_t bytes,
				       size_t reads)
{
	size_t i, before;
	unsigned int way;
	int code;

	for (i = 0; i < world->count; i++) {
		for (way = 0; way < 5; way++) {
			uint64_t word = census_changed(world->values[i], way,
						       world->words[(i + 7) % world->count]);

			fake_image_put_word(world->fake, world->words[i], word);
			before = world->fake->reads;
			code = census_run(world);
			if (!code && !world->totals.remarks.length &&
			    (world->totals.live_blocks != blocks ||
			     world->totals.live_bytes != bytes))
				fail_msg("%#llx = %#llx: %llu blocks, %llu bytes, and no remark",
					 (unsigned long long)world->words[i],
					 (unsigned long long)word,
					 (unsigned long long)world->totals.live_blocks,
					 (unsigned long long)world->totals.live_bytes);
			assert_true(world->fake->reads - before < reads);
			heap_totals_free(&world->totals);
		}
		fake_image_put_word(world->fake, world->words[i], world->values[i]);
	}
}

#endif
