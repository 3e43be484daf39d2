/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has become of blocks, by an image that the test makes up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "windows/budget_look.h"

#include "fake_image.h"

#define HEAP 0x100000ull
#define OTHER 0x200000ull

static struct fake_image *fake;

static int set_up(void **state)
{
	(void)state;
	fake = fake_image_new();
	fake_image_map(fake, HEAP, 4 * FAKE_PAGE, "[heap]", FAKE_WRITABLE);
	fake_image_map(fake, OTHER, FAKE_PAGE, "", FAKE_WRITABLE);
	fake_image_put_word(fake, HEAP, 42);
	fake_image_absent(fake, HEAP + FAKE_PAGE, FAKE_PAGE);
	fake_image_swapped(fake, HEAP + 2 * FAKE_PAGE, FAKE_PAGE);
	fake_image_open(fake);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_image_free(fake);
	return 0;
}

static enum look_state look(uint64_t address)
{
	struct look_item item = { .address = address, .size = 100 };

	budget_look(fake->image, &item, 1);
	return item.state;
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(look(HEAP), LOOK_READ);
	assert_int_equal(look(HEAP + FAKE_PAGE), LOOK_GONE);
	assert_int_equal(look(HEAP + 2 * FAKE_PAGE), LOOK_UNKNOWN);
	assert_int_equal(look(OTHER + FAKE_PAGE), LOOK_GONE);
}

/* Other blocks of the page are the same, whether they are read together or alone. */
static void test_contents(void **state)
{
	struct look_item items[] = { { .address = HEAP + 128, .size = 100 },
				     { .address = HEAP, .size = 100 },
				     { .address = HEAP + 256, .size = 100 } };

	(void)state;
	budget_look(fake->image, items, 3);
	assert_int_equal(items[0].address, HEAP);
	assert_int_equal(items[1].contents, items[2].contents);
	assert_int_not_equal(items[0].contents, items[1].contents);
	fake_image_put_word(fake, HEAP, 0);
	budget_look(fake->image, items, 1);
	assert_int_equal(items[0].contents, items[1].contents);
}

/* What lists that are cut do not have may be there: nothing of it is taken for freed. */
static void test_cut(void **state)
{
	(void)state;
	fake->unlisted = OTHER;
	fake_image_pages(fake, HEAP, 4 * FAKE_PAGE, 0);
	assert_false(image_refresh(fake->image));
	assert_int_equal(look(OTHER), LOOK_READ);
	/* Where they were cut at the first look, too. */
	fake->image->pages_unknown = true;
	assert_int_equal(look(OTHER + FAKE_PAGE), LOOK_UNKNOWN);
	assert_int_equal(look(HEAP + FAKE_PAGE), LOOK_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_states),
		TEST(test_contents),
		TEST(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
