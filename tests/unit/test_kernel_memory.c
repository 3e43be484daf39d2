/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of the kernel's memory, and snapshots of its maps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "fake_maps.h"
#include "session/kernel_memory.h"
#include "follow/kernel_stack.h"

#define SECOND 1000000000ULL

static const char symbols_text[] = "1000 t bpf_prog_77_kernel_cache\t[bpf]\n"
				   "2000 T bpf_trace_run5\n"
				   "3000 T __traceiter_kmem_cache_alloc\n"
				   "4000 T kmem_cache_alloc_noprof\n"
				   "5000 t allocate_slab\n"
				   "6000 T __alloc_pages_noprof\n"
				   "7000 T alloc_empty_file\n"
				   "8000 t nf_alloc\t[nf_conntrack]\n"
				   "9000 T do_syscall_64\n"
				   "a000 T vm_area_alloc_pages\n";

static struct stack_record record_of(uint32_t count, ...)
{
	struct stack_record record = { .count = count };
	va_list list;
	uint32_t i;

	va_start(list, count);
	for (i = 0; i < count; i++)
		record.pcs[i] = va_arg(list, uint64_t);
	va_end(list);
	return record;
}

#define RECORD(count, ...) record_of(count, __VA_ARGS__)
#define AT(address) ((uint64_t)(address))

static struct stack *stack_of(const struct stack_record *record, struct name_pool *pool)
{
	struct kallsyms *symbols = kallsyms_parse(symbols_text, sizeof(symbols_text) - 1);
	struct stack *stack = kernel_stack_make(record, symbols, pool);

	kallsyms_free(symbols);
	return stack;
}

static void test_stack(void **state)
{
	struct name_pool *pool = name_pool_new();
	/* The call at the end of nf_alloc returns to where do_syscall_64 begins. */
	const struct stack_record record = RECORD(8, AT(0x1010), AT(0x2010), AT(0x3010), AT(0x4010),
						  AT(0x704b), AT(0x9000), AT(0x9001), AT(0x10));
	struct stack *stack = stack_of(&record, pool);

	(void)state;
	assert_int_equal(stack->count, 5);
	assert_true(stack->frames[0].internal);
	assert_string_equal(stack->frames[0].name->function, "kmem_cache_alloc_noprof");
	assert_false(stack->frames[1].internal);
	assert_string_equal(stack->frames[1].name->function, "alloc_empty_file");
	assert_int_equal(stack->frames[1].offset, 0x4b);
	assert_int_equal(stack->frames[1].kind, FRAME_KERNEL);
	assert_string_equal(stack->frames[2].name->function, "nf_alloc [nf_conntrack]");
	assert_int_equal(stack->frames[2].offset, 0x1000);
	assert_string_equal(stack->frames[3].name->function, "do_syscall_64");
	assert_int_equal(stack->frames[3].offset, 1);
	assert_string_equal(stack->frames[4].name->function, "0x10");
	assert_false(kernel_stack_is_for_blocks(&(struct stack){ .count = 0 }));
	assert_true(kernel_stack_is_for_blocks(stack));
	stack_free(stack);
	name_pool_free(pool);
}

/* Pages for the slab allocator; for others; and for others within it, as where an interrupt comes in. */
static void test_pages_for_blocks(void **state)
{
	struct name_pool *pool = name_pool_new();
	const struct stack_record slab = RECORD(4, AT(0x3001), AT(0x6001), AT(0x5001), AT(0x7001));
	const struct stack_record other = RECORD(3, AT(0x6001), AT(0xa001), AT(0x7001));
	const struct stack_record within =
		RECORD(5, AT(0x6001), AT(0x7001), AT(0x5001), AT(0x4001), AT(0x9001));
	struct stack *stacks[] = { stack_of(&slab, pool), stack_of(&other, pool),
				   stack_of(&within, pool) };
	int i;

	(void)state;
	assert_true(kernel_stack_is_for_blocks(stacks[0]));
	assert_false(kernel_stack_is_for_blocks(stacks[1]));
	assert_true(stacks[1]->frames[1].internal);
	assert_false(stacks[1]->frames[2].internal);
	assert_false(kernel_stack_is_for_blocks(stacks[2]));
	for (i = 0; i < 3; i++)
		stack_free(stacks[i]);
	name_pool_free(pool);
}

