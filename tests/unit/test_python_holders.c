/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways from objects of a CPython heap that is made up to what holds them, and heaps that lead nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "python/python_chain.h"
#include "python/python_holders.h"
#include "python_world.h"

#define HELD "shop.Held"

struct holders_world {
	struct python_world *world;
	uint64_t held_type, list_type, dict_type, module_type, small, large;
	uint64_t held;
	/* Blocks of malloc's. */
	struct python_block blocks[16];
	size_t block_count;
	unsigned int percent; /* holder_percent of the class, after holders_close */
};

/* Next object of a type, in a block of malloc's. */
static uint64_t holders_block(struct holders_world *it, uint64_t size, uint32_t head, uint64_t type)
{
	uint64_t block = it->world->next_heap;

	it->blocks[it->block_count++] = (struct python_block){ block, size };
	it->world->next_heap += size;
	if (type) {
		fake_image_put_word(it->world->fake, block + head, 1);
		fake_image_put_word(it->world->fake, block + head + 8, type);
	}
	return block + head;
}

static void holders_add_blocks(const struct holders_world *it, struct python_heap *heap)
{
	size_t i;

	for (i = 0; i < it->block_count; i++)
		python_blocks_add(&heap->large, it->blocks[i].address, it->blocks[i].size);
	python_blocks_sort(&heap->large);
}

static void holders_open(struct holders_world *it)
{
	it->block_count = 0;
	it->world = world_new(WORLD_LIBRARY);
	it->held_type = world_type(it->world, HELD, 0, 16);
	it->list_type = world_type(it->world, "list", WORLD_GC | 1ull << 25, 40);
	it->dict_type = world_type(it->world, "dict", WORLD_GC | 1ull << 29, 48);
	it->module_type = world_type(it->world, "module", WORLD_GC, 56);
	world_type(it->world, "str", 1ull << 28, 80);
	it->small = world_pool(it->world, 0, 32);
	it->large = world_pool(it->world, 1, 80);
	it->held = world_object(it->world, it->small, 0, it->held_type);
}

static uint64_t holders_list(struct holders_world *it, uint64_t items, uint64_t count)
{
	uint64_t list = world_object(it->world, it->large, 16, it->list_type);

	fake_image_put_word(it->world->fake, list + 16, count);
	fake_image_put_word(it->world->fake, list + 24, items);
	fake_image_put_word(it->world->fake, list + 32, count);
	return list;
}

/* A dict with one entry, whose keys malloc has. */
static uint64_t holders_dict(struct holders_world *it, const char *key, uint64_t value)
{
	uint64_t dict = world_object(it->world, it->large, 16, it->dict_type);
	const uint64_t entries[][2] = { { world_str(it->world, key), value } };
	uint64_t keys = world_dict(it->world, entries, 1) + 48;

	fake_image_put_word(it->world->fake, entries[0][0] + 8, it->module_type + 0x400);
	fake_image_put_word(it->world->fake, dict + 16, 1);
	fake_image_put_word(it->world->fake, dict + 32, keys);
	return dict;
}

static void holders_module(struct holders_world *it, const char *name, uint64_t dict)
{
	uint64_t module = world_object(it->world, it->large, 16, it->module_type);

	fake_image_put_word(it->world->fake, module + 16, dict);
	fake_image_put_word(it->world->fake, module + 48, world_str(it->world, name));
}

