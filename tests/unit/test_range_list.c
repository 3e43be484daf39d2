/* SPDX-License-Identifier: GPL-2.0-or-later */
/* range_list against an array that holds the owner of each address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/range_list.h"

#define SPACE 400

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % limit;
}

/* The list is the fewest ranges that say what the array says. */
static void assert_list(const struct range_list *list, char *const owners[SPACE])
{
	const struct range *range = list->first[0];
	size_t start, end, count = 0;

	for (start = 0; start < SPACE; start = end) {
		for (end = start + 1; end < SPACE && owners[end] == owners[start]; end++)
			;
		if (!owners[start])
			continue;
		assert_non_null(range);
		assert_int_equal(range->start, start);
		assert_int_equal(range->end, end);
		assert_ptr_equal(range->owner, owners[start]);
		range = range->next[0];
		count++;
	}
	assert_null(range);
	assert_int_equal(list->count, count);
}

static void take(struct range_list *list, char *owners[SPACE], uint64_t start, uint64_t end)
{
	struct range *range = range_list_take(list, start, end), *next;
	uint64_t at = start;

	for (; range; range = next) {
		next = range->next[0];
		for (; at < range->start; at++)
			assert_null(owners[at]);
		for (; at < range->end; at++) {
			assert_ptr_equal(owners[at], range->owner);
			owners[at] = NULL;
		}
		free(range);
	}
	for (; at < end; at++)
		assert_null(owners[at]);
}

static void test_against_array(void **state)
{
	static char names[3];
	char *owners[SPACE] = { NULL };
	struct range_list list;
	uint64_t random = 3, i, at;

	(void)state;
	range_list_init(&list, 1);
	for (i = 0; i < 20000; i++) {
		uint64_t start = random_below(&random, SPACE - 30);
		uint64_t end = start + 1 + random_below(&random, 30);
		char *owner = &names[random_below(&random, 3)];

		take(&list, owners, start, end);
		if (random_below(&random, 3)) {
			range_list_add(&list, start, end, owner);
			for (at = start; at < end; at++)
				owners[at] = owner;
		}
		assert_list(&list, owners);
	}
	range_list_free(&list);
	assert_int_equal(list.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
