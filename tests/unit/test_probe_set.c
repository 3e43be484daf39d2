/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is attached, in which order, after any sequence of attaching and detaching parts. No kernel takes part. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "follow/probe_set.h"
#include "unit/fake_kernel.h"

#define TIMES 100

/* The file offsets of the probes are their verbs, plus this for the second file. */
#define SECOND 100

static const enum call_op verbs[] = { CALL_ALLOC,      CALL_REALLOC, CALL_FREE,
				      CALL_MMAP,       CALL_MUNMAP,  CALL_MREMAP,
				      CALL_THROW,      CALL_LEAVE,   CALL_SAMPLE,
				      CALL_SAMPLE_END, CALL_INSIDE,  CALL_INSIDE_SIZE,
				      CALL_PROCESS_END };
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

struct world {
	struct module_list modules;
	struct notices notices;
	struct planned_files files;
	struct probe_set set;
	struct process *processes[2];
};

static struct process *new_process(uint32_t target_id)
{
	struct process *process = memory_alloc(1, sizeof(*process));

	process->target.pid = 1000 + (int)target_id;
	process->target.pidfd = -1;
	process->target_id = target_id;
	process->space = address_space_new();
	return process;
}

static void add_file(struct world *world, uint64_t base)
{
	struct module *module = memory_alloc(1, sizeof(*module));
	struct planned_files *files = &world->files;
	struct plan *plan = &files->plan;
	struct planned_file *file;
	size_t i;

	module->path = memory_copy_string("/lib/test.so");
	module->inode = base + 1;
	module->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	files->items =
		memory_grow(files->items, files->count, &files->capacity, sizeof(*files->items));
	file = &files->items[files->count++];
	*file = (struct planned_file){ .inode = base + 1,
				       .module = module_list_add(&world->modules, module),
				       .first = plan->count,
				       .count = VERBS };
	for (i = 0; i < VERBS; i++) {
		plan->probes = memory_grow(plan->probes, plan->count, &plan->capacity,
					   sizeof(*plan->probes));
		plan->probes[plan->count++] =
			(struct plan_probe){ .module = file->module,
					     .symbol = "function",
					     .shape = SHAPE(verbs[i], 0, 0, 1, 0, SOURCE_HEAP),
					     .site_offset = base + verbs[i] };
	}
}

static void world_open(struct world *world, bool divided)
{
	const struct plan_options options = { .free_without_stack = true };

	fake_kernel_reset();
	*world = (struct world){ .files = { .modules = &world->modules,
					    .notices = &world->notices } };
	planned_files_init(&world->files, &options);
	add_file(world, 0);
	add_file(world, SECOND);
	world->set = (struct probe_set){ .files = &world->files,
					 .modules = &world->modules,
					 .divided = divided,
					 .parts = PROBES_ALL };
	world->processes[0] = new_process(1);
	world->processes[1] = new_process(2);
}

static void world_close(struct world *world)
{
	probe_set_close(&world->set);
	assert_int_equal(fake_probes(), 0);
	probe_set_free(&world->set);
	planned_files_free(&world->files);
	process_free(world->processes[0]);
	process_free(world->processes[1]);
	module_list_free(&world->modules);
}

static int probe(struct world *world, size_t process, size_t file)
{
	struct error error = { 0 };

	return probe_set_probe(&world->set, world->processes[process], &world->files.items[file],
			       world->files.items[file].module, &error);
}

/* Independent of probe_set.c: the parts that a verb's probes are for. */
static unsigned int parts_of(enum call_op verb)
{
	switch (verb) {
	case CALL_FREE:
	case CALL_SAMPLE_END:
		return PROBES_FREES;
	case CALL_REALLOC:
		return PROBES_REALLOCS;
	case CALL_MMAP:
	case CALL_MUNMAP:
	case CALL_MREMAP:
		return PROBES_MAPPINGS;
	case CALL_INSIDE:
	case CALL_INSIDE_SIZE:
		return PROBES_INSIDE;
	case CALL_LEAVE:
	case CALL_THROW:
		return PROBES_REALLOCS | PROBES_MAPPINGS | PROBES_ALLOCATIONS;
	default:
		return PROBES_ALLOCATIONS;
	}
}

/* Each probe of both files is in place `times` times if a part that it is for is attached, and otherwise not at all. */
static void check(unsigned int parts, size_t times)
{
	size_t i;

	for (i = 0; i < VERBS; i++) {
		size_t wanted = parts & parts_of(verbs[i]) ? times : 0;

		assert_int_equal(fake_probes_at(verbs[i]), wanted);
		assert_int_equal(fake_probes_at(SECOND + verbs[i]), wanted);
	}
}

