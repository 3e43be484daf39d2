/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of Ruby that a test makes up, in an image, laid out as a version has it:
 *
 *	struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PAGES);	pages of free slots, and the class Object
 *	ruby_world_class(world, page, slot, "App::Session");
 *	ruby_world_object(world, page, slot, flags, class);
 *	ruby_world_mark(world, page, slot);
 *	... ruby_world_open(world) ...
 *	ruby_world_free(world);
 *
 * Page 0 has slots of 160 bytes where the version has such, for classes and tables; all others have slots of 40 bytes.
 */
#ifndef TESTS_RUBY_WORLD_H
#define TESTS_RUBY_WORLD_H

#include "ruby/ruby_heap.h"
#include "ruby/ruby_objects.h"
#include "fake_image.h"

#define WORLD_GLOBALS 0x7f0000001000ull
#define WORLD_SPACE 0x7f0000002000ull
#define WORLD_VM 0x7f0000004000ull
#define WORLD_LIST 0x7f0000006000ull
#define WORLD_STRUCTS 0x7f0000100000ull
#define WORLD_MALLOC 0x7f0000200000ull
#define WORLD_PAGES 0x7f0000400000ull
#define WORLD_END 0x7f0000800000ull
#define WORLD_SLOTS 200
#define WORLD_START 80 /* a multiple of 40 */
#define WORLD_KEY 0x4711
/* Shapes, where classes have them: the one of a class has two variables, of which the second is its path. */
#define WORLD_SHAPES 8
#define WORLD_CLASS_SHAPE 6

struct ruby_world {
	struct fake_image *fake;
	const struct ruby_release *layout;
	uint64_t page_count, object;
	uint64_t malloc; /* the next free address there */
};

static inline uint64_t ruby_world_struct(uint64_t page)
{
	return WORLD_STRUCTS + page * 0x1000;
}

static inline uint64_t ruby_world_slot_size(const struct ruby_world *world, uint64_t page)
{
	return !page && !world->layout->extension_is_pointer ? 160 : 40;
}

static inline uint64_t ruby_world_slot(const struct ruby_world *world, uint64_t page, uint64_t slot)
{
	return WORLD_PAGES + page * world->layout->page_size + WORLD_START +
	       slot * ruby_world_slot_size(world, page);
}

static inline void ruby_world_put(struct ruby_world *world, uint64_t address, uint64_t word)
{
	fake_image_put_word(world->fake, address, word);
}

static inline uint64_t ruby_world_get(struct ruby_world *world, uint64_t address)
{
	uint64_t word = 0;

	fake_image_read(world->fake, address, &word, sizeof(word));
	return word;
}

static inline void ruby_world_put_short(struct ruby_world *world, uint64_t address, uint16_t number)
{
	fake_image_put(world->fake, address, &number, sizeof(number));
}

static inline void ruby_world_set_bits(struct ruby_world *world, uint64_t page, uint16_t bits,
				       uint64_t bit, unsigned int value)
{
	uint64_t address = ruby_world_struct(page) + bits + bit / 8;
	unsigned char byte = 0;

	fake_image_read(world->fake, address, &byte, 1);
	byte = (unsigned char)(byte | value << bit % 8);
	fake_image_put(world->fake, address, &byte, 1);
}

static inline uint64_t ruby_world_bit(const struct ruby_world *world, uint64_t page, uint64_t slot)
{
	return (ruby_world_slot(world, page, slot) & (world->layout->page_size - 1)) / 40;
}

static inline void ruby_world_mark(struct ruby_world *world, uint64_t page, uint64_t slot)
{
	ruby_world_set_bits(world, page, world->layout->mark_bits,
			    ruby_world_bit(world, page, slot), 1);
}

static inline void ruby_world_age(struct ruby_world *world, uint64_t page, uint64_t slot,
				  unsigned int age)
{
	uint64_t address = ruby_world_slot(world, page, slot);

	if (world->layout->age_bits)
		ruby_world_set_bits(world, page, world->layout->age_bits,
				    ruby_world_bit(world, page, slot) * 2, age);
	else
		ruby_world_put(world, address, ruby_world_get(world, address) | age << 5);
}