/* The first path of the class's, or NULL. To be freed. */
static char *holders_close(struct holders_world *it, bool samples)
{
	struct memory_runtime runtime = { 0 };
	struct python_objects objects;
	struct strings names = { 0 };
	struct python_heap *heap;
	char *path = NULL;
	size_t i;

	assert_int_equal(python_heap_find(fake_image_open(it->world->fake), &heap, NULL), 0);
	holders_add_blocks(it, heap);
	python_objects_walk(heap, NULL, &objects);
	python_objects_walk_blocks(heap, &objects);
	python_objects_report(heap, &objects, samples, &names, &runtime);
	python_holders_find(heap, 10, 0, samples, &names, &runtime);
	for (i = 0; i < runtime.class_count; i++) {
		struct memory_class *class = &runtime.classes[i];

		if (strcmp(class->name, HELD) != 0 || !class->holder_count)
			continue;
		path = memory_copy_string(class->holders[0]);
		it->percent = class->holder_percent;
	}
	memory_runtime_free(&runtime);
	strings_free(&names);
	python_heap_free(heap);
	world_free(it->world);
	return path;
}

static void holders_expect_with(struct holders_world *it, bool samples, const char *expected)
{
	char *path = holders_close(it, samples);

	if (!expected)
		assert_null(path);
	else if (path)
		assert_string_equal(path, expected);
	else
		fail_msg("no path");
	free(path);
}

static void holders_expect(struct holders_world *it, const char *expected)
{
	holders_expect_with(it, false, expected);
}

/* By a list whose items malloc has, which a global variable holds. */
static void test_global(void **state)
{
	struct holders_world it;
	uint64_t items;

	(void)state;
	holders_open(&it);
	items = it.world->next_heap;
	it.world->next_heap += 128;
	fake_image_put_word(it.world->fake, items + 16, it.held);
	holders_module(&it, "main", holders_dict(&it, "cart\033", holders_list(&it, items, 16)));
	holders_expect(&it, "[2] of list of 16 <- global ['cart\\x1b'] of module main");
}

/* One list holds the first object, another one the two after it: the way that most have comes first. */
static void test_most(void **state)
{
	struct holders_world it;
	uint64_t items;

	(void)state;
	holders_open(&it);
	items = world_take(it.world, it.small);
	fake_image_put_word(it.world->fake, items + 8, it.held);
	holders_module(&it, "few", holders_dict(&it, "one", holders_list(&it, items, 2)));
	items = world_take(it.world, it.small);
	fake_image_put_word(it.world->fake, items,
			    world_object(it.world, it.small, 0, it.held_type));
	fake_image_put_word(it.world->fake, items + 8,
			    world_object(it.world, it.small, 0, it.held_type));
	holders_module(&it, "main", holders_dict(&it, "many", holders_list(&it, items, 2)));
	holders_expect(&it, "[0] of list of 2 <- global ['many'] of module main");
	assert_int_equal(it.percent, 67);
}

/* Items in a pool; a class's dict. */
static void test_class(void **state)
{
	struct holders_world it;
	uint64_t items, dict;

	(void)state;
	holders_open(&it);
	items = world_take(it.world, it.small);
	fake_image_put_word(it.world->fake, items + 8, it.held);
	dict = holders_dict(&it, "held", holders_list(&it, items, 4));
	fake_image_put_word(it.world->fake, it.list_type + 264, dict);
	holders_expect(&it, "[1] of list of 4 <- ['held'] of dict of 1 <- class list");
}

/* Objects that hold each other, and themselves; freed ones; words of weak references; a number that is an address. */
static void test_nowhere(void **state)
{
	struct holders_world it;
	uint64_t items, list, weak, gone, number, watched;

	(void)state;
	holders_open(&it);
	items = world_take(it.world, it.small);
	list = holders_list(&it, items, 4);
	fake_image_put_word(it.world->fake, items, it.held);
	fake_image_put_word(it.world->fake, items + 8, list);
	weak = world_type(it.world, "weakref.ReferenceType", WORLD_GC, 64);
	weak = world_object(it.world, it.large, 16, weak);
	fake_image_put_word(it.world->fake, weak + 16, it.held);
	fake_image_put_word(it.world->fake, weak + 48, it.held);
	/* An object does not keep the weak references to it, which begin in it or in front of it. */
	watched = world_type(it.world, "Watched", WORLD_GC, 40);
	fake_image_put_word(it.world->fake, watched + 208, 32);
	watched = world_object(it.world, it.large, 16, watched);
	fake_image_put_word(it.world->fake, watched + 32, it.held);
	holders_module(&it, "watch", holders_dict(&it, "watched", watched));
	number = world_type(it.world, "int", 1ull << 24, 24);
	number = world_object(it.world, it.small, 0, number);
	fake_image_put_word(it.world->fake, number + 24, it.held);
	holders_module(&it, "main", holders_dict(&it, "number", number));
	gone = holders_list(&it, it.held, 4);
	world_give(it.world, gone - 16);
	holders_expect(&it, NULL);
}

