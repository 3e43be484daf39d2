/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_anchor.h. */
#include "interp/interp_anchor.h"

#include <string.h>

#define PAGE 4096u
#define PAGE_WORDS (PAGE / 8)

/* Control blocks of threads are at the upper end of their stacks; of a static program, at the start of its heap. */
#define RANGE_SMALL (256u << 10)
#define RANGE_EDGE (64u << 10)

/* Limits for a target that holds a lot of memory, or a lot of what looks like control blocks. */
#define PAGES_MAX 32768u
#define BLOCKS_MAX 256u
#define READS_MAX 50000u

/* Bytes searched: of a control block, which has the slots of pthread_setspecific, and of thread-local variables. */
#define BLOCK_BYTES 0x900u
#define VARIABLES_PAGES 8u

/* Modules with thread-local variables, and the bytes searched of each one's. */
#define MODULES_MAX 128u
#define MODULE_WORDS 64u

#define ADDRESS_MIN 0x10000u

#if defined(__aarch64__)
#define ADDRESS_MAX (1ull << 48)
#define VECTOR 0 /* where its address is, from the thread pointer */
#else
#define ADDRESS_MAX (1ull << 47)
#define VECTOR 8
#endif

/* A thread. */
struct anchor_block {
	uint64_t identity; /* pthread_self: its control block */
	uint64_t pointer; /* what thread-local addresses are counted from */
};

struct anchor_search {
	const struct target_memory *memory;
	const struct anchor_question *question;
	struct interp_process *process;
	uint64_t *state;
	unsigned int pages, blocks, reads; /* looked at so far */
};

/* No more is read of a target that has much that has to be read, and leads to nothing. */
static bool anchor_may_read(struct anchor_search *search)
{
	return search->reads < READS_MAX && ++search->reads;
}

static bool anchor_read(struct anchor_search *search, uint64_t address, void *bytes, size_t size)
{
	return anchor_may_read(search) && target_read(search->memory, address, bytes, size);
}

/* 0 where it cannot be read. */
static uint64_t anchor_word(struct anchor_search *search, uint64_t address)
{
	uint64_t word;

	return anchor_read(search, address, &word, sizeof(word)) ? word : 0;
}

static bool anchor_ask(struct anchor_search *search, uint64_t value,
		       const struct anchor_block *block)
{
	if (value < ADDRESS_MIN || value >= ADDRESS_MAX || value & 7 || !anchor_may_read(search))
		return false;
	return search->question->is_state(search->question->context, value, block->identity);
}

/* Ask `count` words at `start`. */
static bool anchor_ask_words(struct anchor_search *search, uint64_t start, const uint64_t *words,
			     size_t count, const struct anchor_block *block)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!anchor_ask(search, words[i], block))
			continue;
		search->process->anchor_kind = INTERP_ANCHOR_THREAD;
		search->process->anchor = start + i * 8 - block->pointer;
		*search->state = words[i];
		return true;
	}
	return false;
}

#if defined(__aarch64__)

/* Thread-local variables of modules that the program started with. */
static bool anchor_ask_variables(struct anchor_search *search, const struct anchor_block *block)
{
	uint64_t words[PAGE_WORDS], start = block->pointer, end;
	unsigned int i;

	for (i = 0; i < VARIABLES_PAGES; i++) {
		end = (start + PAGE) & ~(uint64_t)(PAGE - 1);
		if (!anchor_read(search, start, words, end - start))
			return false;
		if (anchor_ask_words(search, start, words, (end - start) / 8, block))
			return true;
		start = end;
	}
	return false;
}

/* Between the start of a control block and the thread pointer, at least and at most. */
#define BLOCK_SIZE_MIN 0x400u
#define BLOCK_SIZE_MAX 0x1000u

/* The list of robust mutexes, from the start of a control block; in front of it is the address of its last entry. */
#define BLOCK_ROBUST 224u

/* Blocks of the modules that a program starts with are this near to the thread pointer. */
#define STATIC_BYTES (64u << 10)
#define STATIC_MODULES 4u

/* Is there a thread pointer at `pointer`, with the vector's address in its word? */
static bool anchor_is_pointer(struct anchor_search *search, uint64_t pointer, uint64_t vector)
{
	uint64_t count, module;

	if (vector < ADDRESS_MIN || vector >= ADDRESS_MAX || vector & 15 ||
	    !anchor_read(search, vector - 16, &count, sizeof(count)) || count > MODULES_MAX)
		return false;
	for (module = 1; module <= count && module <= STATIC_MODULES; module++)
		if (anchor_word(search, vector + 16 * module) - pointer < STATIC_BYTES)
			return true;
	return false;
}

