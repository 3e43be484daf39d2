/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runtimes are looked at together with the allocator's blocks. Truth: a CPython heap that is made up, and an allocator that is one of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/kind.h"
#include "memory/memory_runtimes.h"
#include "python_world.h"

#define HELD "shop.Held"
#define BORN 3 /* objects that are made while blocks are walked */

static struct python_world *world;
static uint64_t held_type;
static bool counts_only;
static int walks;

static int found_find(struct image *image, const struct thread_list *threads,
		      struct heap_layout **ret_layout, struct error *reason)
{
	(void)image;
	(void)threads;
	(void)reason;
	*ret_layout = NULL;
	return 0;
}

/* The program goes on meanwhile, and has a new pool at the end. */
static int found_walk(const struct heap_layout *layout, struct image *image,
		      const struct census_sink *sink, struct heap_totals *ret_totals)
{
	const struct census_block block = { .address = WORLD_HEAP + 0x8000, .size = 1024 };
	uint64_t pool = world_pool(world, 5, 32);
	int i;

	(void)layout;
	(void)image;
	walks++;
	for (i = 0; i < BORN; i++)
		world_object(world, pool, 0, held_type);
	ret_totals->counts_only = counts_only;
	if (!counts_only)
		sink->block(sink->context, &block);
	return 0;
}

static void found_free(struct heap_layout *layout)
{
	(void)layout;
}

static const struct heap_allocator found = {
	.name = "found", .find = found_find, .walk = found_walk, .free = found_free
};
const struct heap_allocator *const census_allocators[] = { &found, NULL };

/* One object in a pool, one in a block of malloc's. */
static void open_world(void)
{
	world = world_new(WORLD_LIBRARY);
	held_type = world_type(world, HELD, 0, 16);
	world_object(world, world_pool(world, 0, 32), 0, held_type);
	fake_image_put_word(world->fake, WORLD_HEAP + 0x8000, 1);
	fake_image_put_word(world->fake, WORLD_HEAP + 0x8008, held_type);
}

/* `kinds` may be NULL. */
static void look_with(struct image *image, const struct kind_census *kinds,
		      struct memory_report *report)
{
	const struct memory_wanted wanted = { .objects = true };
	struct claims *claims = claims_new();
	struct kind_roots roots = { 0 };

	/* Those are walked that the look at heaps has found. */
	image->heaps_found = 1;
	memory_runtimes_look(image, &wanted, kinds, claims, &roots, report);
	assert_int_equal(report->runtime_count, 1);
	kind_roots_free(&roots);
	claims_free(claims);
}

static void look(struct memory_report *report)
{
	look_with(fake_image_open(world->fake), NULL, report);
	world_free(world);
}

static uint64_t count_of(const struct memory_runtime *runtime, const char *name)
{
	size_t i;

	for (i = 0; i < runtime->class_count; i++)
		if (!strcmp(runtime->classes[i].name, name))
			return runtime->classes[i].live;
	return 0;
}

/* A pool that is younger than the walk of blocks is counted. */
static void test_pools_are_as_of_after_the_walk_of_blocks(void **state)
{
	struct memory_report report = { 0 };

	(void)state;
	counts_only = false;
	open_world();
	look(&report);
	assert_int_equal(count_of(&report.runtimes[0], HELD), 1 + BORN + 1);
	assert_null(strstr(report.runtimes[0].remarks.data ? report.runtimes[0].remarks.data : "",
			   "512 bytes"));
	memory_report_free(&report);
}

/* An allocator that passes no blocks, since it does not know which are in use. */
static void test_blocks_that_are_not_known(void **state)
{
	struct memory_report report = { 0 };

	(void)state;
	counts_only = true;
	open_world();
	look(&report);
	assert_int_equal(count_of(&report.runtimes[0], HELD), 1 + BORN);
	assert_true(report.runtimes[0].blocks_unknown);
	assert_non_null(strstr(report.runtimes[0].remarks.data, "512 bytes are not counted"));
	memory_report_free(&report);
}

/* Blocks that the census of kinds has seen are not walked again, and objects in them are counted; one that has seen none leaves them to a walk. */
static void test_blocks_are_walked_once(void **state)
{
	const struct census_block block = { .address = WORLD_HEAP + 0x8000, .size = 1024 };
	const struct module_ranges modules = { 0 };
	struct memory_report report = { 0 };
	struct kind_census *kinds;
	struct census_sink sink;
	struct image *image;

	(void)state;
	counts_only = false;
	open_world();
	image = fake_image_open(world->fake);
	kinds = kind_census_new(image, &modules);
	kind_census_keep(kinds, NULL);
	walks = 0;
	look_with(image, kinds, &report);
	assert_int_equal(walks, 1);
	assert_int_equal(count_of(&report.runtimes[0], HELD), 1 + BORN + 1);
	memory_report_free(&report);
	report = (struct memory_report){ 0 };
	sink = kind_census_sink(kinds);
	assert_true(sink.block(sink.context, &block));
	look_with(image, kinds, &report);
	assert_int_equal(walks, 1);
	assert_int_equal(count_of(&report.runtimes[0], HELD), 1 + BORN + 1);
	assert_false(report.runtimes[0].blocks_unknown);
	memory_report_free(&report);
	kind_census_free(kinds);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pools_are_as_of_after_the_walk_of_blocks),
		cmocka_unit_test(test_blocks_that_are_not_known),
		cmocka_unit_test(test_blocks_are_walked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