/* Data of a library is better than what may be anything. */
static void test_weak(void **state)
{
	struct holders_world it;

	(void)state;
	holders_open(&it);
	fake_image_put_word(it.world->fake, WORLD_HEAP + 0x8000, it.held);
	holders_expect(&it, "memory that is no object");
	holders_open(&it);
	fake_image_put_word(it.world->fake, WORLD_HEAP + 0x8000, it.held);
	fake_image_put_word(it.world->fake, WORLD_DATA + 0xf000, it.held);
	holders_expect(&it, "data of libpython3.11.so.1.0");
}

/* No pools: object, list, its items, dict, its keys and module are blocks of malloc's, in any order. */
static void test_no_pools(void **state)
{
	struct holders_world it;
	uint64_t list, items, dict, module, keys, held;

	(void)state;
	holders_open(&it);
	it.world->next_heap = WORLD_HEAP + 0x8000;
	module = holders_block(&it, 80, 16, it.module_type);
	items = holders_block(&it, 512, 0, 0);
	held = holders_block(&it, 32, 0, it.held_type);
	dict = holders_block(&it, 80, 16, it.dict_type);
	list = holders_block(&it, 80, 16, it.list_type);
	world_give(it.world, it.held);
	fake_image_put_word(it.world->fake, items + 24, held);
	fake_image_put_word(it.world->fake, list + 16, 64);
	fake_image_put_word(it.world->fake, list + 24, items);
	fake_image_put_word(it.world->fake, list + 32, 64);
	keys = image_word(fake_image_open(it.world->fake), holders_dict(&it, "cart", list) + 32);
	it.blocks[it.block_count++] = (struct python_block){ keys, 400 };
	fake_image_absent(it.world->fake, WORLD_ARENA, WORLD_ARENA_SIZE);
	fake_image_put_word(it.world->fake, dict + 16, 1);
	fake_image_put_word(it.world->fake, dict + 32, keys);
	fake_image_put_word(it.world->fake, module + 16, dict);
	fake_image_put_word(it.world->fake, module + 48, world_str(it.world, "main"));
	holders_expect(&it, "[3] of list of 64 <- global ['cart'] of module main");
}

/* A struct of an extension is in between; a block that nothing is found to hold is better than nothing. */
static void test_extension(void **state)
{
	struct holders_world it;
	uint64_t block, owner;

	(void)state;
	holders_open(&it);
	block = holders_block(&it, 64, 0, 0);
	fake_image_put_word(it.world->fake, block + 40, it.held);
	holders_expect(&it, "memory that is no object");
	holders_open(&it);
	block = holders_block(&it, 64, 0, 0);
	owner = world_object(it.world, it.large, 16,
			     world_type(it.world, "ext.Owner", WORLD_GC, 40));
	fake_image_put_word(it.world->fake, block + 40, it.held);
	fake_image_put_word(it.world->fake, owner + 24, block);
	holders_module(&it, "main", holders_dict(&it, "owner", owner));
	holders_expect(&it, "in ext.Owner <- global ['owner'] of module main");
}

/*
 * Nodes that each hold the next one, by a slot or by a value in a dict; the object is held by the last one, the first one by a global
 * variable. Each way is one step, with its number.
 */
