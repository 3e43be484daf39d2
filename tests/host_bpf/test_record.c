/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record path: calls that begin, return, nest and never return; blocks, sites and samples, and what is lost. After each
 * test, what the sites have in use is what stands in the tables.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_world.h"

#define CALL(op, size, ptr, result) \
	SHAPE_WITH_TARGET(SHAPE(op, size, 0, ptr, result, SOURCE_HEAP), WORLD_TARGET)
#define MALLOC_SHAPE CALL(CALL_ALLOC, 1, 0, RESULT_POINTER)
#define REALLOC_SHAPE CALL(CALL_REALLOC, 2, 1, RESULT_POINTER)
#define EXITS_SHAPE (MALLOC_SHAPE | SHAPE_BY_EXITS)

#define PLACE 1000 /* of the program's calls on the stack */
#define ELSEWHERE (WORLD_STACK_WORDS - 1000) /* on another stack */

static int set_up(void **state)
{
	(void)state;
	record_start();
	record_frame(PLACE);
	record_frame(ELSEWHERE);
	return 0;
}

static int tear_down(void **state)
{
	struct record_totals totals = record_sum();
	const struct shim_hash *hash = shim_hash_of(&samples);
	struct sampled_block sample;
	uint64_t bytes = totals.block_bytes, objects = totals.blocks;
	uint32_t i;

	(void)state;
	for (i = 0; i < hash->count; i++) {
		memcpy(&sample, hash->values + i * sizeof(sample), sizeof(sample));
		bytes += sample.block.size;
		objects += sample.objects;
	}
	assert_int_equal(totals.alloc_bytes - totals.free_bytes, bytes);
	assert_int_equal(totals.alloc_objects - totals.free_objects, objects);
	record_stop();
	return 0;
}

/* Losses other than these have not moved. */
static void check_losses(enum loss one, uint64_t count, enum loss other, uint64_t amount)
{
	uint32_t i;

	for (i = 0; i < LOSS_COUNT; i++) {
		uint64_t expected = i == one ? count : i == other ? amount : 0;

		if (record_losses[i] != expected)
			fail_msg("loss %u is %lu, not %lu", i, record_losses[i], expected);
	}
}

static void check_no_loss(void)
{
	check_losses(LOSS_COUNT, 0, LOSS_COUNT, 0);
}

static void allocate(uint64_t size, uint64_t address)
{
	assert_true(record_call(PLACE, MALLOC_SHAPE, size, 0));
	record_return(PLACE, address);
}

static void reallocate(uint64_t old, uint64_t size, uint64_t address)
{
	assert_true(record_call(PLACE, REALLOC_SHAPE, old, size));
	record_return(PLACE, address);
}

static void check_totals(uint64_t alloc_bytes, uint64_t alloc_objects, uint64_t free_bytes,
			 uint64_t free_objects)
{
	struct record_totals totals = record_sum();

	assert_int_equal(totals.alloc_bytes, alloc_bytes);
	assert_int_equal(totals.alloc_objects, alloc_objects);
	assert_int_equal(totals.free_bytes, free_bytes);
	assert_int_equal(totals.free_objects, free_objects);
}

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

/* A call that the allocator's own code makes counts nothing, and its return ends nothing. */
static void test_nested_served(void **state)
{
	uint64_t inner = record_callback(PLACE);

	(void)state;
	record_is_allocator();
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	assert_false(record_call(inner, MALLOC_SHAPE, 4096, 0));
	record_return(inner, 0x8000);
	record_return(PLACE, 0x1000);
	check_totals(100, 1, 0, 0);
	check_no_loss();
}

/* In an allocator's own file, a function that is called through a pointer is the program's. */
static void test_nested_through_pointer(void **state)
{
	uint64_t inner = record_callback(PLACE), at = MALLOC * WORLD_FUNCTION + 32;

	(void)state;
	record_is_allocator();
	memcpy(record_code + at - 2, "\xff\xd0", 2);
	assert_true(record_call(PLACE, MALLOC_SHAPE | SHAPE_BY_EXITS, 100, 0));
	assert_true(record_call(inner, MALLOC_SHAPE, 30, 0));
	record_return(inner, 0x2000);
	record_leave(PLACE, 0x1000);
	check_totals(130, 2, 0, 0);
	check_no_loss();
}

