/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the options of a command line mean. The expected values are those of the manual page, tracer(8). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/leak_report.h"
#include "unit/command_lines.h"

static void test_defaults(void **state)
{
	struct line line = parse_good("-p 4242");
	const struct options *options = &line.options;

	(void)state;
	assert_int_equal(options->action, ACTION_RUN);
	assert_ptr_equal(options->command, &trace);
	assert_int_equal(options->pid_count, 1);
	assert_int_equal(options->pids[0], 4242);
	assert_null(options->arguments);
	assert_int_equal(options->duration_ns, 0);
	assert_int_equal(options->interval_ns, 5 * SECOND);
	assert_int_equal(options->count, 0);
	assert_int_equal(options->top, 10);
	assert_int_equal(options->sort, SORT_AUTO);
	assert_int_equal(options->min_age_ns, 0);
	assert_int_equal(options->min_size, 0);
	assert_true(options->max_size == UINT64_MAX);
	assert_int_equal(options->max_blocks, 0);
	assert_int_equal(options->max_stacks, 0);
	assert_int_equal(options->stack_depth, 127);
	assert_true(options->fail_over == UINT64_MAX);
	assert_null(options->output);
	assert_string_equal(options->format->name, "text");
	assert_int_equal(options->color, COLOR_AUTO);
	assert_int_equal(options->level, LOG_NOTICE);
	assert_false(options->probe_at_entry);
	assert_false(options->no_return_probes);
	assert_int_equal(options->backend, BACKEND_AUTO);
	line_free(&line);
}

/* One field of struct options after a line; enums are compared as numbers too. */
#define FIELD(name) offsetof(struct options, name), sizeof(((struct options *)0)->name)

