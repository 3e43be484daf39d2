/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot outlives all that it was made from: the rest is freed before it is grouped, reported and rendered, which the
 * address sanitizer watches.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/group.h"
#include "analyze/report.h"
#include "base/memory.h"
#include "model/snapshot.h"
#include "render/render.h"

/* What a session has, all of it on the heap. */
struct origin {
	struct module_list modules;
	struct target *targets[2];
	struct function_name *function;
	struct name_pool *names;
	struct stack *stacks[3];
};

static char *copy(const char *text)
{
	return memory_copy_string(text);
}

static struct stack *origin_stack(struct origin *origin, uint32_t module, const char *function,
				  uint32_t line)
{
	struct frame_name name = { copy(function), copy("app/models/user.rb"), line };
	struct stack *stack = memory_alloc(1, sizeof(*stack) + 2 * sizeof(stack->frames[0]));

	stack->count = 2;
	stack->frames[0] = (struct frame){ .kind = FRAME_RUBY,
					   .module = MODULE_NONE,
					   .name = name_pool_keep(origin->names, &name) };
	stack->frames[1] = (struct frame){
		.kind = FRAME_NATIVE, .module = module, .address = 0x5000, .offset = 0x1234
	};
	free((char *)(uintptr_t)name.function);
	free((char *)(uintptr_t)name.file);
	return stack;
}

static struct target *origin_target(int pid, const char *comm)
{
	struct target *target = memory_alloc(1, sizeof(*target));

	target->pid = pid;
	target->pidfd = -1;
	target->exe = copy("/usr/bin/ruby");
	snprintf(target->comm, sizeof(target->comm), "%s", comm);
	lateness_add_file(&target->late, "/usr/lib/libpool.so", 2500000);
	return target;
}

static struct origin *origin_new(void)
{
	struct origin *origin = memory_alloc(1, sizeof(*origin));
	struct module *module = memory_alloc(1, sizeof(*module));
	uint32_t removed, index;

	origin->names = name_pool_new();
	removed = module_list_add(&origin->modules, memory_alloc(1, sizeof(*module)));
	module->path = copy("/srv/parser.so");
	module->fd = -1;
	module->build_id_size = 2;
	memset(module->build_id, 0xab, 2);
	index = module_list_add(&origin->modules, module);
	origin->modules.items[removed]->fd = -1;
	module_list_remove(&origin->modules, removed);
	origin->targets[0] = origin_target(4242, "ruby");
	origin->targets[1] = origin_target(4243, "worker");
	origin->function = memory_alloc(1, sizeof(*origin->function));
	origin->function->allocator = copy("jemalloc");
	origin->function->function = copy("malloc");
	origin->stacks[0] = origin_stack(origin, index, "User#load", 56);
	origin->stacks[1] = origin_stack(origin, index, "User#save", 57);
	origin->stacks[2] = origin_stack(origin, index, "User#load", 56);
	return origin;
}

static void origin_free(struct origin *origin)
{
	size_t i;

	for (i = 0; i < 3; i++)
		stack_free(origin->stacks[i]);
	for (i = 0; i < 2; i++)
		target_free(origin->targets[i]);
	free((char *)(uintptr_t)origin->function->allocator);
	free((char *)(uintptr_t)origin->function->function);
	free(origin->function);
	name_pool_free(origin->names);
	module_list_free(&origin->modules);
	free(origin);
}

/* Two sites in one process, one in the other. */
static struct snapshot *snapshot_of(const struct origin *origin)
{
	struct snapshot *snapshot = snapshot_new();
	size_t i;

	snapshot->time_ns = 2000000000;
	snapshot->start_ns = 1000000000;
	snapshot_set_modules(snapshot, &origin->modules);
	snapshot_hold_names(snapshot, origin->names);
	for (i = 0; i < 2; i++)
		snapshot_add_target(snapshot, origin->targets[i]);
	for (i = 0; i < 3; i++)
		snapshot_add_site(snapshot,
				  &(struct snapshot_site){ .key = i + 1,
							   .target = origin->targets[i / 2],
							   .function = origin->function,
							   .stack = origin->stacks[i],
							   .stats = { .alloc_bytes = 100 << i,
								      .alloc_objects = 1 + i } });
	return snapshot;
}

