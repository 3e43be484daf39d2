/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of a file are probed, at which instruction, and what is left out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "plan_world.h"

static void test_names_and_shapes(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *probe;

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, DEAR);
	PUT(work, "strdup", 0x3000, CHEAP);
	PUT(work, "gnu_get_libc_version", 0x4000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 2);
	assert_int_equal(work->plan.count, 2);
	probe = probe_of(work, "malloc");
	assert_int_equal(probe->entry_offset, 0x1000);
	assert_int_equal(probe->site_offset, 0x1000);
	assert_int_equal(probe->size, 3);
	assert_int_equal(SHAPE_OP(probe->shape), CALL_ALLOC);
	assert_int_equal(SHAPE_FUNCTION(probe->shape), probe->function);
	assert_true(probe->function > 0 && probe->function < work->plan.function_count);
	assert_string_equal(work->plan.functions[probe->function].allocator, "glibc");
	assert_string_equal(work->plan.functions[probe->function].function, "malloc");
	assert_int_equal(work->plan.skipped_count, 0);
	work_free(work);
}

static void test_aliases(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "cfree", 0x2000, CHEAP);
	PUT(work, "__libc_free", 0x2000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	PUT(work, "malloc", 0x1000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 2);
	assert_string_equal(probe_of(work, "free")->aliases, "cfree __libc_free");
	assert_null(probe_of(work, "cfree"));
	work_free(work);
}

static void test_indirect_function(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP)->indirect = true;
	PUT(work, "free", 0x2000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	assert_null(probe_of(work, "malloc"));
	assert_true(is_skipped(work, "malloc is an indirect function"));
	work_free(work);
}

static void test_loader(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "_dl_rtld_di_serinfo", 0x2000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 0);
	assert_true(is_skipped(work, "loader"));
	work_free(work);
}

#if defined(__x86_64__)

static void test_cheaper_site(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "free", 0x2000, DEAR);
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "free")->entry_offset, 0x2000);
	assert_int_equal(probe_of(work, "free")->site_offset, 0x2002);
	assert_int_equal(probe_of(work, "free")->cost, COST_EMULATED);
	assert_string_equal(probe_of(work, "free")->instruction, "pushq %rbx");
	work_free(work);
}

static void test_at_entry(void **state)
{
	struct plan_options options = kernel_options();
	struct work *work;

	(void)state;
	options.at_entry = true;
	work = work_new(&options);
	PUT(work, "free", 0x2000, DEAR);
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "free")->site_offset, 0x2000);
	assert_int_equal(probe_of(work, "free")->cost, COST_STEPPED);
	work_free(work);
}

/* Functions by which a process ends itself are probed on request only, where they begin; they are not what is traced. */
static void test_ends(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "_exit", 0x2000, CHEAP);
	PUT(work, "_Exit", 0x2000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	plan_free(&work->plan);
	plan_init(&work->plan, &work->modules, &(struct plan_options){ .ends = true });
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 2);
	assert_int_equal(SHAPE_OP(probe_of(work, "_exit")->shape), CALL_PROCESS_END);
	assert_int_equal(probe_of(work, "_exit")->site_offset, 0x2000);
	assert_string_equal(probe_of(work, "_exit")->aliases, "_Exit");
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 1);
	work_free(work);
}

/* sub $0x18,%rsp; push %rbx; pop %rbx; add $0x18,%rsp; ret */
static void test_free_without_stack(void **state)
{
	static const char code[] = "\x48\x83\xec\x18\x53\x5b\x48\x83\xc4\x18\xc3";
	struct plan_options options = kernel_options();
	struct work *work;

	(void)state;
	options.free_without_stack = true;
	work = work_new(&options);
	PUT(work, "free", 0x2000, code);
	PUT(work, "malloc", 0x1000, code);
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "free")->site_offset, 0x2004);
	assert_int_equal(probe_of(work, "free")->stack_bytes, 0x18);
	assert_int_equal(probe_of(work, "malloc")->site_offset, 0x1000);
	assert_int_equal(probe_of(work, "malloc")->stack_bytes, 0);
	work_free(work);
}

static void test_stubs(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	put_jump(work, "free_sized", 0x3000, 0x2000);
	put_jump(work, "free_aligned_sized", 0x3100, 0x3000); /* by way of the other */
	put_jump(work, "valloc", 0x3200, 0x5000); /* to a function nobody knows */
	put_jump(work, "memalign", 0x3300, 0x1000); /* its arguments are not malloc's */
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 4);
	assert_null(probe_of(work, "free_sized"));
	assert_null(probe_of(work, "free_aligned_sized"));
	assert_non_null(probe_of(work, "valloc"));
	assert_non_null(probe_of(work, "memalign"));
	assert_true(is_skipped(work, "free_sized only jumps to free"));
	assert_true(is_skipped(work, "free_aligned_sized only jumps to free"));
	work_free(work);
}

