/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a process are counted once. Truth: the calls of the counter, which is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "command/reporter.h"
#include "memory/memory_classes.h"

static size_t counted, freed;

/* Nothing looks into it. */
struct memory_classes *memory_classes_count(pid_t pid, uint64_t until_ns)
{
	static char classes;

	(void)pid;
	(void)until_ns;
	counted++;
	return (struct memory_classes *)&classes;
}

void memory_classes_free(struct memory_classes *classes)
{
	freed += classes != NULL;
}

bool memory_classes_compare(const struct memory_classes *before, const char *runtime,
			    uint64_t until_ns, struct grown_classes *ret_classes)
{
	(void)before;
	(void)runtime;
	(void)until_ns;
	(void)ret_classes;
	return false;
}

static void test_objects_are_counted_once(void **state)
{
	struct reporter reporter = { .output.fd = -1 };
	struct error error = { 0 };

	(void)state;
	reporter_count_objects(&reporter, 10);
	reporter_count_objects(&reporter, 20);
	reporter_count_objects(&reporter, 10);
	assert_int_equal(counted, 2);
	assert_int_equal(reporter.process_count, 2);
	assert_int_equal(reporter_close(&reporter, &error), 0);
	assert_int_equal(freed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects_are_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
