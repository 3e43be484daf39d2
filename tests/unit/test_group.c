/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites as groups by line. Truth: sums done by hand, of sites made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "analyze/group.h"
#include "base/memory.h"

static const struct frame_name user_56 = { "leak", "app/models/user.rb", 56 };
static const struct frame_name user_56_again = { "block in leak", "app/models/user.rb", 56 };
static const struct frame_name user_57 = { "leak", "app/models/user.rb", 57 };
static const struct frame_name other_56 = { "leak", "app/models/other.rb", 56 };

static const struct function_name function_malloc = { "glibc", "malloc" };
static const struct function_name function_calloc = { "glibc", "calloc" };
static const struct target target_one, target_two;

/* A native frame, then the named ones, innermost first. */
static struct stack *make_stack(enum frame_kind kind, const struct frame_name *inner,
				const struct frame_name *outer)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + 3 * sizeof(stack->frames[0]));

	stack->frames[stack->count++] = (struct frame){ .kind = FRAME_NATIVE, .address = 1 };
	if (inner)
		stack->frames[stack->count++] = (struct frame){ .kind = kind, .name = inner };
	if (outer)
		stack->frames[stack->count++] = (struct frame){ .kind = kind, .name = outer };
	return stack;
}

static struct snapshot_site make_site(uint64_t key, const struct stack *stack, uint64_t bytes)
{
	return (struct snapshot_site){
		.key = key,
		.target = &target_one,
		.function = &function_malloc,
		.stack = stack,
		.stats = { .alloc_bytes = bytes,
			   .alloc_objects = 2,
			   .free_bytes = bytes / 2,
			   .free_objects = 1,
			   .oldest_ns = key,
			   .age_sum_ns = 100,
			   .young_bytes = 3,
			   .young_objects = 1 },
	};
}

/* The addresses of frames name their functions. */
static const struct symbol_list *lookup(void *context, const struct frame *frame)
{
	static const struct symbol names[] = { { "outer", "file.c", 1, false },
					       { "inner", "file.c", 2, false } };
	static struct symbol_list lists[] = { { 1, (struct symbol *)&names[0] },
					      { 1, (struct symbol *)&names[1] } };

	(void)context;
	return &lists[frame->address % 2];
}

static const struct report_names all_names = { .lookup = lookup };

/* What is grouped, and what it was judged by. */
struct grouping {
	struct judge *judge;
	struct grouped *grouped;
};

static struct grouping make_grouping(const struct snapshot *snapshot, enum group_by by,
				     const struct frame_rules *rules)
{
	struct judge *judge = judge_new(snapshot, rules, &all_names);

	return (struct grouping){ judge, group_build(snapshot, by, false, judge) };
}

static void grouping_free(struct grouping *grouping)
{
	group_free(grouping->grouped);
	judge_free(grouping->judge);
}

static const struct snapshot_site *find_site(const struct grouped *grouped, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < grouped->snapshot.site_count; i++)
		if (grouped->snapshot.sites[i].stats.alloc_bytes == bytes)
			return &grouped->snapshot.sites[i];
	return NULL;
}

static void test_group(void **state)
{
	struct stack *same = make_stack(FRAME_RUBY, &user_56, &other_56);
	struct stack *again = make_stack(FRAME_RUBY, &user_56_again, NULL);
	struct stack *line = make_stack(FRAME_RUBY, &user_57, &user_56);
	struct stack *file = make_stack(FRAME_RUBY, &other_56, NULL);
	struct stack *native = make_stack(FRAME_RUBY, NULL, NULL);
	struct snapshot_site sites[] = {
		make_site(30, same, 1000), make_site(20, line, 10),   make_site(10, again, 2000),
		make_site(40, file, 20),   make_site(50, native, 40), make_site(60, native, 80),
		make_site(70, same, 160),  make_site(80, same, 320),
	};
	struct snapshot snapshot = { .sites = sites, .site_count = 8 };
	const struct snapshot_site *site;
	struct grouping grouping;
	struct grouped *grouped;

	(void)state;
	sites[6].function = &function_calloc;
	sites[7].target = &target_two;
	grouping = make_grouping(&snapshot, GROUP_BY_RUBY_LINE, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 7);
	site = find_site(grouped, 3000);
	assert_non_null(site);
	assert_int_equal(site->key, 10);
	assert_int_equal(site->stats.alloc_objects, 4);
	assert_int_equal(site->stats.free_bytes, 1500);
	assert_int_equal(site->stats.free_objects, 2);
	assert_int_equal(site->stats.oldest_ns, 30);
	assert_int_equal(site->stats.age_sum_ns, 200);
	assert_int_equal(site->stats.young_bytes, 6);
	assert_int_equal(site->stats.young_objects, 2);
	assert_int_equal(site->stack->count, 1);
	assert_int_equal(site->stack->frames[0].name->line, 56);
	assert_string_equal(site->stack->frames[0].name->file, "app/models/user.rb");
	assert_non_null(find_site(grouped, 10));
	assert_non_null(find_site(grouped, 20));
	assert_ptr_equal(find_site(grouped, 40)->stack, native);
	assert_ptr_equal(find_site(grouped, 80)->stack, native);
	assert_non_null(find_site(grouped, 160));
	assert_non_null(find_site(grouped, 320));
	grouping_free(&grouping);
	free(same);
	free(again);
	free(line);
	free(file);
	free(native);
}

