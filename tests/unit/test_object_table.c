/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects added up by class. Truth: sums by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "objects/object_table.h"

static void name_class(void *context, uint64_t id, char *ret_name, size_t size)
{
	(void)context;
	if (id == 7)
		ret_name[0] = '\0';
	else
		snprintf(ret_name, size, "%s", id == 3 ? "a\x1b[2J" : id % 2 ? "Odd" : "Even");
}

static const struct object_namer namer = { .name = name_class };

static void report(struct object_table *table, struct strings *names,
		   struct memory_runtime *runtime)
{
	object_table_report(table, &namer, names, runtime);
	object_table_free(table);
}

static void finish(struct strings *names, struct memory_runtime *runtime)
{
	free(runtime->classes);
	strings_free(names);
}

static void test_classes_of_one_name_are_one_row(void **state)
{
	struct object_table table = { 0 };
	struct memory_runtime runtime = { 0 };
	struct strings names = { 0 };
	uint64_t id;

	(void)state;
	for (id = 8; id < 20; id++) {
		struct object_class *class = object_table_get(&table, id);

		class->live += 2;
		class->newborn++;
		class->slot_bytes += 40 * id;
		class->other_bytes += id;
	}
	object_table_get(&table, 9)->live++;
	report(&table, &names, &runtime);
	assert_int_equal(runtime.class_count, 2);
	assert_string_equal(runtime.classes[0].name, "Odd");
	assert_int_equal(runtime.classes[0].live, 13);
	assert_int_equal(runtime.classes[0].slot_bytes, 40 * (9 + 11 + 13 + 15 + 17 + 19));
	assert_string_equal(runtime.classes[1].name, "Even");
	assert_int_equal(runtime.classes[1].live, 12);
	assert_int_equal(runtime.classes[1].newborn, 6);
	assert_int_equal(runtime.classes[1].other_bytes, 8 + 10 + 12 + 14 + 16 + 18);
	finish(&names, &runtime);
}

static void test_names_are_safe_for_a_terminal(void **state)
{
	struct object_table table = { 0 };
	struct memory_runtime runtime = { 0 };
	struct strings names = { 0 };

	(void)state;
	object_table_get(&table, 3)->slot_bytes = 2;
	object_table_get(&table, 7)->slot_bytes = 1;
	report(&table, &names, &runtime);
	assert_string_equal(runtime.classes[0].name, "a\\x1b[2J");
	assert_string_equal(runtime.classes[1].name, "(no name)");
	finish(&names, &runtime);
}

static void test_classes_beyond_the_limit_are_one(void **state)
{
	struct object_table table = { .max_classes = 10 };
	uint64_t id;

	(void)state;
	for (id = 1; id <= 100; id++)
		object_table_get(&table, id)->live++;
	assert_int_equal(table.count, 11);
	assert_int_equal(object_table_get(&table, 0)->live, 90);
	assert_int_equal(object_table_get(&table, 10)->live, 1);
	object_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes_of_one_name_are_one_row),
		cmocka_unit_test(test_names_are_safe_for_a_terminal),
		cmocka_unit_test(test_classes_beyond_the_limit_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
