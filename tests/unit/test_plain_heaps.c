/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps of PHP, V8 and Java, made up with the heads that they have; what is nearly like them is not claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "objects/java_classes.h"
#include "objects/java_heap.h"
#include "objects/plain_heaps.h"
#include "unit/fake_image.h"

#define MB (1ull << 20)
#define CHUNK (2 * MB)
#define PAGE (256ull << 10)
#define BASE 0x7f0000000000ull

static struct claims *claim(struct fake_image *fake)
{
	struct claims *claims = claims_new();

	plain_heaps_claim(fake_image_open(fake), claims);
	return claims;
}

static void put_head(struct fake_image *fake, uint64_t at, uint64_t first, uint64_t second,
		     uint64_t third)
{
	fake_image_put_word(fake, at, first);
	fake_image_put_word(fake, at + 8, second);
	fake_image_put_word(fake, at + 16, third);
}

/* A ring of three chunks; a fourth one has a head that nobody leads to. */
static void test_php(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct claims *claims;
	uint64_t i, heap = BASE + 64;

	(void)state;
	fake_image_map(fake, BASE, 4 * CHUNK, "", FAKE_WRITABLE);
	for (i = 0; i < 3; i++)
		put_head(fake, BASE + i * CHUNK, heap, BASE + (i + 1) % 3 * CHUNK,
			 BASE + (i + 2) % 3 * CHUNK);
	put_head(fake, BASE + 3 * CHUNK, heap, BASE, BASE);
	claims = claim(fake);
	assert_int_equal(claims_find(claims, BASE, NULL), PURPOSE_PHP_HEAP);
	assert_int_equal(claims_find(claims, BASE + 3 * CHUNK - 1, NULL), PURPOSE_PHP_HEAP);
	assert_int_equal(claims_find(claims, BASE + 3 * CHUNK, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	fake_image_free(fake);
}

/* A block of 4 MB that the heap's list has; the list may lead in a circle, or to what no block can be. */
static void test_php_huge(void **state)
{
	const uint64_t heap = BASE + 64, node = BASE + 0x5000, huge = BASE + 16 * CHUNK;
	struct fake_image *fake = fake_image_new();
	struct claims *claims;

	(void)state;
	fake_image_map(fake, BASE, CHUNK, "", FAKE_WRITABLE);
	fake_image_map(fake, huge, 4 * CHUNK, "", FAKE_WRITABLE);
	put_head(fake, BASE, heap, BASE, BASE);
	fake_image_put_word(fake, heap + 38 * 8, node);
	fake_image_put_word(fake, heap + 39 * 8, BASE);
	put_head(fake, node, huge, 2 * CHUNK, node);
	claims = claim(fake);
	assert_int_equal(claims_find(claims, huge, NULL), PURPOSE_PHP_HEAP);
	assert_int_equal(claims_find(claims, huge + 2 * CHUNK - 1, NULL), PURPOSE_PHP_HEAP);
	assert_int_equal(claims_find(claims, huge + 2 * CHUNK, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	put_head(fake, node, huge + 4096, UINT64_MAX & ~4095ull, node);
	claims = claim(fake);
	assert_int_equal(claims_find(claims, huge + 4096, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	fake_image_free(fake);
}

/* Four pages of one heap are one; three of another one are chance. */
static void test_v8(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct claims *claims;
	uint64_t i;

	(void)state;
	fake_image_map(fake, BASE, 16 * PAGE, "", FAKE_WRITABLE);
	fake_image_map(fake, BASE + 32 * PAGE, 4096, "[heap]", FAKE_WRITABLE);
	for (i = 0; i < 3; i++)
		put_head(fake, BASE + i * PAGE, PAGE, 0x11, BASE + 32 * PAGE + 8);
	put_head(fake, BASE + 3 * PAGE, 2 * PAGE, 0x11, BASE + 32 * PAGE + 8);
	for (i = 8; i < 11; i++)
		put_head(fake, BASE + i * PAGE, PAGE, 0x11, BASE + 32 * PAGE + 16);
	put_head(fake, BASE + 12 * PAGE, UINT64_MAX, 0x11, BASE + 32 * PAGE + 8);
	claims = claim(fake);
	assert_int_equal(claims_find(claims, BASE, NULL), PURPOSE_V8_HEAP);
	assert_int_equal(claims_find(claims, BASE + 5 * PAGE - 1, NULL), PURPOSE_V8_HEAP);
	assert_int_equal(claims_find(claims, BASE + 5 * PAGE, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, BASE + 8 * PAGE, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, BASE + 12 * PAGE, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	fake_image_free(fake);
}

static void put_text(struct fake_image *fake, uint64_t at, const char *text)
{
	fake_image_put(fake, at, text, strlen(text) + 1);
}

static void put_field(struct fake_image *fake, uint64_t at, const uint64_t words[6])
{
	fake_image_put(fake, at, words, 48);
}

/* `size`: of the heap, in words. */
static enum purpose find_java(uint64_t size)
{
	const uint64_t text = BASE + 0x1000, table = BASE + 0x2000, heap = BASE + 0x3000;
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	enum purpose found;

	fake_image_map(fake, BASE, 0x4000, "/usr/lib/libjvm.so", FAKE_WRITABLE | FAKE_FILE);
	put_text(fake, text, "Universe");
	put_text(fake, text + 0x40, "_collectedHeap");
	put_text(fake, text + 0x80, "CollectedHeap");
	put_text(fake, text + 0xc0, "_reserved");
	put_field(fake, table, (uint64_t[]){ text, text + 0xc0, 0, 0, 24, 0 });
	put_field(fake, table + 48, (uint64_t[]){ text, text + 0x40, 0, 1, 0, BASE + 0x10 });
	put_field(fake, table + 96, (uint64_t[]){ text + 0x80, text + 0xc0, 0, 0, 24, 0 });
	fake_image_put_word(fake, BASE + 0x10, heap);
	fake_image_put_word(fake, heap + 24, BASE + MB);
	fake_image_put_word(fake, heap + 32, size);
	java_heap_claim(fake_image_open(fake), table, claims);
	found = claims_find(claims, BASE + MB, NULL);
	if (found == PURPOSE_JAVA_HEAP)
		assert_int_equal(claims_find(claims, BASE + MB + size * 8, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	/* Without its table, or one without an end, nothing is claimed, and it ends. */
	claims = claim(fake);
	assert_int_equal(claims_find(claims, BASE + MB, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	fake_image_free(fake);
	return found;
}

/*
 * Classes: an archive, then the class space in two mappings. 32 of its words lead to one piece of memory behind, 31 to the next one,
 * and as many as there are to a thread's stack. A file, shared memory and what is not writable lie in the first piece, too.
 */
static void test_java_classes(void **state)
{
	const uint64_t text = BASE + 0x1000, table = BASE + 0x2000, base = BASE + 64 * MB;
	const uint64_t space = base + MB, pieces = BASE + 2048 * MB;
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	uint64_t i;

	(void)state;
	fake_image_map(fake, BASE, 0x4000, "/usr/lib/libjvm.so", FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(fake, base, MB, "/usr/lib/classes.jsa", FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(fake, space, MB, "", FAKE_WRITABLE);
	fake_image_map(fake, space + MB, MB, "", 0);
	fake_image_map(fake, pieces, MB, "", FAKE_WRITABLE);
	fake_image_map(fake, pieces + MB, MB / 2, "/usr/lib/other.so", FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(fake, pieces + 3 * MB / 2, MB / 2, "", FAKE_WRITABLE | FAKE_SHARED);
	fake_image_map(fake, pieces + 2 * MB, MB, "", 0);
	fake_image_map(fake, pieces + 3 * MB, 13 * MB, "", FAKE_WRITABLE);
	put_text(fake, text, "CompressedKlassPointers");
	put_text(fake, text + 0x40, "_base");
	put_field(fake, table, (uint64_t[]){ text, text + 0x40, 0, 1, 0, BASE + 0x10 });
	fake_image_put_word(fake, BASE + 0x10, base);
	for (i = 0; i < 32; i++)
		fake_image_put_word(fake, space + 8 * i, pieces + 64 * i);
	for (i = 0; i < 31; i++)
		fake_image_put_word(fake, space + 0x1000 + 8 * i, pieces + 4 * MB + 64 * i);
	for (i = 0; i < 100; i++)
		fake_image_put_word(fake, space + 0x2000 + 8 * i, pieces + 8 * MB + 64 * i);
	claims_add(claims, PURPOSE_THREAD_STACK, pieces + 8 * MB, pieces + 12 * MB, 1);
	java_classes_claim(fake_image_open(fake), table, claims);
	assert_int_equal(claims_find(claims, base, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, space, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, space + 2 * MB - 1, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, space + 2 * MB, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, pieces, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, pieces + MB - 1, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, pieces + MB, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, pieces + 3 * MB / 2, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, pieces + 3 * MB - 1, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, pieces + 3 * MB, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, pieces + 4 * MB - 1, NULL), PURPOSE_JAVA_CLASS);
	assert_int_equal(claims_find(claims, pieces + 4 * MB, NULL), PURPOSE_UNKNOWN);
	assert_int_equal(claims_find(claims, pieces + 8 * MB, NULL), PURPOSE_THREAD_STACK);
	claims_free(claims);
	fake_image_free(fake);
}

static enum purpose find_java_code(uint64_t start, uint64_t end)
{
	const uint64_t text = BASE + 0x1000, table = BASE + 0x2000;
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	enum purpose found;

	fake_image_map(fake, BASE, 0x4000, "/usr/lib/libjvm.so", FAKE_WRITABLE | FAKE_FILE);
	put_text(fake, text, "CodeCache");
	put_text(fake, text + 0x40, "_low_bound");
	put_text(fake, text + 0x80, "_high_bound");
	put_field(fake, table, (uint64_t[]){ text, text + 0x40, 0, 1, 0, BASE + 0x10 });
	put_field(fake, table + 48, (uint64_t[]){ text, text + 0x80, 0, 1, 0, BASE + 0x18 });
	fake_image_put_word(fake, BASE + 0x10, start);
	fake_image_put_word(fake, BASE + 0x18, end);
	java_heap_claim(fake_image_open(fake), table, claims);
	found = claims_find(claims, BASE + MB, NULL);
	claims_free(claims);
	fake_image_free(fake);
	return found;
}

static void test_java_code(void **state)
{
	(void)state;
	assert_int_equal(find_java_code(BASE + MB, BASE + 240 * MB), PURPOSE_JAVA_CODE);
	assert_int_equal(find_java_code(BASE + MB, BASE + MB), PURPOSE_UNKNOWN);
	assert_int_equal(find_java_code(BASE + MB, 0), PURPOSE_UNKNOWN);
	assert_int_equal(find_java_code(1, UINT64_MAX), PURPOSE_UNKNOWN);
}

static void test_java(void **state)
{
	(void)state;
	assert_int_equal(find_java(32 * MB), PURPOSE_JAVA_HEAP);
	assert_int_equal(find_java(0), PURPOSE_UNKNOWN);
	assert_int_equal(find_java(UINT64_MAX), PURPOSE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_php),	     cmocka_unit_test(test_php_huge),
		cmocka_unit_test(test_java_classes), cmocka_unit_test(test_v8),
		cmocka_unit_test(test_java),	     cmocka_unit_test(test_java_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