static void probe_all(struct world *world)
{
	assert_int_equal(probe(world, 0, 0), 1);
	assert_int_equal(probe(world, 0, 1), 1);
	assert_int_equal(probe(world, 1, 0), 1);
	assert_int_equal(probe(world, 1, 1), 1);
}

static void test_probe(void **state)
{
	struct world world;
	size_t i;

	(void)state;
	world_open(&world, false);
	assert_int_equal(probe(&world, 0, 0), 1);
	assert_int_equal(probe(&world, 0, 0), 0);
	assert_int_equal(fake_attach_calls, 1);
	assert_int_equal(fake_probes(), VERBS);
	for (i = 0; i < fake_link_count; i++) {
		assert_int_equal(fake_links[i].pid, 1001);
		assert_int_equal(SHAPE_TARGET(fake_links[i].cookie), 1);
	}
	assert_true(probe_set_has(&world.set, world.files.items[0].module, world.processes[0]));
	assert_false(probe_set_has(&world.set, world.files.items[0].module, world.processes[1]));
	assert_true(probe_set_has_any(&world.set, world.processes[0]));
	assert_false(probe_set_has_any(&world.set, world.processes[1]));
	world_close(&world);
}

/* All pairs of states, each many times. */
static void test_parts(void **state)
{
	struct error error = { 0 };
	struct world world;
	unsigned int from, to;
	size_t times;

	(void)state;
	world_open(&world, true);
	probe_all(&world);
	check(PROBES_ALL, 2);
	for (times = 0; times < 4; times++) {
		/* In each round, those inside of functions, and their returns, are in or not. */
		for (from = (unsigned int)times << 4; from < (times + 1) << 4; from++) {
			for (to = (unsigned int)times << 4; to < (times + 1) << 4; to++) {
				assert_int_equal(probe_set_detach(&world.set, PROBES_ALL & ~from),
						 0);
				assert_int_equal(probe_set_attach(&world.set, from, &error), 0);
				check(from, 2);
				assert_int_equal(probe_set_detach(&world.set, from & ~to), 0);
				check(from & to, 2);
			}
		}
	}
	world_close(&world);
}

static void test_frees_and_allocations(void **state)
{
	struct error error = { 0 };
	struct world world;
	size_t i, first;

	(void)state;
	world_open(&world, true);
	probe_all(&world);
	probe_set_detach(&world.set, PROBES_ALL);
	for (i = 0; i < TIMES; i++) {
		first = fake_close_calls;
		assert_int_equal(probe_set_attach(&world.set, PROBES_FREES, &error), 0);
		check(PROBES_FREES, 2);
		assert_int_equal(probe_set_attach(&world.set, PROBES_ALLOCATIONS, &error), 0);
		check(PROBES_FREES | PROBES_ALLOCATIONS, 2);
		probe_set_detach(&world.set, PROBES_FREES);
		check(PROBES_ALLOCATIONS, 2);
		probe_set_detach(&world.set, PROBES_ALLOCATIONS);
		check(0, 2);
		/* All links of a part are closed together: the kernel's grace periods pass once. */
		assert_int_equal(fake_close_calls, first + 2);
	}
	world_close(&world);
}

/* Attached together, the frees of all files and processes are in before the first that allocates. */
static void test_order(void **state)
{
	struct error error = { 0 };
	struct world world;
	bool allocates = false;
	size_t i, first;

	(void)state;
	world_open(&world, true);
	probe_all(&world);
	probe_set_detach(&world.set, PROBES_ALL);
	first = fake_link_count;
	assert_int_equal(probe_set_attach(&world.set, PROBES_ALL, &error), 0);
	for (i = first; i < fake_link_count; i++) {
		enum call_op verb = SHAPE_OP(fake_links[i].cookie);

		allocates |= verb == CALL_ALLOC || verb == CALL_REALLOC;
		assert_false(allocates && parts_of(verb) == PROBES_FREES);
	}
	assert_true(allocates);
	world_close(&world);
}

/* What comes while a part is detached gets it when it is attached. */
static void test_comes_meanwhile(void **state)
{
	struct error error = { 0 };
	struct probed_point point = { .offset = 50, .symbol = "point" };
	struct world world;

	(void)state;
	world_open(&world, true);
	assert_int_equal(probe(&world, 0, 0), 1);
	probe_set_detach(&world.set, PROBES_FREES);
	assert_int_equal(probe(&world, 0, 1), 1);
	point.process = world.processes[0];
	assert_int_equal(probe_set_probe_point(&world.set, &point, &error), 0);
	check(PROBES_ALL & ~PROBES_FREES, 1);
	assert_int_equal(fake_probes_at(50), 0);
	assert_int_equal(probe_set_attach(&world.set, PROBES_FREES, &error), 0);
	check(PROBES_ALL, 1);
	assert_int_equal(fake_probes_at(50), 1);
	world_close(&world);
}

