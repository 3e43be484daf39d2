/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc's census over a made-up heap of each release's layout, and over damaged copies of it: each word of the metadata is changed
 * in several ways. What is expected follows from the extents below, by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "heap/census.h"
#include "unit/fake_image.h"

#define DATA 0x7f0000001000ull /* of a module; its .bss follows */
#define ROOT (DATA + 0x1440)
#define BASE 0x7f1000000000ull /* jemalloc's own */
#define LEAF (BASE + 0x80)
#define RECORDS (BASE + 0x201000)
#define NODE (BASE + 0x202000) /* of a wide tree */
#define HEAP 0x7f2000000000ull
#define TLS 0x7f3000000000ull
#define STACKS 0x7f3000004000ull /* of the thread's cache */
#define DESCRIPTOR (TLS + 0x1f00)
#define MB (1ull << 20)

static const struct layout {
	unsigned int state_shift, class_shift, free_shift;
	bool newer, wide;
} layouts[] = { { 17, 20, 28, true, false },
		{ 16, 18, 26, false, false },
		{ 17, 20, 28, true, true } };
#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))

struct extent {
	uint64_t address, size;
	unsigned int state, size_class, regions, free_count;
};

/* Classes: 5 = 80 bytes, 8 = 128, 36 = 16384, 53 = 327680. A slab's first regions are free. */
static const struct extent extents[] = {
	{ HEAP, 0x5000, 0, 5, 256, 100 },	  { HEAP + 0x5000, 0x1000, 0, 8, 32, 7 },
	{ HEAP + 0x6000, 0x1000, 0, 8, 32, 0 },	  { HEAP + 0x7040, 0x5000, 0, 36, 0, 0 },
	{ HEAP + 0xc000, 0x8000, 1, 232, 0, 0 },  { HEAP + 0x14000, 0x4000, 2, 232, 0, 0 },
	{ HEAP + 0x18080, 0x51000, 0, 53, 0, 0 }, { HEAP + 0x69000, 0x80000, 3, 232, 0, 0 },
	{ HEAP + 0xe9000, 0x5000, 0, 36, 0, 0 },
};
#define EXTENTS (sizeof(extents) / sizeof(*extents))
/* In the cache: two regions of the third slab, and the last extent. */
static const uint64_t cached[] = { HEAP + 0x6000, HEAP + 0x6080, HEAP + 0xe9000 };
#define LIVE_BLOCKS (156 + 25 + 30 + 1 + 1)
#define LIVE_BYTES (156 * 80 + 55 * 128 + 16384 + 327680)

/* A heap, and where its metadata is. */
struct world {
	struct fake_image *fake;
	struct image *image;
	uint64_t words[4096], values[4096];
	size_t count;
	struct thread_info thread;
	struct thread_list threads;
};

static void put(struct world *world, uint64_t address, uint64_t value)
{
	fake_image_put_word(world->fake, address, value);
	world->words[world->count] = address;
	world->values[world->count++] = value;
}

/* In a wide leaf an entry is the record, and what else there is: 5 bits and the class. */
static void put_entry(struct world *world, const struct layout *layout, uint64_t page,
		      uint64_t entry)
{
	if (!layout->wide) {
		put(world, LEAF + (page & 0x3ffff) * 8, entry);
		return;
	}
	put(world, LEAF + (page & 0x7fff) * 16, entry & 0xffffffffff80);
	put(world, LEAF + (page & 0x7fff) * 16 + 8, (entry >> 48) << 5 | (entry & 31));
}

static void put_extent(struct world *world, const struct layout *layout, size_t i)
{
	const struct extent *extent = &extents[i];
	uint64_t record = RECORDS + 128 * i, bits, entry, page, pages = extent->size >> 12;
	unsigned int region;

	bits = 3 | (uint64_t)(extent->regions > 0) << 12 |
	       (uint64_t)extent->state << layout->state_shift |
	       (uint64_t)extent->size_class << layout->class_shift |
	       (uint64_t)extent->free_count << layout->free_shift;
	put(world, record, bits);
	put(world, record + 8, extent->address);
	put(world, record + 16, extent->size | 5);
	for (region = 0; region < extent->regions; region += 64) {
		unsigned int left = extent->free_count > region ? extent->free_count - region : 0;

		put(world, record + 64 + region / 8, left >= 64 ? ~0ull : (1ull << left) - 1);
	}
	entry = record | (uint64_t)extent->size_class << 48 | (extent->regions > 0);
	entry |= layout->newer ? (uint64_t)extent->state << 2 : 0;
	for (page = 0; page < pages; page++)
		if (extent->regions || page == 0 || page == pages - 1)
			put_entry(world, layout, (extent->address >> 12) + page, entry);
}