static inline uint64_t ruby_world_object(struct ruby_world *world, uint64_t page, uint64_t slot,
					 uint64_t flags, uint64_t class)
{
	uint64_t address = ruby_world_slot(world, page, slot);

	ruby_world_put(world, address, flags);
	ruby_world_put(world, address + 8, class);
	return address;
}

static inline uint64_t ruby_world_alloc(struct ruby_world *world, uint64_t size)
{
	uint64_t address = world->malloc + 16;

	size = (size + 8 + 15) & ~15ull;
	ruby_world_put(world, address - 8, size | 1);
	world->malloc += size;
	return address;
}

/* A string in a block of malloc's. */
static inline uint64_t ruby_world_string(struct ruby_world *world, uint64_t page, uint64_t slot,
					 const char *text)
{
	uint64_t string = ruby_world_object(world, page, slot, RUBY_T_STRING | 1 << 13, 0);
	uint64_t bytes = ruby_world_alloc(world, strlen(text) + 1);

	fake_image_put(world->fake, bytes, text, strlen(text));
	ruby_world_put(world, string + 16, strlen(text));
	ruby_world_put(world, string + 24, bytes);
	ruby_world_put(world, string + 32, strlen(text));
	return string;
}

/* A table of pairs; returns its address, at `address` unless that is 0. */
static inline uint64_t ruby_world_table(struct ruby_world *world, uint64_t address,
					const uint64_t (*pairs)[2], uint64_t count)
{
	uint64_t entries, i;
	unsigned char power = 0;

	while (1ull << power < count)
		power++;
	entries = ruby_world_alloc(world, 24ull << power);
	if (!address)
		address = ruby_world_alloc(world, 56);
	fake_image_put(world->fake, address, &power, 1);
	ruby_world_put(world, address + 16, count);
	ruby_world_put(world, address + 40, count);
	ruby_world_put(world, address + 48, entries);
	for (i = 0; i < count; i++) {
		ruby_world_put(world, entries + i * 24, 0x1234 + i);
		ruby_world_put(world, entries + i * 24 + 8, pairs[i][0]);
		ruby_world_put(world, entries + i * 24 + 16, pairs[i][1]);
	}
	return address;
}

/* On page 0; its name is the object in the same slot of page 1. */
static inline uint64_t ruby_world_class(struct ruby_world *world, uint64_t slot, const char *name,
					uint64_t super)
{
	const struct ruby_release *layout = world->layout;
	uint64_t class = ruby_world_object(world, 0, slot, RUBY_T_CLASS, world->object);
	uint64_t path = ruby_world_string(world, 1, slot, name), extension = class;
	const uint64_t variables[][2] = { { 0x99, 8 }, { WORLD_KEY, path } };

	extension += layout->extension;
	if (layout->extension_is_pointer) {
		ruby_world_put(world, extension, ruby_world_alloc(world, 256));
		extension = ruby_world_get(world, extension);
	}
	ruby_world_put(world, class + 16, super);
	ruby_world_mark(world, 0, slot);
	ruby_world_mark(world, 1, slot);
	if (layout->class_name) {
		ruby_world_put(world, extension + layout->class_name, path);
	} else if (layout->shape_size) {
		ruby_world_put(world, extension + layout->variables, ruby_world_alloc(world, 16));
		ruby_world_put(world, ruby_world_get(world, extension + layout->variables) + 8,
			       path);
		ruby_world_put(world, class, RUBY_T_CLASS | (uint64_t)WORLD_CLASS_SHAPE << 32);
	} else {
		ruby_world_put(world, extension + layout->variables,
			       ruby_world_table(world, 0, variables, 2));
	}
	return class;
}

