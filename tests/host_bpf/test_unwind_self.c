/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of unwind.bpf.h over stacks of this very process, with the tables of the files it has mapped: its own, libc,
 * the sanitizers'. Truth is libgcc's unwinder, called on the same stack.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#include "../unit/map_file.h"
#include "shim.h"
#include "unwind.bpf.h"
#include "unwind/unwind_store.h"

#define TARGET 77u
#define ROWS (1u << 18)
#define NOINLINE __attribute__((noinline, noclone))

__u64 unwind_original(__u64 slot)
{
	(void)slot;
	return 0;
}

__u64 unwind_trampoline(void)
{
	return 0;
}

int unwind_vma_of(__u64 pc, struct unwind_vma *vma)
{
	(void)pc;
	(void)vma;
	return -ENOENT;
}

/* The tables of this process, and a copy of a stack. */
struct self {
	struct unwind_store store;
	struct unwind_mappings tables[2];
	struct unwind_cache cache;
	uint32_t target_id, process, generation;
	struct unwind walk;
	uint64_t *stack;
	uint64_t truth[STACK_FRAMES_MAX];
	int truth_count;
};

struct self_mapping {
	uint64_t start, end, offset;
	char mode[8], path[512];
};

static bool self_next_mapping(FILE *maps, struct self_mapping *mapping)
{
	char line[1024];
	unsigned long start, end, offset;

	if (!fgets(line, sizeof(line), maps))
		return false;
	*mapping = (struct self_mapping){ 0 };
	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &start, &end, mapping->mode, &offset,
		   mapping->path) < 4)
		return false;
	mapping->start = start;
	mapping->end = end;
	mapping->offset = offset;
	return true;
}