static struct stack *make_caller(uint32_t module, uint64_t address)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + 2 * sizeof(stack->frames[0]));

	stack->count = 2;
	stack->frames[0] = (struct frame){ .module = module, .address = address, .offset = 5 };
	stack->frames[1] = (struct frame){ .module = 9, .address = 1 };
	return stack;
}

/* Of a group by function or module only the name of what calls is shown: it has no line. */
static void assert_whole(const struct snapshot_site *site, uint32_t module, const char *function)
{
	assert_non_null(site);
	assert_int_equal(site->stack->count, 1);
	assert_true(site->stack->frames[0].whole);
	assert_int_equal(site->stack->frames[0].module, module);
	assert_int_equal(site->stack->frames[0].offset, 0);
	if (function)
		assert_string_equal(site->stack->frames[0].name->function, function);
	else
		assert_null(site->stack->frames[0].name);
}

static void test_callers(void **state)
{
	struct stack *inner = make_caller(1, 1), *again = make_caller(1, 3);
	struct stack *outer = make_caller(1, 2), *other = make_caller(2, 1);
	struct snapshot_site sites[] = {
		make_site(1, inner, 1000), make_site(2, again, 2000),  make_site(3, outer, 4000),
		make_site(4, other, 8000), make_site(5, inner, 16000),
	};
	struct snapshot snapshot = { .sites = sites, .site_count = 5 };
	struct grouping grouping;
	struct grouped *grouped;

	(void)state;
	sites[1].function = &function_calloc;
	sites[4].target = &target_two;
	grouping = make_grouping(&snapshot, GROUP_BY_FUNCTION, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 4);
	assert_whole(find_site(grouped, 3000), 1, "inner");
	assert_null(find_site(grouped, 3000)->function->function);
	assert_true(find_site(grouped, 3000)->mixed && !grouped->snapshot.sites[0].members->mixed);
	assert_whole(find_site(grouped, 4000), 1, "outer");
	assert_string_equal(find_site(grouped, 4000)->function->function, "malloc");
	assert_whole(find_site(grouped, 8000), 2, "inner");
	assert_ptr_equal(find_site(grouped, 16000)->target, &target_two);
	grouping_free(&grouping);
	grouping = make_grouping(&snapshot, GROUP_BY_MODULE, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 3);
	assert_whole(find_site(grouped, 7000), 1, NULL);
	assert_whole(find_site(grouped, 8000), 2, NULL);
	grouping_free(&grouping);
	free(inner);
	free(again);
	free(outer);
	free(other);
}

/* One row for each process and source; what its program held before it ended is a row of its own. */
static void test_processes(void **state)
{
	struct stack *stack = make_caller(1, 1), *none = make_stack(FRAME_RUBY, NULL, NULL);
	struct snapshot_site sites[] = {
		make_site(1, stack, 1000), make_site(2, none, 2000), make_site(3, stack, 4000),
		make_site(4, none, 8000),  make_site(5, stack, 16),
	};
	struct snapshot snapshot = { .sites = sites, .site_count = 5 };
	struct grouping grouping;
	struct grouped *grouped;

	(void)state;
	sites[2].target = &target_two;
	sites[3].source = SOURCE_MMAP;
	sites[4].ended = true;
	grouping = make_grouping(&snapshot, GROUP_BY_PROCESS, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 4);
	assert_int_equal(find_site(grouped, 3000)->stack->count, 0);
	assert_null(find_site(grouped, 3000)->function->function);
	assert_ptr_equal(find_site(grouped, 4000)->target, &target_two);
	assert_int_equal(find_site(grouped, 8000)->source, SOURCE_MMAP);
	assert_true(find_site(grouped, 16)->ended);
	grouping_free(&grouping);
	free(stack);
	free(none);
}