/* When the mappings move to the other table: before which look-up of their generation, and how often. */
static struct {
	uint32_t looks, looks_before_file, at, times;
} moving;

/* The table in use until now is written over, as user space does for the next change. */
static void move_mappings(const void *map)
{
	if (map == &allocator_files && !moving.looks_before_file)
		moving.looks_before_file = moving.looks;
	if (map != &unwind_generations || ++moving.looks < moving.at || !moving.times)
		return;
	moving.times--;
	world_map(record, WORLD_BIAS);
	memset(&record->tables[(record->generation + 1) & 1], 0xff, sizeof(record->tables[0]));
}

/* The program's call in a call of malloc. Returns whether it counts. */
static bool call_in_call(uint64_t address)
{
	uint64_t inner = record_callback(PLACE);
	bool counts;

	assert_true(record_call(PLACE, MALLOC_SHAPE | SHAPE_BY_EXITS, 100, 0));
	counts = record_call(inner, MALLOC_SHAPE, 30, 0);
	record_return(inner, address + 0x1000);
	record_leave(PLACE, address);
	return counts;
}

/* Whose code makes a call is asked again when the mappings change meanwhile: the program's call counts. */
static void test_nested_while_mappings_change(void **state)
{
	(void)state;
	/* The first time rules are looked up, later they are remembered. */
	assert_true(call_in_call(0x10000));
	memset(&moving, 0, sizeof(moving));
	shim.on_lookup = move_mappings;
	assert_true(call_in_call(0x20000));
	assert_true(moving.looks_before_file > 0);
	moving.at = moving.looks_before_file;
	moving.looks = 0;
	moving.times = 1;
	assert_true(call_in_call(0x30000));
	assert_int_equal(moving.times, 0);
	shim.on_lookup = NULL;
	check_totals(390, 6, 0, 0);
	check_no_loss();
}

/* The file of a return address, while the mappings change `times` times. */
static int file_while_moving(uint32_t times)
{
	uint64_t pc = world_pc(CALLER, 16);
	int file;

	record_frame(PLACE);
	walk(record, pc, PLACE, 0, STACK_FRAMES_MAX);
	memset(&moving, 0, sizeof(moving));
	moving.times = times;
	shim.on_lookup = move_mappings;
	file = relation_file(&record->walk, pc);
	shim.on_lookup = NULL;
	return file;
}

/* So often and no more: a program is not held up by one that maps without end. */
static void test_file_while_mappings_change(void **state)
{
	(void)state;
	assert_int_equal(file_while_moving(0), (int)RELATION_PROGRAM);
	assert_int_equal(moving.looks, 1);
	assert_int_equal(file_while_moving(UNWIND_FIND_TRIES - 1), (int)RELATION_PROGRAM);
	assert_int_equal(moving.looks, UNWIND_FIND_TRIES);
	assert_int_equal(file_while_moving(1000), RELATION_UNKNOWN);
	assert_int_equal(moving.looks, UNWIND_FIND_TRIES);
	record_is_allocator();
	assert_int_equal(file_while_moving(1), record->place.pages + 1);
}

/* A function of a named function's is its own business, whoever made it. */
static void test_nested_in_named(void **state)
{
	uint64_t inner = record_callback(PLACE);

	(void)state;
	assert_true(record_call(PLACE, EXITS_SHAPE | SHAPE_NAMED, 100, 0));
	assert_false(record_call(inner, MALLOC_SHAPE, 30, 0));
	record_leave(PLACE, 0x1000);
	check_totals(100, 1, 0, 0);
}

/* Calls of program code below each other: all that fit are pending, in any order of their ends. */
static uint64_t nest(uint32_t count, uint64_t *places)
{
	uint32_t i;

	places[0] = PLACE;
	for (i = 0; i < count; i++) {
		if (i)
			places[i] = record_callback(places[i - 1]);
		assert_true(record_call(places[i], EXITS_SHAPE, 1ULL << i, 0));
	}
	return record_callback(places[count - 1]);
}

