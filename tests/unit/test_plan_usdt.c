/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of files that publish samples. The files are made by the tests, so that the truth is what the test has put into
 * them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "base/memory.h"
#include "fake_elf_file.h"
#include "probe/plan.h"
#include "tracer_abi.h"

#define SIZE 0x10000

#if defined(__aarch64__)
#define THREE "8@x0 8@x1 8@[sp, 8]"
#define ONE "8@x0"
#define NOP 0xd503201fu
#else
#define THREE "8@%rdi 8@%rsi 8@8(%rsp)"
#define ONE "8@%rdi"
#define NOP 0x90909090u
#endif

struct work {
	struct module_list modules;
	struct plan plan;
	struct elf_file files[2];
	uint8_t bytes[SIZE];
};

static struct work *work_new(enum usdt_use usdt, const struct named_list *named)
{
	struct plan_options options = { .features = probe_features_for_kernel(6, 18),
					.named = named,
					.usdt = usdt };
	struct work *work = memory_alloc(1, sizeof(*work));
	const uint32_t nop = NOP;
	size_t i;

	for (i = 0; i < SIZE; i += sizeof(nop))
		memcpy(work->bytes + i, &nop, sizeof(nop));
	for (i = 0; i < 2; i++) {
		struct module *module = memory_alloc(1, sizeof(*module));

		module->path = memory_copy_string(i ? "/lib/libother.so" : "/lib/libtest.so");
		module->fd = -1;
		module_list_add(&work->modules, module);
		work->files[i].bytes = work->bytes;
		work->files[i].size = SIZE;
	}
	plan_init(&work->plan, &work->modules, &options);
	return work;
}

static void work_free(struct work *work)
{
	plan_free(&work->plan);
	module_list_free(&work->modules);
	free(work);
}

static void put_function(struct work *work, int file, const char *name, uint64_t offset)
{
	struct elf_file *to = &work->files[file];

	to->functions[to->function_count++] =
		(struct elf_function){ .name = name, .file_offset = offset, .size = 0x100 };
}

static struct elf_usdt *put_probe(struct work *work, const char *name, uint64_t offset,
				  const char *arguments)
{
	struct elf_file *to = &work->files[0];
	struct elf_usdt *probe = &to->probes[to->probe_count++];

	assert_true(to->probe_count <= FAKE_PROBES);
	*probe = (struct elf_usdt){
		.provider = "otel_memory", .name = name, .arguments = arguments, .offset = offset
	};
	return probe;
}

/* What an allocator has: functions, mappings, and where it publishes samples. */
static void put_allocator(struct work *work)
{
	put_function(work, 0, "malloc", 0x1000);
	put_function(work, 0, "free", 0x2000);
	put_function(work, 0, "mmap", 0x3000);
	put_function(work, 0, "malloc.cold", 0x4000);
	put_probe(work, "alloc", 0x1010, THREE)->semaphore = 0x9000;
	put_probe(work, "alloc", 0x4010, THREE);
	put_probe(work, "free", 0x2010, ONE);
	put_probe(work, "other", 0x5010, ONE);
	put_probe(work, "alloc", 0x6010, THREE)->provider = "libc";
}

static const struct plan_probe *probe_at(const struct work *work, uint64_t offset)
{
	size_t i;

	for (i = 0; i < work->plan.count; i++)
		if (work->plan.probes[i].site_offset == offset)
			return &work->plan.probes[i];
	return NULL;
}

static bool has_function(const struct work *work, const char *symbol)
{
	size_t i;

	for (i = 0; i < work->plan.count; i++)
		if (!strcmp(work->plan.probes[i].symbol, symbol))
			return true;
	return false;
}

static bool is_skipped(const struct work *work, const char *words)
{
	size_t i;

	for (i = 0; i < work->plan.skipped_count; i++)
		if (strstr(work->plan.skipped[i].sentence, words))
			return true;
	return false;
}

