/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long blocks live, as JSON and as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "render/columns.h"
#include "render/json_lives.h"
#include "render/text_parts.h"

/* Three blocks were freed at once, one after 5 units; nothing is in use. */
static const struct site_stats freed = {
	.alloc_objects = 6,
	.free_objects = 6,
	.lives = { .untimed = 2,
		   .temporary = 3,
		   .units = 5,
		   .longest = 5,
		   .classes = { [0] = 3, [3] = 1 } },
};

/* Of 4000, 1000 are never freed. */
static const struct site_stats leak = {
	.alloc_objects = 4000,
	.free_objects = 3000,
	.oldest_ns = 1ull << (LIFE_UNIT_BITS + 12),
	.lives = { .units = 3000, .longest = 1, .classes = { [1] = 3000 } },
	.ages = { [12] = 1000 },
};

static void check_json(const struct site_stats *stats, bool sampled, const char *start)
{
	struct buffer out = { 0 };
	struct json_writer json = { .out = &out };

	json_writer_open(&json, '{');
	json_lives(&json, stats, sampled, NULL);
	json_writer_close(&json, '}');
	out.data[strlen(start)] = '\0';
	assert_string_equal(out.data, start);
	buffer_free(&out);
}

static void test_json(void **state)
{
	const struct site_stats moved = { .lives = { .untimed = 7 } };

	(void)state;
	check_json(&freed, false,
		   "{\"temporary_objects\":3,\"lifespan\":{\"objects\":4,\"untimed_objects\":2,"
		   "\"mean_s\":0.00008192,\"max_s\":0.00032768,\"histogram\":[[0.000065536,3],"
		   "[0.000131072,0],[0.000262144,0],[0.000524288,1]],\"ages\":[],\"tail\":{");
	check_json(&leak, true, "{\"temporary_objects\":null,\"lifespan\":{");
	check_json(&moved, false,
		   "{\"temporary_objects\":0,\"lifespan\":{\"objects\":0,\"untimed_objects\":7,"
		   "\"mean_s\":null,\"max_s\":null,\"histogram\":[],\"ages\":[],");
	check_json(&(struct site_stats){ 0 }, false, "{}");
}

static void check_text(const struct site_stats *stats, bool verbose, const char *expected)
{
	struct buffer out = { 0 };
	const struct text_writer writer = { .out = &out, .width = COLUMNS_ANY, .verbose = verbose };
	const struct report_site site = { .stats = *stats };

	text_lives(&writer, &site, NULL);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_free(&out);
}

static void test_text(void **state)
{
	(void)state;
	check_text(&freed, true,
		   "     lives: 50 % up to 65.5 us, 90 % up to 0.3 ms; of those freed 81.9 us on "
		   "average, 0.3 ms at most; 50 % temporary\n");
	check_text(&leak, true,
		   "     lives: 50 % up to 0.1 ms, 25 % never freed (23 to 27); of those freed "
		   "65.5 us on average, 65.5 us at most\n");
	check_text(&leak, false, "");
	check_text(&(struct site_stats){ 0 }, true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
