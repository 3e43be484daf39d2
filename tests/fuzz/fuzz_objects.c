/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps of Ruby, in all layouts, and of CPython, which the input has written over: triples of a place, what to do there, and a word. The readers must
 * end after a bounded number of reads, and count no more than there is.
 */
#include "../unit/python_world.h"
#include "../unit/ruby_program.h"
#include "base/hash.h"
#include "fuzz.h"
#include "python/python_holders.h"

#define READS_MAX 400000
#define EDITS_MAX 24
#define RUBY_LAYOUTS 8 /* at most */
#define HOLDERS 4

struct edit {
	uint64_t address, before;
};

/* Where there are structures, in bytes. */
struct area {
	uint64_t start, size;
};

static struct ruby_world *ruby_worlds[RUBY_LAYOUTS];
static struct python_world *python;

static const struct area python_areas[] = {
	{ WORLD_DATA, 0x700 }, { WORLD_TYPES, 0x2000 },		{ WORLD_TEXTS, 0x100 },
	{ WORLD_HEAP, 0x800 }, { WORLD_ARENA, 0x100 },		{ WORLD_ARENA + 0x4000, 0x200 },
	{ WORLD_HEAP, 0x800 }, { WORLD_ARENA + 0x4000, 0x200 },
};

/* A word of the input, or one that leads somewhere, or the word before with one bit changed. */
static uint64_t word_of(const uint8_t *data, const struct area *areas, uint64_t before)
{
	uint64_t word;

	memcpy(&word, data + 3, sizeof(word));
	if (data[2] & 1) {
		areas += data[2] >> 1 & 7;
		return areas->start + word % areas->size / 8 * 8;
	}
	if (data[2] & 2)
		return before ^ 1ull << (data[2] >> 2);
	return data[2] & 4 ? before + (word & 0xffff) * 8 : word;
}

static size_t change(struct fake_image *fake, const struct area areas[8], const uint8_t *data,
		     size_t size, struct edit edits[EDITS_MAX])
{
	const struct area *area;
	size_t count = 0;
	uint16_t number;

	for (; size >= 11 && count < EDITS_MAX; data += 11, size -= 11) {
		memcpy(&number, data, sizeof(number));
		area = &areas[number & 7];
		edits[count].address = area->start + (uint64_t)(number >> 3) * 8 % area->size;
		edits[count].before = 0;
		fake_image_read(fake, edits[count].address, &edits[count].before, 8);
		fake_image_put_word(fake, edits[count].address,
				    word_of(data, areas, edits[count].before));
		count++;
	}
	return count;
}

static void change_back(struct fake_image *fake, const struct edit *edits, size_t count)
{
	while (count--)
		fake_image_put_word(fake, edits[count].address, edits[count].before);
}

/* Blocks of malloc's, by the sizes that the world has put before them. */
static bool walk_blocks(void *context, const struct census_sink *sink)
{
	struct ruby_world *world = context;
	struct census_block block = { .address = WORLD_MALLOC + 16 };

	for (; block.address < world->malloc; block.address += (block.size + 8) & ~15ull) {
		block.size = (ruby_world_get(world, block.address - 8) & ~15ull) - 8;
		if (block.size < 24 || block.size > 1 << 20 || !sink->block(sink->context, &block))
			return true;
	}
	return true;
}

static void check_ruby(const struct ruby_counts *counts, const struct memory_runtime *runtime)
{
	uint64_t states = 0, objects = 0;
	size_t i;

	for (i = 0; i <= RUBY_MISSING; i++)
		states += counts->states[i];
	MUST(states == counts->slots);
	for (i = 0; i < runtime->class_count; i++) {
		const struct memory_class *class = &runtime->classes[i];

		objects += class->live + class->newborn + class->garbage;
		MUST(class->old <= class->live && class->native_bytes <= class->other_bytes);
	}
	MUST(objects == counts->states[RUBY_LIVE] + counts->states[RUBY_NEWBORN] +
				counts->states[RUBY_GARBAGE]);
}

static void look_at_ruby(struct ruby_world *world, unsigned int looks)
{
	struct ruby_keep *keep = ruby_keep_new();
	const struct ruby_objects_wanted wanted = { .classes = true,
						    .holders = true,
						    .samples = true,
						    .keep = keep,
						    .walk_blocks = walk_blocks,
						    .walk_context = world,
						    .max_bytes = 2 << 20 };
	struct ruby_objects *objects = ruby_world_open(world);
	unsigned int i;

	for (i = 0; objects && i < looks; i++) {
		struct memory_runtime runtime = { 0 };
		struct strings names = { 0 };
		struct ruby_counts counts;

		if (!ruby_objects_census(objects, &wanted, &names, &runtime, &counts))
			check_ruby(&counts, &runtime);
		memory_runtime_free(&runtime);
		strings_free(&names);
	}
	ruby_objects_free(objects);
	ruby_keep_free(keep);
}

