/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a process that a test lays out: FAKE_SIZE bytes from FAKE_BASE on. What is beyond them is not there. */
#ifndef TESTS_UNIT_FAKE_MEMORY_H
#define TESTS_UNIT_FAKE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "interp/target_memory.h"

#define FAKE_BASE 0x7f0000400000ull
#define FAKE_SIZE (8u << 20)

static unsigned char fake_bytes[FAKE_SIZE];
static size_t fake_reads; /* since fake_clear() */

static bool fake_read(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	fake_reads++;
	if (address < FAKE_BASE || address > FAKE_BASE + FAKE_SIZE - size)
		return false;
	memcpy(to, fake_bytes + (address - FAKE_BASE), size);
	return true;
}

static bool fake_read_waiting(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	(void)address;
	(void)to;
	fail_msg("%zu bytes are read that may not be present", size);
	return false;
}

/* For code that may read what is present only. */
static const struct target_memory fake_present
	__attribute__((unused)) = { .read = fake_read_waiting, .read_present = fake_read };

/* For code whose reads never bring a page in. */
static const struct target_memory fake_memory __attribute__((unused)) = { .read = fake_read };

static int fake_clear(void **state)
{
	(void)state;
	memset(fake_bytes, 0, FAKE_SIZE);
	fake_reads = 0;
	return 0;
}

static void fake_put(uint64_t address, const void *from, size_t size)
{
	memcpy(fake_bytes + (address - FAKE_BASE), from, size);
}

static __attribute__((unused)) void put_word(uint64_t address, uint64_t word)
{
	fake_put(address, &word, sizeof(word));
}

static __attribute__((unused)) void put_number(uint64_t address, uint32_t number)
{
	fake_put(address, &number, sizeof(number));
}

static __attribute__((unused)) void put_half(uint64_t address, uint16_t half)
{
	fake_put(address, &half, sizeof(half));
}

#endif
