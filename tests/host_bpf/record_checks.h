/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the record path share: calls, and what the sites have then. After each test, what the sites have in use is what
 * stands in the tables.
 */
#ifndef TESTS_RECORD_CHECKS_H
#define TESTS_RECORD_CHECKS_H

#include "record_world.h"

#define CALL(op, size, ptr, result) \
	SHAPE_WITH_TARGET(SHAPE(op, size, 0, ptr, result, SOURCE_HEAP), WORLD_TARGET)
#define MALLOC_SHAPE CALL(CALL_ALLOC, 1, 0, RESULT_POINTER)
#define REALLOC_SHAPE CALL(CALL_REALLOC, 2, 1, RESULT_POINTER)
#define EXITS_SHAPE (MALLOC_SHAPE | SHAPE_BY_EXITS)

#define PLACE 1000 /* of the program's calls on the stack */
#define ELSEWHERE (WORLD_STACK_WORDS - 1000) /* on another stack */

static inline int set_up(void **state)
{
	(void)state;
	record_start();
	record_frame(PLACE);
	record_frame(ELSEWHERE);
	return 0;
}

static inline int tear_down(void **state)
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
static inline void check_losses(enum loss one, uint64_t count, enum loss other, uint64_t amount)
{
	uint32_t i;

	for (i = 0; i < LOSS_COUNT; i++) {
		uint64_t expected = i == one ? count : i == other ? amount : 0;

		if (record_losses[i] != expected)
			fail_msg("loss %u is %lu, not %lu", i, record_losses[i], expected);
	}
}

static inline void check_no_loss(void)
{
	check_losses(LOSS_COUNT, 0, LOSS_COUNT, 0);
}

static inline void allocate(uint64_t size, uint64_t address)
{
	assert_true(record_call(PLACE, MALLOC_SHAPE, size, 0));
	record_return(PLACE, address);
}

static inline void reallocate(uint64_t old, uint64_t size, uint64_t address)
{
	assert_true(record_call(PLACE, REALLOC_SHAPE, old, size));
	record_return(PLACE, address);
}

static inline void check_totals(uint64_t alloc_bytes, uint64_t alloc_objects, uint64_t free_bytes,
				uint64_t free_objects)
{
	struct record_totals totals = record_sum();

	assert_int_equal(totals.alloc_bytes, alloc_bytes);
	assert_int_equal(totals.alloc_objects, alloc_objects);
	assert_int_equal(totals.free_bytes, free_bytes);
	assert_int_equal(totals.free_objects, free_objects);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
