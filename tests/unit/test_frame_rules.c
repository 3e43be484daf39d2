/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --hide and --only: what of a frame their expressions are tried on, and what the presets are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "analyze/cxx_name.h"
#include "analyze/frame_rules.h"

static void test_names(void **state)
{
	static const char *const cases[][2] = {
		{ "void std::vector<int>::push_back(int)", "std::vector<int>::push_back(int)" },
		{ "std::vector<int, std::allocator<int> > shop::make<int>(int)",
		  "shop::make<int>(int)" },
		{ "shop::leak(std::string const&, int)", "shop::leak(std::string const&, int)" },
		{ "operator new(unsigned long)", "operator new(unsigned long)" },
		{ "int* shop::(anonymous namespace)::get<int>()",
		  "shop::(anonymous namespace)::get<int>()" },
		{ "(anonymous namespace)::leak(int)", "(anonymous namespace)::leak(int)" },
		{ "bool std::operator< <char>(a const&)", "std::operator< <char>(a const&)" },
		{ "shop::Cart::operator()(int) const", "shop::Cart::operator()(int) const" },
		{ "auto shop::run()::{lambda(int)#1}::operator()<int>(int) const",
		  "shop::run()::{lambda(int)#1}::operator()<int>(int) const" },
		{ "<alloc::string::String as core::fmt::Write>::write_str",
		  "<alloc::string::String as core::fmt::Write>::write_str" },
		{ "leak", "leak" },
		{ "", "" },
		{ ">>>) x", "x" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(cxx_name_begin(cases[i][0]), cases[i][1]);
}

static bool fits(const char *rule, const struct frame_text *text)
{
	struct frame_rules rules = { 0 };
	struct error error = { 0 };
	bool found;

	if (frame_rules_add(&rules.hide, rule, &error))
		fail_msg("%s", error.text);
	found = frame_rules_fit(&rules.hide, text);
	frame_rules_free(&rules);
	return found;
}

static void test_texts(void **state)
{
	const struct frame_text text = { "void std::sort<int*>(int*, int*)",
					 "/usr/include/c++/12/x.h", "/srv/app/server",
					 FRAME_NATIVE };

	(void)state;
	assert_true(fits("^std::", &text));
	assert_true(fits("^void std", &text));
	assert_true(fits("c\\+\\+/12", &text));
	assert_true(fits("^/srv/app/", &text));
	assert_false(fits("^srv", &text));
	assert_false(fits("x", &(struct frame_text){ 0 }));
}

/* Frames, and whether a preset hides them. */
static const struct {
	const char *preset;
	struct frame_text text;
	bool fits;
} preset_cases[] = {
	{ "@std",
	  { "std::string::_M_create(unsigned long&)", NULL, "/srv/x", FRAME_NATIVE },
	  true },
	{ "@std",
	  { "void std::vector<int>::_M_realloc_insert<int>(int)", NULL, "/srv/x", FRAME_NATIVE },
	  true },
	{ "@std",
	  { "std::vector<int> shop::make<int>(int)", NULL, "/srv/x", FRAME_NATIVE },
	  false },
	{ "@std",
	  { "allocate", "/usr/include/c++/12/bits/new_allocator.h", "/srv/x", FRAME_NATIVE },
	  true },
	{ "@std", { NULL, NULL, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", FRAME_NATIVE }, true },
	{ "@std", { "xmalloc", "util.c", "/srv/x", FRAME_NATIVE }, true },
	{ "@std", { "xmalloc(unsigned long)", "util.cc", "/srv/x", FRAME_NATIVE }, true },
	{ "@std", { "g_strdup", NULL, "/usr/lib/libglib-2.0.so.0", FRAME_NATIVE }, true },
	{ "@std", { "xmalloc_stats", "util.c", "/srv/x", FRAME_NATIVE }, false },
	{ "@std", { "getline", "shop.rb", NULL, FRAME_RUBY }, false },
	{ "@ruby", { "loop", "<internal:kernel>", NULL, FRAME_RUBY }, true },
	{ "@ruby", { "generate", "/usr/lib/ruby/3.1.0/json/common.rb", NULL, FRAME_RUBY }, true },
	{ "@ruby",
	  { "require", "/usr/lib/ruby/vendor_ruby/rubygems/x.rb", NULL, FRAME_RUBY },
	  true },
	{ "@ruby",
	  { "x", "/srv/vendor/bundle/ruby/3.1.0/gems/x-1.0/lib/x.rb", NULL, FRAME_RUBY },
	  false },
	{ "@ruby",
	  { "rb_str_new", NULL, "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", FRAME_NATIVE },
	  true },
	{ "@ruby", { "leak", "/srv/app/ruby/shop.rb", NULL, FRAME_RUBY }, false },
	{ "@rails",
	  { "call", "/var/lib/gems/3.1.0/gems/actionpack-7.0/lib/a.rb", NULL, FRAME_RUBY },
	  true },
	{ "@rails",
	  { "call", "/var/lib/gems/3.1.0/gems/rack-session-2.0/lib/a.rb", NULL, FRAME_RUBY },
	  true },
	{ "@rails",
	  { "call", "/var/lib/gems/3.1.0/gems/quickparse-1.0/lib/a.rb", NULL, FRAME_RUBY },
	  false },
	{ "@rails", { "call", "/srv/app/models/rails-1.rb", NULL, FRAME_RUBY }, false },
	{ "@python",
	  { "_find_and_load", "<frozen importlib._bootstrap>", NULL, FRAME_PYTHON },
	  true },
	{ "@python",
	  { "loads", "/usr/lib/python3.11/json/__init__.py", NULL, FRAME_PYTHON },
	  true },
	{ "@python",
	  { "x", "/opt/v/lib/python3.11/site-packages/x.py", NULL, FRAME_PYTHON },
	  false },
};

static void test_presets(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(preset_cases) / sizeof(preset_cases[0]); i++)
		if (fits(preset_cases[i].preset, &preset_cases[i].text) != preset_cases[i].fits)
			fail_msg("%s of case %zu is not %d", preset_cases[i].preset, i,
				 preset_cases[i].fits);
}

static void test_problems(void **state)
{
	struct frame_rules rules = { 0 };
	struct error error = { 0 }, other = { 0 };

	(void)state;
	assert_int_not_equal(frame_rules_add(&rules.hide, "@perl", &error), 0);
	assert_string_equal(error.text,
			    "there is no preset '@perl': known are @std, @ruby, @rails, @python");
	assert_int_not_equal(frame_rules_add(&rules.hide, "a(b", &other), 0);
	assert_non_null(strstr(other.text, "at character 2: '(b'"));
	assert_int_equal(rules.hide.count, 0);
	frame_rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_problems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