static inline void ruby_world_page(struct ruby_world *world, uint64_t page)
{
	const struct ruby_release *layout = world->layout;
	uint64_t address = ruby_world_struct(page);

	ruby_world_put(world, WORLD_PAGES + page * layout->page_size, address);
	if (layout->slot_size != RUBY_NO_OFFSET)
		ruby_world_put_short(world, address + layout->slot_size,
				     (uint16_t)ruby_world_slot_size(world, page));
	ruby_world_put_short(world, address + layout->total_slots, WORLD_SLOTS);
	if (layout->pools)
		ruby_world_put(world, address + layout->pool,
			       WORLD_SPACE + layout->pools + 3 * layout->pool_size);
	ruby_world_put(world, address + layout->start, ruby_world_slot(world, page, 0));
}

/* The list has the pages in order. */
static inline void ruby_world_list(struct ruby_world *world)
{
	const struct ruby_release *layout = world->layout;
	uint64_t list = WORLD_LIST + (layout->page_count ? 0 : 16), i;

	ruby_world_put(world, WORLD_SPACE + layout->pages, WORLD_LIST);
	ruby_world_put(world, layout->page_count ? WORLD_SPACE + layout->page_count : WORLD_LIST,
		       world->page_count);
	for (i = 0; i < world->page_count; i++)
		ruby_world_put(world, list + i * 8, ruby_world_struct(i));
}

/* The root, five of slot sizes, and those of classes; the virtual machine has the list. */
static inline void ruby_world_shapes(struct ruby_world *world)
{
	uint64_t list = ruby_world_alloc(world, WORLD_SHAPES * world->layout->shape_size), shape, i;

	for (i = 0; i < WORLD_SHAPES; i++) {
		shape = list + i * world->layout->shape_size;
		ruby_world_put(world, shape + 24, i ? 0 : (uint64_t)UINT32_MAX << 32);
		if (i < WORLD_CLASS_SHAPE - 1)
			continue;
		ruby_world_put(world, shape + 8, i < WORLD_CLASS_SHAPE ? 0x99 : WORLD_KEY);
		ruby_world_put(world, shape + 16, i - WORLD_CLASS_SHAPE + 2);
		ruby_world_put(world, shape + 24, i < WORLD_CLASS_SHAPE ? 0 : (i - 1) << 32);
	}
	ruby_world_put(world, WORLD_VM + 376, list);
	ruby_world_put(world, WORLD_VM + 384, list);
	ruby_world_put(world, WORLD_VM + 392, WORLD_SHAPES);
}

static inline struct ruby_world *ruby_world_new(const struct ruby_release *layout,
						uint64_t page_count)
{
	struct ruby_world *world = memory_alloc(1, sizeof(*world));
	uint64_t i;

	*world = (struct ruby_world){ .fake = fake_image_new(),
				      .layout = layout,
				      .page_count = page_count,
				      .malloc = WORLD_MALLOC };
	fake_image_map(world->fake, WORLD_GLOBALS, WORLD_END - WORLD_GLOBALS, "", FAKE_WRITABLE);
	for (i = 0; i < page_count; i++)
		ruby_world_page(world, i);
	ruby_world_list(world);
	world->object = ruby_world_slot(world, 0, 0);
	if (layout->shape_size)
		ruby_world_shapes(world);
	ruby_world_class(world, 0, "Object", 0);
	ruby_world_put(world, WORLD_GLOBALS, world->object);
	ruby_world_put(world, WORLD_GLOBALS + 8, WORLD_VM);
	ruby_world_put(world, WORLD_VM + 1152, WORLD_SPACE);
	return world;
}

static inline void ruby_world_free(struct ruby_world *world)
{
	fake_image_free(world->fake);
	free(world);
}

static inline int ruby_world_find(struct ruby_world *world, const struct ruby_release *layout,
				  struct ruby_heap *ret_heap)
{
	const struct ruby_exports exports = { WORLD_GLOBALS, WORLD_GLOBALS + 8 };

	return ruby_heap_find_as(fake_image_open(world->fake), layout, &exports, ret_heap, NULL);
}

/* NULL = it was refused. */
static inline struct ruby_objects *ruby_world_open(struct ruby_world *world)
{
	struct ruby_heap heap;

	return ruby_world_find(world, world->layout, &heap) ? NULL : ruby_objects_new(&heap);
}

#endif
