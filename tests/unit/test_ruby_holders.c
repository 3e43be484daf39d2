/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds objects of Ruby. Truth: heaps laid out by hand; the live tests have programs that hold objects in known ways. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ruby/ruby_path.h"
#include "unit/ruby_program.h"

struct hold {
	struct ruby_heap heap;
	struct ruby_names names;
	struct ruby_graph graph;
	struct ruby_holders holders;
};

static bool hold(struct ruby_world *world, struct hold *hold, uint64_t max_bytes)
{
	if (ruby_world_find(world, world->layout, &hold->heap))
		return false;
	ruby_class_open(&hold->heap, &hold->names);
	if (!ruby_graph_load(&hold->graph, &hold->heap, &hold->names, 16u << 20))
		fail();
	ruby_holders_find(&hold->graph, max_bytes, &hold->holders);
	return true;
}

static void end_hold(struct hold *hold)
{
	ruby_holders_free(&hold->holders);
	ruby_graph_free(&hold->graph);
	ruby_class_close(&hold->names);
	ruby_heap_free(&hold->heap);
}

static void check_way(const struct hold *hold, uint64_t object, const char *way)
{
	uint32_t number = ruby_graph_number(&hold->graph, object);
	struct buffer text = { 0 };

	assert_true(number);
	assert_int_equal(!hold->holders.parents[number], !way);
	if (way) {
		ruby_path_append(&hold->holders, number, false, &text);
		assert_string_equal(text.data, way);
	}
	buffer_free(&text);
}

static void check_way_begins(const struct hold *hold, uint64_t object, const char *way)
{
	uint32_t number = ruby_graph_number(&hold->graph, object);
	struct buffer text = { 0 };

	assert_true(number && hold->holders.parents[number]);
	ruby_path_append(&hold->holders, number, false, &text);
	assert_memory_equal(text.data, way, strlen(way));
	buffer_free(&text);
}

static void test_ways_in_all_versions(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		struct hold found = { 0 };
		uint64_t held[4];

		put_program(world, held);
		assert_true(hold(world, &found, 0));
		check_way(&found, held[0], "[7] of Object of 10 <- constant App::STORE");
		check_way(&found, held[1],
			  "[7] of Object of 9 <- [3] of Object of 10 <- constant App::STORE");
		check_way(&found, held[2], "global $jobs");
		check_way(&found, held[3], NULL);
		end_hold(&found);
		/* A word somewhere else. */
		ruby_world_put(world, ruby_world_alloc(world, 24), held[3]);
		assert_true(hold(world, &found, 64u << 20));
		check_way(&found, held[3], "a word of native memory, maybe stale");
		end_hold(&found);
		ruby_world_free(world);
	}
}

/* A weak map with one key, which is an object in a slot of page 4; `type` is its own. */
static uint64_t put_map(struct ruby_world *world, uint64_t slot, uint64_t type, uint64_t held)
{
	uint64_t map = ruby_world_object(world, 4, slot, RUBY_T_DATA, world->object);
	uint64_t data = ruby_world_alloc(world, 24), pairs[1][2] = { { held, 8 } };

	if (world->layout->tables_inside) {
		pairs[0][0] = ruby_world_alloc(world, 24);
		ruby_world_put(world, pairs[0][0], held);
	}
	ruby_world_put(world, map + 16, type);
	ruby_world_put(world, map + 24, 1);
	ruby_world_put(world, map + 32, data);
	ruby_world_put(world, data, ruby_world_table(world, 0, (const uint64_t(*)[2])pairs, 1));
	return map;
}

static uint64_t put_map_type(struct ruby_world *world)
{
	uint64_t type = ruby_world_alloc(world, 24);

	ruby_world_put(world, type, ruby_world_alloc(world, 16));
	fake_image_put(world->fake, ruby_world_get(world, type), "weakmap", 8);
	return type;
}

/* A weak map that only another one has, which only a third one has. */
static void test_weak_maps_in_weak_maps(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		uint64_t held[4], object, type, map;
		struct hold found = { 0 };

		put_program(world, held);
		type = put_map_type(world);
		object = ruby_world_object(world, 4, 20, RUBY_T_OBJECT | 1 << 13, world->object);
		map = put_map(world, 21, type, object);
		map = put_map(world, 22, type, map);
		/* The global variable's value. */
		put_map(world, 2, type, map);
		assert_true(hold(world, &found, 0));
		check_way(&found, object,
			  "a weak reference of Object <- a weak reference of Object <- "
			  "a weak reference of Object <- global $jobs");
		end_hold(&found);
		ruby_world_free(world);
	}
}

