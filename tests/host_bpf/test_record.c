/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record path: blocks, sites, and what finds no room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_checks.h"

static void test_malloc_free(void **state)
{
	(void)state;
	allocate(100, 0x1000);
	allocate(50, 0x2000);
	allocate(7, 0); /* failed */
	record_end(PLACE, 0x1000);
	check_totals(150, 2, 100, 1);
	assert_int_equal(record_sum().sites, 1);
	assert_int_equal(site_events, 1);
	site_events = 0;
	check_no_loss();
}

static void test_unknown_free(void **state)
{
	(void)state;
	record_end(PLACE, 0x9000);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

static void test_not_recording(void **state)
{
	(void)state;
	recording = 0;
	assert_false(record_call(PLACE, MALLOC_SHAPE, 1, 0));
	assert_null(thread_find());
}

/* Nothing new: free and realloc end what is there, and what was pending returns. */
static void test_recording_ends(void **state)
{
	(void)state;
	allocate(10, 0x1000);
	allocate(20, 0x2000);
	allocate(30, 0x3000);
	assert_true(record_call(PLACE, MALLOC_SHAPE, 40, 0));
	recording = RECORD_ENDS;
	record_return(PLACE, 0x4000);
	assert_false(record_call(PLACE, MALLOC_SHAPE, 50, 0));
	assert_false(record_call(PLACE, REALLOC_SHAPE, 0x1000, 100));
	assert_false(record_call(PLACE, REALLOC_SHAPE, 0x9000, 100));
	assert_false(record_call(PLACE, REALLOC_SHAPE, 0, 100));
	record_end(PLACE, 0x2000);
	check_totals(100, 4, 30, 2);
	check_no_loss();
}

static void test_realloc_ends(void **state)
{
	(void)state;
	reallocate(0, 10, 0x1000); /* as malloc */
	reallocate(0x1000, 100, 0x2000); /* moves */
	reallocate(0x2000, 40, 0x2000); /* shrinks at its place */
	check_totals(150, 3, 110, 2);
	reallocate(0x2000, 1000, 0); /* fails */
	check_totals(150, 3, 110, 2);
	assert_int_equal(record_sum().block_bytes, 40);
	reallocate(0x2000, 0, 0); /* as free */
	check_totals(150, 3, 150, 3);
	check_no_loss();
	reallocate(0x7000, 20, 0x8000); /* of a block that nobody has seen */
	check_totals(170, 4, 150, 3);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

/* It fails, and its block keeps the site and the age that it had. */
static void test_realloc_keeps_block(void **state)
{
	struct block before, after;

	(void)state;
	allocate(100, 0x1000);
	memcpy(&before, shim_hash_of(&blocks)->values, sizeof(before));
	current_ns += 1 << 20;
	reallocate(0x1000, 300, 0);
	memcpy(&after, shim_hash_of(&blocks)->values, sizeof(after));
	assert_memory_equal(&before, &after, sizeof(before));
}

/* The life of the one block that there is. */
static uint64_t the_life(void)
{
	const struct shim_hash *hash = shim_hash_of(&blocks);
	struct block block;

	assert_int_equal(hash->count, 1);
	memcpy(&block, hash->values, sizeof(block));
	return block.life;
}

/* It succeeds: the block keeps its birth, at the new site and at the new address, and has grown where it is larger. */
static void test_realloc_keeps_birth(void **state)
{
	uint64_t born = current_ns, turn;

	(void)state;
	allocate(100, 0x1000);
	current_ns += 1 << 20;
	record->stack[PLACE] = world_pc(CALLER, 48);
	reallocate(0x1000, 200, 0x2000);
	assert_int_equal(the_life(), born | 1);
	reallocate(0x2000, 200, 0x2000);
	reallocate(0x2000, 50, 0x1000);
	assert_int_equal(the_life(), born | 1);
	reallocate(0x1000, 60, 0); /* fails */
	assert_int_equal(the_life(), born | 1);
	reallocate(0x1000, 60, 0x1000);
	assert_int_equal(the_life(), born | 2);
	for (turn = 0; turn < LIFE_GROWN_MAX + 5; turn++)
		reallocate(0x1000, 61 + turn, 0x1000);
	assert_int_equal(the_life(), born | LIFE_GROWN_MAX);
	assert_int_equal(record_sum().sites, 2);
	check_no_loss();
	record_end(PLACE, 0x1000);
	reallocate(0, 10, 0x1000); /* as malloc */
	assert_int_equal(the_life(), current_ns);
}

/* Memory of glibc's heap at HEAP, as its words stand there. */
#define HEAP 0x600000
static uint64_t heap_words[64];

/* The block of a chunk of so many bytes, `at` bytes from the beginning. */
static uint64_t put_chunk(uint64_t at, uint64_t size, uint64_t flags)
{
	heap_words[at / 8 + 1] = size | flags;
	if (!(flags & CHUNK_IS_MAPPED))
		heap_words[(at + size) / 8 + 1] = 0x21;
	return HEAP + at + 16;
}

static void start_heap(void)
{
	memset(heap_words, 0, sizeof(heap_words));
	shim_add_region(HEAP, heap_words, sizeof(heap_words), false);
}

static void reallocate_chunk(uint64_t old, uint64_t size, uint64_t address)
{
	assert_true(record_call(PLACE, CALL(CALL_REALLOC, 2, 1, RESULT_CHUNK), old, size));
	record_return(PLACE, address);
}

/* Of a block from before tracing what realloc adds counts: by its own sizes, however often it is resized. */
static void test_realloc_adds(void **state)
{
	uint64_t block, born = current_ns;

	(void)state;
	start_heap();
	block = put_chunk(0, 64, 1); /* with room for 56 bytes */
	assert_true(record_call(PLACE, CALL(CALL_REALLOC, 2, 1, RESULT_CHUNK), block, 100));
	put_chunk(0, 112, 1);
	record_return(PLACE, block);
	check_totals(48, 1, 0, 0);
	assert_int_equal(the_life(), born | 1 | LIFE_UNKNOWN | LIFE_ADDED);
	current_ns += 1 << 20;
	put_chunk(256, 160, 1);
	reallocate_chunk(block, 150, HEAP + 256 + 16); /* moves: 152 - 56 */
	check_totals(48 + 96, 2, 48, 1);
	assert_int_equal(the_life(), born | 2 | LIFE_UNKNOWN | LIFE_ADDED);
	put_chunk(0, 48, 1);
	reallocate_chunk(HEAP + 256 + 16, 40, block); /* below what it had: nothing of it counts */
	check_totals(144, 3, 144, 2);
	record_end(PLACE, block);
	check_totals(144, 3, 144, 3);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

/* A chunk that is a mapping has its own header, and nothing is known of what is behind it. */
static void test_realloc_adds_mapped(void **state)
{
	uint64_t from = put_chunk(0, 0x21000, 2), to = HEAP + 128 + 16;

	(void)state;
	start_heap();
	put_chunk(0, 0x21000, 2);
	put_chunk(128, 0x23000, 2);
	reallocate_chunk(from, 0x22ff0, to);
	check_totals(0x2000, 1, 0, 0);
	/* It cannot be read any more: no more than before is certain. */
	shim.regions[shim.region_count - 1].absent = true;
	reallocate_chunk(to, 0x50000, from);
	check_totals(0x4000, 2, 0x2000, 1);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

/* Where the old size is not known, the block counts in full, and is marked. */
static void test_realloc_unknown_size(void **state)
{
	static const uint64_t headers[] = { 0, 1, 17, 24 | 1, 1ULL << 48 | 1, 64 | 1 };
	uint64_t i;

	(void)state;
	start_heap();
	for (i = 0; i < 6; i++) {
		heap_words[1] = headers[i];
		reallocate_chunk(HEAP + 16, 100, HEAP + 16);
		assert_int_equal(the_life(), current_ns | LIFE_UNKNOWN);
		record_end(PLACE, HEAP + 16);
	}
	put_chunk(0, 64, 1);
	reallocate(HEAP + 16, 100, HEAP + 16); /* another allocator's */
	assert_int_equal(the_life(), current_ns | LIFE_UNKNOWN);
	reallocate(HEAP + 16, 200, HEAP + 16);
	assert_int_equal(the_life(), current_ns | LIFE_UNKNOWN | 1);
	check_totals(900, 8, 700, 7);
	check_losses(LOSS_FREE_UNTRACKED, 7, LOSS_COUNT, 0);
}

/* A block that was too small to be recorded is no block from before tracing: it counts in full. */
static void test_realloc_small_before(void **state)
{
	uint64_t block;

	(void)state;
	start_heap();
	setting_min_size = 1000;
	block = put_chunk(0, 64, 1);
	reallocate_chunk(block, 2000, block);
	setting_min_size = 0;
	check_totals(2000, 1, 0, 0);
	assert_int_equal(the_life(), current_ns | LIFE_UNKNOWN);
}

static void test_realloc_in_place(void **state)
{
	uint64_t shape = CALL(CALL_REALLOC, 2, 1, RESULT_IN_PLACE);

	(void)state;
	allocate(100, 0x1000);
	assert_true(record_call(PLACE, shape, 0x1000, 300));
	record_return(PLACE, 128); /* could not grow */
	check_totals(100, 1, 0, 0);
	assert_true(record_call(PLACE, shape, 0x1000, 300));
	record_return(PLACE, 320);
	check_totals(400, 2, 100, 1);
}

/* While it runs, its old address is handed out to another thread: the failed realloc has it no more. */
static void test_realloc_address_taken(void **state)
{
	(void)state;
	allocate(100, 0x1000);
	assert_true(record_call(PLACE, REALLOC_SHAPE, 0x1000, 300));
	shim.pid_tgid++;
	shim_hash_of(&threads_by_id)->count = 0;
	record_frame(PLACE + 10);
	assert_true(record_call(PLACE + 10, EXITS_SHAPE, 30, 0));
	record_leave(PLACE + 10, 0x1000);
	check_totals(130, 2, 0, 0);
	/* The first thread's call is undone. */
	site_count_free(*(__u64 *)shim_hash_of(&sites)->keys, 100);
	assert_int_equal(record_sum().block_bytes, 30);
}

/* There is no room any more for the old block of a realloc that fails. */
static void test_realloc_not_restored(void **state)
{
	(void)state;
	allocate(100, 0x1000);
	assert_true(record_call(PLACE, REALLOC_SHAPE, 0x1000, 300));
	shim_hash_of(&blocks)->capacity = 0;
	record_return(PLACE, 0);
	check_totals(100, 1, 100, 1);
	check_losses(LOSS_BLOCKS_FULL, 1, LOSS_BYTES_UNATTRIBUTED, 100);
}

static void test_blocks_full(void **state)
{
	(void)state;
	shim_hash_of(&blocks)->capacity = 1;
	allocate(100, 0x1000);
	allocate(30, 0x2000);
	check_totals(100, 1, 0, 0);
	check_losses(LOSS_BLOCKS_FULL, 1, LOSS_BYTES_UNATTRIBUTED, 30);
}

static void test_blocks_refused(void **state)
{
	(void)state;
	shim_hash_of(&blocks)->refuses = -ENOMEM;
	allocate(100, 0x1000);
	shim_hash_of(&blocks)->refuses = -EBUSY;
	allocate(30, 0x2000);
	check_totals(0, 0, 0, 0);
	check_losses(LOSS_BLOCKS_REFUSED, 2, LOSS_BYTES_UNATTRIBUTED, 130);
}

/* An address that is handed out twice was freed in between. */
static void test_address_reused(void **state)
{
	(void)state;
	allocate(100, 0x1000);
	allocate(30, 0x1000);
	check_totals(130, 2, 100, 1);
	check_losses(LOSS_ADDRESS_REUSED, 1, LOSS_COUNT, 0);
}

static void test_sites_full(void **state)
{
	(void)state;
	shim_hash_of(&sites)->capacity = 0;
	allocate(100, 0x1000);
	assert_int_equal(record_sum().sites, 0);
	check_losses(LOSS_SITES_FULL, 1, LOSS_BYTES_UNATTRIBUTED, 100);
}

/* Stacks that find no room share a site without frames. */
static void test_stacks_full(void **state)
{
	struct site site;

	(void)state;
	shim_hash_of(&stacks)->capacity = 0;
	allocate(100, 0x1000);
	allocate(30, 0x2000);
	record->stack[PLACE] = world_pc(CALLER, 48);
	allocate(5, 0x3000);
	check_totals(135, 3, 0, 0);
	assert_int_equal(record_sum().sites, 1);
	memcpy(&site, shim_hash_of(&sites)->values, sizeof(site));
	assert_int_equal(site.stack, 0);
	check_losses(LOSS_STACKS_FULL, 3, LOSS_COUNT, 0);
}

/* A free of the allocator's during a call, of a block that no program has got. */
/* Allocates twice in a thread of this name. */
static void allocate_as(const char *name, uint64_t address)
{
	current_comm = name;
	allocate(10, address);
	allocate(20, address + 0x100);
}

/* Sites are of threads of one name, and have it; threads of the same name share them. */
static void test_by_thread(void **state)
{
	const struct shim_hash *names = shim_hash_of(&site_threads);
	struct site_thread thread;

	(void)state;
	setting_by_thread = true;
	allocate_as("worker-number-1", 0x1000);
	allocate_as("io", 0x2000);
	allocate_as("worker-number-1", 0x3000);
	allocate_as("io", 0x4000);
	setting_by_thread = false;
	check_totals(120, 8, 0, 0);
	assert_int_equal(record_sum().sites, 2);
	assert_int_equal(names->count, 2);
	memcpy(&thread, names->values, sizeof(thread));
	assert_memory_equal(thread.name, "worker-number-1", sizeof(thread.name));
	memcpy(&thread, names->values + sizeof(thread), sizeof(thread));
	assert_memory_equal(thread.name, "io\0\0\0\0\0\0\0\0\0\0\0\0\0", sizeof(thread.name));
	shim_hash_of(&stacks)->refuses = -E2BIG;
	setting_by_thread = true;
	allocate_as("late", 0x6000);
	setting_by_thread = false;
	shim_hash_of(&stacks)->refuses = 0;
	check_losses(LOSS_STACKS_FULL, 2, LOSS_COUNT, 0);
	assert_int_equal(record_sum().sites, 3);
	assert_int_equal(names->count, 3);
	memcpy(&thread, names->values + 2 * sizeof(thread), sizeof(thread));
	assert_string_equal(thread.name, "late");
	check_losses(LOSS_STACKS_FULL, 2, LOSS_THREADS_UNNAMED, 0);
	shim_hash_of(&site_threads)->refuses = -ENOMEM;
	setting_by_thread = true;
	allocate_as("unnamed", 0x7000);
	setting_by_thread = false;
	shim_hash_of(&site_threads)->refuses = 0;
	check_losses(LOSS_STACKS_FULL, 2, LOSS_THREADS_UNNAMED, 1);
	assert_int_equal(record_sum().sites, 4);
	assert_int_equal(names->count, 3);
	allocate_as("other", 0x5000);
	assert_int_equal(record_sum().sites, 5);
	assert_int_equal(names->count, 3);
}

static void test_free_in_call(void **state)
{
	uint64_t inner = record_callback(PLACE);

	(void)state;
	record_is_allocator();
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	record_end(inner, 0x9000);
	record_return(PLACE, 0x1000);
	check_no_loss();
}

/* `delete` that calls `free`: one end of one block. */
static void test_free_inside_free(void **state)
{
	struct pt_regs outer = { .ip = world_pc(MALLOC, 0), .sp = world_address(PLACE) };

	(void)state;
	allocate(100, 0x1000);
	record_free(SHAPE_THAT_FREES_INSIDE(CALL(CALL_FREE, 0, 1, 0)), &outer, 0x1000);
	record_end(PLACE - 6, 0x1000);
	check_totals(100, 1, 100, 1);
	check_no_loss();
	record_end(PLACE - 6, 0x1000); /* a second one is the program's fault */
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

/* The first site's record. */
static const struct site *first_site(void)
{
	static struct site site;

	memcpy(&site, shim_hash_of(&sites)->values, sizeof(site));
	return &site;
}

static void test_lives(void **state)
{
	const uint64_t unit = 1 << LIFE_UNIT_BITS;
	/* Lifespans in units, and the classes that they are in. */
	static const uint64_t units[] = { 0,   1,     2,     3,		 4,	    255,
					  256, 65535, 65536, 1ull << 30, 1ull << 40 };
	static const uint32_t classes[] = { 0, 1, 2, 2, 3, 8, 9, 16, 17, 31, 31 };
	uint64_t counted[LIFE_CLASSES] = { 0 }, sum = 0;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		allocate(10, 0x1000);
		current_ns += units[i] * unit;
		record_end(PLACE, 0x1000);
		counted[classes[i]]++;
		sum += units[i];
	}
	for (i = 1; i < LIFE_CLASSES; i++)
		assert_int_equal(first_site()->lives[i - 1], counted[i]);
	assert_int_equal(first_site()->life_units, sum);
	assert_int_equal(first_site()->life_longest, 1ull << 40);
	assert_int_equal(first_site()->untimed_objects, 0);
	/* A clock that goes backward. */
	allocate(10, 0x1000);
	current_ns -= unit;
	record_end(PLACE, 0x1000);
	assert_int_equal(first_site()->life_units, sum);
	check_no_loss();
}

/* Only the last block's lifespan is known. */
static void test_lives_untimed(void **state)
{
	(void)state;
	allocate(10, 0x1000);
	allocate(10, 0x1000); /* its free was missed */
	reallocate(0x1000, 20, 0x2000);
	assert_int_equal(first_site()->untimed_objects, 2);
	current_ns += 4 << LIFE_UNIT_BITS;
	record_end(PLACE, 0x2000);
	assert_int_equal(record_sum().free_objects, 3);
	reallocate(0x9000, 30, 0x9000); /* from before */
	current_ns += 4 << LIFE_UNIT_BITS;
	record_end(PLACE, 0x9000);
	check_losses(LOSS_ADDRESS_REUSED, 1, LOSS_FREE_UNTRACKED, 1);
}

static void test_temporary(void **state)
{
	(void)state;
	allocate(10, 0x1000);
	record_end(PLACE, 0x1000);
	assert_int_equal(first_site()->temporary_objects, 1);
	/* The next call is another allocation, or another free. */
	allocate(10, 0x1000);
	allocate(10, 0x2000);
	record_end(PLACE, 0x1000);
	record_end(PLACE, 0x2000);
	allocate(10, 0x3000);
	record_end(PLACE, 0x9000);
	record_end(PLACE, 0x3000);
	assert_int_equal(first_site()->temporary_objects, 1);
	/* One that fails is none. */
	allocate(10, 0x4000);
	allocate(10, 0);
	record_end(PLACE, 0x4000);
	assert_int_equal(first_site()->temporary_objects, 2);
	/* realloc is a free, and an allocation. */
	allocate(10, 0x5000);
	reallocate(0x5000, 20, 0x6000);
	assert_int_equal(first_site()->temporary_objects, 3);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

/* A long random run against the plainest model there is: an array of sizes. */
static void test_random(void **state)
{
	uint64_t sizes[64] = { 0 }, seed = 12345, bytes = 0, objects = 0;
	uint32_t turn, at, to, i;

	(void)state;
	for (turn = 0; turn < 20000; turn++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		at = seed >> 33 & 63;
		to = seed >> 40 & 63;
		if (!sizes[at]) {
			sizes[at] = 1 + (seed >> 50);
			allocate(sizes[at], 0x1000 + at * 16);
		} else if (seed >> 62) {
			record_end(PLACE, 0x1000 + at * 16);
			sizes[at] = 0;
		} else if (!sizes[to] || to == at) {
			sizes[at] = 0;
			sizes[to] = 1 + (seed >> 51);
			reallocate(0x1000 + at * 16, sizes[to], 0x1000 + to * 16);
		} else {
			reallocate(0x1000 + at * 16, 1 << 20, 0);
		}
	}
	for (i = 0; i < 64; i++) {
		bytes += sizes[i];
		objects += sizes[i] != 0;
	}
	assert_int_equal(record_sum().block_bytes, bytes);
	assert_int_equal(record_sum().blocks, objects);
	check_no_loss();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_malloc_free),
		TEST(test_unknown_free),
		TEST(test_not_recording),
		TEST(test_recording_ends),
		TEST(test_realloc_ends),
		TEST(test_realloc_keeps_block),
		TEST(test_realloc_in_place),
		TEST(test_realloc_keeps_birth),
		TEST(test_realloc_adds),
		TEST(test_realloc_adds_mapped),
		TEST(test_realloc_unknown_size),
		TEST(test_realloc_small_before),
		TEST(test_realloc_address_taken),
		TEST(test_realloc_not_restored),
		TEST(test_blocks_full),
		TEST(test_blocks_refused),
		TEST(test_address_reused),
		TEST(test_sites_full),
		TEST(test_stacks_full),
		TEST(test_free_in_call),
		TEST(test_free_inside_free),
		TEST(test_by_thread),
		TEST(test_lives),
		TEST(test_lives_untimed),
		TEST(test_temporary),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