/* The id of the row that has these bytes. */
static uint64_t id_of(struct snapshot_site *sites, size_t count, enum group_by by, uint64_t bytes)
{
	const struct snapshot snapshot = { .sites = sites, .site_count = count, .id_seed = 7 };
	struct grouping grouping = make_grouping(&snapshot, by, NULL);
	uint64_t id = find_site(grouping.grouped, bytes)->id;

	grouping_free(&grouping);
	return id;
}

/* A row has the same id with other sites, and other rows have other ids. */
static void test_ids(void **state)
{
	static const enum group_by ways[] = { GROUP_BY_RUBY_LINE, GROUP_BY_PROCESS, GROUP_BY_SHOWN,
					      GROUP_BY_STACK };
	struct stack *stacks[] = { make_stack(FRAME_RUBY, &user_56, NULL),
				   make_stack(FRAME_RUBY, &user_56, NULL),
				   make_stack(FRAME_RUBY, &user_57, NULL) };
	struct snapshot_site sites[] = { make_site(2, stacks[0], 1000),
					 make_site(3, stacks[2], 200), make_site(1, stacks[1], 4) };
	struct snapshot_site other;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint64_t rows[] = { 1000, 1200 }, more[] = { 1004, 1204 };
		uint64_t id = id_of(sites, 2, ways[i], rows[i]);

		assert_true(id == id_of(sites, 3, ways[i], more[i]));
		assert_true(id != id_of(sites, 2, ways[1 - i], rows[1 - i]));
	}
	for (i = 0; i < 4; i++) {
		if (ways[i] == GROUP_BY_PROCESS)
			continue;
		assert_true(id_of(sites, 2, ways[i], 1000) != id_of(sites, 2, ways[i], 200));
		other = sites[0];
		other.ended = true;
		assert_true(id_of(sites, 1, ways[i], 1000) != id_of(&other, 1, ways[i], 1000));
		other = sites[0];
		other.source = SOURCE_MMAP;
		assert_true(id_of(sites, 1, ways[i], 1000) != id_of(&other, 1, ways[i], 1000));
	}
	for (i = 0; i < 3; i++)
		free(stacks[i]);
}

static uint32_t add_module(struct module_list *modules, uint64_t inode)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string("/srv/plugin.so");
	module->fd = -1;
	module->inode = inode;
	return module_list_add(modules, module);
}

/* A library that was replaced, while its first file is still mapped: rows of both have ids of their own. */
static void test_ids_of_files(void **state)
{
	static const enum group_by ways[] = { GROUP_BY_MODULE, GROUP_BY_SHOWN };
	struct module_list modules = { 0 };
	struct stack *stacks[] = { make_stack(FRAME_NATIVE, NULL, NULL),
				   make_stack(FRAME_NATIVE, NULL, NULL) };
	struct snapshot_site sites[] = { make_site(1, stacks[0], 1000),
					 make_site(2, stacks[1], 200) };
	const struct snapshot snapshot = {
		.sites = sites, .site_count = 2, .id_seed = 7, .modules = &modules
	};
	size_t i;

	(void)state;
	stacks[0]->frames[0].module = add_module(&modules, 10);
	stacks[1]->frames[0].module = add_module(&modules, 11);
	for (i = 0; i < 2; i++) {
		struct grouping grouping = make_grouping(&snapshot, ways[i], NULL);

		assert_int_equal(grouping.grouped->snapshot.site_count, 2);
		assert_true(find_site(grouping.grouped, 1000)->id !=
			    find_site(grouping.grouped, 200)->id);
		grouping_free(&grouping);
	}
	for (i = 0; i < 2; i++)
		free(stacks[i]);
	module_list_free(&modules);
}