static void test_instead_of_functions(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);
	const struct plan_probe *probe;

	(void)state;
	put_allocator(work);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->files[0]), 4);
	assert_false(has_function(work, "malloc"));
	assert_false(has_function(work, "free"));
	assert_true(has_function(work, "mmap"));
	assert_true(
		is_skipped(work, "2 functions not probed: the program publishes samples instead"));
	probe = probe_at(work, 0x1010);
	assert_int_equal(SHAPE_OP(probe->shape), CALL_SAMPLE);
	assert_int_equal(SHAPE_FUNCTION(probe->shape), probe->function);
	assert_int_equal(SHAPE_TARGET(probe->shape), 0);
	assert_int_equal(SHAPE_SOURCE(probe->shape), SOURCE_HEAP);
	assert_false(probe->shape & SHAPE_NAMED);
	assert_int_equal(probe->semaphore, 0x9000);
	assert_int_equal(probe->sample.arguments[SAMPLE_WEIGHT].place, SAMPLE_MEMORY);
	assert_int_equal(probe->sample.arguments[SAMPLE_WEIGHT].value, 8);
	assert_string_equal(work->plan.functions[probe->function].function, "otel_memory:alloc");
	assert_string_equal(work->plan.functions[probe->function].allocator, "otel_memory");
	assert_true(work->plan.functions[probe->function].sampled);
	/* The same function, with arguments of its own. */
	assert_int_equal(probe_at(work, 0x4010)->function, probe->function);
	assert_int_not_equal(SHAPE_SAMPLE_KEY(probe_at(work, 0x4010)->shape),
			     SHAPE_SAMPLE_KEY(probe->shape));
	probe = probe_at(work, 0x2010);
	assert_int_equal(SHAPE_OP(probe->shape), CALL_SAMPLE_END);
	assert_int_equal(probe->semaphore, 0);
	assert_null(probe_at(work, 0x5010));
	assert_null(probe_at(work, 0x6010));
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 4);
	assert_true(plan_module_samples(&work->plan, 0));
	assert_false(plan_module_samples(&work->plan, 1));
	work_free(work);
}

static void test_functions_of_the_allocator(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_allocator(work);
	put_function(work, 0, "malloc_usable_size", 0x7000);
	plan_add_file(&work->plan, 0, &work->files[0]);
	assert_true(plan_is_in_allocator(&work->plan, 0, 0x1000));
	assert_true(plan_is_in_allocator(&work->plan, 0, 0x10ff));
	assert_false(plan_is_in_allocator(&work->plan, 0, 0x1100));
	assert_true(plan_is_in_allocator(&work->plan, 0, 0x4010));
	assert_false(plan_is_in_allocator(&work->plan, 0, 0x3010));
	assert_false(plan_is_in_allocator(&work->plan, 0, 0x7010));
	assert_false(plan_is_in_allocator(&work->plan, 1, 0x1010));
	work_free(work);
}

static void test_off(void **state)
{
	struct work *work = work_new(USDT_OFF, NULL);

	(void)state;
	put_allocator(work);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->files[0]), 3);
	assert_true(has_function(work, "malloc") && has_function(work, "mmap"));
	work_free(work);
}

static void test_only(void **state)
{
	struct work *work = work_new(USDT_ONLY, NULL);
	struct buffer text = { 0 };

	(void)state;
	put_allocator(work);
	put_function(work, 1, "malloc", 0x1000);
	put_function(work, 1, "mmap", 0x3000);
	put_function(work, 1, "__cxa_allocate_exception", 0x5000);
	assert_int_equal(plan_add_file(&work->plan, 1, &work->files[1]), 0);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 0);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->files[0]), 3);
	assert_false(has_function(work, "mmap"));
	assert_false(plan_describe_overlap(&work->plan, &text));
	work_free(work);
}

/* What a person has named is probed whatever else is not. */
static void test_named_functions_remain(void **state)
{
	static const enum usdt_use uses[] = { USDT_AUTO, USDT_ONLY };
	struct named_list named = { 0 };
	struct error error;
	size_t i;

	(void)state;
	assert_int_equal(named_add(&named, "libtest.so:malloc:size=arg1", false, &error), 0);
	for (i = 0; i < 2; i++) {
		struct work *work = work_new(uses[i], &named);

		put_allocator(work);
		plan_add_file(&work->plan, 0, &work->files[0]);
		assert_true(has_function(work, "malloc"));
		assert_false(has_function(work, "free"));
		assert_true(has_function(work, "otel_memory:alloc"));
		work_free(work);
	}
	named_list_free(&named);
}

/* The one without the other is of no use. */
static void assert_incomplete(enum usdt_use usdt, const char *name, const char *arguments,
			      const char *words)
{
	struct work *work = work_new(usdt, NULL);

	put_function(work, 0, "malloc", 0x1000);
	put_function(work, 0, "free", 0x2000);
	put_probe(work, name, 0x1010, arguments);
	plan_add_file(&work->plan, 0, &work->files[0]);
	assert_int_equal(work->plan.count, usdt == USDT_ONLY ? 0 : 2);
	assert_false(has_function(work, "otel_memory:alloc"));
	assert_true(is_skipped(work, words));
	assert_true(work->plan.skipped[0].lost);
	work_free(work);
}

static void test_incomplete(void **state)
{
	(void)state;
	assert_incomplete(USDT_AUTO, "alloc", THREE,
			  "it has no otel_memory:free, so its functions are probed");
	assert_incomplete(USDT_AUTO, "free", ONE,
			  "it has no otel_memory:alloc, so its functions are probed");
	assert_incomplete(USDT_ONLY, "alloc", THREE,
			  "it has no otel_memory:free, so nothing is probed");
	assert_incomplete(USDT_AUTO, "alloc", ONE,
			  "1 of 1 sample probes cannot be attached (it has too few "
			  "arguments), so its functions are probed");
}

