/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims against an array that holds the owner of each piece of memory; what falls to mappings; figures that add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "image/claims.h"
#include "image/mapping_purpose.h"
#include "unit/fake_image.h"

#define BASE 0x10000ull
#define PAGES 64
#define UNIT 512 /* borders of claims are multiples of it */
#define UNITS (PAGES * FAKE_PAGE / UNIT)

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % limit;
}

static uint64_t sum_of(const struct purpose_sum sums[PURPOSE_COUNT], size_t field)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PURPOSE_COUNT; i++)
		sum += *(const uint64_t *)((const char *)&sums[i] + field);
	return sum;
}

static void check_model(struct claims *claims, struct image *image, const int *owners)
{
	struct purpose_sum sums[PURPOSE_COUNT];
	uint64_t wanted[PURPOSE_COUNT] = { 0 };
	size_t i;

	for (i = 0; i < UNITS; i++)
		assert_int_equal(claims_find(claims, BASE + i * UNIT + i % UNIT, NULL),
				 owners[i] < 0 ? PURPOSE_UNKNOWN : owners[i]);
	for (i = 0; i < PAGES; i++) {
		int owner = owners[i * FAKE_PAGE / UNIT];

		wanted[owner < 0 ? PURPOSE_UNKNOWN : owner] += FAKE_PAGE;
	}
	claims_sum(claims, image, NULL, sums);
	for (i = 0; i < PURPOSE_COUNT; i++) {
		assert_int_equal(sums[i].mapped, wanted[i]);
		assert_int_equal(sums[i].rss, wanted[i]);
	}
}

/* The first claim wins, whatever borders they have; claims and questions alternate. */
static void test_model(void **state)
{
	uint64_t random = 1;
	int round, i, n, owners[UNITS];

	(void)state;
	for (round = 0; round < 50; round++) {
		struct fake_image *fake = fake_image_new();
		struct claims *claims = claims_new();

		fake_image_map(fake, BASE, PAGES / 2 * FAKE_PAGE, "", FAKE_WRITABLE);
		fake_image_map(fake, BASE + PAGES / 2 * FAKE_PAGE, PAGES / 2 * FAKE_PAGE, "",
			       FAKE_WRITABLE);
		memset(owners, 0xff, sizeof(owners));
		for (i = 0; i < 40; i++) {
			uint32_t start = random_below(&random, UNITS);
			uint32_t end = random_below(&random, UNITS + 1);
			int purpose = (int)random_below(&random, PURPOSE_UNKNOWN);

			claims_add(claims, (enum purpose)purpose, BASE + start * UNIT,
				   BASE + end * UNIT, 0);
			for (n = (int)start; n < (int)end; n++)
				if (owners[n] < 0)
					owners[n] = purpose;
			if (i % 13 == 12)
				check_model(claims, fake_image_open(fake), owners);
		}
		claims_free(claims);
		fake_image_free(fake);
	}
}

/* All over each other, at the ends of the address space, and many: it takes no time. */
static void test_hostile(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	struct purpose_sum sums[PURPOSE_COUNT];
	uint64_t i;

	(void)state;
	fake_image_map(fake, BASE, 16 * FAKE_PAGE, "", FAKE_WRITABLE);
	claims_add(claims, PURPOSE_CODE, UINT64_MAX, 0, 0);
	claims_add(claims, PURPOSE_CODE, 5, 5, 0);
	claims_add(claims, PURPOSE_COUNT, 0, UINT64_MAX, 0);
	for (i = 0; i < 50000; i++)
		claims_add(claims, PURPOSE_MALLOC_ARENA, i, UINT64_MAX - i, (uint32_t)(i % 3));
	for (i = 0; i < 50000; i++)
		claims_add(claims, PURPOSE_STACK, UINT64_MAX - 1 - i, UINT64_MAX, 0);
	claims_sum(claims, fake_image_open(fake), NULL, sums);
	assert_int_equal(sums[PURPOSE_MALLOC_ARENA].rss, 16 * FAKE_PAGE);
	assert_int_equal(sum_of(sums, offsetof(struct purpose_sum, rss)), 16 * FAKE_PAGE);
	assert_int_equal(claims_find(claims, UINT64_MAX - 1, NULL), PURPOSE_MALLOC_ARENA);
	assert_int_equal(claims_find(claims, UINT64_MAX, NULL), PURPOSE_UNKNOWN);
	claims_free(claims);
	fake_image_free(fake);
}