/* Variables of a string, in the interpreter's table for what is no plain object; a weak map, whose table has pairs since 3.3. */
static void test_variables_of_strings_and_weak_maps(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		uint64_t string = ruby_world_slot(world, 3, 0), values = 0, held[4], pairs[1][2];
		struct hold found = { 0 };

		put_program(world, held);
		values = ruby_world_alloc(world, 24);
		ruby_world_put(world, values, 2);
		ruby_world_put(world, values + 16, held[3]);
		ruby_world_put(world, string, ruby_world_get(world, string) | 1 << 10);
		pairs[0][0] = string;
		pairs[0][1] = values;
		ruby_world_put(world, STATIC + 128,
			       ruby_world_table(world, 0, (const uint64_t(*)[2])pairs, 1));
		/* The global variable's value is a map now. */
		put_map(world, 2, put_map_type(world),
			ruby_world_object(world, 4, 20, RUBY_T_OBJECT | 1 << 13, world->object));
		assert_true(hold(world, &found, 0));
		check_way_begins(&found, held[3], "variable 1 of an internal object <- [0] of ");
		check_way_begins(&found, ruby_world_slot(world, 4, 20),
				 "a weak reference of Object <- global $jobs");
		end_hold(&found);
		ruby_world_free(world);
	}
}

/* Frozen strings, which are their own values in a table of the virtual machine; a word of that; names of symbols. */
static void test_what_the_interpreter_itself_holds(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		uint64_t pairs[80][2], held[4], own;
		struct hold found = { 0 };

		put_program(world, held);
		for (j = 0; j < 80; j++) {
			pairs[j][0] = pairs[j][1] = ruby_world_string(world, 5, j, "text");
			ruby_world_mark(world, 5, j);
		}
		own = ruby_world_object(world, 4, 50, RUBY_T_OBJECT | 1 << 13, world->object);
		ruby_world_mark(world, 4, 50);
		ruby_world_put(world, WORLD_VM + 800, own);
		ruby_world_put(world, WORLD_VM + 808, 0xdead0000dead0000);
		ruby_world_put(world, WORLD_VM + 816,
			       ruby_world_table(world, 0, (const uint64_t(*)[2])pairs, 80));
		assert_true(hold(world, &found, 0));
		check_way(&found, pairs[79][0], "the table of frozen strings (literals of code)");
		check_way(&found, own, "the interpreter itself");
		check_way(&found, held[0], "[7] of Object of 10 <- constant App::STORE");
		check_way(&found, ruby_world_slot(world, 3, 0),
			  "[0] of Object of 1024 <- [0] of Object of 2 <- the table of symbols");
		check_way(&found, held[3], NULL);
		end_hold(&found);
		ruby_world_free(world);
	}
}

/* An object of the interpreter's own, a thread or a fiber, in a slot of page 4. */
static void put_native(struct ruby_world *world, uint64_t slot, const char *name, uint64_t data)
{
	uint64_t object = ruby_world_object(world, 4, slot, RUBY_T_DATA, world->object);
	uint64_t type = ruby_world_alloc(world, 24);

	ruby_world_mark(world, 4, slot);
	ruby_world_put(world, type, ruby_world_alloc(world, 16));
	fake_image_put(world->fake, ruby_world_get(world, type), name, strlen(name) + 1);
	ruby_world_put(world, object + 16, type);
	ruby_world_put(world, object + 24, 1);
	ruby_world_put(world, object + 32, data);
}

/* A fiber's block of a thread: a reference, its stack, registers with another one, behind them the third one. */
static uint64_t put_context(struct ruby_world *world, uint64_t thread, const uint64_t objects[3])
{
	uint64_t context = ruby_world_alloc(world, 600);

	ruby_world_put(world, context + 40, context);
	ruby_world_put(world, context + 48, thread);
	ruby_world_put(world, context + 56, objects[1]);
	ruby_world_put(world, context + 104, WORLD_STRUCTS + 0x900);
	ruby_world_put(world, context + 112, WORLD_STRUCTS + 0x500);
	ruby_world_put(world, context + 120, 0x7ff810);
	ruby_world_put(world, context + 136, objects[0]);
	ruby_world_put(world, context + 128 + 200, objects[2]);
	return context;
}

/*
 * What only a weak map and an old register of a thread have is the map's; what is a word of the thread's block in front of the registers or
 * behind them is the thread's. A fiber has the same block.
 */
