/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPython heap that a test makes up, in a fake image: types in the data of a library, pools in an arena, and, where
 * a test asks for it, a table of exported symbols. The allocator is written down here anew, from what CPython's does.
 */
#ifndef TESTS_PYTHON_WORLD_H
#define TESTS_PYTHON_WORLD_H

#include <elf.h>

#include "fake_image.h"
#include "python/python_objects.h"

#define WORLD_DATA 0x500000ull /* ELF header, symbols, types, texts */
#define WORLD_TYPES (WORLD_DATA + 0x2000)
#define WORLD_TEXTS (WORLD_DATA + 0x8000)
#define WORLD_HEAP 0x600000ull /* [heap]: what is too large for pools */
#define WORLD_ARENA 0x7f0000100000ull
#define WORLD_ARENA_SIZE 0x100000ull
#define WORLD_LIBRARY "/usr/lib/libpython3.11.so.1.0"

#define WORLD_GC (1ull << 14)
#define WORLD_HEAP_TYPE (1ull << 9)
#define WORLD_READY (1ull << 12)

struct python_world {
	struct fake_image *fake;
	uint64_t next_type, next_text, next_heap, root;
	uint64_t pool_size;
	unsigned int symbols;
};

static inline uint64_t world_text(struct python_world *world, const char *text)
{
	uint64_t address = world->next_text;

	fake_image_put(world->fake, address, text, strlen(text) + 1);
	world->next_text += strlen(text) + 1;
	return address;
}

static inline void world_put_type(struct python_world *world, uint64_t address, uint64_t of,
				  const char *name, uint64_t flags, uint64_t basic_size)
{
	fake_image_put_word(world->fake, address, 1);
	fake_image_put_word(world->fake, address + 8, of);
	fake_image_put_word(world->fake, address + 24, world_text(world, name));
	fake_image_put_word(world->fake, address + 32, basic_size);
	fake_image_put_word(world->fake, address + 168, flags | WORLD_READY);
}

/* A static type; `flags` as CPython has them. */
static inline uint64_t world_type(struct python_world *world, const char *name, uint64_t flags,
				  uint64_t basic_size)
{
	uint64_t address = world->next_type;

	world_put_type(world, address, world->root, name, flags, basic_size);
	world->next_type += 0x400;
	return address;
}

static inline struct python_world *world_new(const char *library)
{
	struct python_world *world = memory_alloc(1, sizeof(*world));

	world->fake = fake_image_new();
	world->next_type = WORLD_TYPES;
	world->next_text = WORLD_TEXTS;
	world->next_heap = WORLD_HEAP;
	world->pool_size = 0x4000;
	fake_image_map(world->fake, WORLD_DATA, 0x10000, library, FAKE_FILE | FAKE_WRITABLE);
	fake_image_map(world->fake, WORLD_HEAP, 0x10000, "[heap]", FAKE_WRITABLE);
	fake_image_map(world->fake, WORLD_ARENA, WORLD_ARENA_SIZE, "", FAKE_WRITABLE);
	world->root = world->next_type;
	world->root = world_type(world, "type", 1ull << 31 | WORLD_GC, 880);
	return world;
}

static inline void world_free(struct python_world *world)
{
	fake_image_free(world->fake);
	free(world);
}

static inline uint64_t world_get(struct python_world *world, uint64_t address)
{
	return image_word(fake_image_open(world->fake), address);
}

static inline void world_put_half(struct python_world *world, uint64_t address, uint32_t half)
{
	fake_image_put(world->fake, address, &half, sizeof(half));
}

static inline uint32_t world_half(struct python_world *world, uint64_t address)
{
	return (uint32_t)(world_get(world, address & ~7ull) >> (address & 4 ? 32 : 0));
}

/* The pool at place `index` of the arena, for blocks of `size` bytes: none in use. */
static inline uint64_t world_pool(struct python_world *world, unsigned int index, uint32_t size)
{
	uint64_t pool = WORLD_ARENA + index * world->pool_size;

	world_put_half(world, pool + 36, size / 16 - 1);
	world_put_half(world, pool + 40, 48);
	world_put_half(world, pool + 44, (uint32_t)world->pool_size - size);
	return pool;
}

