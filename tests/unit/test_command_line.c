/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines as a whole: commands, and lines that are refused, which must say what was seen and what to do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/command_lines.h"

/* What follows "--" is the command's own, whatever it looks like. */
static void test_commands(void **state)
{
	static const struct {
		const char *line;
		const struct command *command;
		const char *arguments[5];
	} rows[] = {
		{ "-- ls", &trace, { "ls" } },
		{ "-j -- ls -l --bogus", &trace, { "ls", "-l", "--bogus" } },
		{ "-- ls -- -p 1", &trace, { "ls", "--", "-p", "1" } },
		{ "-- plan", &trace, { "plan" } },
		{ "-- -x", &trace, { "-x" } },
		{ "plan -- ls -l", &plan, { "ls", "-l" } },
		{ "plan -v -- ls", &plan, { "ls" } },
		{ "trace -- ls", &trace, { "ls" } },
		{ "2 5 -- 7 8", &trace, { "7", "8" } },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct line line = parse_good(rows[i].line);

		assert_ptr_equal(line.options.command, rows[i].command);
		assert_int_equal(line.options.pid_count, 0);
		for (j = 0; rows[i].arguments[j]; j++)
			assert_string_equal(line.options.arguments[j], rows[i].arguments[j]);
		assert_null(line.options.arguments[j]);
		line_free(&line);
	}
}

/* What follows "--" is no program to start where the command starts none. */
static void test_no_target(void **state)
{
	static const char *const lines[] = { "diff -j -- old -new", "-j diff old -- -new" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct line line;

		line = parse_good(lines[i]);
		assert_ptr_equal(line.options.command, &diff);
		assert_null(line.options.arguments);
		assert_string_equal(line.options.format->name, "json");
		assert_string_equal(line.options.compared[0], "old");
		assert_string_equal(line.options.compared[1], "-new");
		line_free(&line);
	}
}