/* By way of the linkage table, as in a library whose own functions may be replaced. */
static void test_stub_by_linkage_table(void **state)
{
	struct work *work = work_default();

	(void)state;
	fake_plt_write(work->bytes, SIZE, 0x8000, (const char *[]){ "free", "exit" }, 2);
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "mi_free", 0x2000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	put_jump(work, "_ZdlPv", 0x3000, fake_plt_entry(0x8000, 0));
	put_jump(work, "_ZdaPv", 0x3100, fake_plt_entry(0x8000, 1));
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	assert_null(probe_of(work, "_ZdlPv"));
	assert_non_null(probe_of(work, "_ZdaPv"));
	assert_true(is_skipped(work, "_ZdlPv only jumps to free"));
	work_free(work);
}

/* The name that a user knows stays on the function that does the work. */
static void test_stub_gives_its_name(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *probe;

	(void)state;
	put_jump(work, "malloc", 0x1000, 0x4000);
	PUT(work, "__libc_malloc", 0x4000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	probe = probe_of(work, "__libc_malloc");
	assert_non_null(probe);
	assert_string_equal(work->plan.functions[probe->function].function, "malloc");
	work_free(work);
}

static void test_stubs_in_a_circle(void **state)
{
	struct work *work = work_default();

	(void)state;
	put_jump(work, "free", 0x1000, 0x2000);
	put_jump(work, "cfree", 0x2000, 0x1000);
	put_jump(work, "tc_free", 0x3000, 0x3000);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	work_free(work);
}

/* xor %eax,%eax; jne to a part elsewhere; ret. The part may come back behind the entry, or not. */
static void test_split_function(void **state)
{
	static const char code[] = "\x31\xc0\x0f\x85\xf8\x1f\x00\x00\xc3"; /* 0x1000 -> 0x3000 */
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, code);
	memcpy(work->bytes + 0x3000, "\xe9\x03\xe0\xff\xff", 5); /* -> 0x1008 */
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "malloc")->site_offset, 0x1002);
	work_free(work);

	work = work_default();
	PUT(work, "malloc", 0x1000, code);
	memcpy(work->bytes + 0x3000, "\xe9\xfd\xdf\xff\xff", 5); /* -> 0x1002 */
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "malloc")->site_offset, 0x1000);
	assert_int_equal(probe_of(work, "malloc")->cost, COST_STEPPED);
	work_free(work);
}

/* Another function begins between the entry and the cheaper instruction. */
static void test_overlap(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, DEAR);
	PUT(work, "inner", 0x1002, "\x53");
	PUT(work, "free", 0x2000, DEAR);
	PUT(work, "outer", 0x1f00, CHEAP)->size = 0x200;
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "malloc")->site_offset, 0x1000);
	assert_int_equal(probe_of(work, "free")->site_offset, 0x2002);
	work_free(work);
}

static void test_sizes_disagree(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "free", 0x2000, DEAR);
	PUT(work, "cfree", 0x2000, DEAR)->size = 3;
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "free")->site_offset, 0x2000);
	work_free(work);
}

static void test_cut_off(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "free", SIZE - 5, DEAR)->size = 100;
	PUT(work, "cfree", 0x2000, "")->file_offset = SIZE;
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(probe_of(work, "free")->site_offset, SIZE - 5);
	assert_null(probe_of(work, "cfree"));
	assert_true(is_skipped(work, "cfree has no code"));
	work_free(work);
}

/* push %rbx; call TARGET; pop %rbx; ret */
static void put_call(struct work *work, const char *name, uint64_t offset, uint64_t target)
{
	int32_t displacement = (int32_t)((int64_t)target - (int64_t)offset - 6);
	char code[8] = "\x53\xe8\0\0\0\0\x5b\xc3";

	memcpy(code + 2, &displacement, sizeof(displacement));
	put(work, name, offset, code, sizeof(code));
}

/* As in libstdc++: new[] calls new, new calls malloc by the dynamic linker, delete is a jump. */
static void test_operators_that_call(void **state)
{
	static const char *const names[] = { "printf", "malloc", "free" };
	struct work *work = work_default();

	(void)state;
	fake_plt_write(work->bytes, SIZE, 0x8000, names, 3);
	put_call(work, "_Znam", 0x1000, 0x1100);
	put_call(work, "_Znwm", 0x1100, fake_plt_entry(0x8000, 1));
	put_jump(work, "_ZdlPv", 0x1200, fake_plt_entry(0x8000, 2));
	put_call(work, "_ZdaPv", 0x1300, fake_plt_entry(0x8000, 0));
	/* It may ask malloc for more than it was asked for. */
	put_call(work, "_ZnwmSt11align_val_t", 0x1400, fake_plt_entry(0x8000, 1));
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	assert_non_null(probe_of(work, "_ZdaPv"));
	assert_non_null(probe_of(work, "_ZnwmSt11align_val_t"));
	assert_true(is_skipped(work, "3 C++ operators call malloc, free or each other"));
	work_free(work);
}