/* Each a line and what it must put into a field. */
static const struct {
	const char *line;
	size_t field, size;
	uint64_t wanted;
} good_lines[] = {
	{ "-p 1 -d 500ms", FIELD(duration_ns), SECOND / 2 },
	{ "-p 1", FIELD(schema), 1 },
	{ "-p 1 --when-rss 2g", FIELD(when_rss), 2ULL << 30 },
	{ "-p 1 --when-rss 2g", FIELD(interval_ns), 0 },
	{ "-p 1 --when-rss 2g 10", FIELD(interval_ns), 10 * SECOND },
	{ "-p 1 --when-rss 2g -d 1m", FIELD(duration_ns), 60 * SECOND },
	{ "-p 1 --when-growth 10m/min", FIELD(when_growth_bytes), 10 << 20 },
	{ "-p 1 --when-growth 10m/min", FIELD(when_growth_ns), 60 * SECOND },
	{ "-p 1 --when-growth 10m/min", FIELD(interval_ns), 0 },
	{ "-p 1 --when-growth 1/1s", FIELD(when_growth_ns), SECOND },
	{ "-p 1 --on-oom", FIELD(on_oom), true },
	{ "-p 1 --on-oom", FIELD(interval_ns), 0 },
	{ "-p 1 -o x --exec y", FIELD(interval_ns), 0 },
	{ "-p 1 --on-oom --budget 1", FIELD(budget), 1000 },
	{ "record -p 1 -o x --when-rss 1m", FIELD(interval_ns), 5 * SECOND },
	{ "record -p 1 -o x --on-oom", FIELD(on_oom), true },
	{ "record -p 1 -o x -d 20s 5s", FIELD(count), 4 },
	{ "record -p 1 -o x -d 9s 5s", FIELD(count), 2 },
	{ "record -p 1 -o x -d 3s", FIELD(count), 1 },
	{ "record -p 1 -o x -d 20s 5s 2", FIELD(count), 2 },
	{ "record -p 1 -o x -d 20s 5s 9", FIELD(count), 4 },
	{ "record -p 1 -o x 5s", FIELD(count), 0 },
	{ "-p 1 -j --schema 2", FIELD(schema), 2 },
	{ "-p 1 -j --schema 2 --empty -n 0", FIELD(empty), true },
	{ "-p 1 -d10s", FIELD(duration_ns), 10 * SECOND },
	{ "-p 1 --duration=5m", FIELD(duration_ns), 300 * SECOND },
	{ "-p 1 --duration 2h", FIELD(duration_ns), 7200 * SECOND },
	{ "-p 1 --dur 3", FIELD(duration_ns), 3 * SECOND },
	{ "-p 1 -d 10s", FIELD(interval_ns), 0 },
	{ "-d 10s -- cmd", FIELD(duration_ns), 10 * SECOND },
	{ "-p 1 2", FIELD(interval_ns), 2 * SECOND },
	{ "2 -p 1", FIELD(interval_ns), 2 * SECOND },
	{ "-p 1 250ms", FIELD(interval_ns), SECOND / 4 },
	{ "-p 1 0.5", FIELD(interval_ns), SECOND / 2 },
	{ "-p 1 3600", FIELD(interval_ns), 3600 * SECOND },
	{ "-p 1 4243s", FIELD(interval_ns), 4243 * SECOND },
	{ "-p 1 2 5", FIELD(count), 5 },
	{ "2 -p 1 5", FIELD(count), 5 },
	{ "-p 1 2 4294967295", FIELD(count), UINT32_MAX },
	{ "-- cmd", FIELD(interval_ns), 0 },
	{ "2 -- cmd", FIELD(interval_ns), 2 * SECOND },
	{ "-p 1", FIELD(frames), OPTIONS_FRAMES_DEFAULT },
	{ "-p 1 --frames 0", FIELD(frames), 0 },
	{ "-p 1 --frames 3", FIELD(frames), 3 },
	{ "-p 1 --by thread", FIELD(by), GROUP_BY_THREAD },
	{ "-p 1 -n 0", FIELD(top), 0 },
	{ "-p 1 -n 3 -n 4", FIELD(top), 4 },
	{ "-p 1 --top=25", FIELD(top), 25 },
	{ "-p 1 -j", FIELD(top), 10 },
	{ "-p 1 -f", FIELD(top), 0 },
	{ "-p 1 -f -n 5", FIELD(top), 5 },
	{ "-p 1 -s inuse", FIELD(sort), SORT_INUSE },
	{ "-p 1 -s inuse-objects", FIELD(sort), SORT_INUSE_OBJECTS },
	{ "-p 1 --sort=alloc", FIELD(sort), SORT_ALLOC },
	{ "-p 1 -s alloc-objects", FIELD(sort), SORT_ALLOC_OBJECTS },
	{ "-p 1 --survived 2gc", FIELD(survived), 2 },
	{ "-p 1 --survived 64", FIELD(survived), 64 },
	{ "-p 1 -s age", FIELD(sort), SORT_AGE },
	{ "-p 1 -s growth", FIELD(sort), SORT_GROWTH },
	{ "-p 1 -s churn", FIELD(sort), SORT_CHURN },
	{ "-p 1 --min-age 1m", FIELD(min_age_ns), 60 * SECOND },
	{ "-p 1 --min-age 0", FIELD(min_age_ns), 0 },
	{ "-p 1 --older 500ms", FIELD(min_age_ns), SECOND / 2 },
	{ "-p 1 -d 60001ms --min-age 1m", FIELD(min_age_ns), 60 * SECOND },
	{ "-p 1 -d 1s --min-age 0", FIELD(min_age_ns), 0 },
	{ "-p 1 2 --min-age 1m", FIELD(min_age_ns), 60 * SECOND },
	{ "-p 1 2 5 --min-age 1m", FIELD(min_age_ns), 60 * SECOND },
	{ "--min-age 1m -- cmd", FIELD(min_age_ns), 60 * SECOND },
	{ "-p 1 -z 64k", FIELD(min_size), 65536 },
	{ "-p 1 -Z 1m", FIELD(max_size), 1048576 },
	{ "-p 1 -z 64 -Z 64", FIELD(max_size), 64 },
	{ "-p 1 --max-size 2g", FIELD(max_size), 2147483648ULL },
	{ "-p 1 -Z 0", FIELD(max_size), 0 },
	{ "-p 1 --max-blocks 67108864", FIELD(max_blocks), 67108864 },
	{ "-p 1 --max-blocks 1", FIELD(max_blocks), 1 },
	{ "-p 1 --max-stacks 16", FIELD(max_stacks), 16 },
	{ "-p 1 --max-stacks 1048576", FIELD(max_stacks), 1048576 },
	{ "-p 1 --stack-depth 1", FIELD(stack_depth), 1 },
	{ "-p 1 --stack-depth 127", FIELD(stack_depth), 127 },
	{ "-p 1", FIELD(call_graph), CALL_GRAPH_DWARF },
	{ "-p 1 --call-graph fp", FIELD(call_graph), CALL_GRAPH_FP },
	{ "-p 1 --call-graph=dwarf", FIELD(call_graph), CALL_GRAPH_DWARF },
	{ "-p 1 --fail-over 100m", FIELD(fail_over), 104857600 },
	{ "-p 1 --fail-over 0", FIELD(fail_over), 0 },
	{ "-p 1", FIELD(error_exitcode), 1 },
	{ "-- ls", FIELD(error_exitcode), 1 },
	{ "--error-exitcode 0 -- ls", FIELD(error_exitcode), 0 },
	{ "watch --error-exitcode 255 -- ls", FIELD(error_exitcode), 255 },
	{ "leaks --error-exitcode=77 -- ls", FIELD(error_exitcode), 77 },
	{ "-p 1", FIELD(fail_on_leak), false },
	{ "-p 1 --fail-on-leak", FIELD(fail_on_leak), true },
	{ "-p 1 -s leak", FIELD(sort), SORT_LEAK },
	{ "-p 1 --color=always", FIELD(color), COLOR_ALWAYS },
	{ "-p 1 --color never", FIELD(color), COLOR_NEVER },
	{ "-p 1", FIELD(usdt), USDT_AUTO },
	{ "-p 1 --usdt auto", FIELD(usdt), USDT_AUTO },
	{ "-p 1 --usdt=only", FIELD(usdt), USDT_ONLY },
	{ "plan -p 1 --usdt off", FIELD(usdt), USDT_OFF },
	{ "-p 1 -q", FIELD(level), LOG_ERROR },
	{ "-p 1 -v", FIELD(level), LOG_VERBOSE },
	{ "-p 1 -q --verbose", FIELD(level), LOG_VERBOSE },
	{ "-p 1 --probe-at-entry", FIELD(probe_at_entry), 1 },
	{ "-p 1 --no-return-probes", FIELD(no_return_probes), 1 },
	{ "plan -p 1 --no-return-probes", FIELD(no_return_probes), 1 },
	{ "-p 1 --backend session", FIELD(backend), BACKEND_SESSION },
	{ "-p 1 --backend multi", FIELD(backend), BACKEND_MULTI },
	{ "-p 1 --backend perf", FIELD(backend), BACKEND_PERF },
	{ "-p 1 --backend ioctl", FIELD(backend), BACKEND_IOCTL },
	{ "plan -p 1 --backend perf", FIELD(backend), BACKEND_PERF },
	{ "-V", FIELD(action), ACTION_VERSION },
	{ "-h", FIELD(action), ACTION_HELP },
	{ "--help", FIELD(action), ACTION_HELP },
	{ "-hv", FIELD(level), LOG_VERBOSE },
	{ "plan --help", FIELD(action), ACTION_HELP },
};

