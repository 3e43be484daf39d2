/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process to walk in: its maps, one file whose functions are 256 bytes long and have one rule each, an anonymous
 * executable mapping, and a stack.
 */
#ifndef TESTS_HOST_BPF_UNWIND_WORLD_H
#define TESTS_HOST_BPF_UNWIND_WORLD_H

#include <stdlib.h>

#include "shim.h"
#include "unwind.bpf.h"
#include "unwind/cfi_rows.h"
#include "unwind/unwind_store.h"
#include "walk_reference.h"

#define WORLD_TARGET 4242u
#define WORLD_BIAS 0x555555550000ULL
#define WORLD_TEXT 0x1000u /* address in the file of function 0 */
#define WORLD_FUNCTION 0x100u
#define WORLD_JIT 0x7f0000000000ULL
#define WORLD_STACK 0x7ffff7f00000ULL
#define WORLD_STACK_WORDS 65536
#define WORLD_FUNCTIONS_MAX 256

/* The mapping that the programs have remembered last. */
static struct unwind_vma kept_mapping;

static inline void world_keep(const void *map, const void *value)
{
	if (map == &unwind_new_mappings)
		memcpy(&kept_mapping, value, sizeof(kept_mapping));
}

struct world {
	struct cfi_table table;
	struct unwind_store store;
	struct unwind_place place;
	struct unwind_mappings tables[2];
	struct unwind_cache cache;
	uint32_t generation, process, target_id;
	struct unwind_file_rows file;
	uint32_t file_device;
	uint32_t kept_process;
	struct reference_mapping mappings[2];
	uint64_t stack[WORLD_STACK_WORDS];
	struct unwind walk;
	struct reference reference;
};

/* The page index of rows, one page after the other. */
static inline void world_index(struct cfi_table *table)
{
	uint32_t last = UNWIND_ROW_PC(table->rows[table->row_count - 1]) >> 12, page, row = 1;

	table->first_page = UNWIND_ROW_PC(table->rows[1]) >> 12;
	table->page_count = last - table->first_page + 1;
	table->pages = calloc(table->page_count + 1, sizeof(*table->pages));
	for (page = 0; page <= table->page_count; page++) {
		while (row < table->row_count &&
		       UNWIND_ROW_PC(table->rows[row]) >> 12 < table->first_page + page)
			row++;
		table->pages[page] = row;
	}
}

/* Write the mappings for the next generation, and let it begin. */
static inline void world_map(struct world *world, uint64_t bias)
{
	struct unwind_mappings *next = &world->tables[(world->generation + 1) & 1];
	struct unwind_place none = { 0 };
	uint64_t size = WORLD_FUNCTIONS_MAX * WORLD_FUNCTION;

	world->mappings[0] = (struct reference_mapping){ .start = bias + WORLD_TEXT,
							 .end = bias + WORLD_TEXT + size,
							 .bias = bias,
							 .table = &world->table };
	world->mappings[1] = (struct reference_mapping){ .start = WORLD_JIT,
							 .end = WORLD_JIT + 0x1000,
							 .anonymous = true };
	unwind_mappings_clear(next);
	unwind_mappings_add(next, 0, bias + WORLD_TEXT, bias + WORLD_TEXT + size, bias,
			    &world->place, 0);
	unwind_mappings_add(next, 1, WORLD_JIT, WORLD_JIT + 0x1000, 0, &none,
			    UNWIND_MAPPING_ANONYMOUS);
	world->generation++;
}

static inline void world_add_maps(struct world *world)
{
	shim_on_update = world_keep;
	shim_add_map(&unwind_new_mappings, &kept_mapping, sizeof(kept_mapping), 1,
		     &world->kept_process);
	shim_add_map(&unwind_files, &world->file, sizeof(world->file), 1, &world->file_device);
	shim_add_map(&unwind_rows, world->store.rows, 0, 1, NULL);
	shim_add_map(&unwind_pages, world->store.pages, 0, 1, NULL);
	shim_add_map(&unwind_processes, &world->process, sizeof(world->process), 1,
		     &world->target_id);
	shim_add_map(&unwind_generations, &world->generation, sizeof(world->generation), 1, NULL);
	shim_add_map(&unwind_tables, world->tables, sizeof(world->tables[0]), 2, NULL);
	shim_add_map(&unwind_caches, &world->cache, sizeof(world->cache), 1, NULL);
}

