/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The census of glibc's malloc over heaps that glibc_world.h makes up, whole and damaged. Truth: what was put there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "heap/census.h"
#include "unit/glibc_world.h"

struct seen {
	uint64_t blocks[8192];
	size_t count;
	size_t stop_at; /* 0 = never */
};

static bool see(void *context, const struct census_block *block)
{
	struct seen *seen = context;

	if (seen->count < 8192)
		seen->blocks[seen->count++] = block->address;
	return seen->count != seen->stop_at;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static int look(struct glibc_world *world, struct seen *seen, struct heap_totals *totals)
{
	struct census_sink sink = { .block = see, .context = seen };
	struct image *image = fake_image_open(world->fake);
	struct thread_info thread[] = { { .descriptor = WORLD_TLS + 0x800 },
					{ .descriptor = WORLD_TLS + 0x1000,
					  .tls_start = WORLD_TLS + 0x900 } };
	struct thread_list threads = { .items = thread, .count = world->arena[1] ? 2 : 1 };
	struct heap_layout *layout = NULL;
	int code = heap_glibc.find(image, &threads, &layout, NULL);

	*totals = (struct heap_totals){ 0 };
	if (code)
		return code;
	code = heap_glibc.walk(layout, image, &sink, totals);
	heap_glibc.free(layout);
	return code;
}

static void assert_whole(struct glibc_world *world)
{
	struct heap_totals totals;
	struct seen seen = { 0 };

	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(totals.remarks.length, 0);
	assert_int_equal(totals.live_blocks, world->live_blocks);
	assert_int_equal(totals.live_bytes, world->live_bytes);
	assert_int_equal(totals.free_bytes, world->free_bytes);
	assert_int_equal(totals.mapped_blocks, world->mapped);
	assert_int_equal(totals.live_bytes + totals.overhead_bytes + totals.free_bytes,
			 WORLD_HEAP_SIZE + (world->arena[1] ? WORLD_SECOND_SIZE : 0) +
				 world->mapped_bytes);
	assert_int_equal(seen.count, world->live_blocks);
	qsort(seen.blocks, seen.count, sizeof(uint64_t), compare);
	qsort(world->blocks, world->live_blocks, sizeof(uint64_t), compare);
	assert_memory_equal(seen.blocks, world->blocks, seen.count * sizeof(uint64_t));
	buffer_free(&totals.remarks);
}

static void test_releases(void **state)
{
	int release;

	(void)state;
	for (release = 0; release < GLIBC_WORLD_RELEASES; release++) {
		struct glibc_world *world = glibc_world_sample(release);

		assert_whole(world);
		glibc_world_free(world);
	}
}

/* No list has a chunk, so none shows how links are stored, and blocks begin with addresses of others: all are in use, whatever the library is called. */
static void test_addresses_in_no_list(void **state)
{
	struct glibc_world *world;
	uint64_t before, chunk;
	int release, i;

	(void)state;
	for (release = 0; release < GLIBC_WORLD_RELEASES; release++) {
		world = glibc_world_new(release);
		before = 0;
		for (i = 0; i < 400; i++) {
			chunk = glibc_world_chunk(world, 48, WORLD_LIVE);
			glibc_world_put(world, chunk + 16, before);
			before = chunk + 16;
		}
		glibc_world_end(world);
		assert_whole(world);
		glibc_world_free(world);
	}
}

/* Most bins have chunks: few point to themselves. */
static void test_full_bins(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	uint64_t chunk[100], pair;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		chunk[i] = glibc_world_chunk(world, 32 + i * 16, WORLD_FREE);
		glibc_world_chunk(world, 32, WORLD_LIVE);
	}
	glibc_world_end(world);
	for (i = 0; i < 100; i++) {
		pair = WORLD_ARENA + 112 + (i + 1) * 16;
		glibc_world_put(world, pair, chunk[i]);
		glibc_world_put(world, pair + 8, chunk[i]);
		glibc_world_put(world, chunk[i] + 16, pair - 16);
		glibc_world_put(world, chunk[i] + 24, pair - 16);
	}
	assert_whole(world);
	glibc_world_free(world);
}