static void test_refused(void **state)
{
	struct error error = { 0 };
	struct world world;

	(void)state;
	world_open(&world, true);
	fake_refused_offset = CALL_FREE;
	assert_int_equal(probe(&world, 0, 0), 1);
	assert_int_equal(fake_probes_at(CALL_FREE), 0);
	assert_int_equal(world.set.refused, 1);
	/* It is not asked for again, even where the kernel would have it now. */
	fake_refused_offset = 0;
	probe_set_detach(&world.set, PROBES_FREES);
	assert_int_equal(probe_set_attach(&world.set, PROBES_FREES, &error), 0);
	assert_int_equal(fake_probes_at(CALL_FREE), 0);
	assert_int_equal(fake_probes_at(CALL_SAMPLE_END), 1);
	assert_int_equal(world.set.refused, 1);
	world_close(&world);
}

/* Whichever group of a file fails, none of its probes stays, all of them count, and those of other files are as before. */
static void test_whole(void **state)
{
	struct world world;
	size_t group, i;

	(void)state;
	/* None of these functions is of the last group, PROBES_VERIFIED. */
	for (group = 0; group < PROBE_GROUPS - 1; group++) {
		world_open(&world, true);
		assert_int_equal(probe(&world, 0, 0), 1);
		fake_attach_error = -EMFILE;
		fake_attach_error_after = fake_attach_calls + group;
		fake_refused_offset = SECOND + CALL_THROW;
		assert_int_equal(probe(&world, 0, 1), -EMFILE);
		for (i = 0; i < VERBS; i++)
			assert_int_equal(fake_probes_at(verbs[i]), 1);
		assert_int_equal(fake_probes(), VERBS);
		assert_int_equal(world.set.refused, VERBS);
		assert_false(
			probe_set_has(&world.set, world.files.items[1].module, world.processes[0]));
		world_close(&world);
	}
}

/* That a process has ended is no refusal. */
static void test_whole_of_ended(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, true);
	fake_attach_error = -ESRCH;
	fake_attach_error_after = 2;
	assert_int_equal(probe(&world, 0, 0), -ESRCH);
	assert_int_equal(fake_probes(), 0);
	assert_int_equal(world.set.refused, 0);
	world_close(&world);
}

static void test_not_divided(void **state)
{
	struct error error = { 0 };
	struct world world;

	(void)state;
	world_open(&world, false);
	probe_all(&world);
	assert_int_equal(probe_set_detach(&world.set, PROBES_FREES), -EINVAL);
	check(PROBES_ALL, 2);
	assert_int_equal(probe_set_detach(&world.set, PROBES_ALL), 0);
	check(0, 2);
	assert_int_equal(probe_set_attach(&world.set, PROBES_FREES, &error), -EINVAL);
	assert_int_equal(probe_set_attach(&world.set, PROBES_ALL, &error), 0);
	check(PROBES_ALL, 2);
	world_close(&world);
}

/* Processes that have ended get no probes; their links are closed once. */
static void test_end(void **state)
{
	struct error error = { 0 };
	struct world world;

	(void)state;
	world_open(&world, true);
	probe_all(&world);
	probe_set_start_detach_queue(&world.set);
	world.processes[0]->target.exited = true;
	probe_set_end(&world.set, world.processes[0]);
	assert_int_equal(probe_set_closing(&world.set), 2 * VERBS);
	probe_set_detach(&world.set, PROBES_ALL);
	assert_int_equal(probe_set_attach(&world.set, PROBES_ALL, &error), 0);
	assert_int_equal(fake_probes(), 2 * 2 * VERBS);
	probe_set_forget(&world.set, world.processes[0], false);
	assert_false(probe_set_has_any(&world.set, world.processes[0]));
	world.processes[1]->target.exited = true;
	fake_attach_error = -ESRCH;
	probe_set_detach(&world.set, PROBES_ALL);
	assert_int_equal(probe_set_attach(&world.set, PROBES_ALL, &error), 0);
	world_close(&world);
}

/* An error of one process does not keep the others from their probes. */
static void test_error(void **state)
{
	struct error error = { 0 };
	struct world world;

	(void)state;
	world_open(&world, true);
	probe_all(&world);
	probe_set_detach(&world.set, PROBES_ALL);
	fake_attach_error = -ENOMEM;
	assert_int_equal(probe_set_attach(&world.set, PROBES_FREES, &error), -ENOMEM);
	assert_string_equal(error.text, "refused");
	/* An end between two looks is no error. */
	fake_attach_error = -ESRCH;
	assert_int_equal(probe_set_attach(&world.set, PROBES_ALLOCATIONS, &error), 0);
	world_close(&world);
}

/* A window's parts. */
#define WINDOW (PROBES_FREES | PROBES_REALLOCS | PROBES_ALLOCATIONS)

