/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files may switch stacks: programs and libraries that are compiled here, and names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/switching.h"
#include "scratch.h"

/* The function that is found in what the compiler makes of `source`; "" = none. */
static const char *find(const char *source, const char *options)
{
	struct scratch scratch = scratch_make();
	char *text = scratch_file(&scratch, "a.c", source, strlen(source), 0644);
	char *path = scratch_path(&scratch, "a");
	struct elf_file *file;
	const char *name;
	int fd;

	assert_int_equal(scratch_run("cc -w %s -o %s %s", options, path, text), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	file = elf_file_open(fd, NULL);
	assert_non_null(file);
	name = switching_name(switching_find(file));
	elf_file_close(file);
	close(fd);
	free(path);
	free(text);
	scratch_remove(&scratch);
	return name ? name : "";
}

#define LIBRARY "-shared -fPIC -nostdlib"

static void test_files(void **state)
{
	(void)state;
	assert_string_equal(find("void f(void) { sigaltstack(0, 0); }", LIBRARY), "sigaltstack");
	assert_string_equal(find("void f(void) { swapcontext(0, 0); }", LIBRARY), "swapcontext");
	assert_string_equal(find("void f(void) { co_switch(0); }", LIBRARY), "co_switch");
	assert_string_equal(find("int main(void) { return sigaltstack(0, 0); }", ""),
			    "sigaltstack");
	assert_string_equal(find("int main(void) { return getpid(); }", ""), "");
	assert_string_equal(find("void f(void) { sigaltstacks(); }", LIBRARY), "");
}

/* What was linked in is called; what is offered to others, as by a C library, is not. */
static void test_definitions(void **state)
{
	static const char offered[] = "void *jump_fcontext(void) { return 0; }"
				      "void *f(void) { return jump_fcontext(); }";
	char *hidden = memory_format("__attribute__((visibility(\"hidden\"))) %s", offered);

	(void)state;
	assert_string_equal(find(hidden, LIBRARY), "jump_fcontext");
	assert_string_equal(find(hidden, LIBRARY " -s"), "");
	assert_string_equal(find(offered, LIBRARY), "");
	free(hidden);
}

static void test_static_program(void **state)
{
	const char *source = "int main(void) { return sigaltstack(0, 0); }";

	(void)state;
	if (scratch_run("echo 'int main(void){}' | cc -static -xc -o /dev/null - 2>/dev/null"))
		skip();
	assert_string_equal(find(source, "-static"), "sigaltstack");
}

static void test_harmless_files(void **state)
{
	(void)state;
	assert_true(switching_is_harmless("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1"));
	assert_true(switching_is_harmless("/usr/bin/python3.11"));
	assert_true(switching_is_harmless("libpython3.11.so.1.0"));
	assert_true(switching_is_harmless("/usr/lib/libcrypto.so.3"));
	assert_true(switching_is_harmless("/usr/bin/node"));
	assert_false(switching_is_harmless("/usr/bin/nodes"));
	assert_false(switching_is_harmless("/usr/bin/pythonic"));
	assert_false(switching_is_harmless("/opt/ruby/bin/server"));
	assert_false(switching_is_harmless(""));
	assert_null(switching_name(0));
	assert_null(switching_name(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_static_program),
		cmocka_unit_test(test_harmless_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
