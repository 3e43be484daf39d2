/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for a thread's state, in memory that a test has made up: what is found, and how much is read at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "interp/interp_anchor.h"

#if defined(__x86_64__)

#define START 0x7f0000000000ull
#define PAGE 4096u
#define THREADS 256u
/* A page below each control block, and its own. */
#define BYTES (THREADS * 2 * PAGE)
#define STATE 0x7e0000001000ull

struct fake {
	unsigned char *bytes;
	size_t reads, asked;
	uint64_t state; /* 0 = none */
};

static bool fake_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct fake *fake = context;

	fake->reads++;
	if (address < START || address - START > BYTES - size)
		return false;
	memcpy(bytes, fake->bytes + (address - START), size);
	return true;
}

static bool fake_is_state(void *context, uint64_t value, uint64_t identity)
{
	struct fake *fake = context;

	(void)identity;
	fake->asked++;
	return value == fake->state;
}

static void fake_put(struct fake *fake, uint64_t address, uint64_t word)
{
	memcpy(fake->bytes + (address - START), &word, sizeof(word));
}

static uint64_t fake_block(size_t thread)
{
	return START + (2 * thread + 1) * PAGE;
}

/* Threads all of whose words may be addresses. */
static struct fake fake_new(void)
{
	struct fake fake = { .bytes = calloc(1, BYTES) };
	uint64_t at;
	size_t i;

	assert_non_null(fake.bytes);
	for (at = START; at < START + BYTES; at += 8)
		fake_put(&fake, at, START + 8);
	for (i = 0; i < THREADS; i++) {
		fake_put(&fake, fake_block(i), fake_block(i));
		fake_put(&fake, fake_block(i) + 16, fake_block(i));
	}
	return fake;
}

static bool fake_find(struct fake *fake, struct interp_process *ret_process, bool *ret_spent)
{
	struct target_memory memory = { fake_read, fake };
	struct anchor_question question = { fake_is_state, fake };
	struct memory_range ranges[THREADS];
	uint64_t state;
	size_t i;

	for (i = 0; i < THREADS; i++)
		ranges[i] = (struct memory_range){ fake_block(i) - PAGE, fake_block(i) + PAGE };
	return anchor_find(&memory, ranges, THREADS, &question, ret_process, &state, ret_spent);
}

/* In the slots of the thread whose memory is looked at first. */
static void test_found(void **state)
{
	struct interp_process process = { 0 };
	struct fake fake = fake_new();
	bool spent = false;

	(void)state;
	fake.state = STATE;
	fake_put(&fake, fake_block(THREADS - 1) + 0x310, STATE);
	assert_true(fake_find(&fake, &process, &spent));
	assert_int_equal(process.anchor_kind, INTERP_ANCHOR_THREAD);
	assert_int_equal(process.anchor, 0x310);
	assert_false(spent);
	free(fake.bytes);
}

/* Memory like that of many threads, none of which leads anywhere: what is read has an end. */
static void test_nothing(void **state)
{
	struct interp_process process = { 0 };
	struct fake fake = fake_new();
	bool spent = false;

	(void)state;
	assert_false(fake_find(&fake, &process, &spent));
	assert_true(spent);
	assert_true(fake.asked <= 50000);
	assert_true(fake.reads <= 60000);
	free(fake.bytes);
}

#else

static void test_found(void **state)
{
	(void)state;
	skip(); /* the made up memory is that of x86-64 */
}

static void test_nothing(void **state)
{
	(void)state;
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