static void test_nested_ends_inside_out(void **state)
{
	uint64_t places[CALLS_OTHERS_MAX + 1];
	int i;

	(void)state;
	nest(CALLS_OTHERS_MAX + 1, places);
	for (i = CALLS_OTHERS_MAX; i >= 0; i--)
		record_leave(places[i], 0x1000 + (uint64_t)i);
	check_totals((1ULL << (CALLS_OTHERS_MAX + 1)) - 1, CALLS_OTHERS_MAX + 1, 0, 0);
	check_no_loss();
}

static void test_nested_ends_in_any_order(void **state)
{
	static const int order[CALLS_OTHERS_MAX + 1] = { 3, 8, 0, 5, 1, 7, 2, 6, 4 };
	uint64_t places[CALLS_OTHERS_MAX + 1];
	uint32_t i;

	(void)state;
	nest(CALLS_OTHERS_MAX + 1, places);
	for (i = 0; i <= CALLS_OTHERS_MAX; i++)
		record_leave(places[order[i]], 0x1000 + i);
	check_totals((1ULL << (CALLS_OTHERS_MAX + 1)) - 1, CALLS_OTHERS_MAX + 1, 0, 0);
	check_no_loss();
}

static void test_too_deep(void **state)
{
	uint64_t places[CALLS_OTHERS_MAX + 1], inner;
	uint32_t i;

	(void)state;
	inner = nest(CALLS_OTHERS_MAX + 1, places);
	assert_false(record_call(inner, EXITS_SHAPE, 1 << 20, 0));
	record_leave(inner, 0x9000);
	check_losses(LOSS_CALLS_TOO_DEEP, 1, LOSS_COUNT, 0);
	for (i = 0; i <= CALLS_OTHERS_MAX; i++)
		record_leave(places[i], 0x1000 + i);
	check_totals((1ULL << (CALLS_OTHERS_MAX + 1)) - 1, CALLS_OTHERS_MAX + 1, 0, 0);
}

/* A fiber: the call on the first stack goes on after that on the other one. */
static void test_other_stack(void **state)
{
	(void)state;
	assert_true(record_call(PLACE, EXITS_SHAPE, 100, 0));
	assert_true(record_call(ELSEWHERE, EXITS_SHAPE, 30, 0));
	record_leave(PLACE, 0x1000);
	record_leave(ELSEWHERE, 0x2000);
	check_totals(130, 2, 0, 0);
	check_no_loss();
}

/* There a return probe would make the kernel forget the one that is pending below. */
static void test_other_stack_declined(void **state)
{
	(void)state;
	setting_declines = true;
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	assert_false(record_call(ELSEWHERE, MALLOC_SHAPE, 30, 0));
	record_return(PLACE, 0x1000);
	check_totals(100, 1, 0, 0);
	check_losses(LOSS_RETURNS_DECLINED, 1, LOSS_BYTES_UNATTRIBUTED, 30);
}

/* On the alternate signal stack: the program has interrupted the call. */
static void test_signal_stack(void **state)
{
	(void)state;
	current_task.sas_ss_sp = world_address(ELSEWHERE - 100);
	current_task.sas_ss_size = 1600;
	assert_true(record_call(PLACE, EXITS_SHAPE, 100, 0));
	record->stack[ELSEWHERE] = world_pc(CALLER, 16);
	record->stack[ELSEWHERE + 2] = 0x10; /* no code: the walk ends early */
	assert_true(record_call(ELSEWHERE, EXITS_SHAPE, 30, 0));
	record_leave(ELSEWHERE, 0x2000);
	record_leave(PLACE, 0x1000);
	check_totals(130, 2, 0, 0);
}

/* longjmp: later code writes over the return address. */
static void test_longjmp(void **state)
{
	(void)state;
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	record->stack[PLACE] = 42;
	record_frame(PLACE + 10);
	assert_true(record_call(PLACE + 10, MALLOC_SHAPE, 30, 0));
	record_return(PLACE + 10, 0x2000);
	check_totals(30, 1, 0, 0);
	check_losses(LOSS_RETURNS_UNMATCHED, 1, LOSS_COUNT, 0);
}

