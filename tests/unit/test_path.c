/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths as text, and the directories of packages. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/packages.h"
#include "base/path.h"

static void assert_resolved(const char *directory, const char *path, const char *expected)
{
	struct buffer out = { 0 };

	/* What is in the buffer already is not touched. */
	buffer_append_string(&out, "x/y:");
	path_append_resolved(&out, directory, path);
	assert_string_equal(out.data + 4, expected);
	assert_memory_equal(out.data, "x/y:", 4);
	buffer_free(&out);
}

static void test_resolved(void **state)
{
	(void)state;
	assert_resolved("/srv/app", "shop.rb", "/srv/app/shop.rb");
	assert_resolved("/srv/app", "./lib//shop.rb", "/srv/app/lib/shop.rb");
	assert_resolved("/srv/app", "../blog/./blog.rb", "/srv/blog/blog.rb");
	assert_resolved("/srv/app", "../../../../etc/x", "/etc/x");
	assert_resolved("/srv/app/", "/usr/lib/../share/x.rb/", "/usr/share/x.rb");
	assert_resolved("/srv/app", "..", "/srv");
	assert_resolved("/srv", "..", "/");
	assert_resolved("/", "x", "/x");
	assert_resolved(NULL, "a/../b.rb", "b.rb");
	assert_resolved(NULL, "../b.rb", "b.rb");
	assert_resolved(NULL, "/", "/");
	assert_resolved("/srv", "...", "/srv/...");
	assert_resolved("/srv", "", "/srv");
}

static void assert_below(const char *path, const char *directory, const char *expected)
{
	const char *below = path_below(path, directory);

	if (!expected)
		assert_null(below);
	else
		assert_string_equal(below, expected);
}

static void test_below(void **state)
{
	(void)state;
	assert_below("/srv/app/shop.rb", "/srv/app", "shop.rb");
	assert_below("/srv/application/shop.rb", "/srv/app", NULL);
	assert_below("/srv/app", "/srv/app", "");
	assert_below("/srv", "/srv/app", NULL);
	assert_below("/srv/app", "/", "srv/app");
}

static void test_parts(void **state)
{
	static const struct {
		const char *path, *pattern;
		bool found;
	} cases[] = {
		{ "/a/gems/rack-2.2/lib/x.rb", "gems/*-#*", true },
		{ "gems/rack-2.2", "gems/*-#*", true },
		{ "/a/gems/rack/lib/x.rb", "gems/*-#*", false },
		{ "/a/gems/my-rack/lib-2/x.rb", "gems/*-#*", false },
		{ "/a/gems/a-b-2/x.rb", "gems/*-#*", true },
		{ "/a/node_modules/x", "node_modules", true },
		{ "/a/node_modules2/x", "node_modules", false },
		{ "/a/my_node_modules/x", "node_modules", false },
		{ "/gems", "gems/*-#*", false },
		{ "/x/libruby-3.1.so.3.1", "libruby*.so*", true },
		{ "/x/lib/python3.11/json", "lib/python#*", true },
		{ "/x/lib/pythonic/json", "lib/python#*", false },
		{ "", "x", false },
		{ "x", "*", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (path_has_parts(cases[i].path, cases[i].pattern) != cases[i].found)
			fail_msg("%s in %s", cases[i].pattern, cases[i].path);
}

/* A part with very many beginnings of what a pattern looks for. */
static void test_hostile_part(void **state)
{
	size_t size = 1u << 20;
	char *path = malloc(size + 1);

	(void)state;
	assert_non_null(path);
	memset(path, '-', size);
	path[size] = '\0';
	memcpy(path, "gems/", 5);
	assert_false(path_has_parts(path, "gems/*-#*"));
	assert_false(path_has_parts(path, "*-*-*-#*x"));
	free(path);
}

static void test_packages(void **state)
{
	static const struct {
		enum frame_kind kind;
		const char *path;
		bool package;
	} cases[] = {
		{ FRAME_RUBY, "/var/lib/gems/3.1.0/gems/quickparse-1.0/lib/quickparse.rb", true },
		{ FRAME_RUBY, "/usr/local/bundle/gems/puma-6.4.0/lib/puma/thread_pool.rb", true },
		{ FRAME_RUBY, "/usr/local/bundle/bundler/gems/own-1a2b3c/lib/own.rb", true },
		{ FRAME_RUBY, "vendor/bundle/ruby/3.1.0/gems/x-1/lib/x.rb", true },
		{ FRAME_RUBY, "/opt/rbenv/versions/3.3.0/lib/ruby/3.3.0/json/common.rb", true },
		{ FRAME_RUBY, "gems/own/lib/own.rb", false },
		{ FRAME_RUBY, "vendor/engines/shop/shop.rb", false },
		{ FRAME_RUBY, "lib/ruby/parser.rb", false },
		{ FRAME_RUBY, "app/models/user.rb", false },
		{ FRAME_RUBY, "/usr/local/bin/puma", true },
		{ FRAME_NATIVE, "/usr/local/bin/server", false },
		{ FRAME_PYTHON, "/opt/venv/lib/python3.11/site-packages/flask/app.py", true },
		{ FRAME_PYTHON, "/usr/lib/python3/dist-packages/x.py", true },
		{ FRAME_PYTHON, "/opt/conda/lib/python3.11/json/decoder.py", true },
		{ FRAME_PYTHON, ".venv/bin/gunicorn", true },
		{ FRAME_PYTHON, "shop/views.py", false },
		{ FRAME_PHP, "vendor/monolog/Logger.php", true },
		{ FRAME_NATIVE, "vendor/sqlite/sqlite3.c", false },
		{ FRAME_NATIVE, "/usr/include/c++/12/bits/vector.tcc", true },
		{ FRAME_NATIVE, "/opt/gcc/include/c++/13/bits/stl_vector.h", true },
		{ FRAME_NATIVE, "/rustc/90b35a6/library/alloc/src/raw_vec.rs", true },
		{ FRAME_NATIVE, "/opt/python/bin/python3.11", true },
		{ FRAME_NATIVE, "/opt/ruby/lib/libruby.so.3.3", true },
		{ FRAME_NATIVE, "/opt/shop/bin/shop", false },
		{ FRAME_NATIVE, "/lib64/ld-linux-x86-64.so.2", true },
		{ FRAME_NATIVE, "/library/x", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool package = packages_system_length(cases[i].path, cases[i].kind) ||
			       packages_hold(cases[i].path, cases[i].kind);

		if (package != cases[i].package)
			fail_msg("%s: %d", cases[i].path, package);
	}
	assert_int_equal(packages_system_length("/usr/share/redmine/app.rb", FRAME_RUBY),
			 strlen("/usr/share"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolved), cmocka_unit_test(test_below),
		cmocka_unit_test(test_parts),	 cmocka_unit_test(test_hostile_part),
		cmocka_unit_test(test_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
