/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe plan. The files are made by the tests, so that the truth is what the test has put into them.
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
#include "fake_plt.h"
#include "probe/plan.h"
#include "tracer_abi.h"

#define SIZE 0x10000

/* push %rbx; pop %rbx; ret */
#define CHEAP "\x53\x5b\xc3"
/* xor %eax,%eax; push %rbx; pop %rbx; ret */
#define DEAR "\x31\xc0\x53\x5b\xc3"

struct work {
	struct module_list modules;
	struct plan plan;
	struct elf_file file;
	uint8_t bytes[SIZE];
};

static struct work *work_new(const struct plan_options *options)
{
	struct work *work = memory_alloc(1, sizeof(*work));
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string("/lib/libtest\033.so");
	module->fd = -1;
	work->file.bytes = work->bytes;
	work->file.size = SIZE;
	assert_int_equal(module_list_add(&work->modules, module), 0);
	plan_init(&work->plan, &work->modules, options);
	return work;
}

static void work_free(struct work *work)
{
	plan_free(&work->plan);
	module_list_free(&work->modules);
	free(work);
}

static struct plan_options kernel_options(void)
{
	return (struct plan_options){ .features = probe_features_for_kernel(6, 18) };
}

static struct work *work_default(void)
{
	struct plan_options options = kernel_options();

	return work_new(&options);
}

static struct elf_function *put(struct work *work, const char *name, uint64_t offset,
				const char *code, size_t size)
{
	struct elf_function *function = &work->file.functions[work->file.function_count++];

	assert_true(work->file.function_count <= FAKE_FUNCTIONS);
	*function = (struct elf_function){ .name = name, .file_offset = offset, .size = size };
	memcpy(work->bytes + offset, code, size);
	return function;
}

#define PUT(work, name, offset, code) put(work, name, offset, code, sizeof(code) - 1)

#if defined(__x86_64__)

static void put_jump(struct work *work, const char *name, uint64_t offset, uint64_t target)
{
	int32_t displacement = (int32_t)((int64_t)target - (int64_t)offset - 5);
	char code[5] = "\xe9";

	memcpy(code + 1, &displacement, sizeof(displacement));
	put(work, name, offset, code, sizeof(code));
}

#endif

static const struct plan_probe *probe_of(const struct work *work, const char *symbol)
{
	const struct plan_probe *found = NULL;
	size_t i;

	for (i = 0; i < work->plan.count; i++)
		if (strcmp(work->plan.probes[i].symbol, symbol) == 0) {
			assert_null(found);
			found = &work->plan.probes[i];
		}
	return found;
}

static bool is_skipped(const struct work *work, const char *words)
{
	size_t i;

	for (i = 0; i < work->plan.skipped_count; i++)
		if (strstr(work->plan.skipped[i].sentence, words))
			return true;
	return false;
}

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

#endif

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

#if defined(__x86_64__)

/*
 * Operators that do not lead to malloc are the only way to their blocks. One that may throw is probed where it begins and
 * where it returns: no exception gets past a return probe.
 */
static void test_operators(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *exit;

	(void)state;
	PUT(work, "_Znwm", 0x1000, CHEAP);
	PUT(work, "_ZdlPv", 0x2000, CHEAP);
	PUT(work, "_ZnwmRKSt9nothrow_t", 0x3000, CHEAP);
	PUT(work, "__cxa_allocate_exception", 0x4000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 5);
	assert_int_equal(work->plan.skipped_count, 0);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 3);
	exit = probe_of(work, "(return)");
	assert_int_equal(exit->site_offset, 0x1002);
	assert_int_equal(SHAPE_OP(exit->shape), CALL_LEAVE);
	assert_int_equal(SHAPE_OP(probe_of(work, "__cxa_allocate_exception")->shape), CALL_THROW);
	work_free(work);
}

/* xor %eax,%eax; push %rbx; pop %rbx; ret, and jmp *%rax */
#define NO_EXITS "\x31\xc0\x53\x5b\xff\xe0"
/* mov $11,%eax; syscall; cmp $-4095,%rax; jae +1; ret; ret */
#define MUNMAP "\xb8\x0b\0\0\0\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3\xc3"

/* The results of mapping functions are read behind their system calls. */
static void test_mapping_functions(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *exit;

	(void)state;
	PUT(work, "munmap", 0x1000, MUNMAP);
	PUT(work, "mremap", 0x2000, NO_EXITS);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	exit = probe_of(work, "(result)");
	assert_int_equal(exit->site_offset, 0x100d);
	assert_int_equal(SHAPE_OP(exit->shape), CALL_LEAVE);
	assert_int_equal(exit->cost, COST_EMULATED);
	assert_true(probe_of(work, "munmap")->shape & SHAPE_BY_EXITS);
	/* Where that is not known, a return probe is better than nothing, and is said to be there. */
	assert_false(probe_of(work, "mremap")->shape & SHAPE_BY_EXITS);
	assert_true(is_skipped(work, "mremap is probed by its return: a jump's target is unknown"));
	assert_false(work->plan.skipped[0].lost);
	work_free(work);
}