/* A native frame, and the name of the thread. */
static struct stack *make_threads_stack(uint64_t address, const struct frame_name *name)
{
	struct stack *stack = make_stack(FRAME_NATIVE, NULL, NULL);

	stack->frames[0].address = address;
	stack->frames[stack->count++] = (struct frame){ .kind = FRAME_THREAD, .name = name };
	return stack;
}

/* By the name of the thread, whatever the stack and the allocator function are; processes stay apart. */
static void test_threads(void **state)
{
	struct frame_rules rules = { 0 };
	struct frame_view view = { .function = "io" };
	static const struct frame_name io = { .function = "io" }, io_again = { .function = "io" };
	static const struct frame_name worker = { .function = "worker" };
	struct stack *stacks[] = { make_threads_stack(1, &io), make_threads_stack(2, &io_again),
				   make_threads_stack(1, &worker),
				   make_stack(FRAME_RUBY, NULL, NULL) };
	struct snapshot_site sites[] = { make_site(1, stacks[0], 1000),
					 make_site(2, stacks[1], 200), make_site(3, stacks[2], 40),
					 make_site(4, stacks[0], 8), make_site(5, stacks[3], 16) };
	struct snapshot snapshot = { .sites = sites, .site_count = 5 };
	struct grouping grouping;
	const struct snapshot_site *row;
	size_t i;

	(void)state;
	sites[1].function = &function_calloc;
	sites[3].target = &target_two;
	assert_int_equal(frame_rules_add(&rules.hide, "^io$", NULL), 0);
	grouping = make_grouping(&snapshot, GROUP_BY_THREAD, &rules);
	assert_int_equal(grouping.grouped->snapshot.site_count, 4);
	row = find_site(grouping.grouped, 1200);
	assert_int_equal(row->stack->count, 1);
	assert_int_equal(row->stack->frames[0].kind, FRAME_THREAD);
	assert_string_equal(row->stack->frames[0].name->function, "io");
	assert_null(row->function->function);
	/* --hide is for code. */
	view.frame = &row->stack->frames[0];
	assert_false(judge_hides(grouping.judge, &view));
	assert_string_equal(find_site(grouping.grouped, 40)->function->function, "malloc");
	assert_ptr_equal(find_site(grouping.grouped, 8)->target, &target_two);
	assert_ptr_equal(find_site(grouping.grouped, 16)->stack, stacks[3]);
	grouping_free(&grouping);
	frame_rules_free(&rules);
	for (i = 0; i < 4; i++)
		free(stacks[i]);
}

/* By another kind of frame, or by stack, every site stays as it is. */
static void test_alone(void **state)
{
	struct stack *ruby = make_stack(FRAME_RUBY, &user_56, NULL);
	struct snapshot_site sites[] = { make_site(1, ruby, 1000), make_site(2, ruby, 2000) };
	struct snapshot snapshot = { .sites = sites, .site_count = 2 };
	enum group_by ways[] = { GROUP_BY_STACK, GROUP_BY_PYTHON_LINE };
	struct grouping grouping;
	struct grouped *grouped;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		grouping = make_grouping(&snapshot, ways[i], NULL);
		grouped = grouping.grouped;
		assert_int_equal(grouped->snapshot.site_count, 2);
		assert_ptr_equal(find_site(grouped, 1000)->stack, ruby);
		assert_ptr_equal(find_site(grouped, 2000)->stack, ruby);
		grouping_free(&grouping);
	}
	grouping = make_grouping(&(struct snapshot){ 0 }, GROUP_BY_RUBY_LINE, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 0);
	grouping_free(&grouping);
	group_free(NULL);
	judge_free(NULL);
	free(ruby);
}

/* A function of an interpreter's that is written in C has no line: the line that has called it counts. */
static void test_line_of_caller(void **state)
{
	static const struct frame_name repeat = { .function = "str_repeat" },
				       pad = { .function = "str_pad" };
	struct stack *repeats = make_stack(FRAME_PHP, &repeat, &user_56);
	struct stack *pads = make_stack(FRAME_PHP, &pad, &user_56);
	struct snapshot_site sites[] = { make_site(1, repeats, 1000), make_site(2, pads, 2000) };
	struct snapshot snapshot = { .sites = sites, .site_count = 2 };
	struct grouping grouping = make_grouping(&snapshot, GROUP_BY_PHP_LINE, NULL);
	struct grouped *grouped = grouping.grouped;

	(void)state;
	assert_int_equal(grouped->snapshot.site_count, 1);
	assert_ptr_equal(find_site(grouped, 3000)->stack->frames[0].name, &user_56);
	grouping_free(&grouping);
	free(repeats);
	free(pads);
}

