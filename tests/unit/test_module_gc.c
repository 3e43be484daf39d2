/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are closed and forgotten when no process maps them, and when that is done. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "follow/module_gc.h"
#include "unit/fake_kernel.h"

#define SECOND_NS 1000000000ull

struct world {
	struct module_list modules;
	struct process_table processes;
	struct process *process;
	struct notices notices;
	struct planned_files files;
	struct probe_set probes;
	struct late late;
	struct scan scan;
	struct sites sites;
	struct ended ended;
	struct module_gc gc;
	uint32_t looked_up[256], forgotten[256];
	size_t looked_up_count, forgotten_count;
};

static void look_up(void *context, const struct frame *frame)
{
	struct world *world = context;

	world->looked_up[world->looked_up_count++] = frame->module;
}

static void forget(void *context, uint32_t module)
{
	struct world *world = context;

	world->forgotten[world->forgotten_count++] = module;
}

static uint32_t add_module(struct world *world)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_format("/lib/%zu.so", world->modules.count);
	module->inode = world->modules.count + 1;
	module->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return module_list_add(&world->modules, module);
}

/* Its end was recorded: nothing of it is read from /proc. */
static void world_open(struct world *world)
{
	const struct plan_options options = { 0 };

	fake_kernel_reset();
	*world = (struct world){ 0 };
	assert_int_equal(process_table_open(&world->processes), 0);
	world->process = memory_alloc(1, sizeof(*world->process));
	world->process->target.pid = getpid();
	world->process->target.pidfd = -1;
	world->process->space = address_space_new();
	assert_true(process_table_add(&world->processes, world->process, false));
	process_table_end(&world->processes, world->process);
	world->files =
		(struct planned_files){ .modules = &world->modules, .notices = &world->notices };
	planned_files_init(&world->files, &options);
	world->probes = (struct probe_set){ .files = &world->files, .modules = &world->modules };
	world->late.notices = &world->notices;
	world->scan = (struct scan){ .modules = &world->modules,
				     .probes = &world->probes,
				     .late = &world->late };
	world->gc = (struct module_gc){ .processes = &world->processes,
					.scan = &world->scan,
					.sites = &world->sites,
					.ended = &world->ended,
					.notices = &world->notices,
					.names = { look_up, forget, world } };
}

static void world_close(struct world *world)
{
	sites_free(&world->sites);
	probe_set_free(&world->probes);
	planned_files_free(&world->files);
	process_table_close(&world->processes);
	module_list_free(&world->modules);
}

static void map(struct world *world, uint32_t module, uint64_t time_ns)
{
	uint64_t start = (module + 1) * 0x10000;

	address_space_map(world->process->space, start, start + 0x1000, 0, module, time_ns);
}

/* All that is mapped ends at a time. */
static void unmap_all(struct world *world, uint64_t time_ns)
{
	address_space_scan_begin(world->process->space, time_ns);
	address_space_scan_end(world->process->space);
}

/* A site with a frame in a module. */
static void show(struct world *world, uint32_t module, uint64_t time_ns)
{
	const struct site record = { .first_ns = time_ns };
	const struct stack_record stack = { .count = 1, .pcs = { (module + 1) * 0x10000 + 0x10 } };

	assert_false(sites_add(&world->sites, module + 1, &record, world->process, &stack));
}

static void test_unmapped(void **state)
{
	struct world world;
	uint64_t now = clock_now_ns();
	uint32_t mapped, gone, shown;

	(void)state;
	world_open(&world);
	gone = add_module(&world);
	shown = add_module(&world);
	mapped = add_module(&world);
	map(&world, gone, now - 20 * SECOND_NS);
	map(&world, shown, now - 20 * SECOND_NS);
	show(&world, shown, now - 19 * SECOND_NS);
	unmap_all(&world, now - 10 * SECOND_NS);
	map(&world, mapped, now - 5 * SECOND_NS);
	module_gc_run(&world.gc, now);
	assert_null(module_list_get(&world.modules, gone));
	assert_int_equal(world.forgotten_count, 1);
	assert_int_equal(world.forgotten[0], gone);
	assert_non_null(module_list_get(&world.modules, mapped));
	assert_true(module_list_get(&world.modules, mapped)->fd >= 0);
	/* Few shown ones stay open: they are named when a report asks for it. */
	assert_non_null(module_list_get(&world.modules, shown));
	assert_int_equal(fake_forgotten_count, 2);
	world_close(&world);
}

