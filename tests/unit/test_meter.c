/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The price of tracing from what was counted: by hand, with round numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "windows/meter.h"

#define ROWS_MAX 64

struct counted {
	struct hit_key key;
	struct hits hits;
	bool removed;
};

/* The map of hits, as a list. */
static struct counted rows[ROWS_MAX];
static size_t row_count;

static int fake_set(void *context, enum maps_id map, const void *key, const void *value)
{
	(void)context;
	assert_int_equal(map, MAPS_HITS);
	rows[row_count++] = (struct counted){ *(const struct hit_key *)key,
					      *(const struct hits *)value, false };
	return 0;
}

static int fake_remove(void *context, enum maps_id map, const void *key)
{
	size_t i;

	(void)context;
	(void)map;
	for (i = 0; i < row_count; i++)
		if (!memcmp(&rows[i].key, key, sizeof(rows[i].key)))
			rows[i].removed = true;
	return 0;
}

static int fake_read(void *context, enum maps_id map,
		     void (*visit)(void *visitor, const void *key, const void *value),
		     void *visitor)
{
	size_t i;

	(void)context;
	(void)map;
	for (i = 0; i < row_count; i++)
		visit(visitor, &rows[i].key, &rows[i].hits);
	return 0;
}

static const struct maps_operations operations = { .set = fake_set,
						   .remove = fake_remove,
						   .read = fake_read };
static const struct maps maps = { &operations, NULL };

static void count(uint32_t thread, uint16_t function, enum hit_kind kind, struct hits hits)
{
	const struct hit_key key = { thread, function, (uint16_t)kind };

	fake_set(NULL, MAPS_HITS, &key, &hits);
}

static const struct trap_costs costs = { .emulated_ns = 400, .stepped_ns = 3000, .return_ns = 500 };

/* malloc at an emulated instruction, free at a stepped one, jemalloc's free at an emulated one, two exits. */
static struct plan_probe probes[] = {
	{ .function = 1, .shape = CALL_ALLOC, .cost = COST_EMULATED },
	{ .function = 2, .shape = CALL_FREE, .cost = COST_STEPPED },
	{ .function = 3, .shape = CALL_FREE, .cost = COST_EMULATED },
	{ .function = 4, .shape = CALL_MMAP, .cost = COST_EMULATED },
	{ .function = 4, .shape = CALL_LEAVE, .cost = COST_EMULATED },
	{ .function = 4, .shape = CALL_LEAVE, .cost = COST_STEPPED },
	{ .function = 5, .shape = CALL_SAMPLE, .cost = COST_OPTIMIZED },
};
static struct plan plan = { .probes = probes, .count = sizeof(probes) / sizeof(probes[0]) };

static struct meter begun(void)
{
	struct meter meter = { .maps = &maps, .plan = &plan };

	row_count = 0;
	meter_begin(&meter, 1000000000);
	/* Threads without room of their own are counted. */
	assert_int_equal(row_count, HIT_KIND_COUNT);
	return meter;
}

static const struct price *ended(struct meter *meter, const struct trap_costs *known)
{
	size_t i;

	meter_end(meter, 1200000000, known);
	for (i = 0; i < row_count; i++)
		assert_true(rows[i].removed);
	assert_int_equal(meter->begin_ns, 0);
	return &meter->price;
}

static void test_pairs(void **state)
{
	struct meter meter = begun();
	const struct price *price;

	(void)state;
	/* 400 + 200 at the entry, 500 + 600 at the return, 3000 + 300 at the free. */
	count(7, 1, HIT_CALL, (struct hits){ 100, 100, 20000 });
	count(7, 0, HIT_RETURN, (struct hits){ 100, 100, 60000 });
	count(7, 2, HIT_FREE, (struct hits){ 100, 100, 30000 });
	price = ended(&meter, &costs);
	assert_true(price->counted && price->measured);
	assert_int_equal(price->window_ns, 200000000);
	assert_int_equal(price->calls, 200);
	assert_int_equal(price->threads, 1);
	assert_int_equal(price->cost_ns, 100 * (600 + 1100 + 3300));
	assert_int_equal(price->busiest_ns, price->cost_ns);
	assert_int_equal(price->call_ns, 2500);
	assert_int_equal(price_calls_per_second(price), 1000);
	/* 0.5 ms of 200 ms. */
	assert_int_equal(price_share(price), 250);
}