static void open_windows(struct world *world)
{
	world_open(world, true);
	world->set.in_windows = true;
	world->set.parts = 0;
	probe_all(world);
	assert_int_equal(fake_probes(), 0);
}

static struct plan_probe *planned(struct world *world, size_t file, enum call_op verb)
{
	struct plan *plan = &world->files.plan;
	size_t i = file * VERBS;

	while (SHAPE_OP(plan->probes[i].shape) != verb)
		i++;
	return &plan->probes[i];
}

/* In windows, what is hit often is put in last, whatever it does: fewer hits are taken before all is in. */
static void test_busy_last(void **state)
{
	const enum call_op busy[] = { CALL_FREE, CALL_ALLOC };
	struct error error = { 0 };
	struct world world;
	size_t i, count = 0;

	(void)state;
	open_windows(&world);
	for (i = 0; i < 2; i++)
		planned(&world, 0, busy[i])->hits = 1000;
	planned(&world, 1, CALL_FREE)->hits = 10;
	assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), 0);
	check(WINDOW, 2);
	/* Of two processes. */
	for (i = fake_link_count - 4; i < fake_link_count; i++)
		count += fake_links[i].offset == CALL_FREE || fake_links[i].offset == CALL_ALLOC;
	assert_int_equal(count, 4);
	world_close(&world);
}

/* As long as nothing is known, by name. */
static void test_busy_by_name(void **state)
{
	struct error error = { 0 };
	struct world world;

	(void)state;
	open_windows(&world);
	planned(&world, 0, CALL_FREE)->symbol = "free";
	planned(&world, 0, CALL_ALLOC)->symbol = "malloc";
	assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), 0);
	check(WINDOW, 2);
	assert_int_equal(fake_links[fake_link_count - 1].offset, CALL_ALLOC);
	assert_int_equal(fake_links[fake_link_count - 3].offset, CALL_FREE);
	world_close(&world);
}

/*
 * In windows, a file whose free cannot be probed is left out, in all processes: its blocks would look as if they lived. That window is
 * lost, the next ones have the other files.
 */
static void test_blind(void **state)
{
	struct error error = { 0 };
	struct world world;
	size_t i;

	(void)state;
	open_windows(&world);
	fake_refused_offset = CALL_FREE;
	assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "a function that frees, in /lib/test.so"));
	fake_refused_offset = 0;
	for (i = 0; i < 2; i++) {
		probe_set_detach(&world.set, PROBES_ALL);
		assert_int_equal(fake_probes(), 0);
		assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), 0);
		assert_int_equal(fake_probes_at(CALL_ALLOC), 0);
		assert_int_equal(fake_probes_at(SECOND + CALL_FREE), 2);
		assert_int_equal(fake_probes_at(SECOND + CALL_ALLOC), 2);
		/* Once, however many windows there are. */
		assert_int_equal(world.set.refused, 1);
	}
	world_close(&world);
}

/* What allocates and cannot be probed is left out alone, even if nothing else is attached with it. */
static void test_allocations_refused(void **state)
{
	struct error error = { 0 };
	struct world world;
	size_t i;

	(void)state;
	open_windows(&world);
	planned(&world, 0, CALL_ALLOC)->hits = 1000;
	for (i = 0; i < 2; i++) {
		fake_attach_error = -EINVAL;
		fake_error_offset = CALL_ALLOC;
		assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), 0);
		assert_int_equal(fake_probes_at(CALL_ALLOC), 0);
		assert_int_equal(fake_probes_at(CALL_FREE), 2);
		assert_int_equal(fake_probes_at(CALL_SAMPLE), 2);
		assert_int_equal(fake_probes_at(SECOND + CALL_ALLOC), 2);
		probe_set_detach(&world.set, PROBES_ALL);
	}
	/* It is asked for once, whatever there are of windows and processes. */
	assert_int_equal(world.set.refused, 1);
	world_close(&world);
}

/* Windows that are lost for another reason refuse nothing. */
static void test_windows_lost(void **state)
{
	struct error error = { 0 };
	struct world world;
	size_t i;

	(void)state;
	open_windows(&world);
	for (i = 0; i < 3; i++) {
		fake_attach_error = -ENOMEM;
		assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), -ENOMEM);
		probe_set_detach(&world.set, PROBES_ALL);
	}
	assert_int_equal(world.set.refused, 0);
	fake_attach_error = 0;
	assert_int_equal(probe_set_attach(&world.set, WINDOW, &error), 0);
	check(WINDOW, 2);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_frees_and_allocations),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_busy_last),
		cmocka_unit_test(test_busy_by_name),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_allocations_refused),
		cmocka_unit_test(test_windows_lost),
		cmocka_unit_test(test_comes_meanwhile),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_whole_of_ended),
		cmocka_unit_test(test_not_divided),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
