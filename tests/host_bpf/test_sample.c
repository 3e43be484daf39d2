/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record path: samples that a program publishes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_checks.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sample_weights),
		TEST(test_sample_sense),
		TEST(test_sample_of_block),
		TEST(test_sample_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