/* The tables of all libraries would not fit into the smallest maps: a frame of another one fails the test. */
static bool self_has_frames(const char *path)
{
	static const char *const names[] = { "/test_unwind_self", "/libpure.so", "/libc.so",
					     "/libcmocka.so",	  "/libasan.so", "/ld-linux" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

static void self_add_file(struct self *self, const struct self_mapping *mapping, uint32_t count)
{
	struct elf_code codes[ELF_CODES_MAX];
	struct unwind_place place = { 0 };
	struct elf_image image;
	struct cfi_table table;
	uint64_t bias = 0;
	const void *bytes;
	size_t size;

	bytes = self_has_frames(mapping->path) ? map_file(mapping->path, &size) : NULL;
	if (bytes) {
		if (!elf_image_open(bytes, size, ELF_LAYOUT_FILE, &image) &&
		    elf_code_bias(codes, elf_image_codes(&image, codes), mapping->start,
				  mapping->offset, &bias) &&
		    !cfi_table_build(&image, &table)) {
			assert_int_equal(unwind_store_add(&self->store, &table, &place), 0);
			cfi_table_free(&table);
		}
		munmap((void *)bytes, size);
	}
	assert_int_equal(unwind_mappings_add(&self->tables[0], count, mapping->start, mapping->end,
					     bias, &place, 0),
			 0);
}

static int self_create(void **state)
{
	struct self *self = calloc(1, sizeof(*self));
	FILE *maps = fopen("/proc/self/maps", "r");
	struct self_mapping mapping;
	uint32_t count = 0;

	memset(&shim, 0, sizeof(shim));
	unwind_store_start(&self->store, calloc(ROWS, 8), ROWS, calloc(ROWS, 4), ROWS);
	unwind_mappings_clear(&self->tables[0]);
	while (self_next_mapping(maps, &mapping))
		if (mapping.mode[2] == 'x' && mapping.end < UNWIND_MAPPING_UNUSED)
			self_add_file(self, &mapping, count++);
	fclose(maps);
	self->target_id = TARGET;
	shim_add_map(&unwind_rows, self->store.rows, 0, 1, NULL);
	shim_add_map(&unwind_pages, self->store.pages, 0, 1, NULL);
	shim_add_map(&unwind_processes, &self->process, 4, 1, &self->target_id);
	shim_add_map(&unwind_generations, &self->generation, 4, 1, NULL);
	shim_add_map(&unwind_tables, self->tables, sizeof(self->tables[0]), 2, NULL);
	shim_add_map(&unwind_caches, &self->cache, sizeof(self->cache), 1, NULL);
	*state = self;
	return 0;
}

static int self_free(void **state)
{
	struct self *self = *state;

	unwind_store_free(&self->store);
	free(self->store.rows);
	free(self->store.pages);
	free(self->stack);
	free(self);
	return 0;
}

/* The end of the mapping that holds an address. */
static uint64_t self_end_of(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct self_mapping mapping;
	uint64_t end = 0;

	while (!end && self_next_mapping(maps, &mapping))
		if (address >= mapping.start && address < mapping.end)
			end = mapping.end;
	fclose(maps);
	return end;
}

/* Word by word and unseen by the sanitizer, which has marks all over the stack. */
static __attribute__((no_sanitize_address)) void self_copy(uint64_t *to, uint64_t from,
							   size_t words)
{
	const volatile uint64_t *source = (const volatile uint64_t *)(uintptr_t)from;
	size_t i;

	for (i = 0; i < words; i++)
		to[i] = source[i];
}

static _Unwind_Reason_Code self_visit(struct _Unwind_Context *context, void *argument)
{
	struct self *self = argument;

	if (self->truth_count >= STACK_FRAMES_MAX)
		return _URC_END_OF_STACK;
	/* libgcc visits what would have called the outermost frame, too. */
	if (_Unwind_GetIP(context))
		self->truth[self->truth_count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Take the truth and the stack, then walk the copy from here. */
static NOINLINE void self_walk(struct self *self)
{
	uint64_t ip, sp, bp, end;
	struct unwind_from from;
	size_t words;

	self->truth_count = 0;
	_Unwind_Backtrace(self_visit, self);
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(ip), "=&r"(sp), "=&r"(bp));
	end = self_end_of(sp);
	words = (end - sp) / 8;
	free(self->stack);
	self->stack = malloc(words * 8);
	self_copy(self->stack, sp, words);
	shim.region_count = 0;
	shim_add_region(sp, self->stack, words * 8, false);
	from = (struct unwind_from){ .ip = ip,
				     .sp = sp,
				     .bp = bp,
				     .target_id = TARGET,
				     .depth = STACK_FRAMES_MAX,
				     .flags = UNWIND_EXACT };
	self->walk.hash = 0;
	unwind_stack(&self->walk, &from);
	__asm__ volatile("" : : : "memory");
}

/* The innermost frame is this file's, at two places of one function; all the others are the same. */
static void assert_walk(const struct self *self, int at_least)
{
	const struct stack_record *record = &self->walk.record;
	int i;

	assert_true(self->truth_count >= at_least);
	assert_int_equal(record->count, self->truth_count);
	for (i = 1; i < self->truth_count; i++)
		assert_true(record->pcs[i] == self->truth[i]);
	assert_int_equal(record->end, UNWIND_END_ROOT);
	assert_int_equal(self->walk.flags & UNWIND_GUESSED, 0);
}

static NOINLINE void recurse(struct self *self, int depth)
{
	volatile char *block = alloca((size_t)depth * 37 + 1);

	block[0] = 1;
	if (depth)
		recurse(self, depth - 1);
	else
		self_walk(self);
	block[0] = 2;
}

static void test_recursion(void **state)
{
	struct self *self = *state;
	int depth;

	for (depth = 0; depth < 60; depth += 7) {
		recurse(self, depth);
		assert_walk(self, depth + 4);
	}
}

static struct self *current;

static int compare(const void *left, const void *right)
{
	if (!current->truth_count)
		recurse(current, 2);
	return *(const int *)left - *(const int *)right;
}

static void test_callback(void **state)
{
	int numbers[] = { 4, 2, 3, 1 };

	current = *state;
	current->truth_count = 0;
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	assert_walk(current, 9);
}

static void handle(int number)
{
	(void)number;
	recurse(current, 3);
}

static void test_signal_handler(void **state)
{
	struct sigaction action = { .sa_handler = handle }, before;

	current = *state;
	sigaction(SIGUSR2, &action, &before);
	raise(SIGUSR2);
	sigaction(SIGUSR2, &before, NULL);
	assert_walk(current, 10);
}

static void *in_thread(void *argument)
{
	recurse(argument, 5);
	return NULL;
}

static void test_thread(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, in_thread, *state), 0);
	pthread_join(thread, NULL);
	assert_walk(*state, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_recursion, self_create, self_free),
		cmocka_unit_test_setup_teardown(test_callback, self_create, self_free),
		cmocka_unit_test_setup_teardown(test_signal_handler, self_create, self_free),
		cmocka_unit_test_setup_teardown(test_thread, self_create, self_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