/* Take a block of a pool, as malloc would. */
static inline uint64_t world_take(struct python_world *world, uint64_t pool)
{
	uint64_t block = world_get(world, pool + 8);
	uint32_t size = (world_half(world, pool + 36) + 1) * 16,
		 next = world_half(world, pool + 40);

	world_put_half(world, pool, world_half(world, pool) + 1);
	if (block) {
		fake_image_put_word(world->fake, pool + 8, world_get(world, block));
		return block;
	}
	world_put_half(world, pool + 40, next + size);
	return pool + next;
}

static inline void world_give(struct python_world *world, uint64_t block)
{
	uint64_t pool = block & ~(world->pool_size - 1);

	fake_image_put_word(world->fake, block, world_get(world, pool + 8));
	fake_image_put_word(world->fake, pool + 8, block);
	world_put_half(world, pool, world_half(world, pool) - 1);
}

/* An object in a new block of a pool, behind a head of so many bytes. */
static inline uint64_t world_object(struct python_world *world, uint64_t pool, uint32_t head,
				    uint64_t type)
{
	uint64_t object = world_take(world, pool) + head;

	fake_image_put_word(world->fake, object, 1);
	fake_image_put_word(world->fake, object + 8, type);
	return object;
}

/* A str of 3.11, all ASCII, in the [heap]. */
static inline uint64_t world_str(struct python_world *world, const char *text)
{
	uint64_t address = world->next_heap;

	fake_image_put_word(world->fake, address + 16, strlen(text));
	fake_image_put_word(world->fake, address + 32, 1 << 2 | 1 << 5 | 1 << 6);
	fake_image_put(world->fake, address + 48, text, strlen(text));
	world->next_heap += (48 + strlen(text) + 16) & ~15ull;
	return address;
}

/* A dict of 3.11 with str keys, in the [heap]: key and value of each entry. */
static inline uint64_t world_dict(struct python_world *world, const uint64_t (*entries)[2],
				  size_t count)
{
	uint64_t dict = world->next_heap, keys = dict + 48;
	unsigned char head[32] = { 1, [8] = 5, [9] = 5, [10] = 1 };

	head[16] = (unsigned char)(20 - count);
	head[24] = (unsigned char)count;
	fake_image_put_word(world->fake, dict + 16, count);
	fake_image_put_word(world->fake, dict + 32, keys);
	fake_image_put(world->fake, keys, head, sizeof(head));
	fake_image_put(world->fake, keys + 64, entries, count * 16);
	world->next_heap += 48 + 64 + 20 * 16;
	return dict;
}

/* Make the library export one symbol: an ELF header, its segments, a dynamic section, and a table with one bucket. */
static inline void world_export(struct python_world *world, const char *name, uint64_t address)
{
	Elf64_Ehdr header = { .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 };
	Elf64_Phdr segments[2] = { { .p_type = PT_LOAD, .p_memsz = 0x10000 },
				   { .p_type = PT_DYNAMIC, .p_vaddr = 0x200 } };
	Elf64_Dyn dynamic[] = { { DT_SYMTAB, { 0x400 } },
				{ DT_STRTAB, { 0x500 } },
				{ DT_STRSZ, { 64 } },
				{ DT_HASH, { 0x600 } },
				{ DT_NULL, { 0 } } };
	Elf64_Sym symbols[2] = {
		{ 0 }, { .st_name = 1, .st_shndx = 1, .st_value = address - WORLD_DATA }
	};
	uint32_t hash[] = { 1, 2, 1, 0, 0 };

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	fake_image_put(world->fake, WORLD_DATA, &header, sizeof(header));
	fake_image_put(world->fake, WORLD_DATA + 64, segments, sizeof(segments));
	fake_image_put(world->fake, WORLD_DATA + 0x200, dynamic, sizeof(dynamic));
	fake_image_put(world->fake, WORLD_DATA + 0x400, symbols, sizeof(symbols));
	fake_image_put(world->fake, WORLD_DATA + 0x501, name, strlen(name) + 1);
	fake_image_put(world->fake, WORLD_DATA + 0x600, hash, sizeof(hash));
}

#endif