/* Stacks of four blocks each; that of bin `full` has those that are cached. */
static void put_cache(struct world *world, const struct layout *layout)
{
	uint64_t i, end = STACKS;

	for (i = 0; i < 36; i++) {
		uint64_t at = TLS + 0x1008 + 24 * i, count = i == 8 ? 2 : i == 35 ? 1 : 0;

		end += 32;
		if (layout->newer) {
			fake_image_put_word(world->fake, at, end - 8 * count);
			fake_image_put_word(world->fake, at + 16,
					    (end & 0xffff) << 32 | ((end - 32) & 0xffff) << 16);
		} else {
			fake_image_put_word(world->fake, at, count << 32 | 0xffffffff);
			fake_image_put_word(world->fake, at + 16, end);
		}
		if (count)
			fake_image_put(world->fake, end - 8 * count, i == 8 ? cached : cached + 2,
				       8 * count);
	}
}

static void world_open(struct world *world, const struct layout *layout)
{
	size_t i;

	*world = (struct world){ .fake = fake_image_new() };
	fake_image_map(world->fake, DATA, 0x1000, "/usr/lib/libjemalloc.so.2",
		       FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(world->fake, DATA + 0x1000, 3 * MB, "", FAKE_WRITABLE);
	fake_image_map(world->fake, BASE, 4 * MB, "", FAKE_WRITABLE);
	fake_image_map(world->fake, HEAP, 4 * MB, "", FAKE_WRITABLE);
	fake_image_map(world->fake, TLS, 0x5000, "", FAKE_WRITABLE);
	/* Half of what is dirty is in memory, nothing of what is retained, and not all of the large block. */
	fake_image_absent(world->fake, HEAP + 0xe000, 0x4000);
	fake_image_absent(world->fake, HEAP + 0x30000, 0xb9000);
	if (layout->wide) {
		put(world, ROOT + (HEAP >> 42) * 8, NODE);
		put(world, NODE + (HEAP >> 27 & 0x7fff) * 8, LEAF);
	} else {
		put(world, ROOT + (HEAP >> 30) * 8, LEAF);
	}
	for (i = 0; i < EXTENTS; i++)
		put_extent(world, layout, i);
	put_cache(world, layout);
	world->thread = (struct thread_info){ .descriptor = DESCRIPTOR, .tls_start = TLS };
	world->threads =
		(struct thread_list){ .items = &world->thread, .count = 1, .complete = true };
	world->image = fake_image_open(world->fake);
}

static void world_close(struct world *world)
{
	fake_image_free(world->fake);
}

struct sums {
	uint64_t blocks, bytes, limit;
	struct fake_image *move; /* its first slab's regions are freed after 160 blocks */
};

/* All but one region of the first slab. */
static void free_slab(struct fake_image *fake)
{
	uint64_t i;

	fake_image_put_word(fake, RECORDS, 3 | 1 << 12 | 5 << 20 | 255ull << 28);
	for (i = 0; i < 4; i++)
		fake_image_put_word(fake, RECORDS + 64 + 8 * i, ~0ull >> (i == 3));
}

static bool sum_block(void *context, const struct census_block *block)
{
	struct sums *sums = context;

	sums->blocks++;
	sums->bytes += block->size;
	if (sums->move && sums->blocks == 160)
		free_slab(sums->move);
	return sums->blocks != sums->limit;
}

/* Find and walk; what find returned. */
static int census(struct world *world, struct sums *sums, struct heap_totals *totals)
{
	struct census_sink sink = { .block = sum_block, .context = sums };
	struct heap_layout *layout = NULL;
	struct error reason = { 0 };
	int code = heap_jemalloc.find(world->image, &world->threads, &layout, &reason);

	memset(totals, 0, sizeof(*totals));
	if (code)
		return code;
	code = heap_jemalloc.walk(layout, world->image, &sink, totals);
	heap_jemalloc.free(layout);
	return code;
}

static void test_census(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < LAYOUTS; i++) {
		struct heap_totals totals;
		struct sums sums = { 0 };
		struct world world;

		world_open(&world, &layouts[i]);
		assert_int_equal(census(&world, &sums, &totals), 0);
		assert_string_equal(totals.version, i == 1 ? "5.2" : "5.3");
		assert_string_equal(totals.remarks.data ? totals.remarks.data : "", "");
		assert_int_equal(sums.blocks, LIVE_BLOCKS);
		assert_int_equal(sums.bytes, LIVE_BYTES);
		assert_int_equal(totals.live_blocks, LIVE_BLOCKS);
		assert_int_equal(totals.live_bytes, LIVE_BYTES);
		assert_int_equal(totals.threads, 1);
		assert_int_equal(totals.arenas, 1);
		assert_int_equal(totals.trim_bytes, 0x2000 + 0x2000 + 0x4000);
		assert_int_equal(totals.bins_resident, 100 * 80 + 7 * 128);
		assert_int_equal(totals.thread_caches_resident, 2 * 128 + 0x5000);
		assert_int_equal(totals.free_bytes,
				 100 * 80 + 7 * 128 + 2 * 128 + 16384 + 0x8000 + 0x4000);
		assert_int_equal(totals.live_resident, 156 * 80 + 55 * 128 + 0x5000 + 0x18000);
		assert_int_equal(totals.unknown_bytes, 0);
		heap_totals_free(&totals);
		world_close(&world);
	}
}