/* The return address still stands there, but the new call's stack passes by it, to the same outermost frame. */
static void test_longjmp_untouched(void **state)
{
	(void)state;
	assert_true(record_call(PLACE, EXITS_SHAPE, 100, 0));
	record->stack[PLACE - 1] = world_pc(CALLER, 16);
	record->stack[PLACE + 1] = world_pc(MALLOC, 32);
	assert_true(record_call(PLACE - 1, EXITS_SHAPE, 30, 0));
	record_leave(PLACE - 1, 0x2000);
	record_leave(PLACE, 0x1000);
	check_totals(30, 1, 0, 0);
	check_losses(LOSS_RETURNS_UNMATCHED, 1, LOSS_COUNT, 0);
}

/* In the same mapping, but with an outermost frame of its own: a fiber beside it. */
static void test_stack_beside(void **state)
{
	(void)state;
	record_frame(PLACE - 20);
	assert_true(record_call(PLACE, EXITS_SHAPE, 100, 0));
	assert_true(record_call(PLACE - 20, EXITS_SHAPE, 30, 0));
	record_leave(PLACE, 0x1000);
	record_leave(PLACE - 20, 0x2000);
	check_totals(130, 2, 0, 0);
	check_no_loss();
}

/* All of several pending calls are left at once. */
static void test_longjmp_out_of_many(void **state)
{
	uint64_t places[5];
	uint32_t i;

	(void)state;
	nest(5, places);
	for (i = 0; i < 5; i++)
		record->stack[places[i]] = 42;
	record_frame(PLACE + 10);
	assert_true(record_call(PLACE + 10, MALLOC_SHAPE, 1000, 0));
	record_return(PLACE + 10, 0x2000);
	check_totals(1000, 1, 0, 0);
	check_losses(LOSS_RETURNS_UNMATCHED, 5, LOSS_COUNT, 0);
}

/* Its old block lives on. */
static void test_longjmp_out_of_realloc(void **state)
{
	(void)state;
	allocate(100, 0x1000);
	assert_true(record_call(PLACE, REALLOC_SHAPE, 0x1000, 300));
	assert_int_equal(record_sum().blocks, 0);
	record->stack[PLACE] = 42;
	record_frame(PLACE + 10);
	assert_true(record_call(PLACE + 10, MALLOC_SHAPE, 30, 0));
	record_return(PLACE + 10, 0x2000);
	check_totals(130, 2, 0, 0);
	assert_int_equal(record_sum().blocks, 2);
	check_losses(LOSS_RETURNS_UNMATCHED, 1, LOSS_COUNT, 0);
}

/* What was pending in the program before is nothing to this one. */
static void test_exec(void **state)
{
	uint64_t places[3];

	(void)state;
	nest(3, places);
	current_task.self_exec_id++;
	record_leave(places[2], 0x3000);
	check_totals(0, 0, 0, 0);
	record_frame(PLACE + 10);
	assert_true(record_call(PLACE + 10, MALLOC_SHAPE, 30, 0));
	record_return(PLACE + 10, 0x2000);
	check_totals(30, 1, 0, 0);
	check_no_loss();
}

