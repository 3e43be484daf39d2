/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program in a heap of Ruby that a test makes up: a constant, a global variable, names, containers that hold objects. */
#ifndef TESTS_RUBY_PROGRAM_H
#define TESTS_RUBY_PROGRAM_H

#include "ruby_world.h"

#define PROGRAM_PAGES 6
#define STATIC (WORLD_GLOBALS + 0x100)
#define STORE 300 /* serial numbers of names */
#define TABLE 600
#define GLOBAL 601
#define HELD 10 /* objects that somebody holds */

static inline uint64_t put_array(struct ruby_world *world, uint64_t slot, const uint64_t *values,
				 uint64_t count)
{
	uint64_t array = ruby_world_object(world, 2, slot, RUBY_T_ARRAY, world->object);
	uint64_t bytes = ruby_world_alloc(world, count * 8), i;

	for (i = 0; i < count; i++)
		ruby_world_put(world, bytes + i * 8, values[i]);
	ruby_world_put(world, array + 16, count);
	ruby_world_put(world, array + 24, count);
	ruby_world_put(world, array + 32, bytes);
	ruby_world_mark(world, 2, slot);
	return array;
}

/* Tables from serial numbers to names, as the interpreter has them in its static data. */
static inline void put_names(struct ruby_world *world)
{
	uint64_t names[1024] = { 0 }, arrays[2];

	names[0] = ruby_world_string(world, 3, 0, "first");
	names[STORE * 2] = ruby_world_string(world, 3, 1, "STORE");
	arrays[0] = put_array(world, 100, names, 1024);
	memset(names, 0, sizeof(names));
	names[(TABLE - 512) * 2] = ruby_world_string(world, 3, 2, "@table");
	names[(GLOBAL - 512) * 2] = ruby_world_string(world, 3, 3, "$jobs");
	arrays[1] = put_array(world, 101, names, 1024);
	ruby_world_put(world, STATIC, 700);
	ruby_world_put(world, STATIC + 16, put_array(world, 102, arrays, 2));
	ruby_world_put(world, STATIC + 24, ruby_world_object(world, 2, 103, RUBY_T_HASH, 0));
}

static inline uint64_t put_id_table(struct ruby_world *world, uint64_t count,
				    const uint64_t (*items)[2])
{
	uint64_t table = ruby_world_alloc(world, 24), entries = ruby_world_alloc(world, count * 16),
		 i;

	ruby_world_put(world, table, count | count << 32);
	ruby_world_put(world, table + 8, count);
	ruby_world_put(world, table + 16, entries);
	for (i = 0; i < count; i++) {
		ruby_world_put(world, entries + i * 16, items[i][0]);
		ruby_world_put(world, entries + i * 16 + 8, items[i][1]);
	}
	return table;
}

static inline void put_constant(struct ruby_world *world, uint64_t class, uint64_t serial,
				uint64_t value)
{
	const struct ruby_release *layout = world->layout;
	uint64_t entry = ruby_world_alloc(world, 24), extension = class + layout->extension;
	const uint64_t items[][2] = { { serial, entry } };

	if (layout->extension_is_pointer)
		extension = ruby_world_get(world, extension);
	ruby_world_put(world, entry + 8, value);
	ruby_world_put(world, extension + layout->constants, put_id_table(world, 1, items));
}

/* Global variables, of which the first one has a value. */
static inline void put_globals(struct ruby_world *world, uint64_t value)
{
	uint64_t items[12][2], entry, variable, i;

	for (i = 0; i < 12; i++) {
		entry = ruby_world_alloc(world, 24);
		variable = ruby_world_alloc(world, 64);
		ruby_world_put(world, entry, variable);
		ruby_world_put(world, entry + 8, (GLOBAL + i) << 4 | 7);
		ruby_world_put(world, variable + 8, i ? 8 : value);
		items[i][0] = GLOBAL + i;
		items[i][1] = entry;
	}
	ruby_world_put(world, STATIC + 64, put_id_table(world, 12, (const uint64_t(*)[2])items));
}

/* App::STORE is an array, in which are a hash and the array itself; the hash has held[1]; $jobs has held[2], nobody held[3]. */
static inline void put_program(struct ruby_world *world, uint64_t held[4])
{
	uint64_t app = ruby_world_class(world, 5, "App", world->object), hash, values[HELD] = { 0 },
		 i;
	const uint64_t pairs[9][2] = { { 15, 0 } };
	uint64_t filled[9][2];

	for (i = 0; i < 4; i++) {
		held[i] = ruby_world_object(world, 4, i, RUBY_T_OBJECT | 1 << 13, app);
		ruby_world_mark(world, 4, i);
	}
	memcpy(filled, pairs, sizeof(filled));
	filled[0][1] = held[1];
	hash = ruby_world_object(world, 0, 20, RUBY_T_HASH | 1 << 15, world->object);
	ruby_world_mark(world, 0, 20);
	if (world->layout->tables_inside)
		ruby_world_table(world, hash + 24, (const uint64_t(*)[2])filled, 9);
	else
		ruby_world_put(world, hash + 16,
			       ruby_world_table(world, 0, (const uint64_t(*)[2])filled, 9));
	values[3] = hash;
	values[5] = ruby_world_slot(world, 2, 50);
	values[7] = held[0];
	put_names(world);
	put_constant(world, app, STORE, put_array(world, 50, values, HELD));
	put_constant(world, world->object, STORE + 1, app);
	put_globals(world, held[2]);
}

#endif
