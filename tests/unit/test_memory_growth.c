/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of two looks are compared by their names, whatever order they have; what grows most comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/memory_growth.h"
#include "verdict/memory_verdict.h"

static void add_class(struct memory_runtime *runtime, const char *name, uint64_t live,
		      uint64_t bytes)
{
	*memory_runtime_add_class(runtime) =
		(struct memory_class){ .name = name, .live = live, .slot_bytes = bytes };
}

static void add_kind(struct memory_report *report, const char *name, const char *holder,
		     uint64_t blocks)
{
	*memory_report_add_kind(report) = (struct memory_kind){ .kind = "class",
								.name = name,
								.holder = holder,
								.blocks = blocks,
								.bytes = blocks * 64,
								.born = HEAP_UNKNOWN };
}

static struct memory_runtime *add_ruby(struct memory_report *report)
{
	struct memory_runtime *runtime = memory_report_add_runtime(report);

	runtime->name = "ruby";
	return runtime;
}

static void test_classes(void **state)
{
	struct memory_report before = { 0 }, after = { .process.rss_bytes = 100 << 20 };
	struct memory_runtime *runtime = add_ruby(&before);
	struct grown_classes grown;
	struct buffer text = { 0 };

	(void)state;
	add_class(runtime, "String", 1000, 40000000);
	add_class(runtime, "Gone", 10, 400);
	add_class(runtime, "Session", 10, 400);
	add_class(runtime, NULL, 1, 40);
	runtime = add_ruby(&after);
	add_class(runtime, "String", 900, 39999000);
	add_class(runtime, NULL, 1, 40);
	add_class(runtime, "Session", 500010, 20000400);
	add_class(runtime, "New", 5, 200);
	memory_growth_find(&after, &before);
	assert_string_equal(runtime->classes[0].name, "Session");
	assert_int_equal(runtime->classes[0].growth_objects, 500000);
	assert_int_equal(runtime->classes[0].growth_bytes, 20000000);
	assert_string_equal(runtime->classes[1].name, "New");
	assert_int_equal(runtime->classes[1].growth_bytes, 200);
	assert_null(runtime->classes[2].name);
	assert_int_equal(runtime->classes[2].growth_bytes, 0);
	assert_string_equal(runtime->classes[3].name, "String");
	assert_int_equal(runtime->classes[3].growth_objects, -100);
	memory_growth_list(runtime, 1, &grown);
	memory_growth_describe(&grown, &text);
	assert_string_equal(text.data, "Session +500,000");
	memory_growth_free_classes(&grown);
	buffer_clear(&text);
	memory_growth_list(runtime, 9, &grown);
	assert_int_equal(grown.count, 2);
	assert_int_equal(grown.items[1].objects, 5);
	memory_growth_describe(&grown, &text);
	assert_string_equal(text.data, "Session +500,000, New +5");
	memory_growth_free_classes(&grown);
	buffer_free(&text);
	memory_verdict_find(&after);
	assert_string_equal(after.verdicts[0].cause, "growth");
	assert_non_null(strstr(after.verdicts[0].text, "500,000 more objects of Session"));
	memory_report_free(&before);
	memory_report_free(&after);
}

/* Native bytes are known in one look only; of Python, then, neither are all objects. */
static void test_blocks_unknown(void **state)
{
	static const char *const names[] = { "ruby", "python" };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct memory_report before = { 0 }, after = { 0 };
		struct memory_runtime *runtime = add_ruby(&before);

		runtime->name = names[i];
		runtime->blocks_unknown = true;
		add_class(runtime, "Data", 10, 400);
		runtime = add_ruby(&after);
		runtime->name = names[i];
		add_class(runtime, "Data", 11, 440);
		runtime->classes[0].other_bytes = runtime->classes[0].native_bytes = 5000;
		memory_growth_find(&after, &before);
		assert_int_equal(runtime->classes[0].growth_bytes, i ? 0 : 40);
		assert_int_equal(runtime->classes[0].growth_objects, i ? 0 : 1);
		assert_int_equal(!runtime->remarks.length, !i);
		memory_report_free(&before);
		memory_report_free(&after);
	}
}

/* Kinds of one name with different holders are different rows. */
static void test_kinds(void **state)
{
	struct memory_report before = { 0 }, after = { 0 };

	(void)state;
	add_kind(&before, "Req", "< static A", 100);
	add_kind(&before, "Req", "< static B", 100);
	add_kind(&after, "Req", "< static A", 100);
	add_kind(&after, "Req", "< static B", 300);
	add_kind(&after, "Other", NULL, 50);
	memory_growth_find(&after, &before);
	assert_string_equal(after.kinds[0].holder, "< static B");
	assert_int_equal(after.kinds[0].growth_blocks, 200);
	assert_int_equal(after.kinds[0].growth_bytes, 200 * 64);
	assert_string_equal(after.kinds[1].name, "Other");
	assert_int_equal(after.kinds[1].growth_blocks, 50);
	assert_int_equal(after.kinds[2].growth_blocks, 0);
	memory_report_free(&before);
	memory_report_free(&after);
}

static void test_parts(void **state)
{
	struct memory_report before = { 0 }, after = { 0 };

	(void)state;
	before.parts[PURPOSE_CODE].rss = 5;
	*memory_report_add_heap(&before) =
		(struct heap_totals){ .allocator = "glibc", .live_bytes = 100, .live_blocks = 10 };
	*memory_report_add_heap(&after) = (struct heap_totals){ .allocator = "jemalloc" };
	*memory_report_add_heap(&after) =
		(struct heap_totals){ .allocator = "glibc", .live_bytes = 160, .live_blocks = 9 };
	memory_growth_find(&after, &before);
	assert_int_equal(after.parts_before[PURPOSE_CODE].rss, 5);
	assert_int_equal(after.heaps[0].growth_bytes, 0);
	assert_int_equal(after.heaps[1].growth_bytes, 60);
	assert_int_equal(after.heaps[1].growth_blocks, -1);
	memory_report_free(&before);
	memory_report_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_blocks_unknown),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