static void test_registers_of_threads(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		uint64_t held[4], objects[3], native, context, j;
		struct hold found = { 0 };

		put_program(world, held);
		for (j = 0; j < 3; j++) {
			objects[j] = ruby_world_object(world, 4, 20 + j, RUBY_T_OBJECT | 1 << 13,
						       world->object);
			ruby_world_mark(world, 4, 20 + j);
		}
		put_map(world, 2, put_map_type(world), objects[0]);
		native = ruby_world_alloc(world, 64);
		context = put_context(world, native, objects);
		ruby_world_put(world, native + 8, context);
		ruby_world_put(world, native + 16, ruby_world_slot(world, 4, 31));
		put_native(world, 30, "VM/thread", native);
		put_native(world, 31, "fiber", context);
		assert_true(hold(world, &found, 0));
		check_way(&found, objects[0], "a weak reference of Object <- global $jobs");
		check_way(&found, objects[1], "native memory of Object <- a thread");
		check_way(&found, objects[2], "native memory of Object <- a thread");
		end_hold(&found);
		ruby_world_free(world);
	}
}

static void test_instance_variables_have_names(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.2");
	struct ruby_world *world = ruby_world_new(layout, PROGRAM_PAGES);
	uint64_t held[4], entry, extension;
	struct hold found = { 0 };

	(void)state;
	put_program(world, held);
	entry = ruby_world_alloc(world, 24);
	ruby_world_put(world, entry, 1);
	const uint64_t pairs[][2] = { { TABLE << 4 | 2, entry } };

	extension = ruby_world_get(world, ruby_world_slot(world, 0, 5) + layout->extension);
	ruby_world_put(world, extension, ruby_world_table(world, 0, pairs, 1));
	ruby_world_put(world, held[0] + 24, held[3]);
	assert_true(hold(world, &found, 0));
	check_way(&found, held[3], "@table of App <- [7] of Object of 10 <- constant App::STORE");
	end_hold(&found);
	ruby_world_free(world);
}

static void test_ways_of_one_shape(void **state)
{
	(void)state;
	assert_int_equal(ruby_path_shape("[7] of Array of 10 <- constant A"),
			 ruby_path_shape("[12345] of Array of 9 <- constant A"));
	assert_int_equal(ruby_path_shape("[\"a\"] of Hash of 10"),
			 ruby_path_shape("[:b] of Hash of 1"));
	assert_int_not_equal(ruby_path_shape("[7] of Array of 10 <- constant A"),
			     ruby_path_shape("[7] of Array of 10 <- constant B"));
}

/* Lengths, addresses and tables that make no sense: an end, and no more than there is. */
static void test_damaged_words(void **state)
{
	static const uint64_t damages[] = { UINT64_MAX, 1ull << 62, WORLD_MALLOC, 0 };
	size_t i, j;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i += 2) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PROGRAM_PAGES);
		uint64_t held[4], kept, at;

		put_program(world, held);
		for (at = 0; at < 0x380; at += 8)
			for (j = 0; j < sizeof(damages) / sizeof(damages[0]); j++) {
				uint64_t address =
					at < 0x40    ? STATIC + at
					: at < 0x80  ? ruby_world_slot(world, 2, 50) + at - 0x40
					: at < 0x100 ? ruby_world_slot(world, 0, 20) + at - 0x80
					: at < 0x180 ? ruby_world_slot(world, 0, 5) + at - 0x100
						     : world->malloc - 0x200 + at - 0x180;
				struct hold found = { 0 };

				kept = ruby_world_get(world, address);
				ruby_world_put(world, address, damages[j]);
				if (hold(world, &found, 0)) {
					struct buffer text = { 0 };

					if (found.holders.parents[ruby_graph_number(&found.graph,
										    held[0])])
						ruby_path_append(
							&found.holders,
							ruby_graph_number(&found.graph, held[0]),
							true, &text);
					buffer_free(&text);
					end_hold(&found);
				}
				ruby_world_put(world, address, kept);
			}
		ruby_world_free(world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways_in_all_versions),
		cmocka_unit_test(test_variables_of_strings_and_weak_maps),
		cmocka_unit_test(test_weak_maps_in_weak_maps),
		cmocka_unit_test(test_what_the_interpreter_itself_holds),
		cmocka_unit_test(test_registers_of_threads),
		cmocka_unit_test(test_instance_variables_have_names),
		cmocka_unit_test(test_ways_of_one_shape),
		cmocka_unit_test(test_damaged_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