static void test_values(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good_lines) / sizeof(good_lines[0]); i++) {
		struct line line = parse_good(good_lines[i].line);
		uint64_t got = 0;

		memcpy(&got, (char *)&line.options + good_lines[i].field, good_lines[i].size);
		if (got != good_lines[i].wanted)
			print_error("'%s' gave %llu\n", good_lines[i].line,
				    (unsigned long long)got);
		assert_true(got == good_lines[i].wanted);
		line_free(&line);
	}
}

static void test_texts(void **state)
{
	static const struct {
		const char *line, *format, *output;
	} rows[] = {
		{ "-p 1 -j", "json", NULL },
		{ "-p 1 --json", "json", NULL },
		{ "-jp 1", "json", NULL },
		{ "-p 1 -f", "folded", NULL },
		{ "-p 1 --format folded", "folded", NULL },
		{ "-p 1 -j --format=text", "text", NULL },
		{ "-p 1 -f -j", "json", NULL },
		{ "-p 1 -o report-%p", "text", "report-%p" },
		{ "-p 1 --output=a -o b", "text", "b" },
		{ "-p 1 -o -", "text", "-" },
		{ "-p 1 -o --", "text", "--" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct line line = parse_good(rows[i].line);

		assert_string_equal(line.options.format->name, rows[i].format);
		if (rows[i].output)
			assert_string_equal(line.options.output, rows[i].output);
		else
			assert_null(line.options.output);
		line_free(&line);
	}
}

static void test_pids(void **state)
{
	static const struct {
		const char *line;
		size_t count;
		int pids[4];
	} rows[] = {
		{ "-p 1", 1, { 1 } },
		{ "-p1,2,3", 3, { 1, 2, 3 } },
		{ "-p 3 -p 1,2", 3, { 3, 1, 2 } },
		{ "-p 7,7 --pid 7 --pid=8", 2, { 7, 8 } },
		{ "-p 2147483647", 1, { 2147483647 } },
		{ "plan -p 5", 1, { 5 } },
		{ "-v plan -p 5", 1, { 5 } },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct line line = parse_good(rows[i].line);

		assert_int_equal(line.options.pid_count, rows[i].count);
		assert_memory_equal(line.options.pids, rows[i].pids,
				    rows[i].count * sizeof(rows[i].pids[0]));
		line_free(&line);
	}
}

static void test_by(void **state)
{
	static const struct {
		const char *text;
		enum group_by by;
	} cases[] = { { "-p 1", GROUP_BY_DEFAULT },
		      /* Programs were promised stacks. */
		      { "-p 1 -j", GROUP_BY_STACK },
		      { "-p 1 -d 5s -f", GROUP_BY_STACK },
		      { "-p 1 -j --by app-line", GROUP_BY_APP_LINE },
		      { "-p 1 --by stack", GROUP_BY_STACK },
		      { "-p 1 --by ruby-line", GROUP_BY_RUBY_LINE },
		      { "-p 1 --by php-line", GROUP_BY_PHP_LINE },
		      { "-p 1 --by python-line", GROUP_BY_PYTHON_LINE },
		      { "-p 1 --by function", GROUP_BY_FUNCTION },
		      { "-p 1 --by module", GROUP_BY_MODULE },
		      { "-p 1 --by process", GROUP_BY_PROCESS } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct line line = parse_good(cases[i].text);

		assert_int_equal(line.options.by, cases[i].by);
		line_free(&line);
	}
}

static void test_rules(void **state)
{
	struct line line =
		parse_good("-p 1 --hide @std --hide ^x --only a|b --app /srv/app --app x.so");

	(void)state;
	assert_int_equal(line.options.rules.hide.count, 2);
	assert_int_equal(line.options.rules.only.count, 1);
	assert_int_equal(line.options.rules.app_count, 2);
	assert_string_equal(line.options.rules.apps[1], "x.so");
	line_free(&line);
}

/* Each of them counts; and which pointers to insides do. */
static void test_leaks(void **state)
{
	struct line line = parse_good(
		"leaks -p 1 -d 1s --only-module a --only-module=b.so --suppressions @ruby");
	const struct options *options = &line.options;

	(void)state;
	assert_int_equal(options->only_module_count, 2);
	assert_string_equal(options->only_modules[0], "a");
	assert_string_equal(options->only_modules[1], "b.so");
	assert_int_equal(options->heuristics, (1u << LEAK_HEURISTICS) - 1);
	line_free(&line);
	line = parse_good("leaks -p 1 --heuristics none");
	assert_int_equal(line.options.heuristics, 0);
	line_free(&line);
	line = parse_good("leaks -p 1 --heuristics multipleinheritance,length64");
	assert_int_equal(line.options.heuristics,
			 1u << LEAK_HEURISTIC_MULTIPLEINHERITANCE | 1u << LEAK_HEURISTIC_LENGTH64);
	line_free(&line);
}

static void test_selectors(void **state)
{
	struct line line = parse_good("--comm nginx");

	(void)state;
	assert_string_equal(line.options.comm, "nginx");
	assert_int_equal(line.options.interval_ns, 5 * SECOND);
	line_free(&line);
	line = parse_good("-w nginx -d 5s");
	assert_string_equal(line.options.wait, "nginx");
	assert_int_equal(line.options.interval_ns, 0);
	line_free(&line);
	line = parse_good("-a 2 3");
	assert_true(line.options.all);
	assert_int_equal(line.options.interval_ns, 2 * SECOND);
	line_free(&line);
	line = parse_good("--cgroup /system.slice");
	assert_string_equal(line.options.cgroup, "/system.slice");
	line_free(&line);
	line = parse_good("--cmdline ^puma --user 33 --unit shop --comm ruby");
	assert_string_equal(line.options.command_line, "^puma");
	assert_string_equal(line.options.user, "33");
	assert_string_equal(line.options.unit, "shop");
	assert_string_equal(line.options.comm, "ruby");
	assert_false(line.options.waits);
	line_free(&line);
	line = parse_good("plan --unit shop");
	assert_ptr_equal(line.options.command, &plan);
	line_free(&line);
	line = parse_good("--tree 7,8");
	assert_true(line.options.tree && line.options.follow_fork);
	assert_int_equal(line.options.pid_count, 2);
	line_free(&line);
	line = parse_good("--container 4f5e");
	assert_string_equal(line.options.container, "4f5e");
	line_free(&line);
}

/* Of the names that begin so, the command has one, or two of the same option. */
static void test_abbreviated(void **state)
{
	static const char *const waits[] = { "--wait 3",    "--wai 3",	 "--wa=3s",
					     "--wait-gc 3", "--wait-=3", NULL };
	struct line line;
	size_t i;

	(void)state;
	for (i = 0; waits[i]; i++) {
		char text[64];

		snprintf(text, sizeof(text), "memory -p 1 %s 2 5", waits[i]);
		line = parse_good(text);
		assert_int_equal(line.options.wait_ns, 3 * SECOND);
		assert_int_equal(line.options.interval_ns, 2 * SECOND);
		assert_false(line.options.waits);
		line_free(&line);
	}
	line = parse_good("memory -p 1 --max 128m");
	assert_int_equal(line.options.max_memory, 128u << 20);
	line_free(&line);
}

/* The name that is waited for may be left out where something else selects. */
static void test_wait(void **state)
{
	static const struct {
		const char *line, *wait;
		uint64_t interval;
	} cases[] = {
		{ "-w nginx", "nginx", 5 * SECOND },	   { "-wnginx", "nginx", 5 * SECOND },
		{ "--wait nginx 2", "nginx", 2 * SECOND }, { "--wait=nginx", "nginx", 5 * SECOND },
		{ "-w --comm nginx", NULL, 5 * SECOND },   { "--comm nginx -w", NULL, 5 * SECOND },
		{ "--wait --unit x 2", NULL, 2 * SECOND }, { "--wai nginx 2", "nginx", 2 * SECOND },
		{ "--wa=nginx", "nginx", 5 * SECOND },	   { "--wai --unit x", NULL, 5 * SECOND },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct line line = parse_good(cases[i].line);

		assert_true(line.options.waits);
		if (cases[i].wait)
			assert_string_equal(line.options.wait, cases[i].wait);
		else
			assert_null(line.options.wait);
		assert_int_equal(line.options.interval_ns, cases[i].interval);
		line_free(&line);
	}
}

/* A command's children are its own business and the tracer's; those of others only on request. */
static void test_children(void **state)
{
	static const struct {
		const char *text;
		bool follow;
	} cases[] = { { "-p 1", false },
		      { "-p 1 --follow-fork", true },
		      { "-- make", true },
		      { "--no-follow-fork -- make", false },
		      { "--follow-fork -- make", true } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct line line = parse_good(cases[i].text);

		assert_int_equal(line.options.follow_fork, cases[i].follow);
		assert_false(line.options.keep_exited);
		line_free(&line);
	}
}

/* A format that wants all sites has them unless -n says otherwise; one file of some formats holds one report. */
static void test_format_properties(void **state)
{
	const struct render_format single = { .name = "single" };
	const char *const positions[] = { "2" };
	struct command_line line = { .positions = positions, .position_count = 1 };
	struct options options;
	struct error error = { 0 };
	int pid = 1;

	(void)state;
	options_set_defaults(&options);
	options.pids = &pid;
	options.pid_count = 1;
	options.by_pid = true;
	options.format = &single;
	options.interval_ns = SECOND;
	assert_int_equal(trace_options_check(&line, &options, &error), -EINVAL);
	assert_non_null(strstr(error.text, "one report of the format single"));
	options.interval_ns = line.position_count = 0;
	assert_int_equal(trace_options_check(&line, &options, &error), 0);
	assert_int_equal(options.interval_ns, 0);
	assert_int_equal(options.top, 10);
}

static void test_colors(void **state)
{
	static const struct {
		enum options_color color;
		bool terminal;
		const char *no_color, *term;
		bool wanted;
	} rows[] = {
		{ COLOR_AUTO, true, NULL, "xterm", true },
		{ COLOR_AUTO, false, NULL, "xterm", false },
		{ COLOR_AUTO, true, "1", "xterm", false },
		/* no-color.org: present and not empty */
		{ COLOR_AUTO, true, "", "xterm", true },
		{ COLOR_AUTO, true, NULL, "dumb", false },
		{ COLOR_AUTO, true, NULL, "", false },
		{ COLOR_AUTO, true, NULL, NULL, false },
		{ COLOR_ALWAYS, false, "1", "dumb", true },
		{ COLOR_NEVER, true, NULL, "xterm", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(options_use_color(rows[i].color, rows[i].terminal,
						   rows[i].no_color, rows[i].term),
				 rows[i].wanted);
}

/* What `tracer memory` takes, and what has no meaning for it. */
static void test_memory(void **state)
{
	static const char *const refused[] = { "memory",
					       "memory -p 1 -f",
					       "memory -p 1 --min-age 1s",
					       "memory -p 1 -d 3s",
					       "memory -p 1 10 1",
					       "memory -p 1 --max-memory 1m",
					       "memory -p 1 --wait nginx",
					       "memory -p 1 --wait",
					       "memory -p 1 --comm x" };
	static const char *const waits[] = { "memory -p 1 --objects --wait 10",
					     "memory --wait=10s -p 1 10 6",
					     "memory -p 1 --wait-gc 10" };
	struct line line =
		parse_good("memory -p 4242 10 6 -j --samples --deadline 2s --max-memory 64m");
	size_t i;

	(void)state;
	assert_string_equal(line.options.command->name, "memory");
	assert_int_equal(line.options.interval_ns, 10 * SECOND);
	assert_int_equal(line.options.count, 6);
	assert_int_equal(line.options.deadline_ns, 2 * SECOND);
	assert_true(line.options.samples);
	assert_int_equal(line.options.max_memory, 64 << 20);
	assert_false(memory_options_is_text(&line.options));
	assert_int_equal(line.options.wait_ns, 0);
	line_free(&line);
	/* Another one than that of 'tracer', and only as a word: -w is for a process's name. */
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		line = parse_good(waits[i]);
		assert_int_equal(line.options.wait_ns, 10 * SECOND);
		assert_null(line.options.wait);
		line_free(&line);
	}
	line = parse_good("memory --tree 4242");
	assert_int_equal(line.options.interval_ns, 0);
	assert_int_equal(line.options.top, 10);
	assert_true(memory_options_is_text(&line.options));
	line_free(&line);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		line = parse(refused[i]);
		assert_int_equal(line.error.kind, ERROR_USAGE);
		line_free(&line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
		cmocka_unit_test(test_texts),	 cmocka_unit_test(test_pids),
		cmocka_unit_test(test_by),	 cmocka_unit_test(test_rules),
		cmocka_unit_test(test_leaks),	 cmocka_unit_test(test_selectors),
		cmocka_unit_test(test_wait),	 cmocka_unit_test(test_abbreviated),
		cmocka_unit_test(test_children), cmocka_unit_test(test_format_properties),
		cmocka_unit_test(test_colors),	 cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