/* Each detail counts once; a mapping counts if a part of it is left. */
static void test_counts(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	struct purpose_sum sums[PURPOSE_COUNT];
	uint32_t detail = 0;

	(void)state;
	fake_image_map(fake, BASE, 8 * FAKE_PAGE, "", FAKE_WRITABLE);
	fake_image_map(fake, BASE + 8 * FAKE_PAGE, 8 * FAKE_PAGE, "", FAKE_WRITABLE);
	claims_add(claims, PURPOSE_MALLOC_ARENA, BASE, BASE + FAKE_PAGE, 7);
	claims_add(claims, PURPOSE_MALLOC_ARENA, BASE + 2 * FAKE_PAGE, BASE + 3 * FAKE_PAGE, 7);
	claims_add(claims, PURPOSE_MALLOC_ARENA, BASE + 8 * FAKE_PAGE, BASE + 16 * FAKE_PAGE, 8);
	claims_add(claims, PURPOSE_MALLOC_ARENA, BASE, BASE + FAKE_PAGE, 9);
	fake_image_map(fake, 0x100000, 8 * FAKE_PAGE, "[heap]", FAKE_WRITABLE);
	fake_image_map(fake, 0x200000, 8 * FAKE_PAGE, "[anon: glibc: malloc]", FAKE_WRITABLE);
	claims_add(claims, PURPOSE_MALLOC_MAIN, 0x100000, 0x100000 + 8 * FAKE_PAGE, 0);
	claims_add(claims, PURPOSE_MALLOC_LARGE, 0x200000, 0x200000 + FAKE_PAGE, 0);
	claims_sum(claims, fake_image_open(fake), NULL, sums);
	assert_int_equal(sums[PURPOSE_MALLOC_ARENA].count, 2);
	assert_int_equal(sums[PURPOSE_MALLOC_MAIN].count, 1);
	assert_int_equal(sums[PURPOSE_MALLOC_LARGE].count, 2);
	assert_int_equal(sums[PURPOSE_UNKNOWN].count, 1);
	assert_int_equal(claims_find(claims, BASE + 2 * FAKE_PAGE, &detail), PURPOSE_MALLOC_ARENA);
	assert_int_equal(detail, 7);
	claims_free(claims);
	fake_image_free(fake);
}

/* RSS is what is present; the kernel's page of zeroes, devices and its own pages do not count there. */
static void test_pages(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct claims *claims = claims_new();
	struct purpose_sum sums[PURPOSE_COUNT];

	(void)state;
	fake_image_map(fake, BASE, 8 * FAKE_PAGE, "[heap]", FAKE_WRITABLE);
	fake_image_absent(fake, BASE, FAKE_PAGE);
	fake_image_swapped(fake, BASE + FAKE_PAGE, 2 * FAKE_PAGE);
	fake_image_pages(fake, BASE + 3 * FAKE_PAGE, FAKE_PAGE, IMAGE_PRESENT | IMAGE_ZERO);
	fake_image_map(fake, 0x200000, FAKE_PAGE, "[vvar]", 0);
	fake_image_map(fake, 0x300000, FAKE_PAGE, "[vdso]", 0);
	fake_image_map(fake, 0x400000, FAKE_PAGE, "/dev/dri/card0",
		       FAKE_WRITABLE | FAKE_SHARED | FAKE_DEVICE);
	fake_image_map(fake, 0x500000, FAKE_PAGE, "/dev/file of a tmpfs", FAKE_FILE | FAKE_SHARED);
	fake_image_map(fake, 0x600000, FAKE_PAGE, "/memfd:large", FAKE_FILE | FAKE_SHARED)
		->huge_pages = true;
	fake_image_map(fake, 0x800000000000, FAKE_PAGE, "[vsyscall]", 0);
	claims_sum(claims, fake_image_open(fake), NULL, sums);
	assert_int_equal(sums[PURPOSE_MALLOC_MAIN].mapped, 8 * FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_MALLOC_MAIN].rss, 4 * FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_MALLOC_MAIN].swap, 2 * FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_KERNEL].mapped, 2 * FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_KERNEL].rss, FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_DEVICE].mapped, FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_DEVICE].rss, 0);
	assert_int_equal(sums[PURPOSE_FILE].rss, FAKE_PAGE);
	assert_int_equal(sums[PURPOSE_HUGETLB].mapped, FAKE_PAGE);
	assert_int_equal(sum_of(sums, offsetof(struct purpose_sum, mapped)), 13 * FAKE_PAGE);
	assert_int_equal(sum_of(sums, offsetof(struct purpose_sum, rss)), 6 * FAKE_PAGE);
	claims_free(claims);
	fake_image_free(fake);
}