/* Nearly all bins have chunks, and these are taken out and put in while they are looked at. */
static void test_changing_bins(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	uint64_t pair;
	int i;

	(void)state;
	for (i = 0; i < 90; i++) {
		pair = WORLD_ARENA + 112 + (i + 2) * 16;
		glibc_world_put(world, pair, WORLD_HEAP + 0x400 + i * 32);
		glibc_world_put(world, pair + 8, WORLD_HEAP + 0x400 + i * 32);
	}
	assert_whole(world);
	glibc_world_free(world);
}

/*
 * A chunk was taken out of a fastbin while that was followed: those behind it are no blocks, nor is the last, whose link leads nowhere. Which
 * ones are free is an estimate then.
 */
static void test_changing_fastbin(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	struct heap_totals totals;
	struct seen seen = { 0 };
	uint64_t chunks[5];
	int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		chunks[i] = glibc_world_chunk(world, 48, WORLD_FAST);
		glibc_world_chunk(world, 64, WORLD_LIVE);
	}
	glibc_world_end(world);
	/* The list leads from the last one to the first. */
	fake_image_put(world->fake, chunks[3] + 16, "a live block", 12);
	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(seen.count, world->live_blocks + 1);
	for (i = 0; i < (int)seen.count; i++) {
		assert_int_not_equal(seen.blocks[i], chunks[0] + 16);
		assert_int_not_equal(seen.blocks[i], chunks[1] + 16);
	}
	assert_true(totals.counts_only);
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

/* A thread also points to a block that is as large as its cache. */
static void test_block_like_cache(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	uint64_t chunk;

	(void)state;
	glibc_world_chunk(world, 64, WORLD_CACHED);
	chunk = glibc_world_chunk(world, 0x290, WORLD_LIVE);
	glibc_world_chunk(world, 64, WORLD_LIVE);
	glibc_world_end(world);
	glibc_world_put(world, WORLD_TLS + 0x708, chunk + 16);
	assert_whole(world);
	glibc_world_free(world);
}

/* Memory of others begins as a chunk does, in front of both that are chunks. */
static void test_mapped_false(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);

	(void)state;
	fake_image_map(world->fake, WORLD_MAPPED - 0x100000, 0x90000, "", FAKE_WRITABLE);
	glibc_world_put(world, WORLD_MAPPED - 0x100000 + 8, 0x70000 | 2);
	assert_whole(world);
	glibc_world_free(world);
}

/* The same, joined to the front of them by the kernel, and so large that the first chunk lies in it. */
static void test_mapped_around(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	size_t i;

	(void)state;
	for (i = 0; i < world->fake->mapping_count; i++)
		if (world->fake->mappings[i].start == WORLD_MAPPED)
			world->fake->mappings[i].start -= 0x10000;
	fake_image_pages(world->fake, WORLD_MAPPED - 0x10000, 0x10000, IMAGE_PRESENT);
	glibc_world_put(world, WORLD_MAPPED - 0x10000 + 8, 0x31000 | 2);
	assert_whole(world);
	glibc_world_free(world);
}

/* Chunks that were found behind 8 MB of others' memory are not searched for again when they are walked. */
static void test_mapped_once(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	const uint64_t before = 8ull << 20;
	struct heap_totals totals = { 0 };
	struct heap_layout *layout;
	struct image *image;
	uint64_t found;
	size_t i;

	(void)state;
	for (i = 0; i < world->fake->mapping_count; i++)
		if (world->fake->mappings[i].start == WORLD_MAPPED)
			world->fake->mappings[i].start -= before;
	fake_image_pages(world->fake, WORLD_MAPPED - before, before, IMAGE_PRESENT);
	image = fake_image_open(world->fake);
	assert_int_equal(heap_glibc.find(image, NULL, &layout, NULL), 0);
	found = image->usage.bytes;
	assert_true(found > before);
	assert_int_equal(heap_glibc.walk(layout, image, NULL, &totals), 0);
	assert_int_equal(totals.mapped_blocks, world->mapped);
	assert_int_equal(totals.mapped_bytes, world->mapped_bytes - world->mapped * 16);
	assert_true(image->usage.bytes - found < before / 2);
	heap_glibc.free(layout);
	buffer_free(&totals.remarks);
	assert_whole(world);
	glibc_world_free(world);
}

