/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash table. The truth is a plain array indexed by a small number; keys are spread over 64 bits, or
 * packed into few bits so that they collide.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/table.h"

#define KEYS 1500
#define ROUNDS 200000

static uint64_t key_spread(size_t index)
{
	return index * 0x123456789abcdefULL;
}

/* Neighbours, as addresses and small ids are; index 0 is key 0. */
static uint64_t key_dense(size_t index)
{
	return index;
}

/* Only the upper half differs. */
static uint64_t key_high(size_t index)
{
	return (uint64_t)index << 32;
}

static void assert_same(const struct table *table, char *const truth[], uint64_t (*key)(size_t))
{
	const struct table_slot *slot;
	size_t cursor = 0, held = 0, walked = 0;
	size_t i;

	for (i = 0; i < KEYS; i++) {
		assert_ptr_equal(table_get(table, key(i)), truth[i]);
		held += truth[i] != NULL;
	}
	assert_int_equal(table->count, held);
	while ((slot = table_next(table, &cursor))) {
		assert_ptr_equal(table_get(table, slot->key), slot->value);
		walked++;
	}
	assert_int_equal(walked, held);
}

static void check_random(uint64_t (*key)(size_t))
{
	char values[16];
	char *truth[KEYS] = { NULL };
	struct table table = { 0 };
	unsigned int seed = 99;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		size_t index = (size_t)rand_r(&seed) % KEYS;
		/* Waves: mostly filling for a while, then mostly emptying. */
		int fill = rand_r(&seed) % 10 < (round / 20000 % 2 ? 2 : 8);

		if (fill) {
			truth[index] = &values[rand_r(&seed) % 16];
			table_put(&table, key(index), truth[index]);
		} else {
			assert_ptr_equal(table_remove(&table, key(index)), truth[index]);
			truth[index] = NULL;
		}
		if (round % 5000 == 0)
			assert_same(&table, truth, key);
	}
	assert_same(&table, truth, key);
	table_free(&table);
	assert_null(table_get(&table, key(1)));
}

static void test_random_spread(void **state)
{
	(void)state;
	check_random(key_spread);
}

static void test_random_dense(void **state)
{
	(void)state;
	check_random(key_dense);
}

static void test_random_high(void **state)
{
	(void)state;
	check_random(key_high);
}

static void test_empty(void **state)
{
	struct table table = { 0 };
	size_t cursor = 0;

	(void)state;
	assert_null(table_get(&table, 0));
	assert_null(table_remove(&table, 0));
	assert_null(table_next(&table, &cursor));
	table_free(&table);
}

/* Keys that were one run of slots with any number added, but a secret multiplier parts them. */
static void test_crowd(void **state)
{
	struct table table = { 0 };
	size_t i, longest = 0, run = 0;
	char value;

	(void)state;
	for (i = 0; i < 20000; i++)
		table_put(&table, (uint64_t)i << 45 | (uint64_t)i << 13, &value);
	for (i = 0; i < table.capacity; i++) {
		run = table.slots[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_in_range(longest, 1, 500);
	table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_spread), cmocka_unit_test(test_random_dense),
		cmocka_unit_test(test_random_high),   cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