static void test_mappings(void **state)
{
	static const struct {
		const char *name;
		unsigned int flags;
		enum purpose purpose;
	} cases[] = {
		{ "/lib/one.so", FAKE_FILE, PURPOSE_CONSTANTS },
		{ "/lib/one.so", FAKE_FILE | FAKE_EXECUTABLE, PURPOSE_CODE },
		{ "/lib/one.so", FAKE_FILE | FAKE_WRITABLE, PURPOSE_DATA },
		{ "/usr/lib/locale/C.utf8/LC_CTYPE", FAKE_FILE, PURPOSE_FILE },
		{ "/var/data", FAKE_FILE | FAKE_WRITABLE | FAKE_SHARED, PURPOSE_FILE },
		{ "/dev/zero", FAKE_FILE | FAKE_WRITABLE | FAKE_SHARED, PURPOSE_SHARED },
		{ "/dev/shm/sem.x", FAKE_FILE | FAKE_WRITABLE | FAKE_SHARED, PURPOSE_SHARED },
		{ "/SYSV00000000", FAKE_FILE | FAKE_WRITABLE | FAKE_SHARED, PURPOSE_SHARED },
		{ "/dev/dri/card0", FAKE_FILE | FAKE_SHARED | FAKE_DEVICE, PURPOSE_DEVICE },
		{ "/dev/file of a tmpfs", FAKE_FILE | FAKE_SHARED, PURPOSE_FILE },
		{ "/memfd:x", FAKE_FILE | FAKE_WRITABLE | FAKE_SHARED, PURPOSE_MEMFD },
		{ "/memfd:x", FAKE_FILE | FAKE_EXECUTABLE | FAKE_SHARED, PURPOSE_JIT },
		{ "/anon_hugepage", FAKE_FILE | FAKE_WRITABLE, PURPOSE_HUGETLB },
		{ "anon_inode:[perf_event]", FAKE_WRITABLE | FAKE_SHARED, PURPOSE_DEVICE },
		{ "", FAKE_EXECUTABLE | FAKE_WRITABLE, PURPOSE_JIT },
		{ "", FAKE_WRITABLE, PURPOSE_UNKNOWN },
		{ "[stack]", FAKE_WRITABLE, PURPOSE_STACK },
		{ "[vvar_vclock]", 0, PURPOSE_KERNEL },
		{ "[anon: glibc: malloc arena]", FAKE_WRITABLE, PURPOSE_MALLOC_ARENA },
		{ "[anon:x]", FAKE_WRITABLE, PURPOSE_UNKNOWN },
	};
	struct fake_image *fake = fake_image_new();
	struct image *image;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		fake_image_map(fake, BASE + 2 * i * FAKE_PAGE, FAKE_PAGE, cases[i].name,
			       cases[i].flags);
	fake_image_map(fake, 0xc000000000, 4 << 20, "", FAKE_WRITABLE);
	/* Cut in two by a hint about huge pages. */
	fake_image_map(fake, 0xc000400000, 3 << 20, "", FAKE_WRITABLE);
	image = fake_image_open(fake);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(mapping_purpose_find(image, &image->mappings[i]),
				 cases[i].purpose);
	assert_int_equal(mapping_purpose_find(image, &image->mappings[i]), PURPOSE_GO_HEAP);
	assert_int_equal(mapping_purpose_find(image, &image->mappings[i + 1]), PURPOSE_GO_HEAP);
	fake_image_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),	 cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_counts),	 cmocka_unit_test(test_pages),
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
