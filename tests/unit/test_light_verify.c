/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When probes inside of functions take the place of returns, and when they are given up. Counts are written down here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/bpf_programs.h"
#include "windows/light_verify.h"
#include "unit/session_world.h"

static struct inside_counts counts;
static size_t recorded;
static struct light_verify verify;

struct inside_counts bpf_programs_inside(const struct bpf_programs *programs)
{
	(void)programs;
	return counts;
}

void bpf_programs_record_inside(struct bpf_programs *programs)
{
	(void)programs;
	recorded++;
}

static int set_up(void **state)
{
	world_set_up(state);
	world.core.probes.divided = true;
	counts = (struct inside_counts){ 0 };
	recorded = 0;
	verify = (struct light_verify){ .probes = &world.core.probes, .log = &world.log };
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, world_tear_down)

static void plan_inside_probe(void)
{
	struct plan *plan = &world.core.files.plan;

	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	plan->probes[plan->count++] =
		(struct plan_probe){ .shape = SHAPE(CALL_INSIDE, 3, 2, 0, 0, SOURCE_HEAP),
				     .symbol = "(block)" };
}

/* One probe inside of a function. */
static void begin(void)
{
	plan_inside_probe();
	light_verify_start(&verify);
	assert_int_equal(verify.reading, LIGHT_VERIFYING);
}

static void poll_now(void)
{
	verify.next_ns = 1;
	light_verify_poll(&verify);
}

/* Where nothing is probed inside, returns are it. */
static void test_without(void **state)
{
	(void)state;
	light_verify_start(&verify);
	assert_int_equal(verify.reading, LIGHT_RETURNS);
	assert_int_equal(verify.next_ns, 0);
	assert_true(light_verify_is_settled(&verify, 0));
}

/* A file that is probed inside comes later, as with the first process that is waited for; not when tracing has ended. */
static void test_later(void **state)
{
	(void)state;
	light_verify_start(&verify);
	light_verify_poll(&verify);
	assert_int_equal(verify.reading, LIGHT_RETURNS);
	plan_inside_probe();
	light_verify_poll(&verify);
	assert_int_equal(verify.reading, LIGHT_VERIFYING);
	light_verify_stop(&verify);
	counts.right = 100000;
	light_verify_poll(&verify);
	assert_int_equal(verify.reading, LIGHT_VERIFYING);
	assert_int_equal(recorded, 0);
}

static void test_right(void **state)
{
	(void)state;
	begin();
	counts.right = 3;
	poll_now();
	assert_int_equal(verify.reading, LIGHT_VERIFYING);
	counts.right = 100000;
	counts.open = 1;
	poll_now();
	assert_int_equal(recorded, 1);
	/* As long as calls are on their way that were seen before, returns stay probed. */
	poll_now();
	assert_int_equal(verify.reading, LIGHT_SWITCHING);
	assert_false(light_verify_is_settled(&verify, UINT64_MAX));
	assert_true(world.core.probes.parts & PROBES_VERIFIED);
	counts.open = 0;
	poll_now();
	assert_int_equal(verify.reading, LIGHT_INSIDE);
	assert_int_equal(world.core.probes.parts, PROBES_ALL & ~PROBES_VERIFIED);
	assert_int_equal(verify.next_ns, 0);
	assert_int_equal(recorded, 1);
	/* A window that began before that has the costs of both. */
	assert_true(light_verify_is_settled(&verify, clock_now_ns()));
	assert_false(light_verify_is_settled(&verify, verify.begun_ns));
	verify.begun_ns -= 6 * SECOND_NS;
	assert_true(light_verify_is_settled(&verify, verify.begun_ns));
}

/* One call in many that returns something else is enough. */
static void test_wrong(void **state)
{
	(void)state;
	begin();
	counts.right = 100000;
	counts.wrong = 1;
	poll_now();
	assert_int_equal(verify.reading, LIGHT_GIVEN_UP);
	assert_int_equal(verify.next_ns, 0);
	assert_int_equal(recorded, 0);
	assert_int_equal(world.core.probes.parts, PROBES_ALL & ~PROBES_INSIDE);
	fflush(world.log.stream);
	assert_non_null(strstr(world.text, "return probes are used, 2 traps per allocation"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_without), TEST(test_later), TEST(test_right),
					    TEST(test_wrong) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