/* Each refused, with these words in the sentence. */
static const struct {
	const char *line, *words, *more_words;
} bad_lines[] = {
	/* no target, or too many */
	{ "", "nothing to trace", "tracer -p PID" },
	{ "-d 30s", "nothing to trace", "-- CMD" },
	{ "plan", "nothing to trace", "-- CMD" },
	{ "345", "did you mean 'tracer -p 345'", NULL },
	{ "4242", "'4242' is not an interval", "-p 4242" },
	{ "plan 4242", "takes no INTERVAL", "'4242'" },
	{ "--", "followed by a command", NULL },
	{ "-p 1 --", "followed by a command", NULL },
	{ "-p 1 --comm x", "-p and --comm exclude each other", NULL },
	{ "-a --cgroup x", "--cgroup and -a exclude each other", NULL },
	{ "-w x -- ls", "'-- CMD' and -w exclude each other", NULL },
	{ "-w -- ls", "nothing to wait for", "'-- CMD'" },
	{ "-w", "-w needs the name", NULL },
	{ "-w -p 1", "nothing to wait for", "-p" },
	{ "-a -w", "nothing to wait for", "-a" },
	{ "-w x --unit y", "-w x and --unit exclude each other", "without a name" },
	{ "-w ''", "-w/--wait takes a name", NULL },
	{ "--container ''", "--container takes a name", NULL },
	{ "--cmdline ''", "empty regular expression", NULL },
	{ "--cmdline (", "'(' is not an extended regular expression", NULL },
	{ "--cmdline (a)\\1", "refers back", NULL },
	{ "-p 1 --user root", "-p and --user exclude each other", NULL },
	{ "--tree 1 -p 1", "-p and --tree exclude each other", NULL },
	{ "--tree 1 --cmdline x", "--tree and --cmdline exclude each other", NULL },
	{ "--tree 1 --no-follow-fork", "exclude each other", NULL },
	{ "--tree x", "--tree takes process IDs", NULL },
	{ "-a --user root", "--user and -a exclude each other", NULL },
	{ "plan -w x", "-w/--wait has no meaning for 'tracer plan'", NULL },
	{ "plan --wait x", "-w/--wait has no meaning for 'tracer plan'", NULL },
	{ "memory -w x", "-w/--wait has no meaning for 'tracer memory'", NULL },
	{ "memory -p 1 --wait", "--wait needs an argument: TIME", NULL },
	{ "memory -p 1 --wait nginx", "--wait takes a time", NULL },
	{ "memory -p 1 -j --schema 2", "--schema has no meaning for 'tracer memory'", NULL },
	{ "-p 1 --follow-fork --no-follow-fork", "exclude each other", NULL },
	{ "-- ''", "is empty", NULL },
	{ "-p 1 -- ls", "exclude each other", "'-- ls'" },
	{ "plan -p 1 -- ls", "exclude each other", NULL },
	/* serving */
	{ "serve -p 1", "'tracer serve' needs an address", "--listen 127.0.0.1" },
	{ "serve --listen 80", "nothing to trace", NULL },
	{ "serve --listen x -p 1", "'x' is no address to listen at", NULL },
	{ "serve --listen 0.0.0.0:80 -p 1", "others can reach '0.0.0.0:80'", "--token-file" },
	{ "serve --listen [::]:80 -p 1", "others can reach '[::]:80'", NULL },
	{ "serve --listen 80 -p 1 -j", "-j/--json has no meaning for 'tracer serve'", NULL },
	{ "serve --listen 80 -p 1 -f", "-f/--folded has no meaning for 'tracer serve'", NULL },
	{ "serve --listen 80 -p 1 5", "takes no INTERVAL", NULL },
	{ "serve --listen 80 -p 1 --budget --light", "--budget traces in short windows", NULL },
	{ "serve --listen 80 -a --light", "it excludes -a/--all", NULL },
	{ "serve --listen 80 -p 1 --otlp https://a", "'https://a' is encrypted", NULL },
	{ "serve --listen 80 -p 1 --otlp a:4318", "'a:4318' is no URL to push to", NULL },
	{ "serve --listen 80 -p 1 --otlp-interval 5s", "add --otlp URL", NULL },
	{ "-p 1 --otlp http://a", "--otlp has no meaning for 'tracer trace'", NULL },
	{ "-p 1 --listen 80", "--listen has no meaning for 'tracer trace'", NULL },
	/* a live screen */
	{ "top", "nothing to trace", NULL },
	{ "top -p 1 50ms", "an interval of '50ms' is too short for a screen", "100ms" },
	{ "top -p 1 1 5", "'5' is one argument too many", NULL },
	{ "top -p 1 -j", "-j/--json has no meaning for 'tracer top'", NULL },
	{ "top -p 1 -d 5", "-d/--duration has no meaning for 'tracer top'", NULL },
	{ "top -p 1 --budget --light", "--budget traces in short windows", NULL },
	/* process IDs */
	{ "-p", "-p/--pid needs an argument", "PID[,PID...]" },
	{ "--pid", "-p/--pid needs an argument", NULL },
	{ "-p ''", "process IDs", "not ''" },
	{ "-p 0", "process IDs", "not '0'" },
	{ "-p -5", "process IDs", "not '-5'" },
	{ "-p +5", "process IDs", "not '+5'" },
	{ "-p nginx", "process IDs", "not 'nginx'" },
	{ "-p 1,", "process IDs", "not '1,'" },
	{ "-p ,1", "process IDs", NULL },
	{ "-p 1,,2", "process IDs", "'1,,2'" },
	{ "-p 1,0", "process IDs", NULL },
	{ "-p 1.5", "process IDs", NULL },
	{ "-p 0x10", "process IDs", NULL },
	{ "-p 2147483648", "process IDs", "2147483648" },
	{ "-p 18446744073709551617", "process IDs", NULL },
	{ "-p 000000000000001x", "process IDs", NULL },
	/* positional arguments */
	{ "-p 4242 4243", "'4243' is not an interval", "-p 4242,4243" },
	{ "4243 -p 4242", "'4243' is not an interval", "-p 4242,4243" },
	{ "-p 1,2 4243", "'4243' is not an interval", "-p 1,2,4243" },
	{ "-p 4242 3601", "'3601' is not an interval", "3601s" },
	{ "4242,4243", "'4242,4243' is not an interval", "-p 4242,4243" },
	{ "-p 4242 ls", "'ls' is not an interval", "tracer -- ls" },
	{ "ls -l", "unknown option '-l'", NULL },
	{ "-p 1 0", "an interval of '0' is too short", "1ms" },
	{ "-p 1 0s", "too short", NULL },
	{ "-p 1 0.0", "too short", NULL },
	{ "-p 1 1us", "too short", NULL },
	{ "-p 1 ''", "is not an interval", NULL },
	{ "-p 1 2x", "'2x' is not an interval", "500ms" },
	{ "-p 1 99999999999999999999", "is not an interval", NULL },
	{ "-p 1 99999999999999999999s", "is not an interval", NULL },
	{ "-p 1 100000d", "is not an interval", NULL },
	{ "-p 1 -2", "unknown option '-2'", NULL },
	{ "-p 1 2 0", "'0' is not a COUNT", "from 1" },
	{ "-p 1 2 x", "'x' is not a COUNT", NULL },
	{ "-p 1 2 5s", "'5s' is not a COUNT", NULL },
	{ "-p 1 2 4294967296", "is not a COUNT", "4294967295" },
	{ "-p 1 2 5 7", "'7' is one argument too many", "-p PID,PID" },
	{ "-p 1 2 5 7 8 9", "'7' is one argument too many", NULL },
	{ "trace -p 1 2 5 7", "'7' is one argument too many", NULL },
	{ "1 2 3", "'3' is one argument too many", NULL },
	{ "plna -p 1", "did you mean 'tracer plan'", NULL },
	{ "-p 1 2 plan", "'plan' is not a COUNT", NULL },
	{ "plan plan -p 1", "takes no INTERVAL", NULL },
	/* times */
	{ "-p 1 -d 0", "-d/--duration must be longer than '0'", NULL },
	{ "-p 1 -d 0ms", "-d/--duration must be longer", NULL },
	{ "-p 1 -d -3", "-d/--duration takes a time", "500ms" },
	{ "-p 1 -d 3parsecs", "-d/--duration takes a time", "'3parsecs'" },
	{ "-p 1 -d 18446744073709551616", "-d/--duration takes a time", NULL },
	{ "-p 1 -d 200000d", "-d/--duration takes a time", NULL },
	{ "-p 1 --min-age old", "--min-age takes a time", "'old'" },
	{ "-p 1 --older old", "--older takes a time", NULL },
	{ "-p 1 -d 30s 2", "-d/--duration gives one report", "'2'" },
	{ "-p 1 2 -d 30s", "-d/--duration gives one report", NULL },
	{ "-d 30s 2 5 -- ls", "-d/--duration gives one report", NULL },
	{ "-p 1 -d 30s --min-age 1m", "1m00s (--min-age) after 30.0 s", "(-d/--duration)" },
	{ "-p 1 --min-age 1m -d 60s", "no block can be in use for", NULL },
	{ "-d 1500ms --older 2s -- ls", "(--min-age) after", NULL },
	/* sizes */
	{ "-p 1 -z big", "-z/--min-size takes a size", "64k" },
	{ "-p 1 -z -1", "-z/--min-size takes a size", NULL },
	{ "-p 1 -Z 64kb", "-Z/--max-size takes a size", "'64kb'" },
	{ "-p 1 -Z 17179869184g", "-Z/--max-size takes a size", NULL },
	{ "-p 1 -z 65 -Z 64", "at least 65 (-z)", "at most 64 (-Z)" },
	{ "-p 1 --fail-over 10%", "--fail-over takes a size", "'10%'" },
	/* statuses */
	{ "-p 1 --error-exitcode 3", "--error-exitcode is of a command", "'-- CMD'" },
	{ "leaks -p 1 --error-exitcode 1", "--error-exitcode is of a command", "'-- CMD'" },
	{ "--kernel --error-exitcode 3", "--error-exitcode is for processes", NULL },
	{ "--error-exitcode 256 -- ls", "from 0 to 255", NULL },
	{ "--error-exitcode x -- ls", "--error-exitcode takes a whole number", "'x'" },
	{ "record --error-exitcode 3 -o x -- ls", "--error-exitcode has no meaning", NULL },
	/* numbers */
	{ "-p 1 -n ten", "-n/--top takes a whole number", "'ten'" },
	{ "-p 1 -n -1", "-n/--top takes a whole number", NULL },
	{ "-p 1 -n 4294967296", "from 0 to 4294967295", NULL },
	{ "-p 1 --usdt on", "--usdt takes one of auto, only, off", "'on'" },
	{ "-p 1 --max-blocks 0", "--max-blocks takes a whole number from 1", NULL },
	{ "-p 1 --max-blocks 67108865", "to 67108864", "67108865" },
	{ "-p 1 --max-stacks 15", "--max-stacks takes a whole number from 16", NULL },
	{ "-p 1 --max-stacks 1048577", "to 1048576", NULL },
	{ "-p 1 --stack-depth 0", "--stack-depth takes a whole number from 1 to 127", NULL },
	{ "-p 1 --stack-depth 128", "--stack-depth takes a whole number from 1 to 127", "'128'" },
	{ "-p 1 --stack-depth 18446744073709551743", "--stack-depth takes", NULL },
	/* words */
	{ "-p 1 --survived 0gc", "--survived takes a number from 1gc to 64gc", "'0gc'" },
	{ "-p 1 --survived 65gc", "--survived takes a number", "'65gc'" },
	{ "-p 1 --survived 2x", "--survived takes a number", "'2x'" },
	{ "-p 1 -s size", "one of inuse, inuse-objects, alloc, alloc-objects", "'size'" },
	{ "-p 1 -s ''", "-s/--sort takes one of", NULL },
	{ "-p 1 -s INUSE", "-s/--sort takes one of", NULL },
	{ "-p 1 --when-rss 0", "--when-rss takes a size such as 500m or 2g", "'0'" },
	{ "-p 1 --when-rss 2gb", "--when-rss takes a size", "'2gb'" },
	{ "-p 1 --when-growth 10m", "--when-growth takes a size per time", "'10m'" },
	{ "-p 1 --when-growth 10m/500ms", "of at least 1s", "'10m/500ms'" },
	{ "-p 1 --when-growth 0/s", "--when-growth takes", NULL },
	{ "-p 1 --on-oom=x", "--on-oom takes no argument", NULL },
	{ "-p 1 -o x --exec ''", "--exec takes a command, not ''", NULL },
	{ "-p 1 --exec x", "--exec needs the name of a file", "-o FILE" },
	{ "-p 1 --exec x -o -", "--exec needs the name of a file", "FILE.1" },
	{ "plan -p 1 --when-rss 1g", "--when-rss has no meaning for 'tracer plan'", NULL },
	{ "-p 1 --light --on-oom", "one that was killed has none", "--light" },
	/* the kernel */
	{ "--kernel --light", "--light is for processes, and --kernel traces", NULL },
	{ "--kernel --budget", "--budget is for processes", NULL },
	{ "--kernel --survived 1gc", "--survived is for processes", NULL },
	{ "--kernel --by module", "this --by is for processes", NULL },
	{ "--kernel -s temporary", "--sort temporary is for processes", NULL },
	{ "--kernel --on-oom", "--on-oom is for processes", NULL },
	{ "--kernel -f -- true", "it excludes '-- CMD'", NULL },
	{ "--kernel --", "'--' must be followed by a command", NULL },
	{ "--kernel --tree 1", "it excludes --tree", NULL },
	{ "--kernel -a", "it excludes -a/--all", NULL },
	{ "--kernel --unit x", "it excludes --comm and others that select", NULL },
	{ "record --kernel", "needs the name of the recording: -o FILE", NULL },
	{ "record --kernel -o x --keep-exited", "--keep-exited is for processes", NULL },
	{ "plan --kernel", "--kernel has no meaning for 'tracer plan'", NULL },
	{ "memory --kernel", "--kernel has no meaning for 'tracer memory'", NULL },
	{ "memory -p 1 --on-oom", "--on-oom has no meaning for 'tracer memory'", NULL },
	{ "-p 1 --color sometimes", "--color takes one of auto, always, never", NULL },
	{ "-p 1 --color", "--color needs an argument", NULL },
	{ "-p 1 --backend magic", "one of auto, session, multi, perf, ioctl", NULL },
	{ "-p 1 --format xml",
	  "--format takes one of text, json, folded, pprof, speedscope, callgrind, massif, "
	  "heaptrack, jeprof, svg, html, metrics",
	  "'xml'" },
	{ "-p 1 --format ''", "--format takes one of", NULL },
	/* files */
	{ "-p 1 -o ''", "-o/--output needs the name", NULL },
	{ "-p 1 -o %x", "'%x'", "%p" },
	{ "-p 1 -o a%", "-o/--output does not know '%'", NULL },
	{ "-p 1 -o", "-o/--output needs an argument", NULL },
	/* frames */
	{ "-p 1 --hide ^std::(x", "--hide: '^std::(x' is not an", "at character 7: '(x'" },
	{ "-p 1 --only a[b", "--only: 'a[b' is not an", "at character 2: '[b'" },
	{ "-p 1 --hide @qt", "there is no preset '@qt'", "@std, @ruby, @rails, @python" },
	{ "-p 1 --app ''", "--app takes a directory or a module, not ''", NULL },
	{ "plan -p 1 --hide x", "--hide has no meaning for 'tracer plan'", NULL },
	/* options that do not exist */
	{ "--pids 1", "unknown option '--pids'", "did you mean '--pid'" },
	{ "--colour=never -p 1", "unknown option '--colour'", "did you mean '--color'" },
	{ "-p 1 --durration 3", "unknown option '--durration'", "did you mean '--duration'" },
	{ "-p 1 --bogus", "unknown option '--bogus'", "tracer -h" },
	{ "-p 1 --backends x", "unknown option '--backends'", "tracer -h" },
	{ "-p 1 --m 3", "option '--m' is ambiguous", "--min-age" },
	{ "-p 1 --max 3", "is ambiguous", "--max-stacks" },
	{ "-p 1 --=3", "is ambiguous", NULL },
	{ "-p 1 --no 3", "'--no' is ambiguous: --no-follow-fork, --no-hold, --no-re", NULL },
	{ "memory -p 1 --ma", "--max-memory needs an argument", NULL },
	{ "memory -p 1 --wa", "--wait needs an argument: TIME", NULL },
	{ "plan --wai", "'--wai' is ambiguous: --wait, --wait-gc", NULL },
	{ "-p 1 --json=x", "-j/--json takes no argument", "'--json=x'" },
	{ "-p 1 -x", "unknown option '-x'", "tracer -h" },
	{ "-p 1 -jx", "unknown option '-x'", NULL },
	{ "-p 1 -?", "unknown option '-?'", NULL },
	{ "-p 1 -:", "unknown option '-:'", NULL },
	{ "-p 1 -j-", "unknown option '--'", NULL },
	{ "-h --bogus", "unknown option '--bogus'", NULL },
	/* other commands take fewer options */
	{ "plan -p 1 -d 30s", "-d/--duration has no meaning for 'tracer plan'", NULL },
	{ "-j plan -p 1", "-j/--json has no meaning", NULL },
	{ "plan -p 1 2", "takes no INTERVAL", "'2'" },
	{ "plan -p 1 2 3", "takes no INTERVAL", NULL },
	/* a command without a process */
	{ "diff", "'tracer diff' needs A", NULL },
	{ "diff a", "'tracer diff' needs B", NULL },
	{ "diff a b c d", "'d' is one argument too many", "only A, B and C are positional" },
	{ "diff a b -p 1", "-p/--pid has no meaning for 'tracer diff'", NULL },
	{ "diff -a a b", "-a/--all has no meaning for 'tracer diff'", NULL },
};