/* Blocks whose ends are published there would be in use for ever. */
static void test_some_are_refused(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_allocator(work);
	put_probe(work, "alloc", 0x7010, "8f@nowhere 1@nothing");
	put_probe(work, "free", 0x7020, ONE)->refusal = "a test says so";
	plan_add_file(&work->plan, 0, &work->files[0]);
	assert_false(has_function(work, "otel_memory:alloc"));
	assert_true(has_function(work, "malloc"));
	assert_true(is_skipped(work, "2 of 5 sample probes cannot be attached "
				     "(an argument is no whole number), so its functions are "
				     "probed"));
	work_free(work);
}

/* What a linker leaves of code that it has dropped leads to the file's header; the next is within an instruction. */
static void test_places_without_nop(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_allocator(work);
	memcpy(work->bytes,
	       "\x7f"
	       "ELF",
	       4);
	memcpy(work->bytes + 0x7010, "\x48\xc7\xc0\x90\x90\x90\x90", 7);
	put_probe(work, "free", 0, ONE);
	put_probe(work, "alloc", 0x7010, THREE);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->files[0]), 4);
	assert_null(probe_at(work, 0));
	assert_null(probe_at(work, 0x7010));
	assert_false(is_skipped(work, "sample probes"));
	work_free(work);
}

static void test_no_place_twice(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_allocator(work);
	put_probe(work, "alloc", 0x1010, THREE);
	put_probe(work, "free", 0x1010, ONE);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->files[0]), 4);
	work_free(work);
}

#if defined(__x86_64__)

/*
 * nopl 0(%rax,%rax,1), five bytes: this kernel puts a call there, which overwrites what a function without calls keeps
 * below the stack pointer.
 */
static void test_place_that_becomes_a_call(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_allocator(work);
	memcpy(work->bytes + 0x4010, "\x0f\x1f\x44\x00\x00", 5);
	plan_add_file(&work->plan, 0, &work->files[0]);
	assert_false(has_function(work, "otel_memory:alloc"));
	assert_null(probe_at(work, 0x4010));
	assert_true(is_skipped(work, "1 of 3 sample probes"));
	work_free(work);
}

#endif

static void test_samplers_are_sought(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);

	(void)state;
	put_probe(work, "alloc", 0x1010, THREE);
	put_probe(work, "free", 0x1020, ONE)->provider = "libc";
	plan_seek_samples(&work->plan, &work->files[0]);
	plan_seek_samples(&work->plan, &work->files[1]);
	assert_false(work->plan.has_samplers);
	put_probe(work, "free", 0x1020, ONE);
	plan_seek_samples(&work->plan, &work->files[0]);
	assert_true(work->plan.has_samplers);
	plan_seek_samples(&work->plan, &work->files[1]);
	assert_true(work->plan.has_samplers);
	work_free(work);
}

static void test_texts(void **state)
{
	struct work *work = work_new(USDT_AUTO, NULL);
	struct buffer text = { 0 };

	(void)state;
	put_allocator(work);
	put_probe(work, "free", 0x2020, ONE " \033[31m");
	put_function(work, 1, "malloc", 0x1000);
	plan_add_file(&work->plan, 0, &work->files[0]);
	assert_false(plan_describe_overlap(&work->plan, &text));
	plan_add_file(&work->plan, 1, &work->files[1]);
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(
		text.data, "libtest.so: otel_memory, 4 sites (sampled by the program), 1 function; "
			   "libother.so: 1 function");
	buffer_clear(&text);
	assert_true(plan_describe_overlap(&work->plan, &text));
	assert_non_null(strstr(text.data,
			       "/lib/libtest.so is sampled, and every call is counted in "
			       "/lib/libother.so: memory"));
	buffer_clear(&text);
	plan_describe(&work->plan, &text);
	assert_non_null(strstr(text.data, "arguments " THREE ", semaphore"));
	assert_non_null(strstr(text.data, "arguments " ONE " ?[31m"));
	assert_null(strchr(text.data, '\033'));
	buffer_free(&text);
	work_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instead_of_functions),
		cmocka_unit_test(test_functions_of_the_allocator),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_only),
		cmocka_unit_test(test_named_functions_remain),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_some_are_refused),
		cmocka_unit_test(test_places_without_nop),
		cmocka_unit_test(test_no_place_twice),
#if defined(__x86_64__)
		cmocka_unit_test(test_place_that_becomes_a_call),
#endif
		cmocka_unit_test(test_samplers_are_sought),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