/* A world whose function number i has the rule rules[i]; rule 0 means code without rows. */
static inline struct world *world_create(const uint32_t *rules, uint32_t count)
{
	struct world *world = calloc(1, sizeof(*world));
	struct cfi_rows rows;
	uint32_t i;

	memset(&shim, 0, sizeof(shim));
	cfi_rows_start(&rows);
	for (i = 0; i < count; i++)
		cfi_rows_add(&rows, WORLD_TEXT + i * WORLD_FUNCTION, rules[i]);
	cfi_rows_end(&rows, WORLD_TEXT + count * WORLD_FUNCTION);
	world->table.rows = rows.items;
	world->table.row_count = (uint32_t)rows.count;
	world_index(&world->table);
	unwind_store_start(&world->store, calloc(UNWIND_ROWS_MIN, 8), UNWIND_ROWS_MIN,
			   calloc(UNWIND_PAGES_MIN, 4), UNWIND_PAGES_MIN);
	unwind_store_add(&world->store, &world->table, &world->place);
	world->target_id = WORLD_TARGET;
	world_add_maps(world);
	world_map(world, WORLD_BIAS);
	shim_add_region(WORLD_STACK, world->stack, sizeof(world->stack), false);
	world->reference.mappings = world->mappings;
	world->reference.mapping_count = 2;
	return world;
}

static inline void world_free(struct world *world)
{
	cfi_table_free(&world->table);
	unwind_store_free(&world->store);
	free(world->store.rows);
	free(world->store.pages);
	free(world);
	memset(&shim, 0, sizeof(shim));
}

/* An address inside function number `function`. */
static inline uint64_t world_pc(uint32_t function, uint32_t offset)
{
	return WORLD_BIAS + WORLD_TEXT + function * WORLD_FUNCTION + offset;
}

/* Address of a word of the stack. */
static inline uint64_t world_address(uint64_t word)
{
	return WORLD_STACK + word * 8;
}

#define SP(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_SAME, words, 0)
#define SP_BP(words, saved) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_AT_CFA, words, saved)
#define BP(words, saved) UNWIND_RULE(UNWIND_CFA_BP, UNWIND_BP_AT_CFA, words, saved)
#define ROOT UNWIND_RULE(UNWIND_CFA_ROOT, 0, 0, 0)
#define SIGNAL UNWIND_RULE(UNWIND_CFA_SIGNAL, 0, 0, 0)
#define DRAP UNWIND_RULE(UNWIND_CFA_BP_DEREF, UNWIND_BP_AT_BP, 1, 0)

/* What a return probe has replaced: one word of the stack. */
static struct {
	uint64_t slot, original;
	uint64_t trampoline;
} hijacked;

__u64 unwind_trampoline(void)
{
	return hijacked.trampoline;
}

__u64 unwind_original(__u64 slot)
{
	return slot == hijacked.slot ? hijacked.original : 0;
}

/* What the kernel says of a mapping that the lists do not have. */
static struct {
	struct unwind_vma vma;
	int error; /* in place of an answer */
} new_mapping;

int unwind_vma_of(__u64 pc, struct unwind_vma *vma)
{
	if (new_mapping.error)
		return new_mapping.error;
	if (pc < new_mapping.vma.start || pc >= new_mapping.vma.end)
		return -ENOENT;
	*vma = new_mapping.vma;
	return 0;
}

static inline void walk(struct world *world, uint64_t ip, uint64_t word, uint64_t bp,
			uint32_t depth)
{
	struct unwind_from from = { .ip = ip,
				    .sp = world_address(word),
				    .bp = bp,
				    .target_id = WORLD_TARGET,
				    .depth = depth,
				    .flags = UNWIND_EXACT };

	memset(world->walk.window, 0xa5, sizeof(world->walk.window));
	world->walk.hash = 0;
	unwind_stack(&world->walk, &from);
}

/* Both walkers must say the same, and this one also when it walks again. Returns the end. */
static inline uint32_t walk_both(struct world *world, uint64_t ip, uint64_t sp, uint64_t bp,
				 uint32_t depth)
{
	struct unwind_from from = { .ip = ip,
				    .sp = sp,
				    .bp = bp,
				    .target_id = WORLD_TARGET,
				    .depth = depth,
				    .flags = UNWIND_EXACT };
	const struct stack_record *record = &world->walk.record;
	uint32_t end = reference_walk(&world->reference, ip, sp, bp, depth);
	uint64_t hash = 0;
	int i;

	/* The second time all rows are remembered. */
	for (i = 0; i < 2; i++) {
		memset(world->walk.window, 0xa5, sizeof(world->walk.window));
		world->walk.hash = 0;
		unwind_stack(&world->walk, &from);
		assert_int_equal(record->count, world->reference.count);
		assert_memory_equal(record->pcs, world->reference.pcs,
				    record->count * sizeof(record->pcs[0]));
		assert_int_equal(record->end, end);
		assert_int_equal(!!(world->walk.flags & UNWIND_GUESSED), world->reference.guessed);
		assert_true(world->walk.hash != 0 && (i == 0 || world->walk.hash == hash));
		hash = world->walk.hash;
	}
	return end;
}

static inline void assert_stack(const struct world *world, uint32_t end, const uint64_t *pcs,
				uint32_t count)
{
	assert_int_equal(world->walk.record.end, end);
	assert_int_equal(world->walk.record.count, count);
	assert_memory_equal(world->walk.record.pcs, pcs, count * sizeof(*pcs));
}

#endif