struct lists {
	uint64_t start, end;
	size_t count;
};

static void see_list(void *context, uint64_t start, uint64_t end)
{
	struct lists *lists = context;

	*lists = (struct lists){ start, end, lists->count + 1 };
}

static struct lists lists_of(struct world *world)
{
	struct lists lists = { 0 };
	const struct census_sink sink = { .free_list = see_list, .context = &lists };
	struct heap_layout *layout = NULL;
	struct error reason = { 0 };
	struct heap_totals totals = { 0 };

	assert_int_equal(heap_jemalloc.find(world->image, &world->threads, &layout, &reason), 0);
	assert_int_equal(heap_jemalloc.walk(layout, world->image, &sink, &totals), 0);
	heap_jemalloc.free(layout);
	heap_totals_free(&totals);
	return lists;
}

/* Where a thread keeps addresses of free blocks: all of its stacks, and nothing else, whatever a record before them looks like. */
static void test_stacks(void **state)
{
	struct lists lists;
	struct world world;
	size_t i;

	(void)state;
	for (i = 0; i < LAYOUTS; i++) {
		world_open(&world, &layouts[i]);
		lists = lists_of(&world);
		assert_int_equal(lists.count, 1);
		/* In 5.2 nothing has the start of the first one. */
		assert_int_equal(lists.start, layouts[i].newer ? STACKS : STACKS + 32);
		assert_int_equal(lists.end, STACKS + 36 * 32);
		if (layouts[i].newer) {
			fake_image_put_word(world.fake, TLS + 0x1008 - 24,
					    HEAP + (STACKS & 0xffff));
			fake_image_put_word(world.fake, TLS + 0x1008 - 8,
					    (STACKS & 0xffff) << 32 | ((STACKS - 32) & 0xffff)
									      << 16);
			lists = lists_of(&world);
			assert_int_equal(lists.count, 1);
			assert_int_equal(lists.start, STACKS);
			assert_int_equal(lists.end, STACKS + 36 * 32);
		}
		world_close(&world);
	}
}

