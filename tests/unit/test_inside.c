/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where inside of malloc and calloc the block is in a register. Truth: the code of glibc 2.36, as objdump shows it, read by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/inside.h"
#include "unit/inside_code.h"

#if defined(__x86_64__)

#define INT_MALLOC 0x97360
#define RBX 3

static bool memset_returns_first(void *context, uint64_t target)
{
	(void)context;
	return target == 0x262e0;
}

static bool nothing_returns_first(void *context, uint64_t target)
{
	(void)context;
	(void)target;
	return false;
}

static bool has(const struct inside *inside, uint64_t offset, uint32_t stack, int size, int bp,
		bool is_call)
{
	size_t i;

	for (i = 0; i < inside->count; i++) {
		const struct inside_site *site = &inside->sites[i];

		if (site->offset == offset)
			return site->stack_bytes == stack && site->size == size &&
			       site->saved_bp == bp && site->is_call == is_call;
	}
	return false;
}

/* The result of _int_malloc with one thread, with several, and of the second try; and the thread's cache. */
static void test_code_of_malloc(void **state)
{
	struct inside inside;

	(void)state;
	assert_true(inside_find(malloc_code, sizeof(malloc_code), MALLOC_ADDRESS, false, 0,
				nothing_returns_first, NULL, &inside));
	assert_int_equal(inside.allocates, INT_MALLOC);
	assert_int_equal(inside.count, 5);
	assert_true(has(&inside, 0x98a87 - MALLOC_ADDRESS, 40, RBX, 2, false));
	assert_true(has(&inside, 0x989cc - MALLOC_ADDRESS, 40, RBX, 2, false));
	assert_true(has(&inside, 0x98bbd - MALLOC_ADDRESS, 40, RBX, 2, false));
	/* There rbx was written over: the size is noted at the call before. */
	assert_true(has(&inside, 0x98acd - MALLOC_ADDRESS, 40, INSIDE_NOTED, 2, false));
	assert_true(has(&inside, 0x98ac5 - MALLOC_ADDRESS, 40, 6, 2, true));
}

static void test_code_of_calloc(void **state)
{
	struct inside inside;

	(void)state;
	assert_true(inside_find(calloc_code, sizeof(calloc_code), CALLOC_ADDRESS, true, INT_MALLOC,
				memset_returns_first, NULL, &inside));
	assert_int_equal(inside.count, 3);
	assert_true(has(&inside, 0x997b5 - CALLOC_ADDRESS, 56, RBX, 3, false));
	assert_true(has(&inside, 0x99844 - CALLOC_ADDRESS, 56, RBX, 3, false));
	assert_true(has(&inside, 0x99888 - CALLOC_ADDRESS, 56, RBX, 3, false));
	/* Where it is not known that memset returns the block, nothing is. */
	assert_false(inside_find(calloc_code, sizeof(calloc_code), CALLOC_ADDRESS, true, INT_MALLOC,
				 nothing_returns_first, NULL, &inside));
	assert_non_null(inside.refusal);
}

/* Code that returns a block past all places, or ends too early, or calls another function, has none. */
static void test_refused(void **state)
{
	uint8_t code[sizeof(malloc_code)];
	struct inside inside;

	(void)state;
	/* jne, on the way from the thread's cache, becomes no test at all. */
	memcpy(code, malloc_code, sizeof(code));
	memset(code + (0x98a85 - MALLOC_ADDRESS), 0x90, 8);
	assert_false(inside_find(code, sizeof(code), MALLOC_ADDRESS, false, INT_MALLOC,
				 nothing_returns_first, NULL, &inside));
	/* Cut short, or with nothing that allocates. */
	assert_false(inside_find(malloc_code, sizeof(malloc_code) - 1, MALLOC_ADDRESS, false,
				 INT_MALLOC + 16, nothing_returns_first, NULL, &inside));
	assert_false(inside_find(malloc_code, 200, MALLOC_ADDRESS, false, INT_MALLOC,
				 nothing_returns_first, NULL, &inside));
	assert_false(inside_find(malloc_code, 0, MALLOC_ADDRESS, false, 0, nothing_returns_first,
				 NULL, &inside));
}

/* Damaged code: an answer or a refusal, and no place outside of it. */
static void test_damaged(void **state)
{
	uint8_t code[sizeof(malloc_code)];
	struct inside inside;
	size_t at, i;

	(void)state;
	for (at = 0; at < sizeof(code); at += 13) {
		memcpy(code, malloc_code, sizeof(code));
		code[at] ^= 0xff;
		if (!inside_find(code, sizeof(code), MALLOC_ADDRESS, false, INT_MALLOC,
				 nothing_returns_first, NULL, &inside))
			assert_non_null(inside.refusal);
		for (i = 0; i < inside.count; i++)
			assert_true(inside.sites[i].offset < sizeof(code));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_of_malloc),
		cmocka_unit_test(test_code_of_calloc),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
