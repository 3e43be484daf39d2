/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_anchor.h. */
#include "unwind/interp_anchor.h"

#include <string.h>

#define PAGE 4096u
#define PAGE_WORDS (PAGE / 8)

/* Control blocks of threads are at the upper end of their stacks; of a static program, at the start of its heap. */
#define RANGE_SMALL (256u << 10)
#define RANGE_EDGE (64u << 10)

/* Limits for a target that holds a lot of memory, or a lot of what looks like control blocks. */
#define PAGES_MAX 32768u
#define BLOCKS_MAX 256u

/* Around a thread pointer: slots of pthread_setspecific are above, thread-local variables below. */
#define ABOVE_BYTES 0x900u
#define BELOW_PAGES 8u

/* Modules with thread-local variables, and what is looked at of each one's. */
#define MODULES_MAX 128u
#define MODULE_WORDS 64u

#define ADDRESS_MIN 0x10000u
#define ADDRESS_MAX (1ull << 47)

struct anchor_search {
	const struct target_memory *memory;
	const struct anchor_question *question;
	struct interp_process *process;
	uint64_t *state;
	unsigned int pages, blocks; /* looked at so far */
};

static bool anchor_ask(const struct anchor_search *search, uint64_t value, uint64_t thread_pointer)
{
	if (value < ADDRESS_MIN || value >= ADDRESS_MAX || value & 7)
		return false;
	return search->question->is_state(search->question->context, value, thread_pointer);
}

/* Ask `count` words at `start`. */
static bool anchor_ask_words(const struct anchor_search *search, uint64_t start,
			     const uint64_t *words, size_t count, uint64_t thread_pointer)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!anchor_ask(search, words[i], thread_pointer))
			continue;
		search->process->anchor_kind = INTERP_ANCHOR_THREAD;
		search->process->anchor = start + i * 8 - thread_pointer;
		*search->state = words[i];
		return true;
	}
	return false;
}

/* Thread-local variables of modules that the program started with. */
static bool anchor_ask_below(const struct anchor_search *search, uint64_t thread_pointer)
{
	uint64_t words[PAGE_WORDS], end = thread_pointer;
	unsigned int i;

	for (i = 0; i < BELOW_PAGES && end > PAGE; i++) {
		uint64_t start = (end - 1) & ~(uint64_t)(PAGE - 1);
		size_t size = end - start;

		if (!target_read(search->memory, start, words, size))
			return false;
		if (anchor_ask_words(search, start, words, size / 8, thread_pointer))
			return true;
		end = start;
	}
	return false;
}

/* The variables of one module that was loaded later. */
static bool anchor_ask_module(const struct anchor_search *search, uint32_t module, uint64_t block,
			      uint64_t thread_pointer)
{
	uint32_t i;

	for (i = 0; i < MODULE_WORDS; i++) {
		uint64_t value;

		if (!target_read_word(search->memory, block + i * 8, &value))
			return false;
		if (!anchor_ask(search, value, thread_pointer))
			continue;
		search->process->anchor_kind = INTERP_ANCHOR_MODULE;
		search->process->anchor = i * 8;
		search->process->module = module;
		*search->state = value;
		return true;
	}
	return false;
}

static bool anchor_ask_modules(const struct anchor_search *search, uint64_t thread_pointer)
{
	uint64_t vector, count, block;
	uint32_t module;

	if (!target_read_word(search->memory, thread_pointer + 8, &vector) ||
	    !target_read_word(search->memory, vector - 16, &count) || count > MODULES_MAX)
		return false;
	for (module = 1; module <= count; module++) {
		block = target_word(search->memory, vector + 16ull * module);
		if (block < ADDRESS_MIN || block >= ADDRESS_MAX || block & 7)
			continue;
		if (anchor_ask_module(search, module, block, thread_pointer))
			return true;
	}
	return false;
}

static bool anchor_ask_block(struct anchor_search *search, uint64_t thread_pointer)
{
	uint64_t words[ABOVE_BYTES / 8];

	search->blocks++;
	if (target_read(search->memory, thread_pointer, words, sizeof(words)) &&
	    anchor_ask_words(search, thread_pointer, words, ABOVE_BYTES / 8, thread_pointer))
		return true;
	return anchor_ask_below(search, thread_pointer) ||
	       anchor_ask_modules(search, thread_pointer);
}

/* Look for control blocks that begin in a page. */
static bool anchor_search_page(struct anchor_search *search, uint64_t page)
{
	uint64_t words[PAGE_WORDS];
	size_t i;

	search->pages++;
	if (!target_read(search->memory, page, words, sizeof(words)))
		return false;
	for (i = 0; i < PAGE_WORDS; i += 2) {
		uint64_t address = page + i * 8;

		if (words[i] != address || target_word(search->memory, address + 16) != address)
			continue;
		if (search->blocks < BLOCKS_MAX && anchor_ask_block(search, address))
			return true;
	}
	return false;
}

static bool anchor_search_pages(struct anchor_search *search, uint64_t start, uint64_t end)
{
	while (end > start && search->pages < PAGES_MAX) {
		end -= PAGE;
		if (anchor_search_page(search, end))
			return true;
	}
	return false;
}

static bool anchor_search_range(struct anchor_search *search, const struct memory_range *range)
{
	uint64_t start = range->start & ~(uint64_t)(PAGE - 1);
	uint64_t end = range->end & ~(uint64_t)(PAGE - 1);

	if (end <= start)
		return false;
	if (end - start <= RANGE_SMALL)
		return anchor_search_pages(search, start, end);
	return anchor_search_pages(search, end - RANGE_EDGE, end) ||
	       anchor_search_pages(search, start, start + RANGE_EDGE);
}

bool anchor_find(const struct target_memory *memory, const struct memory_range *ranges,
		 size_t range_count, const struct anchor_question *question,
		 struct interp_process *ret_process, uint64_t *ret_state)
{
	struct anchor_search search = {
		.memory = memory, .question = question, .process = ret_process, .state = ret_state
	};
	size_t i;

	/* The first thread's block is near the libraries, which are mapped from the top down. */
	for (i = range_count; i-- > 0;)
		if (anchor_search_range(&search, &ranges[i]))
			return true;
	return false;
}