/* The large block has fewer pages, whose number is that of no class: since 5.3.1 the next class above may be its one, and no other. */
static void check_pages(const struct layout *layout, uint64_t size, uint64_t bytes)
{
	uint64_t record = RECORDS + 128 * 6, first = (HEAP >> 12 & 0x3ffff) + 0x18;
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;

	world_open(&world, layout);
	fake_image_put_word(world.fake, record + 16, size | 5);
	fake_image_put_word(world.fake, LEAF + (first + 0x50) * 8, 0);
	fake_image_put_word(world.fake, LEAF + (first + (size >> 12) - 1) * 8,
			    record | 53ull << 48);
	assert_int_equal(census(&world, &sums, &totals), 0);
	assert_int_equal(sums.bytes, LIVE_BYTES - 327680 + bytes);
	assert_int_equal(totals.live_bytes, sums.bytes);
	assert_true(bytes ? !totals.remarks.data : !!totals.remarks.data);
	heap_totals_free(&totals);
	world_close(&world);
}

static void test_pages(void **state)
{
	(void)state;
	check_pages(&layouts[0], 0x4d000, 0x4c000);
	check_pages(&layouts[0], 0x42000, 0x41000);
	check_pages(&layouts[0], 0x41000, 0);
	check_pages(&layouts[0], 0x3d000, 0);
	check_pages(&layouts[1], 0x4d000, 0);
}

/* A sink that has enough ends the walk; without one there are totals only. */
static void test_sink(void **state)
{
	struct heap_totals totals;
	struct sums sums = { .limit = 10 };
	struct heap_layout *layout;
	struct world world;

	(void)state;
	world_open(&world, &layouts[0]);
	assert_int_equal(census(&world, &sums, &totals), 0);
	assert_int_equal(sums.blocks, 10);
	heap_totals_free(&totals);
	assert_int_equal(heap_jemalloc.find(world.image, &world.threads, &layout, NULL), 0);
	assert_int_equal(heap_jemalloc.walk(layout, world.image, NULL, &totals), 0);
	assert_int_equal(totals.live_blocks, LIVE_BLOCKS);
	heap_totals_free(&totals);
	heap_jemalloc.free(layout);
	world_close(&world);
}

/* What is freed when the walk has left it is remarked. */
static void test_moving(void **state)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;

	(void)state;
	world_open(&world, &layouts[0]);
	sums.move = world.fake;
	assert_int_equal(census(&world, &sums, &totals), 0);
	assert_int_equal(sums.blocks, LIVE_BLOCKS);
	assert_non_null(strstr(totals.remarks.data, " KiB were in use as the walk came by"));
	assert_non_null(strstr(totals.remarks.data, " KiB are at its end"));
	heap_totals_free(&totals);
	world_close(&world);
}

/* Blocks in caches that cannot be found count as in use, and that is a remark. */
static void test_no_threads(void **state)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;

	(void)state;
	world_open(&world, &layouts[0]);
	world.threads.count = 0;
	world.threads.complete = false;
	assert_int_equal(census(&world, &sums, &totals), 0);
	assert_int_equal(sums.blocks, LIVE_BLOCKS + 3);
	assert_non_null(strstr(totals.remarks.data, "not all threads were found"));
	heap_totals_free(&totals);
	world_close(&world);
}

static uint64_t changed(uint64_t word, unsigned int way)
{
	switch (way) {
	case 0:
		return ~word;
	case 1:
		return word ^ 1ull << 63;
	case 2:
		return LEAF;
	case 3:
		return word + (1ull << 20);
	case 4:
		return RECORDS | 1;
	default:
		return word ^ 1ull << 26;
	}
}

/* The same answer, a refusal, or a remark; and few reads. */
static void check_damage(struct world *world, uint64_t address, uint64_t word)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	size_t before = world->fake->reads;
	int code;

	fake_image_put_word(world->fake, address, word);
	code = census(world, &sums, &totals);
	if (!code && (totals.live_blocks != LIVE_BLOCKS || totals.live_bytes != LIVE_BYTES) &&
	    !totals.remarks.length)
		fail_msg("%#llx = %#llx: %llu blocks and no remark", (unsigned long long)address,
			 (unsigned long long)word, (unsigned long long)totals.live_blocks);
	/* Pages that are present: 83. */
	assert_true(world->fake->reads - before < 3 * 83);
	heap_totals_free(&totals);
}

