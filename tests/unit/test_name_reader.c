/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that a worker in the sandbox gives to types and to places in a file. Truth: this program's own symbols, and the mangling
 * scheme. What goes wrong costs the names.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/fork_server.h"
#include "decode/name_reader.h"
#include "decode/worker.h"

static struct name_reader *reader;
uint64_t name_reader_truth[4] = { 1, 2, 3, 4 };

void name_reader_function(void);
void name_reader_function(void)
{
}

static int set_up(void **state)
{
	(void)state;
	reader = name_reader_new(NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	name_reader_free(reader);
	return 0;
}

static void test_types(void **state)
{
	static const char *const mangled[] = { "3BoxIiE", "no type", "", "N3app3ReqE" };
	char *names[4], *many[1200];
	const char *questions[1200];
	size_t i;

	(void)state;
	assert_int_equal(name_reader_demangle(reader, mangled, 4, names), 0);
	assert_string_equal(names[0], "Box<int>");
	assert_null(names[1]);
	assert_null(names[2]);
	assert_string_equal(names[3], "app::Req");
	free(names[0]);
	free(names[3]);
	/* More than go into one question. */
	for (i = 0; i < 1200; i++)
		questions[i] = i % 2 ? "1AIcE" : "1AIiE";
	assert_int_equal(name_reader_demangle(reader, questions, 1200, many), 0);
	for (i = 0; i < 1200; i++) {
		assert_string_equal(many[i], i % 2 ? "A<char>" : "A<int>");
		free(many[i]);
	}
}

/* The first module is the program itself. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static void test_places(void **state)
{
	char path[] = "/proc/self/exe", own[256] = "";
	struct module module = { .path = path, .number = 3, .root_pid = getpid() };
	uint64_t bias = 0, addresses[3];
	struct name_place places[3];

	(void)state;
	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	module.fd = open(own, O_RDONLY | O_CLOEXEC);
	dl_iterate_phdr(take_bias, &bias);
	addresses[0] = (uintptr_t)&name_reader_truth[2] - bias;
	addresses[1] = (uintptr_t)&name_reader_function - bias;
	addresses[2] = 8;
	assert_int_equal(name_reader_places(reader, &module, addresses, 3, places), 0);
	assert_string_equal(places[0].text, "name_reader_truth");
	assert_int_equal(places[0].into, 16);
	assert_string_equal(places[1].text, "name_reader_function");
	assert_int_equal(places[1].into, 0);
	assert_null(places[2].text);
	free(places[0].text);
	free(places[1].text);
	close(module.fd);
}

static void test_no_file(void **state)
{
	char path[] = "/dev/null";
	struct module module = { .path = path, .number = 4, .fd = open("/dev/null", O_RDONLY) };
	struct name_place place;

	(void)state;
	assert_int_equal(name_reader_places(reader, &module, &(uint64_t){ 1 }, 1, &place),
			 -ENOEXEC);
	assert_null(place.text);
	close(module.fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_file),
	};

	(void)argc;
	/* This program is the worker, too. */
	fork_server_main(argv, worker_run);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