/* Nothing but the allocator: it is shown. Nothing at all: an empty stack. */
static void test_short_stacks(void **state)
{
	struct name_pool *pool = name_pool_new();
	const struct stack_record allocator = RECORD(2, AT(0x3001), AT(0x4001));
	const struct stack_record none = { .count = 0 };
	struct stack *stack = stack_of(&allocator, pool);

	(void)state;
	assert_int_equal(stack->count, 1);
	assert_false(stack->frames[0].internal);
	stack_free(stack);
	stack = stack_of(&none, pool);
	assert_int_equal(stack->count, 0);
	stack_free(stack);
	name_pool_free(pool);
}

/* Maps */

struct world {
	struct kallsyms *symbols;
	struct target targets[2];
	struct marks marks;
	struct kernel_memory *memory;
};

static void world_open(struct world *world, size_t targets, uint64_t min_age_ns)
{
	*world = (struct world){ .targets = { { .comm = "one", .pid = 11, .pidfd = -1 },
					      { .comm = "two", .pid = 22, .pidfd = -1 } } };
	world->symbols = kallsyms_parse(symbols_text, sizeof(symbols_text) - 1);
	world->memory = kernel_memory_new(&(struct kernel_memory_options){
		.maps = &fake_maps_all,
		.symbols = world->symbols,
		.targets = world->targets,
		.target_count = targets,
		.min_age_ns = min_age_ns,
		.marks = &world->marks,
	});
}

static void world_close(struct world *world)
{
	kernel_memory_free(world->memory);
	kallsyms_free(world->symbols);
	marks_free(&world->marks);
	fake_maps_reset();
}

static void add_site(uint64_t key, enum memory_source source, uint32_t target, uint64_t blocks,
		     const struct stack_record *stack)
{
	const struct site site = { .alloc_bytes = 100 * blocks,
				   .alloc_objects = blocks,
				   .free_bytes = 100,
				   .free_objects = 1,
				   .stack = stack ? key : 0,
				   .source = source,
				   .target_id = target };

	fake_map_set(NULL, MAPS_SITES, &key, &site);
	if (stack)
		fake_map_set(NULL, MAPS_STACKS, &key, stack);
}

static void add_block(uint64_t address, uint64_t site, uint64_t born_ns)
{
	const struct kernel_block block = {
		.block = { .site = site, .size = 100, .life = LIFE_OF(born_ns) }
	};

	fake_map_set(NULL, MAPS_KERNEL_BLOCKS, &address, &block);
}

static const struct snapshot_site *site_of(const struct snapshot *snapshot, uint64_t key)
{
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		if (snapshot->sites[i].key == key)
			return &snapshot->sites[i];
	return NULL;
}

