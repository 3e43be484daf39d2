/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan that a worker sends: one that is honest is taken over, and one with a field that no file can have is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#include <cmocka.h>

#include "base/memory.h"
#include "decode/plan_wire.h"
#include "tracer_abi.h"

#define FILE_SIZE 0x10000

static const struct plan_options options = { 0 };

/* A function, and a place where samples are reported. */
static const struct plan_probe honest[] = {
	{ .function = 1,
	  .symbol = "malloc",
	  .shape = SHAPE(CALL_ALLOC, 1, 0, 0, RESULT_POINTER, 0),
	  .entry_offset = 0x1000,
	  .site_offset = 0x1004,
	  .size = 0x100,
	  .stack_bytes = 255 },
	{ .symbol = "",
	  .shape = SHAPE_OF_SAMPLE(CALL_SAMPLE, 0),
	  .entry_offset = 0x2000,
	  .site_offset = 0x2000,
	  .sample = { { { .place = SAMPLE_CONSTANT, .base = 0xff, .index = 0xff, .size = 8 },
			{ .place = SAMPLE_REGISTER, .base = 20, .index = 0xff, .size = 4 },
			{ .place = SAMPLE_MEMORY,
			  .base = 3,
			  .index = 4,
			  .shift = 3,
			  .size = 1 } } } },
};

/* How many probes a plan gets from these bytes; -1 if they are refused. */
static int taken(const struct buffer *bytes)
{
	struct module *module = memory_alloc(1, sizeof(*module));
	struct module_list modules = { 0 };
	struct plan plan;
	int count = -1;

	module->path = memory_copy_string("/lib/libtest.so");
	module->fd = -1;
	module_list_add(&modules, module);
	plan_init(&plan, &modules, &options);
	if (plan_wire_add(bytes, &plan, 0, FILE_SIZE))
		count = (int)plan.count;
	else
		assert_int_equal(plan.count, 0);
	plan_free(&plan);
	module_list_free(&modules);
	return count;
}

static void make(struct buffer *bytes, const struct plan_probe probes[2])
{
	struct module_list modules = { 0 };
	struct plan plan;
	size_t i;

	plan_init(&plan, &modules, &options);
	assert_int_equal(plan_add_function(&plan, "glibc", "malloc"), 1);
	plan.probes = memory_grow(NULL, 1, &plan.capacity, sizeof(*plan.probes));
	for (i = 0; i < 2; i++)
		plan.probes[plan.count++] = probes[i];
	plan_wire_put(bytes, &plan);
	plan_free(&plan);
}

static int taken_of(const struct plan_probe probes[2])
{
	struct buffer bytes = { 0 };
	int count;

	make(&bytes, probes);
	count = taken(&bytes);
	buffer_free(&bytes);
	return count;
}

static void test_honest(void **state)
{
	(void)state;
	assert_int_equal(taken_of(honest), 2);
}

/* Each field, one after the other. What does not fit the shape's bits would be another function's, or another process's. */
#define REFUSED(number, field, value)                                   \
	do {                                                            \
		struct plan_probe probes[2] = { honest[0], honest[1] }; \
		probes[number].field = (value);                         \
		assert_int_equal(taken_of(probes), -1);                 \
	} while (0)

static void test_fields_of_probes(void **state)
{
	(void)state;
	REFUSED(0, function, 2);
	REFUSED(0, site_offset, FILE_SIZE);
	REFUSED(0, entry_offset, UINT64_MAX);
	REFUSED(0, size, FILE_SIZE + 1);
	REFUSED(0, semaphore, FILE_SIZE);
	REFUSED(0, stack_bytes, 256);
	REFUSED(0, shape, CALL_PROCESS_END + 1);
	REFUSED(0, shape, SHAPE(CALL_ALLOC, 1, 0, 0, RESULT_RETRIED + 1, 0));
	REFUSED(0, cost, COST_OPTIMIZED + 1);
}

static void test_fields_of_samples(void **state)
{
	(void)state;
	REFUSED(1, sample.arguments[0].place, SAMPLE_MEMORY + 1);
	REFUSED(1, sample.arguments[0].size, 0);
	REFUSED(1, sample.arguments[1].size, 3);
	REFUSED(1, sample.arguments[2].size, 16);
	REFUSED(1, sample.arguments[2].shift, 4);
	REFUSED(1, sample.arguments[1].skip, 64);
	REFUSED(1, sample.arguments[0].is_signed, 2);
	REFUSED(1, sample.arguments[1].base, SAMPLE_REGISTERS);
	REFUSED(1, sample.arguments[2].index, 0xfe);
#if defined(__x86_64__)
	/* Words of the kernel's stack behind the registers. */
	REFUSED(1, sample.arguments[1].base, 21);
#endif
}

/* Bytes that are missing, or too many. */
static void test_lengths(void **state)
{
	struct buffer bytes = { 0 };
	size_t whole;

	(void)state;
	make(&bytes, honest);
	whole = bytes.length;
	for (bytes.length = 0; bytes.length < whole; bytes.length++)
		assert_int_equal(taken(&bytes), -1);
	bytes.length = whole;
	assert_int_equal(taken(&bytes), 2);
	buffer_append(&bytes, "", 1);
	assert_int_equal(taken(&bytes), -1);
	buffer_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_fields_of_probes),
		cmocka_unit_test(test_fields_of_samples),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