static void test_no_return_probes(void **state)
{
	struct plan_options options = kernel_options();
	struct work *work;

	(void)state;
	options.no_return_probes = true;
	work = work_new(&options);
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "calloc", 0x2000, NO_EXITS);
	PUT(work, "free", 0x3000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	assert_true(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	assert_int_equal(probe_of(work, "(return)")->site_offset, 0x1002);
	assert_false(probe_of(work, "free")->shape & SHAPE_BY_EXITS);
	assert_null(probe_of(work, "calloc"));
	assert_true(is_skipped(work, "calloc is to have no return probe"));
	assert_true(work->plan.skipped[0].lost);
	work_free(work);
}

/* A sanitizer's allocator walks the stack, and finds a return probe's address there. */
static void test_walkers(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	PUT(work, "__asan_init", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	assert_true(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	work_free(work);
	work = work_default();
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	assert_false(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	work_free(work);
}

/* Stacks that are switched matter where a return that is asked for cannot be declined. */
static void test_switching(void **state)
{
	struct plan_options options = kernel_options();
	struct work *work;
	int avoid;

	(void)state;
	for (avoid = 0; avoid < 2; avoid++) {
		options.avoid_switching = avoid;
		work = work_new(&options);
		work->plan.switching = "/lib/libfibers.so";
		PUT(work, "malloc", 0x1000, CHEAP);
		PUT(work, "calloc", 0x2000, NO_EXITS);
		PUT(work, "free", 0x3000, CHEAP);
		plan_add_file(&work->plan, 0, &work->file);
		assert_int_equal(!(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS), !avoid);
		assert_int_equal(!probe_of(work, "calloc"), avoid);
		assert_int_equal(is_skipped(work, "calloc may be called on several stacks"), avoid);
		work_free(work);
	}
}

/* A file that is probed by returns turns to exits: its functions keep their numbers, and what has no return its place. */
static void test_turn(void **state)
{
	struct work *work = work_default(), *exits = work_default();
	struct plan_probe malloc_before, free_before;
	size_t count, kept;

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "calloc", 0x2000, NO_EXITS);
	PUT(work, "free", 0x3000, CHEAP);
	exits->file.bytes = work->bytes;
	exits->plan.walker = "a walker";
	count = plan_add_file(&work->plan, 0, &work->file);
	memcpy(exits->file.functions, work->file.functions, sizeof(work->file.functions));
	exits->file.function_count = work->file.function_count;
	plan_add_file(&exits->plan, 0, &exits->file);
	malloc_before = *probe_of(work, "malloc");
	free_before = *probe_of(work, "free");
	kept = plan_turn(&work->plan, 0, count, &exits->plan);
	assert_int_equal(kept, count + 1);
	assert_memory_equal(&work->plan.probes[count].shape, &free_before.shape,
			    sizeof(free_before.shape));
	assert_int_equal(work->plan.count, kept + 2);
	assert_string_equal(work->plan.probes[kept].symbol, "malloc");
	assert_int_equal(work->plan.probes[kept].shape, malloc_before.shape | SHAPE_BY_EXITS);
	assert_int_equal(work->plan.probes[kept].function, malloc_before.function);
	assert_int_equal(SHAPE_OP(work->plan.probes[kept + 1].shape), CALL_LEAVE);
	assert_int_equal(work->plan.probes[kept + 1].site_offset, 0x1002);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 2);
	work_free(work);
	work_free(exits);
}

/* jmp *%rax: nobody knows where it returns. */
static void test_operator_without_exits(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "_Znwm", 0x1000, "\x53\x5b\xff\xe0");
	PUT(work, "_ZdlPv", 0x2000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	assert_true(is_skipped(work, "_Znwm may throw"));
	assert_true(work->plan.skipped[0].lost);
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

/* What is made by the functions of a file that tells of samples ends there, unseen. */
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

/* A file that comes twice is probed once. */
static void test_no_site_twice(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 0);
	assert_int_equal(work->plan.count, 1);
	work_free(work);
}

static void test_nothing(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "main", 0x1000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 0);
	assert_int_equal(work->plan.skipped_count, 0);
	work_free(work);
	plan_free(NULL);
}

/* The same allocator in two files has the same functions; another one has its own. */
static void test_function_ids(void **state)
{
	struct work *work = work_default();
	struct module *module = memory_alloc(1, sizeof(*module));

	(void)state;
	module->path = memory_copy_string("/lib/other.so");
	module->fd = -1;
	module_list_add(&work->modules, module);
	PUT(work, "malloc", 0x1000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_add_file(&work->plan, 1, &work->file);
	PUT(work, "mi_malloc", 0x2000, CHEAP);
	work->file.functions[0].file_offset = 0x3000;
	memcpy(work->bytes + 0x3000, CHEAP, 3);
	plan_add_file(&work->plan, 1, &work->file);
	assert_int_equal(work->plan.count, 4);
	assert_int_equal(work->plan.probes[0].function, work->plan.probes[1].function);
	assert_int_not_equal(work->plan.probes[0].function, work->plan.probes[3].function);
	work_free(work);
}

#if defined(__x86_64__)

static void add_module(struct work *work, const char *path)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = -1;
	module_list_add(&work->modules, module);
}

/* Allocators, how much of them, and that a second malloc may be there for nothing. */
static void test_summarize(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();
	size_t before;

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	PUT(work, "gnu_get_libc_version", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data, "libtest\\x1b.so: 2 functions (glibc)");
	before = work->plan.count;
	add_module(work, "/opt/libmimalloc.so.2");
	add_module(work, "pool");
	work->file.functions[2].name = "mi_malloc";
	PUT(work, "__cxa_allocate_exception", 0x4000, CHEAP);
	plan_add_file(&work->plan, 1, &work->file);
	work->file.function_count = 1;
	plan_add_file(&work->plan, 2, &work->file);
	text.length = 0;
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data,
			    "libtest\\x1b.so: 2 functions (glibc), malloc present but perhaps "
			    "unused; libmimalloc.so.2: 3 functions (mimalloc); "
			    "pool: 1 function");
	text.length = 0;
	plan_summarize(&work->plan, before, &text);
	assert_string_equal(text.data,
			    "libmimalloc.so.2: 3 functions (mimalloc); pool: 1 function");
	buffer_free(&text);
	work_free(work);
}