/* Rows come in any order; each thread is counted once, and one that makes no call is none that allocates. */
static void test_threads(void **state)
{
	struct meter meter = begun();
	const struct price *price;

	(void)state;
	count(9, 3, HIT_FREE, (struct hits){ 10, 10, 0 });
	count(7, 1, HIT_CALL, (struct hits){ 10, 10, 0 });
	count(8, 0, HIT_OTHER, (struct hits){ 1, 1, 0 });
	count(7, 3, HIT_FREE, (struct hits){ 10, 10, 0 });
	count(9, 1, HIT_CALL, (struct hits){ 30, 30, 0 });
	price = ended(&meter, &costs);
	assert_int_equal(price->threads, 2);
	assert_int_equal(price->calls, 60);
	assert_int_equal(price->busiest_ns, 40 * 400);
	assert_int_equal(price->busiest_thread, 9);
}

/* What a preempted program took is not known; it is taken for the mean of the others. */
static void test_untimed(void **state)
{
	struct meter meter = begun();
	const struct price *price;

	(void)state;
	count(7, 1, HIT_CALL, (struct hits){ 100, 50, 10000 });
	price = ended(&meter, &costs);
	assert_int_equal(price->cost_ns, 100 * 600);
}

static void test_classes(void **state)
{
	struct meter meter = begun();
	const struct price *price;

	(void)state;
	/* The mean of the function's exits; no figure for optimized ones, so they are stepped; a function without a probe, too. */
	count(7, 4, HIT_LEAVE, (struct hits){ 10, 10, 0 });
	count(7, 5, HIT_SAMPLE, (struct hits){ 10, 10, 0 });
	count(7, 6, HIT_CALL, (struct hits){ 10, 10, 0 });
	price = ended(&meter, &costs);
	assert_int_equal(price->cost_ns, 10 * 1700 + 10 * 3000 + 10 * 3000);
	assert_int_equal(price->calls, 20);
}

static void test_idle(void **state)
{
	struct meter meter = begun();
	const struct price *price = ended(&meter, &costs);

	(void)state;
	assert_true(price->counted && price->measured);
	assert_int_equal(price->calls + price->threads + price->cost_ns, 0);
	assert_int_equal(price_share(price), 0);
	/* Half of a pair. */
	assert_int_equal(price->call_ns, 650);
}

static void test_unmeasured(void **state)
{
	struct meter meter = begun();
	const struct price *price;

	(void)state;
	count(7, 1, HIT_CALL, (struct hits){ 100, 100, 20000 });
	price = ended(&meter, NULL);
	assert_true(price->counted && !price->measured);
	assert_int_equal(price_calls_per_second(price), 500);
	assert_int_equal(price->cost_ns + price->call_ns, 0);
	/* It ends once. */
	meter_end(&meter, 1300000000, &costs);
	assert_false(meter.price.measured);
}

/* Each probe has the hits of its function that are of its kind, of all threads and windows. */
static void test_hits_of_probes(void **state)
{
	struct meter meter = begun();
	size_t i;

	(void)state;
	for (i = 0; i < plan.count; i++)
		probes[i].hits = 0;
	count(7, 1, HIT_CALL, (struct hits){ .count = 100 });
	count(7, 0, HIT_RETURN, (struct hits){ .count = 100 });
	count(7, 4, HIT_LEAVE, (struct hits){ .count = 3 });
	count(8, 1, HIT_CALL, (struct hits){ .count = 20 });
	ended(&meter, &costs);
	meter = begun();
	count(7, 1, HIT_CALL, (struct hits){ .count = 1 });
	ended(&meter, NULL);
	assert_int_equal(probes[0].hits, 121);
	assert_int_equal(probes[1].hits, 0);
	assert_int_equal(probes[3].hits, 0);
	assert_int_equal(probes[4].hits, 3);
	assert_int_equal(probes[5].hits, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),	       cmocka_unit_test(test_threads),
		cmocka_unit_test(test_untimed),	       cmocka_unit_test(test_classes),
		cmocka_unit_test(test_idle),	       cmocka_unit_test(test_unmeasured),
		cmocka_unit_test(test_hits_of_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
