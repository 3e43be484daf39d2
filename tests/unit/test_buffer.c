/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The growing buffer. The truth is open_memstream(), which is given the same things to write. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buffer.h"

static void test_appends_like_a_stream(void **state)
{
	struct buffer buffer = { 0 };
	unsigned int seed = 7;
	char *expected = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&expected, &size);
	int i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		int width = rand_r(&seed) % 300;
		size_t length = (size_t)rand_r(&seed) % 64;
		char bytes[64];

		memset(bytes, rand_r(&seed), sizeof(bytes));
		buffer_append(&buffer, bytes, length);
		fwrite(bytes, 1, length, stream);
		buffer_printf(&buffer, "%*d%s", width, i, "");
		fprintf(stream, "%*d%s", width, i, "");
		buffer_append_string(&buffer, "text");
		fputs("text", stream);
	}
	fclose(stream);
	assert_int_equal(buffer.length, size);
	assert_memory_equal(buffer.data, expected, size + 1);
	free(expected);
	buffer_free(&buffer);
}

static void test_empty(void **state)
{
	struct buffer buffer = { 0 };

	(void)state;
	buffer_clear(&buffer);
	buffer_append(&buffer, NULL, 0);
	assert_string_equal(buffer.data, "");
	buffer_printf(&buffer, "%s", "");
	assert_int_equal(buffer.length, 0);
	buffer_append_string(&buffer, "x");
	buffer_clear(&buffer);
	assert_string_equal(buffer.data, "");
	assert_int_equal(buffer.length, 0);
	buffer_free(&buffer);
	assert_null(buffer.data);
	buffer_free(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appends_like_a_stream),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