/* A process may have one C library and another process another one: each is in use. */
static void test_summarize_two_libcs(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "gnu_get_libc_version", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	add_module(work, "/lib/ld-musl-x86_64.so.1");
	work->file.functions[1].name = "__libc_malloc_impl";
	plan_add_file(&work->plan, 1, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data, "libtest\\x1b.so: 1 function (glibc); "
				       "ld-musl-x86_64.so.1: 1 function (musl)");
	buffer_free(&text);
	work_free(work);
}

/* Of a program that has its C++ library inside, exceptions may begin in front of its malloc. */
static void test_summarize_exceptions_first(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "__cxa_allocate_exception", 0x1000, CHEAP);
	PUT(work, "malloc", 0x2000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_true(text.length);
	assert_string_equal(text.data, "libtest\\x1b.so: 1 function");
	buffer_free(&text);
	work_free(work);
}

static void test_describe(void **state)
{
	static const char expected[] =
		"/lib/libtest\\x1b.so\n"
		"  FUNCTION  SITE      INSTRUCTION  COST            WHY\n"
		"  malloc    0x1000    pushq %rbx   emulated        the entry is cheap\n"
		"  free      0x2000+2  pushq %rbx   emulated        as good as the entry, without "
		"a "
		"single step\n"
		"            also cfree\n"
		"  pvalloc   0x4000    retq         single-stepped  no cheaper instruction on the "
		"straight way from it\n"
		"\n"
		"Skipped\n"
		"  /lib/libtest\\x1b.so: free_sized only jumps to free, which is probed\n";
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, DEAR);
	PUT(work, "cfree", 0x2000, DEAR);
	put_jump(work, "free_sized", 0x3000, 0x2000);
	PUT(work, "pvalloc", 0x4000, "\xc3");
	plan_add_file(&work->plan, 0, &work->file);
	plan_describe(&work->plan, &text);
	assert_string_equal(text.data, expected);
	buffer_free(&text);
	work_free(work);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_shapes),
		cmocka_unit_test(test_aliases),
#if defined(__x86_64__)
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_mapping_functions),
		cmocka_unit_test(test_no_return_probes),
		cmocka_unit_test(test_walkers),
		cmocka_unit_test(test_switching),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_operator_without_exits),
		cmocka_unit_test(test_operators_that_call),
		cmocka_unit_test(test_calls_into_samplers),
		cmocka_unit_test(test_free_that_comes_back),
		cmocka_unit_test(test_free_of_a_wrapper),
		cmocka_unit_test(test_operators_of_allocator),
		cmocka_unit_test(test_cheaper_site),
		cmocka_unit_test(test_at_entry),
		cmocka_unit_test(test_free_without_stack),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_stub_by_linkage_table),
		cmocka_unit_test(test_stub_gives_its_name),
		cmocka_unit_test(test_stubs_in_a_circle),
		cmocka_unit_test(test_split_function),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_sizes_disagree),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_summarize),
		cmocka_unit_test(test_summarize_exceptions_first),
		cmocka_unit_test(test_summarize_two_libcs),
#endif
		cmocka_unit_test(test_indirect_function),
		cmocka_unit_test(test_loader),
		cmocka_unit_test(test_no_site_twice),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_function_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