static void fuzz_ruby(size_t layout, const uint8_t *data, size_t size)
{
	struct ruby_world *world = ruby_worlds[layout];
	struct edit edits[EDITS_MAX];
	uint64_t held[4];
	size_t count;

	if (!world) {
		world = ruby_worlds[layout] =
			ruby_world_new(ruby_release_with_heap(layout), PROGRAM_PAGES);
		put_program(world, held);
	}
	{
		const struct area areas[8] = { { WORLD_GLOBALS, 0x200 },
					       { WORLD_SPACE, 0x600 },
					       { WORLD_VM, 0x600 },
					       { WORLD_LIST, 0x100 },
					       { ruby_world_struct(data[0] % 6), 0x800 },
					       { ruby_world_slot(world, 0, 0), 0xc00 },
					       { ruby_world_slot(world, 2, 50), 0x1000 },
					       { WORLD_MALLOC, 0x4000 } };

		count = change(world->fake, areas, data + 1, size - 1, edits);
	}
	world->fake->reads = 0;
	look_at_ruby(world, data[0] & 1 ? 2 : 1);
	MUST(world->fake->reads <= READS_MAX);
	change_back(world->fake, edits, count);
}

/* A list that a global variable holds, and a dict. */
static void build_python(void)
{
	uint64_t held_type, list_type, dict_type, module_type, large, held, list, dict, keys, at;
	uint64_t entries[1][2];

	python = world_new(WORLD_LIBRARY);
	held_type = world_type(python, "shop.Held", 0, 16);
	list_type = world_type(python, "list", WORLD_GC | 1ull << 25, 40);
	dict_type = world_type(python, "dict", WORLD_GC | 1ull << 29, 48);
	module_type = world_type(python, "module", WORLD_GC, 56);
	world_type(python, "str", 1ull << 28, 80);
	held = world_object(python, world_pool(python, 0, 32), 0, held_type);
	large = world_pool(python, 1, 80);
	list = world_object(python, large, 16, list_type);
	at = python->next_heap;
	python->next_heap += 64;
	fake_image_put_word(python->fake, at, held);
	fake_image_put_word(python->fake, list + 16, 1);
	fake_image_put_word(python->fake, list + 24, at);
	fake_image_put_word(python->fake, list + 32, 1);
	entries[0][0] = world_str(python, "jobs");
	entries[0][1] = list;
	keys = world_dict(python, (const uint64_t(*)[2])entries, 1) + 48;
	fake_image_put_word(python->fake, entries[0][0] + 8, module_type + 0x400);
	dict = world_object(python, large, 16, dict_type);
	fake_image_put_word(python->fake, dict + 16, 1);
	fake_image_put_word(python->fake, dict + 32, keys);
	at = world_object(python, large, 16, module_type);
	fake_image_put_word(python->fake, at + 16, dict);
	fake_image_put_word(python->fake, at + 48, world_str(python, "shop"));
}

static void look_at_python(void)
{
	struct memory_runtime runtime = { 0 };
	struct python_growth growth = { 0 };
	struct python_objects objects;
	struct strings names = { 0 };
	struct python_heap *heap;

	if (python_heap_find(fake_image_open(python->fake), &heap, NULL))
		return;
	/* What is in the [heap] as one block of malloc's, and as another's lie. */
	python_blocks_add(&heap->large, WORLD_HEAP, python->next_heap - WORLD_HEAP);
	python_blocks_add(&heap->large, WORLD_HEAP + 16, 1ull << 40);
	python_blocks_sort(&heap->large);
	python_objects_walk(heap, &growth, &objects);
	python_objects_walk_blocks(heap, &objects);
	python_objects_report(heap, &objects, true, &names, &runtime);
	python_holders_find(heap, HOLDERS, 0, true, &names, &runtime);
	python_heap_free(heap);
	memory_runtime_free(&runtime);
	python_growth_free(&growth);
	strings_free(&names);
}

static void fuzz_python(const uint8_t *data, size_t size)
{
	struct edit edits[EDITS_MAX];
	size_t count;

	if (!python)
		build_python();
	count = change(python->fake, python_areas, data + 1, size - 1, edits);
	python->fake->reads = 0;
	look_at_python();
	MUST(python->fake->reads <= READS_MAX);
	change_back(python->fake, edits, count);
}

/* Each run takes milliseconds: a short input makes many changes. */
static void stretch(const uint8_t *data, size_t size, uint8_t *ret_bytes, size_t count)
{
	uint64_t state = hash_bytes(HASH_BEGIN, data, size);
	size_t i;

	ret_bytes[0] = data[0];
	for (i = 1; i < count; i++) {
		state = hash_word(state, i);
		ret_bytes[i] = (uint8_t)(state >> 32);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[1 + 11 * 8];
	size_t kind, releases = 0;

	if (!size)
		return 0;
	if (size > 1 && size < 12) {
		stretch(data, size, bytes, sizeof(bytes));
		data = bytes;
		size = sizeof(bytes);
	}
	while (ruby_release_with_heap(releases))
		releases++;
	kind = data[0] / 8 % (releases + 2);
	if (kind < releases)
		fuzz_ruby(kind, data, size);
	else
		fuzz_python(data, size);
	return 0;
}