/* What is made by the functions of a file that publishes samples ends there, unseen. */
static void test_calls_into_samplers(void **state)
{
	static const char *const names[] = { "printf", "aligned_alloc", "realloc" };
	struct work *work = work_default();

	(void)state;
	work->plan.has_samplers = true;
	fake_plt_write(work->bytes, SIZE, 0x8000, names, 3);
	put_call(work, "_ZnwmSt11align_val_t", 0x1000, fake_plt_entry(0x8000, 1));
	put_call(work, "reallocarray", 0x1100, fake_plt_entry(0x8000, 2));
	put_call(work, "realloc", 0x1200, fake_plt_entry(0x8000, 1));
	put_call(work, "_ZnamSt11align_val_t", 0x1300, fake_plt_entry(0x8000, 0));
	plan_add_file(&work->plan, 0, &work->file);
	assert_null(probe_of(work, "_ZnwmSt11align_val_t"));
	assert_null(probe_of(work, "reallocarray"));
	assert_non_null(probe_of(work, "realloc"));
	assert_non_null(probe_of(work, "_ZnamSt11align_val_t"));
	assert_true(is_skipped(work, "2 functions call malloc, free or each other"));
	work_free(work);
}

/* glibc 2.43's free goes back to its entry by code behind it, glibc 2.36's does not. By objdump: pop %rbx; jmp free. */
static void test_free_that_comes_back(void **state)
{
	struct work *work = work_default();

	(void)state;
	put_jump(work, "cfree", 0x1000, 0x3001);
	put_jump(work, "free", 0x2000, 0x2041);
	/* Without a symbol. */
	put_jump(work, "inner", 0x3001, 0x1000);
	put_jump(work, "other", 0x2041, 0x2100);
	work->file.function_count -= 2;
	PUT(work, "gnu_get_libc_version", 0x5000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	assert_int_equal(SHAPE_RESULT(probe_of(work, "cfree")->shape), RESULT_FREES_INSIDE);
	assert_int_equal(SHAPE_RESULT(probe_of(work, "free")->shape), RESULT_POINTER);
	work_free(work);
}

/* What nobody knows may be a wrapper of another file's functions. */
static void test_free_of_a_wrapper(void **state)
{
	static const char *const markers[] = { NULL, "mallocx" };
	static const uint32_t results[] = { RESULT_FREES_INSIDE, RESULT_POINTER };
	struct work *work;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		work = work_default();
		PUT(work, "malloc", 0x1000, CHEAP);
		PUT(work, "free", 0x2000, CHEAP);
		if (markers[i])
			PUT(work, markers[i], 0x3000, CHEAP);
		plan_add_file(&work->plan, 0, &work->file);
		assert_int_equal(SHAPE_RESULT(probe_of(work, "free")->shape), results[i]);
		assert_int_equal(SHAPE_RESULT(probe_of(work, "malloc")->shape), RESULT_POINTER);
		assert_true(work->plan.allocates);
		work_free(work);
	}
}

/* An allocator has short cuts: what its operators call says nothing. */
static void test_operators_of_allocator(void **state)
{
	struct work *work = work_default();

	(void)state;
	put_call(work, "_Znwm", 0x1000, 0x3000);
	put_call(work, "_ZdlPv", 0x2000, 0x4000);
	PUT(work, "malloc", 0x3000, CHEAP);
	PUT(work, "free", 0x4000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 5);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 4);
	work_free(work);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_shapes),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_indirect_function),
		cmocka_unit_test(test_loader),
#if defined(__x86_64__)
		cmocka_unit_test(test_cheaper_site),
		cmocka_unit_test(test_at_entry),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_free_without_stack),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_stub_by_linkage_table),
		cmocka_unit_test(test_stub_gives_its_name),
		cmocka_unit_test(test_stubs_in_a_circle),
		cmocka_unit_test(test_split_function),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_sizes_disagree),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_operators_that_call),
		cmocka_unit_test(test_calls_into_samplers),
		cmocka_unit_test(test_free_that_comes_back),
		cmocka_unit_test(test_free_of_a_wrapper),
		cmocka_unit_test(test_operators_of_allocator),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