static void test_throw(void **state)
{
	struct pt_regs registers = { .ip = world_pc(MALLOC, 0) };

	(void)state;
	registers.sp = world_address(record_callback(PLACE));
	assert_true(
		record_call(PLACE, EXITS_SHAPE | (__u64)RESULT_POINTER_OR_THROWS << 16, 100, 0));
	call_throw(&registers);
	record_leave(PLACE, 0x1000);
	check_totals(0, 0, 0, 0);
	check_losses(LOSS_CALLS_THROWN, 1, LOSS_COUNT, 0);
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

/* A target allocates from `count` places of its own, the first of them number `from`. */
static void allocate_from(uint32_t target, uint32_t from, uint32_t count)
{
	uint64_t shape =
		SHAPE_WITH_TARGET(SHAPE(CALL_ALLOC, 1, 0, 0, RESULT_POINTER, SOURCE_HEAP), target);
	uint32_t i;

	for (i = from; i < from + count; i++) {
		record->stack[PLACE] = world_pc(CALLER, 16 + i);
		assert_true(record_call(PLACE, shape, 100, 0));
		record_return(PLACE, 0x1000 + 16 * (target * 1000 + i));
	}
}

/* How many sites of a target are in the table, with a stack or without. */
static uint32_t count_sites(uint32_t target, bool with_stack)
{
	const struct shim_hash *hash = shim_hash_of(&sites);
	uint32_t i, count = 0;
	struct site site;

	for (i = 0; i < hash->count; i++) {
		memcpy(&site, hash->values + i * sizeof(site), sizeof(site));
		count += site.target_id == target && !site.stack != with_stack;
	}
	return count;
}

/* What is counted for a target and for all is what the tables hold. */
static void check_shares(uint32_t targets)
{
	struct share sum = { 0 };
	uint32_t i;

	for (i = 1; i <= targets; i++) {
		assert_int_equal(record_shares[i].stacks, count_sites(i, true));
		assert_int_equal(record_shares[i].plain, count_sites(i, false));
		sum.stacks += record_shares[i].stacks;
		sum.plain += record_shares[i].plain;
	}
	assert_memory_equal(&record_shares[SHARE_OF_ALL], &sum, sizeof(sum));
}

/* Of what was refused, all was for shares. */
static void check_refused(uint64_t stacks, uint64_t sites)
{
	assert_int_equal(record_losses[LOSS_STACKS_OVER_SHARE], stacks);
	assert_int_equal(record_losses[LOSS_SITES_OVER_SHARE], sites);
	assert_int_equal(record_losses[LOSS_STACKS_FULL], 0);
	assert_int_equal(record_losses[LOSS_SITES_FULL], 0);
}

/* One process has all of the table while it is the only one; what it holds counts when others come. */
static void test_share_of_one(void **state)
{
	(void)state;
	setting_max_stacks = 16;
	allocate_from(1, 0, 12);
	check_refused(0, 0);
	shared = 1;
	allocate_from(1, 0, 12); /* known sites */
	assert_int_equal(count_sites(1, true), 12);
	allocate_from(1, 12, 1);
	allocate_from(2, 0, 3);
	assert_int_equal(count_sites(1, true), 12);
	assert_int_equal(count_sites(2, true), 2);
	check_shares(2);
}

/* Each may hold as much as is free: a half, a half of the rest, and so on. The rest goes to a site without frames. */
static void test_share_of_several(void **state)
{
	(void)state;
	shared = 1;
	setting_max_stacks = 32;
	allocate_from(1, 0, 20);
	assert_int_equal(count_sites(1, true), 16);
	check_refused(4, 0);
	allocate_from(2, 0, 8);
	allocate_from(3, 0, 4);
	check_refused(4, 0);
	allocate_from(2, 8, 3);
	assert_int_equal(count_sites(2, true), 8);
	assert_int_equal(count_sites(3, true), 4);
	check_totals(3500, 35, 0, 0);
	check_refused(7, 0);
	check_shares(3);
}

/* Sites without frames have shares of their own: beyond them blocks are not recorded. */
static void test_share_of_plain_sites(void **state)
{
	(void)state;
	shared = 1;
	setting_max_stacks = 2;
	allocate_from(1, 0, 1);
	record_shares[1].plain = SITES_RESERVE / 2;
	record_shares[SHARE_OF_ALL].plain = SITES_RESERVE / 2;
	allocate_from(1, 1, 2);
	check_refused(0, 2);
	assert_int_equal(record_losses[LOSS_BYTES_UNATTRIBUTED], 200);
	allocate_from(2, 0, 2);
	assert_int_equal(count_sites(2, false), 1);
	check_totals(300, 3, 0, 0);
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

static struct sample_values sample_of(uint64_t address, uint64_t size, uint64_t weight)
{
	return (struct sample_values){ .pointer = address, .size = size, .weight = weight };
}

static void sample(uint64_t address, uint64_t size, uint64_t weight)
{
	struct pt_regs registers = { .ip = world_pc(CALLER, 16), .sp = world_address(PLACE + 1) };
	struct sample_values values = sample_of(address, size, weight);

	sample_begin(&registers, SHAPE_WITH_TARGET(SHAPE_OF_SAMPLE(CALL_SAMPLE, 1), WORLD_TARGET),
		     &values);
}

static void sample_free_at(uint64_t address)
{
	struct pt_regs registers = { .ip = world_pc(CALLER, 16), .sp = world_address(PLACE + 1) };

	sample_end(&registers, SHAPE_WITH_TARGET(SHAPE_OF_SAMPLE(CALL_SAMPLE_END, 2), WORLD_TARGET),
		   address);
}

/* A sample represents weight / size blocks, to the nearest whole number, and its free takes back the same. */
static void test_sample_weights(void **state)
{
	(void)state;
	sample(0x1000, 100, 1000);
	check_totals(1000, 10, 0, 0);
	sample(0x2000, 300, 1000); /* 3.33 */
	check_totals(2000, 13, 0, 0);
	sample(0x3000, 400, 1000); /* 2.5 */
	check_totals(3000, 16, 0, 0);
	sample(0x4000, 0, 77);
	check_totals(3077, 17, 0, 0);
	sample_free_at(0x3000);
	sample_free_at(0x1000);
	check_totals(3077, 17, 2000, 13);
	check_no_loss();
	sample_free_at(0x1000);
	check_losses(LOSS_FREE_UNTRACKED, 1, LOSS_COUNT, 0);
}

static void test_sample_sense(void **state)
{
	struct sample_values values = sample_of(0x1000, 100, 99);

	(void)state;
	assert_false(sample_makes_sense(&values));
	values = sample_of(0, 100, 100);
	assert_false(sample_makes_sense(&values));
	values = sample_of(0x1000, 100, SAMPLE_WEIGHT_MAX);
	assert_false(sample_makes_sense(&values));
	values = sample_of(0x1000, 100, 100);
	assert_true(sample_makes_sense(&values));
}

/* What is recorded as a block is no sample; nor is what is sampled in the course of a recorded call. */
static void test_sample_of_block(void **state)
{
	struct pt_regs registers = { .ip = world_pc(MALLOC, 0) };
	struct sample_values values = sample_of(0x5000, 10, 1000);

	(void)state;
	allocate(100, 0x1000);
	sample(0x1000, 100, 1000);
	check_totals(100, 1, 0, 0);
	record_is_allocator();
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	registers.sp = world_address(record_callback(PLACE));
	sample_begin(&registers, SHAPE_WITH_TARGET(SHAPE_OF_SAMPLE(CALL_SAMPLE, 1), WORLD_TARGET),
		     &values);
	record_return(PLACE, 0x2000);
	check_totals(200, 2, 0, 0);
	check_no_loss();
}

static void test_sample_again(void **state)
{
	(void)state;
	sample(0x1000, 100, 1000);
	sample(0x1000, 50, 500);
	check_totals(1500, 20, 1000, 10);
	check_losses(LOSS_ADDRESS_REUSED, 1, LOSS_COUNT, 0);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_malloc_free),
		TEST(test_unknown_free),
		TEST(test_not_recording),
		TEST(test_nested_served),
		TEST(test_nested_through_pointer),
		TEST(test_nested_while_mappings_change),
		TEST(test_file_while_mappings_change),
		TEST(test_nested_in_named),
		TEST(test_nested_ends_inside_out),
		TEST(test_nested_ends_in_any_order),
		TEST(test_too_deep),
		TEST(test_other_stack),
		TEST(test_other_stack_declined),
		TEST(test_signal_stack),
		TEST(test_longjmp),
		TEST(test_longjmp_untouched),
		TEST(test_stack_beside),
		TEST(test_longjmp_out_of_many),
		TEST(test_longjmp_out_of_realloc),
		TEST(test_exec),
		TEST(test_throw),
		TEST(test_realloc_ends),
		TEST(test_realloc_keeps_block),
		TEST(test_realloc_in_place),
		TEST(test_realloc_address_taken),
		TEST(test_realloc_not_restored),
		TEST(test_blocks_full),
		TEST(test_blocks_refused),
		TEST(test_address_reused),
		TEST(test_sites_full),
		TEST(test_stacks_full),
		TEST(test_share_of_one),
		TEST(test_share_of_several),
		TEST(test_share_of_plain_sites),
		TEST(test_free_in_call),
		TEST(test_free_inside_free),
		TEST(test_sample_weights),
		TEST(test_sample_sense),
		TEST(test_sample_of_block),
		TEST(test_sample_again),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
