/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions. Truth: regexec(3) of the C library on random ones, and a table where it has no say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

static bool matches(const char *expression, const char *text)
{
	struct error error = { 0 };
	struct pattern pattern;
	bool found;

	if (pattern_compile(expression, &pattern, &error))
		fail_msg("%s", error.text);
	found = pattern_matches(&pattern, text);
	/* Nothing is left of a match before. */
	assert_int_equal(pattern_matches(&pattern, text), found);
	pattern_free(&pattern);
	return found;
}

static void test_matches(void **state)
{
	static const struct {
		const char *expression, *text;
		bool found;
	} cases[] = {
		{ "std::", "void std::vector<int>::push_back(int)", true },
		{ "^std::", "void std::vector<int>::push_back(int)", false },
		{ "^(std|__gnu_cxx)::", "__gnu_cxx::new_allocator<int>", true },
		{ "\\.rb$", "/srv/app/shop.rb", true },
		{ "\\.rb$", "/srv/app/shop.rb.orig", false },
		{ "/gems/[^/]+-[0-9.]+/", "/var/lib/gems/3.1.0/gems/quickparse-1.0/lib/q.rb",
		  true },
		{ "/gems/[^/]+-[0-9.]+/", "/srv/app/gems/quickparse/lib/q.rb", false },
		{ "\\d{2,}", "a1b", false },
		{ "\\d{2,}", "a12b", true },
		{ "^a{3}$", "aaa", true },
		{ "^a{3}$", "aaaa", false },
		{ "^a{2,3}$", "aaaa", false },
		{ "^(ab|c){2}$", "abc", true },
		{ "^(ab|c){0,1}$", "abc", false },
		{ "\\bnew\\b", "operator new(unsigned long)", true },
		{ "\\bnew\\b", "renewal", false },
		{ "new\\B", "renewal", true },
		{ "[[:upper:]][^[:lower:]]", "xAB", true },
		{ "[]x]+y", "]y", true },
		{ "[a\\]]y", "]y", true },
		{ "[\\w-]+!", "a-b!", true },
		{ "^(?:a|b)*?$", "abba", true },
		{ "a||b", "", true },
		{ "\\*\\(", "f*(x)", true },
		{ "^.$", "\xff", true },
		{ "[\xc0-\xff]", "a\xc3\xa9", true },
		{ "\\W", "\xc3\xa9", true },
		{ "a\\tb", "a\tb", true },
		{ "()*x", "x", true },
		{ "(a*)*b", "aaac", false },
		{ "^puma", "bundle exec puma", false },
		{ "worker [0-9]+$", "puma: cluster worker 12", true },
		{ "\\[shop\\]", "puma [shop]", true },
		{ "a.b", "a\nb", true },
		{ "$", "", true },
		/* A backslash of its own before a digit. */
		{ "a\\\\1", "a\\1", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (matches(cases[i].expression, cases[i].text) != cases[i].found)
			fail_msg("'%s' in '%s': not %d", cases[i].expression, cases[i].text,
				 cases[i].found);
	assert_false(pattern_matches(&(struct pattern){ 0 }, ""));
	pattern_free(&(struct pattern){ 0 });
}

/* The message shows what is wrong, and where. */
static void test_problems(void **state)
{
	static const struct {
		const char *expression, *sentence;
	} cases[] = {
		{ "^std::(vec", "a parenthesis without its end, at character 7: '(vec'" },
		{ "a)b", "a parenthesis without its beginning, at character 2: ')b'" },
		{ "a[b-", "a bracket without its end, at character 2: '[b-'" },
		{ "[z-a]", "a range that ends before it begins, at character 2: 'z-a]'" },
		{ "[[:alfa:]]", "an unknown class, at character 2: '[:alfa:]]'" },
		{ "x|*", "nothing that it could repeat, at character 3: '*'" },
		{ "a{x}", "a brace without a number, at character 2: '{x}'" },
		{ "a{3", "a brace without its end, at character 2: '{3'" },
		{ "a{3,2}", "a count that is never reached, at character 2: '{3,2}'" },
		{ "a{256}", "more than 255 times, at character 2: '{256}'" },
		{ "(a)\\1", "it refers back to a group, at character 4: '\\1'" },
		{ "\\\\\\(.\\)\\2", "it refers back to a group, at character 8: '\\2'" },
		{ "a\\y", "an unknown escape, at character 2: '\\y'" },
		{ "a\\", "a backslash before nothing, at character 2: '\\'" },
		{ "((a{250}){250}){250}", "it is too large, at character 1: " },
		{ "", "an empty regular expression matches everything" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern pattern = { 0 };
		struct error error = { 0 };

		assert_int_not_equal(pattern_compile(cases[i].expression, &pattern, &error), 0);
		assert_int_equal(error.kind, ERROR_USAGE);
		if (!strstr(error.text, cases[i].sentence))
			fail_msg("'%s': '%s' is not in '%s'", cases[i].expression,
				 cases[i].sentence, error.text);
		assert_null(pattern.steps);
	}
}

/* Random expressions over few letters, and random texts. Anchors only outside of groups: regcomp loses them in what is repeated. */
#define DEPTH 3

struct writer {
	char text[512];
	size_t length;
	unsigned int seed;
};

static unsigned int draw(struct writer *writer, unsigned int below)
{
	writer->seed = writer->seed * 1103515245 + 12345;
	return (writer->seed >> 16) % below;
}

static void put(struct writer *writer, const char *text)
{
	writer->length += (size_t)snprintf(writer->text + writer->length,
					   sizeof(writer->text) - writer->length, "%s", text);
}

static void write_choices(struct writer *writer, unsigned int depth);

static void write_atom(struct writer *writer, unsigned int depth)
{
	static const char *const atoms[] = { "a", "b", "c", ".", "[ab]", "[^a]", "[b-d]", "\\." };

	if (depth && !draw(writer, 3)) {
		put(writer, "(");
		write_choices(writer, depth - 1);
		put(writer, ")");
	} else {
		put(writer, atoms[draw(writer, 8)]);
	}
}

static void write_choices(struct writer *writer, unsigned int depth)
{
	static const char *const repeats[] = { "", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}" };
	unsigned int choice, choices = 1 + draw(writer, 2) * draw(writer, 2), part, parts;

	for (choice = 0; choice < choices; choice++) {
		if (choice)
			put(writer, "|");
		parts = 1 + draw(writer, 3);
		if (depth == DEPTH && !draw(writer, 6))
			put(writer, "^");
		for (part = 0; part < parts; part++) {
			write_atom(writer, depth);
			put(writer, repeats[draw(writer, 9)]);
		}
		if (depth == DEPTH && !draw(writer, 6))
			put(writer, "$");
	}
}

static void test_random(void **state)
{
	struct writer writer = { .seed = 11 };
	unsigned int found = 0, compared = 0, i, j, length;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct error error = { 0 };
		struct pattern pattern;
		regex_t truth;

		writer.length = 0;
		write_choices(&writer, DEPTH);
		if (writer.length + 1 >= sizeof(writer.text))
			continue;
		assert_int_equal(regcomp(&truth, writer.text, REG_EXTENDED | REG_NOSUB), 0);
		if (pattern_compile(writer.text, &pattern, &error))
			fail_msg("%s", error.text);
		for (j = 0; j < 8; j++) {
			char text[16] = "";

			length = draw(&writer, 12);
			while (strlen(text) < length)
				text[strlen(text)] = "aabbcd."[draw(&writer, 7)];
			if (pattern_matches(&pattern, text) != !regexec(&truth, text, 0, NULL, 0))
				fail_msg("'%s' in '%s'", writer.text, text);
			found += pattern_matches(&pattern, text);
			compared++;
		}
		pattern_free(&pattern);
		regfree(&truth);
	}
	assert_in_range(found, compared / 10, compared - compared / 10);
}

/* Each of these texts takes hours if the time grows with the square of its length, or worse. */
static void test_hostile_texts(void **state)
{
	size_t size = 4u << 20;
	char *text = malloc(size + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	assert_false(matches("x.*y", text));
	assert_false(matches("(x*)*y", text));
	assert_false(matches("(x|xx|x+)+y$", text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_hostile_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