/* Two frames with a function of an interpreter's own between them, or two, or none. */
static struct stack *make_shown(uint64_t inner, uint32_t internal, const struct frame_name *outer)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + 4 * sizeof(stack->frames[0]));
	uint32_t i;

	stack->frames[stack->count++] = (struct frame){ .module = 1, .offset = inner };
	for (i = 0; i < internal; i++)
		stack->frames[stack->count++] =
			(struct frame){ .module = 2, .offset = 100 + i, .internal = true };
	stack->frames[stack->count++] =
		(struct frame){ .kind = FRAME_PYTHON, .address = internal, .name = outer };
	return stack;
}

/* What is not shown makes no difference; all that is shown does. */
static void test_shown(void **state)
{
	/* Another instruction of the line: another name, of the same texts. */
	struct frame_name same_line = user_56;
	struct stack *stacks[] = {
		make_shown(7, 1, &user_56), make_shown(7, 2, &same_line),
		make_shown(7, 0, &user_56), make_shown(8, 1, &user_56),
		make_shown(7, 1, &user_57), make_shown(7, 1, NULL),
		make_shown(7, 1, &user_56), make_shown(7, 1, &user_56),
		make_shown(7, 1, &user_56),
	};
	struct snapshot_site sites[9];
	struct snapshot snapshot = { .sites = sites, .site_count = 9 };
	struct grouping grouping;
	struct grouped *grouped;
	size_t i;

	(void)state;
	for (i = 0; i < 9; i++)
		sites[i] = make_site(i + 1, stacks[i], 1ull << i);
	sites[6].function = &function_calloc;
	sites[7].target = &target_two;
	/* An allocation of the interpreter's own. */
	stacks[8]->frames[0].internal = true;
	grouping = make_grouping(&snapshot, GROUP_BY_SHOWN, NULL);
	grouped = grouping.grouped;
	assert_int_equal(grouped->snapshot.site_count, 7);
	assert_non_null(find_site(grouped, 1 + 2 + 4));
	assert_int_equal(find_site(grouped, 1 + 2 + 4)->key, 1);
	assert_ptr_equal(find_site(grouped, 1 + 2 + 4)->function, &function_malloc);
	for (i = 3; i < 9; i++)
		assert_ptr_equal(find_site(grouped, 1ull << i)->stack, stacks[i]);
	grouping_free(&grouping);
	for (i = 0; i < 9; i++)
		free(stacks[i]);
}

/* What is estimated and what is exact is never added up, not even of one process. */
static void test_samples(void **state)
{
	struct stack *stack = make_stack(FRAME_RUBY, &user_56, NULL);
	struct snapshot_site sites[] = { make_site(10, stack, 1000), make_site(20, stack, 10),
					 make_site(30, stack, 2000), make_site(40, stack, 20) };
	struct module_list modules = { 0 };
	struct snapshot snapshot = { .sites = sites, .site_count = 4, .modules = &modules };
	enum group_by by;

	(void)state;
	sites[0].sampled = sites[2].sampled = true;
	sites[0].stats.samples = 5;
	sites[2].stats.samples = 7;
	for (by = GROUP_BY_RUBY_LINE; by <= GROUP_BY_SHOWN; by++) {
		struct grouping grouping;
		struct grouped *grouped;

		if ((by != GROUP_BY_RUBY_LINE && by < GROUP_BY_FUNCTION) || by == GROUP_BY_THREAD)
			continue;
		grouping = make_grouping(&snapshot, by, NULL);
		grouped = grouping.grouped;
		assert_int_equal(grouped->snapshot.site_count, 2);
		assert_true(find_site(grouped, 3000)->sampled);
		assert_int_equal(find_site(grouped, 3000)->stats.samples, 12);
		assert_false(find_site(grouped, 30)->sampled);
		grouping_free(&grouping);
	}
	free(stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_line_of_caller),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ids_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