static void test_refusals(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
		struct line line = parse(bad_lines[i].line), untouched;
		const char *text = line.error.text;

		if (!strstr(text, bad_lines[i].words) || line.result != -EINVAL ||
		    (bad_lines[i].more_words && !strstr(text, bad_lines[i].more_words)))
			print_error("'%s' (%d): %s\n", bad_lines[i].line, line.result, text);
		assert_int_equal(line.result, -EINVAL);
		assert_int_equal(line.error.kind, ERROR_USAGE);
		assert_non_null(strstr(text, bad_lines[i].words));
		if (bad_lines[i].more_words)
			assert_non_null(strstr(text, bad_lines[i].more_words));
		assert_true(text[strlen(text) - 1] != '.');
		memset(&untouched.options, 0xa5, sizeof(untouched.options));
		assert_memory_equal(&line.options, &untouched.options, sizeof(line.options));
		line_free(&line);
	}
}

/* getopt keeps its place within a group of letters: a refused group must not reach into the next line. */
static void test_lines_are_independent(void **state)
{
	struct line refused = parse("-p 1 -xj"), line;

	(void)state;
	assert_int_equal(refused.result, -EINVAL);
	line = parse_good("-p 1");
	assert_string_equal(line.options.format->name, "text");
	line_free(&line);
	line_free(&refused);
}

static void test_no_arguments_at_all(void **state)
{
	char *none[] = { NULL };
	struct options options;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(command_line_parse(0, none, commands, &options, &error), -EINVAL);
	assert_non_null(strstr(error.text, "nothing to trace"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_no_target),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_lines_are_independent),
		cmocka_unit_test(test_no_arguments_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