static void chain_open(struct holders_world *it, unsigned int count, uint64_t *ret_nodes)
{
	uint64_t type, pool;
	unsigned int i;

	holders_open(it);
	type = world_type(it->world, "shop.Node", WORLD_GC, 48);
	pool = 0;
	for (i = 0; i < count; i++) {
		if (!(i % 200))
			pool = world_pool(it->world, 2 + i / 200, 80);
		ret_nodes[i] = world_object(it->world, pool, 16, type);
		if (i)
			fake_image_put_word(it->world->fake, ret_nodes[i - 1] + 24, ret_nodes[i]);
	}
	fake_image_put_word(it->world->fake, ret_nodes[count - 1] + 32, it->held);
}

static void test_chain(void **state)
{
	static const unsigned int counts[] = { 1, 2, 3, 4, 5, 1000 };
	uint64_t nodes[1000];
	struct holders_world it;
	char expected[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		chain_open(&it, counts[i], nodes);
		holders_module(&it, "main", holders_dict(&it, "head", nodes[0]));
		snprintf(expected, sizeof(expected),
			 "+32 of shop.Node <- +24 of shop.Node x %u <- global ['head'] of module "
			 "main",
			 counts[i] - 1);
		if (counts[i] < 4)
			snprintf(expected, sizeof(expected),
				 "+32 of shop.Node%s%s <- global ['head'] of module main",
				 counts[i] > 1 ? " <- +24 of shop.Node" : "",
				 counts[i] > 2 ? " <- +24 of shop.Node" : "");
		holders_expect(&it, expected);
	}
}

/* A ring, and one that a chain leads to, have no first object, and end. */
static void test_rings(void **state)
{
	uint64_t nodes[300];
	struct holders_world it;

	(void)state;
	chain_open(&it, 300, nodes);
	fake_image_put_word(it.world->fake, nodes[299] + 24, nodes[0]);
	holders_expect(&it, NULL);
	chain_open(&it, 300, nodes);
	fake_image_put_word(it.world->fake, nodes[299] + 24, nodes[299]);
	fake_image_put_word(it.world->fake, nodes[299] + 40, nodes[100]);
	holders_expect(&it, NULL);
}

/* What is over for one of these questions. */
static unsigned int over_at, over_asked;

static bool is_over_once(void)
{
	return ++over_asked == over_at;
}

/* Jump from the last node of the graph; does it have a holder then? */
static bool chain_jumps(struct python_chains *chains, struct python_graph *graph, uint64_t until_ns)
{
	size_t last = graph->count - 1;

	over_asked = 0;
	python_chains_jump(chains, graph, last, until_ns);
	return graph->nodes[last].holder_count;
}

/* A long chain that is known is not followed without time, nor to its end when time ends on the way. */
static void test_no_time_for_chains(void **state)
{
	const struct image_patience patience = { .is_over = is_over_once };
	struct python_chains chains = { 0 };
	struct python_graph graph = { 0 };
	struct holders_world it;
	uint64_t nodes[5000];
	unsigned int i;

	(void)state;
	chain_open(&it, 5000, nodes);
	assert_int_equal(python_heap_find(fake_image_open(it.world->fake), &graph.heap, NULL), 0);
	graph.owners = python_owners_new(graph.heap);
	python_graph_add(&graph, it.held);
	for (i = 0; i < 3; i++)
		assert_true(python_graph_pass(&graph, graph.count - 1, 0));
	graph.heap->image->patience = &patience;
	assert_true(chain_jumps(&chains, &graph, 0));
	assert_int_equal(chains.count, 1);
	/* As before. */
	table_remove(&graph.by_address, nodes[0]);
	graph.count--;
	graph.nodes[graph.count - 1].holder_count = 0;
	assert_false(chain_jumps(&chains, &graph, 1));
	over_at = 2;
	assert_false(chain_jumps(&chains, &graph, 0));
	python_chains_free(&chains);
	python_owners_free(graph.owners);
	python_graph_free(&graph);
	python_heap_free(graph.heap);
	world_free(it.world);
}

