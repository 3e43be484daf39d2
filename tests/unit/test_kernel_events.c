/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which program fits the events of which kernel. The arguments are those of the releases' own headers (include/trace/events). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "probe/kernel_events.h"

/* An event's arguments, a letter each: p pointer, l long, i int, b bool. */
struct event {
	const char *name, *arguments;
};

#define COMMON                                                                    \
	{ "kfree", "lp" }, { "mm_page_alloc", "piii" }, { "mm_page_free", "pi" }, \
	{                                                                         \
		"percpu_free_percpu", "pip"                                       \
	}

static const struct event linux_5_10[] = {
	{ "kmalloc", "lplli" },
	{ "kmalloc_node", "lpllii" },
	{ "kmem_cache_alloc", "lplli" },
	{ "kmem_cache_alloc_node", "lpllii" },
	{ "kmem_cache_free", "lp" },
	{ "percpu_alloc_percpu", "bbllpip" },
	{ "rcu_invoke_kfree_bulk_callback", "plp" },
	COMMON,
	{ NULL },
};

static const struct event linux_5_19[] = {
	{ "kmalloc", "lpplli" },
	{ "kmalloc_node", "lppllii" },
	{ "kmem_cache_alloc", "lpplli" },
	{ "kmem_cache_alloc_node", "lppllii" },
	{ "kmem_cache_free", "lpp" },
	{ "percpu_alloc_percpu", "lbbllpipli" },
	COMMON,
	{ NULL },
};

static const struct event linux_6_1[] = {
	{ "kmalloc", "lpllii" },
	{ "kmem_cache_alloc", "lppii" },
	{ "kmem_cache_free", "lpp" },
	{ "percpu_alloc_percpu", "lbbllpipli" },
	{ "rcu_invoke_kfree_bulk_callback", "plp" },
	COMMON,
	{ NULL },
};

static void find(void *context, const char *name, struct kernel_arguments *ret_arguments)
{
	const struct event *event = context;
	size_t i;

	*ret_arguments = (struct kernel_arguments){ 0 };
	while (event->name && strcmp(event->name, name) != 0)
		event++;
	for (i = 0; event->name && event->arguments[i]; i++) {
		const char letter = event->arguments[i];

		ret_arguments->items[i].is_pointer = letter == 'p';
		ret_arguments->items[i].bytes = letter == 'b' ? 1 : letter == 'i' ? 4 : 8;
		ret_arguments->count = i + 1;
	}
}

/* The program at an event; KERNEL_PROGRAM_COUNT = none. */
static enum kernel_program program_of(const struct kernel_hooks *hooks, const char *event)
{
	size_t i;

	for (i = 0; i < hooks->count; i++)
		if (!strcmp(hooks->items[i].event, event))
			return hooks->items[i].program;
	return KERNEL_PROGRAM_COUNT;
}

static struct kernel_hooks choose(const struct event *events)
{
	struct kernel_hooks hooks;
	struct error error = { 0 };

	assert_int_equal(kernel_events_choose(find, (void *)(uintptr_t)events, &hooks, &error), 0);
	assert_int_equal(error.kind, ERROR_NONE);
	assert_int_equal(program_of(&hooks, "kfree"), KERNEL_PROGRAM_KFREE);
	assert_int_equal(program_of(&hooks, "kmem_cache_free"), KERNEL_PROGRAM_CACHE_FREE);
	assert_int_equal(program_of(&hooks, "mm_page_alloc"), KERNEL_PROGRAM_PAGES);
	assert_int_equal(program_of(&hooks, "mm_page_free"), KERNEL_PROGRAM_PAGES_FREE);
	assert_int_equal(program_of(&hooks, "percpu_free_percpu"), KERNEL_PROGRAM_PERCPU_FREE);
	return hooks;
}

static void test_releases(void **state)
{
	struct kernel_hooks hooks = choose(linux_5_10);

	(void)state;
	assert_int_equal(hooks.count, 11);
	assert_true(hooks.bulk);
	assert_int_equal(program_of(&hooks, "kmalloc"), KERNEL_PROGRAM_KMALLOC);
	assert_int_equal(program_of(&hooks, "kmalloc_node"), KERNEL_PROGRAM_KMALLOC);
	assert_int_equal(program_of(&hooks, "kmem_cache_alloc"), KERNEL_PROGRAM_CACHE_SIZED);
	assert_int_equal(program_of(&hooks, "kmem_cache_alloc_node"), KERNEL_PROGRAM_CACHE_SIZED);
	assert_int_equal(program_of(&hooks, "percpu_alloc_percpu"), KERNEL_PROGRAM_PERCPU_OLD);

	hooks = choose(linux_5_19);
	assert_int_equal(hooks.count, 10);
	assert_false(hooks.bulk);
	assert_int_equal(program_of(&hooks, "kmalloc"), KERNEL_PROGRAM_KMALLOC_CACHE);
	assert_int_equal(program_of(&hooks, "kmem_cache_alloc"), KERNEL_PROGRAM_CACHE);
	assert_int_equal(program_of(&hooks, "kmem_cache_alloc_node"), KERNEL_PROGRAM_CACHE);
	assert_int_equal(program_of(&hooks, "percpu_alloc_percpu"), KERNEL_PROGRAM_PERCPU);

	hooks = choose(linux_6_1);
	assert_int_equal(hooks.count, 9);
	assert_true(hooks.bulk);
	assert_int_equal(program_of(&hooks, "kmalloc"), KERNEL_PROGRAM_KMALLOC);
	assert_int_equal(program_of(&hooks, "kmalloc_node"), KERNEL_PROGRAM_COUNT);
	assert_int_equal(program_of(&hooks, "kmem_cache_alloc"), KERNEL_PROGRAM_CACHE);
	assert_int_equal(program_of(&hooks, "percpu_alloc_percpu"), KERNEL_PROGRAM_PERCPU);
}

static void refuse(const struct event *events, const char *word)
{
	struct kernel_hooks hooks;
	struct error error = { 0 };

	assert_int_equal(kernel_events_choose(find, (void *)(uintptr_t)events, &hooks, &error),
			 -ENOTSUP);
	assert_int_equal(error.kind, ERROR_PERMISSION);
	assert_non_null(strstr(error.text, word));
}

/* An event that lacks, or has arguments as no release has them, is named. */
static void test_refused(void **state)
{
	const struct event none[] = { { NULL } };
	struct event other[sizeof(linux_6_1) / sizeof(linux_6_1[0])];

	(void)state;
	refuse(none, "'kmalloc'");
	memcpy(other, linux_6_1, sizeof(other));
	other[0].arguments = "llll";
	refuse(other, "'kmalloc'");
	other[0].arguments = "lp";
	refuse(other, "'kmalloc'");
	memcpy(other, linux_6_1, sizeof(other));
	other[2].name = "kmem_cache_freed";
	refuse(other, "'kmem_cache_free'");
	memcpy(other, linux_6_1, sizeof(other));
	other[3].arguments = "p";
	refuse(other, "'percpu_alloc_percpu'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
