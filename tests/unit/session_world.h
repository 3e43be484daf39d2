/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of a session without a kernel: probes are numbers, maps are lists, events are what the test writes down. Processes
 * are real (child.h), so what is read of them in /proc is true. Include it once in a test program.
 */
#ifndef TESTS_SESSION_WORLD_H
#define TESTS_SESSION_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/core.h"
#include "unit/child.h"
#include "unit/fake_decoder.h"
#include "unit/fake_events.h"
#include "unit/fake_kernel.h"
#include "unit/fake_maps.h"
#include "unit/scratch.h"

#define WORLD_CHILDREN 8
#define SECOND_NS 1000000000ull

struct session_world {
	char *text; /* what was logged */
	size_t text_size;
	struct log log;
	struct scratch scratch;
	char *allocator; /* the path of a file that defines malloc and free */
	struct child children[WORLD_CHILDREN];
	size_t child_count;
	struct module_list modules;
	struct core core;
	struct jit_names *jit_names;
	struct mapping_set *mappings;
	struct share shares[16];
};

static void world_connect(struct session_world *world)
{
	const struct core_base base = { .modules = &world->modules,
					.maps = &fake_maps_all,
					.shares = world->shares,
					.mappings = world->mappings,
					.jit_names = world->jit_names,
					.log = &world->log };

	core_init(&world->core);
	core_connect(&world->core, &base);
	world->core.filters.functions = true;
	world->core.late.by_process = true;
	world->core.follow.children = true;
}

static void world_end_children(struct session_world *world)
{
	for (; world->child_count; world->child_count--)
		child_end(&world->children[world->child_count - 1]);
}

static void world_open(struct session_world *world)
{
	const struct plan_options options = { .free_without_stack = true };

	fake_kernel_reset();
	fake_maps_reset();
	fake_events_reset();
	memset(world, 0, sizeof(*world));
	world->log = (struct log){ open_memstream(&world->text, &world->text_size), LOG_VERBOSE };
	world->scratch = scratch_make();
	world->allocator = scratch_file(&world->scratch, FAKE_ALLOCATOR, "an allocator", 12, 0644);
	world->jit_names = jit_names_new(&world->log);
	world->mappings = mapping_set_new(4096, 0);
	fake_interp_names = name_pool_new();
	world_connect(world);
	assert_int_equal(process_table_open(&world->core.processes), 0);
	planned_files_init(&world->core.files, &options);
}

/* With task events and a ring buffer. */
static __attribute__((unused)) void world_open_events(struct session_world *world)
{
	struct error error = { 0 };

	world_open(world);
	assert_int_equal(events_open(&world->core.events, NULL, &error), 0);
}

static void world_close(struct session_world *world)
{
	world_end_children(world);
	probe_set_close(&world->core.probes);
	events_close(&world->core.events);
	core_free(&world->core);
	name_pool_free(fake_interp_names);
	jit_names_free(world->jit_names);
	mapping_set_free(world->mappings);
	module_list_free(&world->modules);
	fclose(world->log.stream);
	free(world->text);
	free(world->allocator);
	scratch_remove(&world->scratch);
	fake_maps_reset();
}

/* Was this logged? */
static __attribute__((unused)) bool world_logged(struct session_world *world, const char *words)
{
	fflush(world->log.stream);
	return strstr(world->text, words) != NULL;
}

static struct child *world_start(struct session_world *world)
{
	struct child *child = &world->children[world->child_count++];

	*child = child_start();
	return child;
}

/* A process that has the allocator mapped, if so wanted, and is traced since it was named. */
static __attribute__((unused)) struct process *world_trace(struct session_world *world,
							   struct child **ret_child, bool allocates)
{
	struct child *child = world_start(world);
	struct error error = { 0 };
	struct process *process;

	if (allocates)
		child_ask(child, CHILD_MAP, world->allocator);
	assert_int_equal(process_open(child->pid, &process, &error), 0);
	assert_int_equal(follow_add(&world->core.follow, process, NULL, &error), 0);
	if (ret_child)
		*ret_child = child;
	return process;
}

/* The running process of a pid, if it is traced. */
static __attribute__((unused)) struct process *world_find(struct session_world *world, pid_t pid)
{
	return process_table_find(&world->core.processes, (uint32_t)pid);
}

/* Probes of `malloc` that are in place. */
static __attribute__((unused)) size_t world_probes(void)
{
	return fake_probes_at(FAKE_MALLOC);
}

/* That of the test that runs. */
static struct session_world world;

static __attribute__((unused)) int world_set_up(void **state)
{
	(void)state;
	world_open(&world);
	return 0;
}

static __attribute__((unused)) int world_set_up_events(void **state)
{
	(void)state;
	world_open_events(&world);
	return 0;
}

/* Also when the test has failed: no process and no file outlives it. */
static int world_tear_down(void **state)
{
	(void)state;
	world_close(&world);
	return 0;
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
#define WORLD_TEST_EVENTS(name) \
	cmocka_unit_test_setup_teardown(name, world_set_up_events, world_tear_down)

#endif