/* Lists in lists: three words for each. */
static void test_lists(void **state)
{
	struct holders_world it;
	uint64_t inner, items;
	int i;

	(void)state;
	holders_open(&it);
	inner = it.held;
	for (i = 0; i < 90; i++) {
		items = world_take(it.world, it.small);
		fake_image_put_word(it.world->fake, items + 8, inner);
		inner = holders_list(&it, items, 2);
	}
	holders_module(&it, "main", holders_dict(&it, "nested", inner));
	holders_expect(&it, "[1] of list of 2 x 90 <- global ['nested'] of module main");
}

/* What stands in malloc's free memory is old. */
static void test_old_words(void **state)
{
	struct holders_world it;

	(void)state;
	holders_open(&it);
	holders_block(&it, 64, 0, 0);
	fake_image_put_word(it.world->fake, it.world->next_heap + 16, it.held);
	holders_expect(&it, NULL);
}

/* An object in a block that is younger than the walk of blocks; memory of another's in a mapping with a block. */
static void test_beside_blocks(void **state)
{
	struct holders_world it;
	uint64_t owner;

	(void)state;
	holders_open(&it);
	owner = holders_block(&it, 64, 16, world_type(it.world, "ext.Owner", WORLD_GC, 40));
	it.block_count--;
	holders_block(&it, 64, 0, 0);
	fake_image_put_word(it.world->fake, owner + 24, it.held);
	holders_module(&it, "main", holders_dict(&it, "owner", owner));
	holders_expect(&it, "+24 of ext.Owner <- global ['owner'] of module main");
	holders_open(&it);
	fake_image_map(it.world->fake, WORLD_HEAP + 0x100000, 0x4000, "", FAKE_WRITABLE);
	it.blocks[it.block_count++] = (struct python_block){ WORLD_HEAP + 0x100010, 0x1ff0 };
	fake_image_put_word(it.world->fake, WORLD_HEAP + 0x103000, it.held);
	holders_expect(&it, "memory that is no object");
}

/* Tables and keys whose sizes are lies, keys that are no str, and a dict that is its own keys. */
static void test_lies(void **state)
{
	struct holders_world it;
	uint64_t dict, keys;

	(void)state;
	holders_open(&it);
	holders_list(&it, 8, UINT64_MAX);
	holders_list(&it, UINT64_MAX - 7, 1ull << 37);
	dict = world_object(it.world, it.large, 16, it.dict_type);
	fake_image_put_word(it.world->fake, dict + 32, dict);
	dict = holders_dict(&it, "key", it.held);
	keys = image_word(fake_image_open(it.world->fake), dict + 32);
	fake_image_put_word(it.world->fake, keys + 64, it.held);
	holders_module(&it, "main", dict);
	holders_expect(&it, "global key [shop.Held] of module main");
}

/* A key that is data of a program is shown only with samples, a name always. */
static void test_samples(void **state)
{
	struct holders_world it;
	int samples;

	(void)state;
	for (samples = 0; samples < 2; samples++) {
		holders_open(&it);
		holders_module(&it, "main",
			       holders_dict(&it, "users", holders_dict(&it, "a@b.c", it.held)));
		holders_expect_with(
			&it, samples,
			samples ? "['a@b.c'] of dict of 1 <- global ['users'] of module main"
				: "[a str] of dict of 1 <- global ['users'] of module main");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global),	      cmocka_unit_test(test_class),
		cmocka_unit_test(test_nowhere),	      cmocka_unit_test(test_weak),
		cmocka_unit_test(test_most),	      cmocka_unit_test(test_lies),
		cmocka_unit_test(test_samples),	      cmocka_unit_test(test_no_pools),
		cmocka_unit_test(test_extension),     cmocka_unit_test(test_old_words),
		cmocka_unit_test(test_beside_blocks), cmocka_unit_test(test_chain),
		cmocka_unit_test(test_rings),	      cmocka_unit_test(test_no_time_for_chains),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