/* What nothing is in is not in memory, so that a census takes little. */
static void world_thin(struct world *world)
{
	fake_image_absent(world->fake, DATA + 0x3000, 0xfa000);
	fake_image_absent(world->fake, DATA + 0x102000, 3 * MB - 0x101000);
	fake_image_absent(world->fake, BASE + 0x2000, 0x1fe000);
	fake_image_absent(world->fake, BASE + 0x203000, 0x31000);
	fake_image_absent(world->fake, BASE + 0x235000, 4 * MB - 0x235000);
	fake_image_absent(world->fake, HEAP + 0xee000, 4 * MB - 0xee000);
	fake_image_open(world->fake);
}

static void test_damaged(void **state)
{
	unsigned int way;
	size_t i, k;

	(void)state;
	for (i = 0; i < LAYOUTS; i++) {
		struct world world;

		world_open(&world, &layouts[i]);
		world_thin(&world);
		for (k = 0; k < world.count; k++) {
			for (way = 0; way < 6; way++)
				check_damage(&world, world.words[k], changed(world.values[k], way));
			fake_image_put_word(world.fake, world.words[k], world.values[k]);
		}
		world_close(&world);
	}
}

/* Caches that lie: the walk ends, and counts no block twice. */
static void test_damaged_cache(void **state)
{
	unsigned int way;
	size_t i, k;

	(void)state;
	for (i = 0; i < LAYOUTS; i++) {
		struct world world;

		world_open(&world, &layouts[i]);
		world_thin(&world);
		for (k = 0; k < 36 * 3; k++) {
			uint64_t address = TLS + 0x1008 + 8 * k, word;
			struct heap_totals totals;
			struct sums sums = { 0 };

			word = image_word(world.image, address);
			for (way = 0; way < 6; way++) {
				fake_image_put_word(world.fake, address, changed(word, way));
				sums = (struct sums){ 0 };
				assert_int_equal(census(&world, &sums, &totals), 0);
				assert_in_range(totals.live_blocks, LIVE_BLOCKS - 3,
						LIVE_BLOCKS + 3);
				heap_totals_free(&totals);
			}
			fake_image_put_word(world.fake, address, word);
		}
		world_close(&world);
	}
}

/* A root full of pointers to one leaf, and a leaf full of entries: the walk ends. */
static void test_flooded(void **state)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;
	uint64_t i;

	(void)state;
	world_open(&world, &layouts[0]);
	for (i = 0; i < 4096; i++)
		fake_image_put_word(world.fake, ROOT + 8 * i, LEAF + (i % 64) * 64);
	for (i = 0x1000; i < 0x20000; i++)
		fake_image_put_word(world.fake, LEAF + 8 * i, RECORDS | 5ull << 48 | 1);
	census(&world, &sums, &totals);
	assert_true(sums.blocks < 1000);
	assert_true(world.fake->reads < 600000);
	heap_totals_free(&totals);
	world_close(&world);
}

/* No jemalloc: nothing is found, nor much read. */
static void test_absent(void **state)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;
	uint64_t i;

	(void)state;
	world_open(&world, &layouts[0]);
	fake_image_put_word(world.fake, ROOT + (HEAP >> 30) * 8, 0);
	for (i = 0; i < 20000; i++)
		fake_image_put_word(world.fake, ROOT + 8 * i, HEAP + 64 * i);
	for (i = 0; i < 20000; i++)
		fake_image_put_word(world.fake, HEAP + 64 * i, HEAP + 128 * i);
	assert_int_equal(census(&world, &sums, &totals), -ENOTSUP);
	assert_true(world.fake->reads < 200000);
	world_close(&world);
}

/* A root that would begin outside of the module's data is refused. */
static void test_misplaced(void **state)
{
	struct heap_totals totals;
	struct sums sums = { 0 };
	struct world world;

	(void)state;
	world_open(&world, &layouts[0]);
	fake_image_put_word(world.fake, ROOT + (HEAP >> 30) * 8, 0);
	fake_image_put_word(world.fake, DATA + 0x10, LEAF);
	assert_int_equal(census(&world, &sums, &totals), -ENOTSUP);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),	   cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_pages),	   cmocka_unit_test(test_sink),
		cmocka_unit_test(test_no_threads), cmocka_unit_test(test_moving),
		cmocka_unit_test(test_damaged),	   cmocka_unit_test(test_damaged_cache),
		cmocka_unit_test(test_flooded),	   cmocka_unit_test(test_absent),
		cmocka_unit_test(test_misplaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
