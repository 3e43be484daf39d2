/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in which interpreters' structures are read: of a live process, a copy, or a test's
 * own. Untrusted; may change while it is read.
 */
#ifndef INTERP_TARGET_MEMORY_H
#define INTERP_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target_memory {
	/* Copy exactly `size` bytes at `address`; false unless all are readable. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
	/* The same, without faulting in any page. NULL = `read`. */
	bool (*read_present)(void *context, uint64_t address, void *bytes, size_t size);
};

static inline bool target_read(const struct target_memory *memory, uint64_t address, void *bytes,
			       size_t size)
{
	return memory->read(memory->context, address, bytes, size);
}

static inline bool target_read_present(const struct target_memory *memory, uint64_t address,
				       void *bytes, size_t size)
{
	return (memory->read_present ? memory->read_present : memory->read)(memory->context,
									    address, bytes, size);
}

static inline bool target_read_word(const struct target_memory *memory, uint64_t address,
				    uint64_t *ret_word)
{
	return target_read(memory, address, ret_word, sizeof(*ret_word));
}

/* 0 where it cannot be read. */
static inline uint64_t target_word(const struct target_memory *memory, uint64_t address)
{
	uint64_t word;

	return target_read_word(memory, address, &word) ? word : 0;
}

static inline uint32_t target_half(const struct target_memory *memory, uint64_t address)
{
	uint32_t half;

	return target_read(memory, address, &half, sizeof(half)) ? half : 0;
}

/* The word at an address divisible by four; 0 if it is not there, or its page is absent. */
static inline uint64_t target_word_present(const struct target_memory *memory, uint64_t address)
{
	uint64_t word;

	return !(address & 3) && target_read_present(memory, address, &word, sizeof(word)) ? word
											   : 0;
}

#endif