/* A stack that was taken a moment before the end may still be on its way. */
static void test_grace(void **state)
{
	struct world world;
	uint64_t now = clock_now_ns();
	uint32_t module;

	(void)state;
	world_open(&world);
	module = add_module(&world);
	map(&world, module, now - 20 * SECOND_NS);
	unmap_all(&world, now - SECOND_NS / 100);
	module_gc_run(&world.gc, now);
	assert_non_null(module_list_get(&world.modules, module));
	module_gc_run(&world.gc, now + SECOND_NS);
	assert_null(module_list_get(&world.modules, module));
	world_close(&world);
}

/* Of many files that stacks show, most are named and closed; none is forgotten. */
static void test_shown(void **state)
{
	uint64_t now = clock_now_ns();
	struct world world;
	uint32_t i;

	(void)state;
	world_open(&world);
	for (i = 0; i < 70; i++) {
		map(&world, add_module(&world), now - 20 * SECOND_NS);
		show(&world, i, now - 19 * SECOND_NS);
	}
	unmap_all(&world, now - 10 * SECOND_NS);
	module_gc_run(&world.gc, now);
	assert_int_equal(world.modules.open, 64);
	assert_int_equal(world.looked_up_count, 6);
	assert_int_equal(world.forgotten_count, 0);
	for (i = 0; i < 70; i++)
		assert_non_null(module_list_get(&world.modules, i));
	for (i = 0; i < 6; i++)
		assert_true(module_list_get(&world.modules, world.looked_up[i])->closed);
	world_close(&world);
}

/* A file that is probed in a process is in use. */
static void test_probed(void **state)
{
	uint64_t now = clock_now_ns();
	struct world world;
	uint32_t module;

	(void)state;
	world_open(&world);
	module = add_module(&world);
	world.probes.probed = memory_alloc(1, sizeof(*world.probes.probed));
	world.probes.probed[0] = (struct probed_file){ .module = module, .process = world.process };
	world.probes.count = 1;
	module_gc_run(&world.gc, now);
	assert_non_null(module_list_get(&world.modules, module));
	probe_set_forget(&world.probes, world.process, false);
	module_gc_run(&world.gc, now);
	assert_null(module_list_get(&world.modules, module));
	world_close(&world);
}

static void test_due(void **state)
{
	uint64_t now = clock_now_ns(), wait_ns;
	struct world world;
	uint32_t i;

	(void)state;
	world_open(&world);
	assert_false(module_gc_is_due(&world.gc, now));
	assert_int_equal(module_gc_deadline(&world.gc), 0);
	for (i = 0; i < 128; i++)
		add_module(&world);
	assert_true(module_gc_is_due(&world.gc, now));
	module_gc_run(&world.gc, now);
	assert_false(module_gc_is_due(&world.gc, now));
	/* Where something has run out it is tried again, each time after twice as long. */
	fake_unwind_full = true;
	module_gc_run(&world.gc, now);
	wait_ns = module_gc_deadline(&world.gc) - now;
	assert_false(module_gc_is_due(&world.gc, now + wait_ns - 1));
	assert_true(module_gc_is_due(&world.gc, now + wait_ns));
	module_gc_run(&world.gc, now);
	assert_int_equal(module_gc_deadline(&world.gc), now + 2 * wait_ns);
	for (i = 0; i < 20; i++)
		module_gc_run(&world.gc, now);
	assert_int_equal(module_gc_deadline(&world.gc), now + 8 * SECOND_NS);
	fake_unwind_full = false;
	assert_int_equal(module_gc_deadline(&world.gc), 0);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unmapped), cmocka_unit_test(test_grace),
		cmocka_unit_test(test_shown),	 cmocka_unit_test(test_probed),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