/*
 * Memory of others, in front of both chunks, has just the bytes that are read in search of a third one. malloc counts the bytes of a
 * second one twice, as it may while it is at work: that makes none that is there once two.
 */
static void test_mapped_budget(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	const uint64_t searched = 64ull << 20, tls = 0x3000, rest = 0x10000 - tls;
	struct heap_totals totals;
	struct seen seen = { 0 };
	size_t i;

	(void)state;
	fake_image_map(world->fake, WORLD_MAPPED - (256ull << 20), rest, "", FAKE_WRITABLE);
	fake_image_map(world->fake, WORLD_MAPPED - (128ull << 20), searched - tls - rest, "",
		       FAKE_WRITABLE);
	glibc_world_put(world, WORLD_PAR - 24, 2 * 0x40000);
	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(totals.mapped_blocks, 2);
	assert_int_equal(totals.live_blocks, world->live_blocks);
	assert_int_equal(totals.live_bytes, world->live_bytes);
	assert_true(totals.remarks.length > 0);
	qsort(seen.blocks, seen.count, sizeof(uint64_t), compare);
	for (i = 1; i < seen.count; i++)
		assert_true(seen.blocks[i - 1] < seen.blocks[i]);
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

static uint64_t trim_of(struct glibc_world *world)
{
	struct heap_totals totals;
	struct seen seen = { 0 };

	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(totals.remarks.length, 0);
	return totals.trim_bytes;
}

/* Whole pages behind the 48 bytes of a free chunk that malloc_trim keeps, and only those that are in memory. */
static void test_trim(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	uint64_t chunk, first;

	(void)state;
	glibc_world_chunk(world, 0x100, WORLD_LIVE);
	chunk = glibc_world_chunk(world, 0x8000, WORLD_FREE);
	glibc_world_chunk(world, WORLD_HEAP + WORLD_HEAP_SIZE - 0x1000 - world->at, WORLD_LIVE);
	glibc_world_end(world);
	first = (chunk + 48 + 0xfff) & ~0xfffull;
	assert_int_equal(trim_of(world), ((chunk + 0x8000) & ~0xfffull) - first);
	fake_image_absent(world->fake, first, 0x3000);
	assert_int_equal(trim_of(world), ((chunk + 0x8000) & ~0xfffull) - first - 0x3000);
	glibc_world_free(world);
}

/* Chunks of fastbins become one with free neighbours and with the top; cached ones do not. */
static void test_trim_consolidates(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	int i;

	(void)state;
	glibc_world_chunk(world, 0x1000 - 0x290, WORLD_LIVE);
	for (i = 0; i < 64; i++)
		glibc_world_chunk(world, 128, WORLD_FAST); /* two pages: one is whole */
	glibc_world_chunk(world, 0x1000, WORLD_LIVE);
	for (i = 0; i < 64; i++)
		glibc_world_chunk(world, 128, i % 10 ? WORLD_FAST : WORLD_CACHED);
	glibc_world_chunk(world, 0x1000 - 128, WORLD_LIVE);
	glibc_world_chunk(world, 128, WORLD_FAST);
	glibc_world_end(world);
	/* The top begins with the last of them, so it can give back all its own pages. */
	assert_int_equal(trim_of(world), 0x1000 + WORLD_HEAP + WORLD_HEAP_SIZE - world->top[0]);
	glibc_world_free(world);
}

/* What is swapped out is not read, and not understood; the walk goes on behind it. */
static void test_swapped(void **state)
{
	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
	struct heap_totals totals;
	struct seen seen = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		glibc_world_chunk(world, 64, WORLD_LIVE);
	glibc_world_end(world);
	fake_image_swapped(world->fake, WORLD_HEAP + 0x4000, 0x2000);
	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(totals.resyncs, 1);
	assert_in_range(totals.unknown_bytes, 0x2000, 0x2000 + 128);
	assert_in_range(totals.live_blocks, 1000 - 0x2000 / 64 - 2, 1000 - 0x2000 / 64);
	assert_non_null(strstr(totals.remarks.data, "not understood"));
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

static uint64_t reads_allowed(void)
{
	return 3 * (WORLD_HEAP_SIZE + WORLD_SECOND_SIZE + WORLD_DATA_SIZE + 0x61000) / 4096 + 1500;
}

/* The same answer, a refusal, or a remark. Returns false for the first without a remark. */
static bool assert_careful(struct glibc_world *world, uint64_t address)
{
	struct heap_totals totals;
	struct seen seen = { 0 };
	size_t before = world->fake->reads;
	int code = look(world, &seen, &totals);
	bool same = !code && totals.live_blocks == world->live_blocks &&
		    totals.live_bytes == world->live_bytes &&
		    totals.free_bytes == world->free_bytes;

	if (!code && !same && !totals.remarks.length)
		fail_msg("%#llx: %llu blocks of %llu bytes, %llu free, and no remark",
			 (unsigned long long)address, (unsigned long long)totals.live_blocks,
			 (unsigned long long)totals.live_bytes,
			 (unsigned long long)totals.free_bytes);
	assert_in_range(world->fake->reads - before, 1, reads_allowed());
	same = same && !totals.remarks.length;
	buffer_free(&totals.remarks);
	return !same;
}

static uint64_t word_at(struct glibc_world *world, uint64_t address)
{
	return image_word(world->fake->image, address);
}

static unsigned int flip(struct glibc_world *world, uint64_t start, uint64_t end, uint64_t mask)
{
	unsigned int noticed = 0;
	uint64_t at, word;

	for (at = start; at < end; at += 8) {
		word = word_at(world, at);
		glibc_world_put(world, at, word ^ mask);
		noticed += assert_careful(world, at);
		glibc_world_put(world, at, word);
	}
	return noticed;
}

/* Each word of the arenas, of malloc_par, of headers, caches and links. */
static void test_damaged(void **state)
{
	static const uint64_t masks[] = { ~0ull, 1, 2, 4, 0x10, 0x1010, 1ull << 40 };
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	unsigned int noticed = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		noticed += flip(world, WORLD_ARENA, WORLD_ARENA + 2200, masks[i]);
		noticed += flip(world, WORLD_PAR - 64, WORLD_PAR + 24, masks[i]);
		noticed += flip(world, WORLD_MAPPED, WORLD_MAPPED + 16, masks[i]);
		/* A header with only this bit changed is one that malloc itself could have written. */
		if (masks[i] == 1)
			continue;
		noticed += flip(world, WORLD_HEAP, WORLD_HEAP + 0x800, masks[i]);
		noticed += flip(world, WORLD_SECOND, WORLD_SECOND + 0x1000, masks[i]);
	}
	assert_true(noticed > 500);
	assert_whole(world);
	glibc_world_free(world);
}

/* The mapping of [heap], of which `size` bytes are listed from now on. */
static void list_heap(struct glibc_world *world, uint64_t size)
{
	size_t i;

	for (i = 0; i < world->fake->mapping_count; i++)
		if (world->fake->mappings[i].start == WORLD_HEAP)
			world->fake->mappings[i].end = WORLD_HEAP + size;
}

/* The heap has grown between the list of mappings and the look at its arena: the mappings are listed again. */
static void test_grown_before(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct heap_totals totals = { 0 };
	struct heap_layout *layout = NULL;
	struct seen seen = { 0 };
	struct census_sink sink = { .block = see, .context = &seen };

	(void)state;
	list_heap(world, 0x8000);
	fake_image_open(world->fake);
	list_heap(world, WORLD_HEAP_SIZE);
	assert_int_equal(heap_glibc.find(world->fake->image, NULL, &layout, NULL), 0);
	assert_int_equal(heap_glibc.walk(layout, world->fake->image, &sink, &totals), 0);
	heap_glibc.free(layout);
	assert_int_equal(totals.live_blocks, world->live_blocks);
	assert_int_equal(totals.unknown_bytes, 0);
	assert_int_equal(totals.remarks.length, 0);
	glibc_world_free(world);
}

#define GROWTH 0x2000

static struct glibc_world *growing;
static uint64_t growing_size;

/* malloc takes more of [heap] as each block of it is read: one block to the end, and a new top. */
static void grow_heap(struct fake_image *fake, uint64_t address)
{
	uint64_t top = growing->top[0];

	if (address < WORLD_HEAP || address >= WORLD_HEAP + WORLD_HEAP_SIZE)
		return;
	growing_size += GROWTH;
	growing->top[0] = WORLD_HEAP + growing_size - 0x100;
	fake_image_pages(fake, WORLD_HEAP + growing_size - GROWTH, GROWTH, IMAGE_PRESENT);
	glibc_world_put(growing, top + 8, (growing->top[0] - top) | 1);
	glibc_world_put(growing, growing->top[0] + 8, 0x101);
	glibc_world_put_arena(growing, 0, growing_size);
	list_heap(growing, growing_size);
}

/* It grows all the time, faster than mappings are listed. What was there is found, and nothing was not understood. */
static void test_grows_meanwhile(void **state)
{
	struct heap_totals totals;
	struct seen seen = { 0 };
	int i;

	(void)state;
	growing = glibc_world_new(GLIBC_WORLD_2_36);
	for (i = 0; i < 500; i++)
		glibc_world_chunk(growing, 64, WORLD_LIVE);
	glibc_world_end(growing);
	growing_size = WORLD_HEAP_SIZE;
	growing->fake->on_read = grow_heap;
	assert_int_equal(look(growing, &seen, &totals), 0);
	assert_int_equal(totals.unknown_bytes, 0);
	assert_in_range(totals.live_blocks, 500, 500 + growing_size / GROWTH);
	assert_non_null(totals.remarks.data);
	assert_non_null(strstr(totals.remarks.data, "the heap has grown from "));
	assert_ptr_equal(strchr(totals.remarks.data, '\n'),
			 totals.remarks.data + totals.remarks.length - 1);
	buffer_free(&totals.remarks);
	glibc_world_free(growing);
}

/* A total that only says that it has grown: the kernel has no such memory. */
static void test_grown_false(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct heap_totals totals;
	struct seen seen = { 0 };

	(void)state;
	glibc_world_put_arena(world, 0, WORLD_HEAP_SIZE + 0x100000);
	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(totals.unknown_bytes, 0x100000);
	assert_non_null(strstr(totals.remarks.data, "1.0 MiB not found"));
	assert_non_null(strstr(totals.remarks.data, "1.0 MiB of the heap not understood"));
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

/*
 * A thread's heap that is full, where the top had 48 bytes when the arena went on in another one: as
 * sysmalloc() leaves them, a chunk of 32 without the arena's mark, then one of none. No block is there.
 */
static void test_full_heap(void **state)
{
	const uint64_t third = WORLD_SECOND + 0x4000000;
	struct heap_totals totals;
	struct glibc_world *world;
	int release;

	(void)state;
	for (release = 0; release < GLIBC_WORLD_RELEASES; release++) {
		struct seen seen = { 0 };

		world = glibc_world_new(release);
		glibc_world_chunk(world, 64, WORLD_LIVE);
		glibc_world_second(world);
		glibc_world_chunk(world, world->end - world->at - 48, WORLD_LIVE);
		glibc_world_put(world, world->at + 8, 32 | 1);
		glibc_world_put(world, world->at + 32 + 8, 1);
		fake_image_map(world->fake, third, WORLD_SECOND_SIZE, "", FAKE_WRITABLE);
		glibc_world_put(world, third, world->arena[1]);
		glibc_world_put(world, third + 8, WORLD_SECOND);
		glibc_world_put(world, third + 16, WORLD_SECOND_SIZE);
		world->at = third + (world->arena[1] - WORLD_SECOND);
		world->end = third + WORLD_SECOND_SIZE;
		glibc_world_end(world);
		glibc_world_put_arena(world, 1, 2 * WORLD_SECOND_SIZE);
		assert_int_equal(look(world, &seen, &totals), 0);
		assert_int_equal(totals.live_blocks, world->live_blocks);
		assert_int_equal(totals.unknown_bytes, 0);
		assert_int_equal(totals.resyncs, 0);
		assert_int_equal(totals.remarks.length, 0);
		assert_int_equal(totals.live_bytes + totals.overhead_bytes + totals.free_bytes,
				 WORLD_HEAP_SIZE + 2 * WORLD_SECOND_SIZE);
		buffer_free(&totals.remarks);
		glibc_world_free(world);
	}
}

/* Heaps of an arena that lead back to each other. */
static void test_cycle(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);

	(void)state;
	glibc_world_put(world, WORLD_SECOND + 8, WORLD_SECOND);
	assert_true(assert_careful(world, WORLD_SECOND + 8));
	glibc_world_free(world);
}

static void test_refuses(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct heap_totals totals;
	struct seen seen = { 0 };
	const uint64_t next = WORLD_ARENA + 2160;

	(void)state;
	glibc_world_put(world, next, WORLD_SECOND + 0x10);
	assert_int_equal(look(world, &seen, &totals), -ENOTSUP);
	/* The one before it is taken for the last bin: then the others are where none can be. */
	glibc_world_put(world, next, WORLD_SECOND + 0x30);
	glibc_world_put(world, WORLD_ARENA + 112 + 126 * 16, 0);
	assert_int_equal(look(world, &seen, &totals), -ENOTSUP);
	glibc_world_free(world);
	world = glibc_world_new(GLIBC_WORLD_2_36);
	assert_int_equal(look(world, &seen, &totals), -ENOENT);
	glibc_world_free(world);
}

/* The time ends at the first block: nothing more is read of the arena. */
static bool see_end(void *context, const struct census_block *block)
{
	struct glibc_world *world = context;

	(void)block;
	world->fake->image->until_ns = 1;
	fake_image_absent(world->fake, WORLD_DATA, WORLD_DATA_SIZE);
	return true;
}

/* Lists that there was no time to follow have not changed. */
static void test_no_time(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct census_sink sink = { .block = see_end, .context = world };
	struct heap_totals totals = { 0 };
	struct thread_list threads = { 0 };
	struct heap_layout *layout = NULL;
	struct image *image = fake_image_open(world->fake);

	(void)state;
	assert_int_equal(heap_glibc.find(image, &threads, &layout, NULL), 0);
	assert_int_equal(heap_glibc.walk(layout, image, &sink, &totals), 0);
	heap_glibc.free(layout);
	assert_non_null(totals.remarks.data);
	assert_non_null(strstr(totals.remarks.data, "could not be followed in time"));
	assert_null(strstr(totals.remarks.data, "changed"));
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

/* A caller cannot take back what a walk has passed. The arenas change between find and walk. */
static void test_failed_walk_passes_nothing(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct seen seen = { 0 };
	struct census_sink sink = { .block = see, .context = &seen };
	struct image *image = fake_image_open(world->fake);
	struct heap_totals totals = { 0 };
	struct thread_list threads = { 0 };
	struct heap_layout *layout;

	(void)state;
	assert_int_equal(heap_glibc.find(image, &threads, &layout, NULL), 0);
	glibc_world_put(world, WORLD_ARENA + 2160, WORLD_SECOND + 0x10);
	assert_int_equal(heap_glibc.walk(layout, image, &sink, &totals), -EIO);
	assert_int_equal(seen.count, 0);
	heap_glibc.free(layout);
	heap_totals_free(&totals);
	glibc_world_free(world);
}

static void test_sink_ends(void **state)
{
	struct glibc_world *world = glibc_world_sample(GLIBC_WORLD_2_36);
	struct heap_totals totals;
	struct seen seen = { .stop_at = 10 };

	(void)state;
	assert_int_equal(look(world, &seen, &totals), 0);
	assert_int_equal(seen.count, 10);
	buffer_free(&totals.remarks);
	glibc_world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_addresses_in_no_list),
		cmocka_unit_test(test_full_bins),
		cmocka_unit_test(test_block_like_cache),
		cmocka_unit_test(test_changing_bins),
		cmocka_unit_test(test_mapped_false),
		cmocka_unit_test(test_mapped_around),
		cmocka_unit_test(test_mapped_budget),
		cmocka_unit_test(test_mapped_once),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_trim_consolidates),
		cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_grown_before),
		cmocka_unit_test(test_grows_meanwhile),
		cmocka_unit_test(test_grown_false),
		cmocka_unit_test(test_full_heap),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_failed_walk_passes_nothing),
		cmocka_unit_test(test_sink_ends),
		cmocka_unit_test(test_changing_fastbin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