static void test_snapshot(void **state)
{
	const struct stack_record file = RECORD(3, AT(0x3001), AT(0x4001), AT(0x704b));
	const struct stack_record slab = RECORD(3, AT(0x6001), AT(0x5001), AT(0x704b));
	const struct kernel_cache cache = { .name = "filp" };
	const struct snapshot_site *site;
	struct snapshot *snapshot;
	struct world world;
	uint64_t key = 1;

	(void)state;
	world_open(&world, 1, 2 * SECOND);
	add_site(1, SOURCE_KMEM_CACHE, 0, 4, &file);
	add_site(2, SOURCE_PAGES, 0, 4, &slab);
	add_site(3, SOURCE_KMALLOC, 0, 2, NULL);
	add_site(4, SOURCE_KMALLOC, 7, 2, NULL); /* of a target that is not known */
	add_site(5, SOURCE_HEAP, 0, 2, NULL); /* of no such source */
	fake_map_set(NULL, MAPS_KERNEL_CACHES, &key, &cache);
	add_block(0x10, 1, 5 * SECOND);
	add_block(0x20, 1, 8 * SECOND);
	add_block(0x30, 1, 9 * SECOND);
	add_block(0x40, 99, 9 * SECOND);
	marks_add(&world.marks, 7 * SECOND);
	assert_int_equal(kernel_memory_snapshot(world.memory, 10 * SECOND, &snapshot), 0);
	/* Twice: counters are not added up. */
	snapshot_free(snapshot);
	assert_int_equal(kernel_memory_snapshot(world.memory, 10 * SECOND, &snapshot), 0);
	world_close(&world);

	assert_int_equal(snapshot->site_count, 2);
	assert_int_equal(snapshot->target_count, 1);
	site = site_of(snapshot, 1);
	assert_string_equal(site->function->function, "filp");
	assert_string_equal(site->function->allocator, "kernel");
	assert_int_equal(site->source, SOURCE_KMEM_CACHE);
	assert_string_equal(site->target->comm, "one");
	assert_int_equal(site_stats_inuse_objects(&site->stats), 3);
	assert_int_equal(site_stats_inuse_bytes(&site->stats), 300);
	assert_int_equal(site->stats.young_objects, 2);
	assert_int_equal(site->births.count, 1);
	assert_int_equal(site->births.items[0].objects, 1);
	assert_int_equal(site->stack->count, 2);
	site = site_of(snapshot, 3);
	assert_string_equal(site->function->function, "kmalloc");
	assert_int_equal(site->stack->frames[0].kind, FRAME_ERROR);
	assert_null(site_of(snapshot, 2));
	snapshot_free(snapshot);
}

static void test_processes(void **state)
{
	struct snapshot *snapshot;
	struct world world;

	(void)state;
	world_open(&world, 2, 0);
	add_site(1, SOURCE_PERCPU, 1, 3, NULL);
	add_site(2, SOURCE_PAGES, 2, 3, NULL);
	assert_int_equal(kernel_memory_snapshot(world.memory, SECOND, &snapshot), 0);
	assert_int_equal(snapshot->target_count, 2);
	assert_int_equal(site_of(snapshot, 1)->target->pid, 11);
	assert_string_equal(site_of(snapshot, 1)->function->function, "alloc_percpu");
	assert_int_equal(site_of(snapshot, 2)->target->pid, 22);
	assert_string_equal(site_of(snapshot, 2)->function->function, "alloc_pages");
	snapshot_free(snapshot);
	fake_maps[MAPS_SITES].read_error = -EPERM;
	assert_int_equal(kernel_memory_snapshot(world.memory, SECOND, &snapshot), -EPERM);
	fake_maps[MAPS_SITES].read_error = 0;
	fake_maps[MAPS_KERNEL_BLOCKS].read_error = -ENOMEM;
	assert_int_equal(kernel_memory_snapshot(world.memory, SECOND, &snapshot), -ENOMEM);
	world_close(&world);
}

static void test_history(void **state)
{
	struct history history = { 0 };
	struct world world;

	(void)state;
	world_open(&world, 1, 0);
	add_site(1, SOURCE_KMALLOC, 0, 5, NULL);
	kernel_memory_keep_history(world.memory, SECOND, &history);
	assert_int_equal(history.count, 1);
	assert_non_null(table_get(&history.sites, 1));
	/* What cannot be read is no moment. */
	fake_maps[MAPS_SITES].read_error = -EPERM;
	kernel_memory_keep_history(world.memory, 100 * SECOND, &history);
	assert_int_equal(history.count, 1);
	history_free(&history);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),	     cmocka_unit_test(test_pages_for_blocks),
		cmocka_unit_test(test_short_stacks), cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_processes),    cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