/* Does this word, at `address`, lead to a control block? */
static bool anchor_find_block(struct anchor_search *search, uint64_t address, uint64_t word,
			      struct anchor_block *ret_block)
{
	uint64_t words[(BLOCK_SIZE_MAX - BLOCK_SIZE_MIN) / 8], identity, from;
	size_t i;

	if (word != address || anchor_word(search, address - 8) != address)
		return false;
	identity = address - BLOCK_ROBUST;
	from = identity + BLOCK_SIZE_MIN;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = anchor_word(search, from + i * 8);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i += 2) {
		if (!anchor_is_pointer(search, from + i * 8, words[i]))
			continue;
		*ret_block = (struct anchor_block){ identity, from + i * 8 };
		return true;
	}
	return false;
}

#else

/* Thread-local variables of modules that the program started with. */
static bool anchor_ask_variables(struct anchor_search *search, const struct anchor_block *block)
{
	uint64_t words[PAGE_WORDS], end = block->pointer;
	unsigned int i;

	for (i = 0; i < VARIABLES_PAGES && end > PAGE; i++) {
		uint64_t start = (end - 1) & ~(uint64_t)(PAGE - 1);
		size_t size = end - start;

		if (!anchor_read(search, start, words, size))
			return false;
		if (anchor_ask_words(search, start, words, size / 8, block))
			return true;
		end = start;
	}
	return false;
}

/* Does this word, at `address`, lead to a control block? */
static bool anchor_find_block(struct anchor_search *search, uint64_t address, uint64_t word,
			      struct anchor_block *ret_block)
{
	if (word != address || anchor_word(search, address + 16) != address)
		return false;
	*ret_block = (struct anchor_block){ address, address };
	return true;
}

#endif

/* The variables of one module that was loaded later. */
static bool anchor_ask_module(struct anchor_search *search, uint32_t module, uint64_t start,
			      const struct anchor_block *block)
{
	uint32_t i;

	for (i = 0; i < MODULE_WORDS; i++) {
		uint64_t value;

		if (!anchor_read(search, start + i * 8, &value, sizeof(value)))
			return false;
		if (!anchor_ask(search, value, block))
			continue;
		search->process->anchor_kind = INTERP_ANCHOR_MODULE;
		search->process->anchor = i * 8;
		search->process->module = module;
		*search->state = value;
		return true;
	}
	return false;
}

static bool anchor_ask_modules(struct anchor_search *search, const struct anchor_block *block)
{
	uint64_t vector, count, start;
	uint32_t module;

	if (!anchor_read(search, block->pointer + VECTOR, &vector, sizeof(vector)) ||
	    !anchor_read(search, vector - 16, &count, sizeof(count)) || count > MODULES_MAX)
		return false;
	for (module = 1; module <= count; module++) {
		start = anchor_word(search, vector + 16ull * module);
		if (start < ADDRESS_MIN || start >= ADDRESS_MAX || start & 7)
			continue;
		if (anchor_ask_module(search, module, start, block))
			return true;
	}
	return false;
}

static bool anchor_ask_block(struct anchor_search *search, const struct anchor_block *block)
{
	uint64_t words[BLOCK_BYTES / 8];

	search->blocks++;
	if (anchor_read(search, block->identity, words, sizeof(words)) &&
	    anchor_ask_words(search, block->identity, words, BLOCK_BYTES / 8, block))
		return true;
	return anchor_ask_variables(search, block) || anchor_ask_modules(search, block);
}

/* Look for control blocks that show in a page. */
static bool anchor_search_page(struct anchor_search *search, uint64_t page)
{
	uint64_t words[PAGE_WORDS];
	struct anchor_block block;
	size_t i;

	search->pages++;
	if (!target_read_present(search->memory, page, words, sizeof(words)))
		return false;
	for (i = 0; i < PAGE_WORDS; i += 2) {
		if (!anchor_find_block(search, page + i * 8, words[i], &block))
			continue;
		if (search->blocks < BLOCKS_MAX && anchor_ask_block(search, &block))
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
		 struct interp_process *ret_process, uint64_t *ret_state, bool *ret_spent)
{
	struct anchor_search search = {
		.memory = memory, .question = question, .process = ret_process, .state = ret_state
	};
	size_t i;

	/* The first thread's block is near the libraries, which are mapped from the top down. */
	for (i = range_count; i-- > 0;)
		if (anchor_search_range(&search, &ranges[i]))
			return true;
	*ret_spent = search.pages >= PAGES_MAX || search.blocks >= BLOCKS_MAX ||
		     search.reads >= READS_MAX;
	return false;
}
