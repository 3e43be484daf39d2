/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record path: calls that begin during others, on any stack, and calls that never return. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_checks.h"

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

/* The same while the kernel cannot be asked for mappings: where the stacks end decides. */
static void test_longjmp_while_mappings_change(void **state)
{
	areas_unknown = true;
	test_longjmp_untouched(state);
}

/* The trampoline is still on the stack, but the kernel awaits that return no longer. */
static void test_longjmp_seen_by_the_kernel(void **state)
{
	(void)state;
	setting_declines = areas_unknown = true;
	assert_true(record_call(PLACE, MALLOC_SHAPE, 100, 0));
	hijacked.slot = 0;
	assert_true(record_call(ELSEWHERE, MALLOC_SHAPE, 30, 0));
	record_return(ELSEWHERE, 0x2000);
	check_totals(30, 1, 0, 0);
	check_losses(LOSS_RETURNS_UNMATCHED, 1, LOSS_COUNT, 0);
}

/* A fiber while the kernel cannot be asked for mappings. */
static void test_stack_while_mappings_change(void **state)
{
	areas_unknown = true;
	test_other_stack(state);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		TEST(test_longjmp_while_mappings_change),
		TEST(test_longjmp_seen_by_the_kernel),
		TEST(test_stack_while_mappings_change),
		TEST(test_stack_beside),
		TEST(test_longjmp_out_of_many),
		TEST(test_longjmp_out_of_realloc),
		TEST(test_exec),
		TEST(test_throw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