static const struct symbol_list *lookup(void *context, const struct frame *frame)
{
	static struct symbol unnamed;
	static const struct symbol_list list = { 1, &unnamed };

	(void)context;
	assert_int_equal(frame->kind, FRAME_NATIVE);
	return &list;
}

static char *rendered(const struct snapshot *snapshot, enum group_by by, const char *format)
{
	const struct report_names names = { lookup, NULL };
	const struct report_options wanted = { .internal = true };
	const struct render_options style = { .verbose = true };
	struct judge *judge = judge_new(snapshot, NULL, &names);
	struct grouped *grouped = group_build(snapshot, by, true, judge);
	struct report *report = report_build(&grouped->snapshot, &wanted, &names);
	struct buffer text = { 0 };

	render_format_find(format)->render(report, &style, &text);
	report_free(report);
	group_free(grouped);
	judge_free(judge);
	return text.data;
}

static void test_outlives(void **state)
{
	static const char *const formats[] = { "text", "json", "folded" };
	struct origin *origin = origin_new();
	struct snapshot *snapshot = snapshot_of(origin);
	char *before[3], *after;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		before[i] = rendered(snapshot, GROUP_BY_SHOWN, formats[i]);
	origin_free(origin);
	for (i = 0; i < 3; i++) {
		after = rendered(snapshot, GROUP_BY_SHOWN, formats[i]);
		assert_string_equal(after, before[i]);
		assert_non_null(strstr(after, "User#load"));
		assert_non_null(strstr(after, "parser.so"));
		free(after);
		free(before[i]);
	}
	after = rendered(snapshot, GROUP_BY_STACK, "json");
	assert_non_null(strstr(after, "\"comm\":\"worker\""));
	assert_non_null(strstr(after, "\"allocator\":\"jemalloc\""));
	assert_non_null(strstr(after, "\"line\":57"));
	assert_non_null(strstr(after, "/usr/lib/libpool.so"));
	free(after);
	snapshot_free(snapshot);
}

/* What a session does after a snapshot does not change it, and two snapshots do not need each other. */
static void test_is_of_its_moment(void **state)
{
	struct origin *origin = origin_new();
	struct snapshot *first = snapshot_of(origin), *second;
	char *before = rendered(first, GROUP_BY_STACK, "json"), *after;

	(void)state;
	strcpy(origin->targets[0]->comm, "other");
	origin->targets[0]->exited = true;
	free(origin->modules.items[1]->path);
	origin->modules.items[1]->path = copy("/srv/other.so");
	second = snapshot_of(origin);
	after = rendered(first, GROUP_BY_STACK, "json");
	assert_string_equal(before, after);
	free(after);
	snapshot_free(first);
	origin_free(origin);
	after = rendered(second, GROUP_BY_STACK, "json");
	assert_non_null(strstr(after, "/srv/other.so"));
	assert_non_null(strstr(after, "User#load"));
	free(after);
	free(before);
	snapshot_free(second);
	snapshot_free(snapshot_new());
	snapshot_free(NULL);
}

static void test_names_are_kept_once(void **state)
{
	struct name_pool *pool = name_pool_new();
	struct frame_name names[] = { { "f", "a.rb", 1 }, { "f", "a.rb", 2 }, { "f", "b.rb", 1 },
				      { "g", "a.rb", 1 }, { "f", NULL, 1 },   { NULL, NULL, 0 } };
	const struct frame_name *kept[6];
	size_t i, j;

	(void)state;
	for (i = 0; i < 6; i++)
		kept[i] = name_pool_keep(pool, &names[i]);
	for (i = 0; i < 6; i++) {
		struct frame_name again = *kept[i];

		assert_ptr_equal(name_pool_keep(pool, &again), kept[i]);
		for (j = 0; j < i; j++)
			assert_ptr_not_equal(kept[i], kept[j]);
	}
	assert_ptr_equal(name_pool_share(pool), pool);
	name_pool_free(pool);
	assert_string_equal(kept[2]->file, "b.rb");
	name_pool_free(pool);
	name_pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outlives),
		cmocka_unit_test(test_is_of_its_moment),
		cmocka_unit_test(test_names_are_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
