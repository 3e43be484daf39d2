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
	current_ns += 5000;
	reallocate(0x1000, 300, 0);
	memcpy(&after, shim_hash_of(&blocks)->values, sizeof(after));
	assert_memory_equal(&before, &after, sizeof(before));
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
		TEST(test_malloc_free),		  TEST(test_unknown_free),
		TEST(test_not_recording),	  TEST(test_realloc_ends),
		TEST(test_realloc_keeps_block),	  TEST(test_realloc_in_place),
		TEST(test_realloc_address_taken), TEST(test_realloc_not_restored),
		TEST(test_blocks_full),		  TEST(test_blocks_refused),
		TEST(test_address_reused),	  TEST(test_sites_full),
		TEST(test_stacks_full),		  TEST(test_free_in_call),
		TEST(test_free_inside_free),	  TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
