/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines and what they must mean. The expected values are those of the manual page, tracer(8); each
 * refused line must say what was seen and what to do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "command/command_line.h"
#include "command/help.h"
#include "command/options_table.h"
#include "command/plan_options.h"
#include "command/trace_options.h"
#include "render/render.h"

#define SECOND 1000000000ULL
#define WORDS_MAX 16

static int run_nothing(const struct options *options, const struct log *log)
{
	(void)options;
	(void)log;
	return 0;
}

/* Commands of our own, so that the parser is tested without the kernel. */
static const struct command trace = { .name = "trace",
				      .summary = "report what is in use",
				      .options = trace_options,
				      .arguments = trace_options_arguments,
				      .starts_program = true,
				      .check = trace_options_check,
				      .run = run_nothing };
static const struct command plan = { .name = "plan",
				     .summary = "print what would be probed",
				     .options = plan_options,
				     .arguments = plan_options_arguments,
				     .starts_program = true,
				     .check = plan_options_check,
				     .run = run_nothing };

/* A command without a process. */
static const char *compared[2];

static int store_file(const struct command_line *line, const char *text, struct options *options,
		      struct error *error)
{
	(void)line;
	(void)options;
	(void)error;
	compared[!!compared[0]] = text;
	return 0;
}

static const struct option_list *const diff_options[] = { &options_table_report,
							  &options_table_general, NULL };
static const struct argument_row diff_arguments[] = { { "OLD", false, store_file },
						      { "NEW", false, store_file },
						      { NULL } };
static const struct command diff = { .name = "diff",
				     .summary = "compare two files",
				     .options = diff_options,
				     .arguments = diff_arguments,
				     .run = run_nothing };

static const struct command *const commands[] = { &trace, &plan, &diff, NULL };

/* Splits `line` at blanks; a word "''" is an empty argument. Free *ret_copy and the result. */
static char **split(const char *line, int *ret_count, char **ret_copy)
{
	char **words = memory_alloc(WORDS_MAX + 2, sizeof(*words));
	char *place, *word;

	*ret_copy = memory_copy_string(line);
	words[0] = memory_copy_string("tracer");
	*ret_count = 1;
	for (word = strtok_r(*ret_copy, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		assert_true(*ret_count <= WORDS_MAX);
		words[(*ret_count)++] = strcmp(word, "''") ? word : word + 2;
	}
	return words;
}

/* A parsed line and the memory it points into. */
struct line {
	struct options options;
	struct error error;
	char **words;
	char *copy;
	int result;
};

static struct line parse(const char *text)
{
	struct line line = { 0 };
	int count;

	line.words = split(text, &count, &line.copy);
	memset(&line.options, 0xa5, sizeof(line.options));
	line.result = command_line_parse(count, line.words, commands, &line.options, &line.error);
	return line;
}

static void line_free(struct line *line)
{
	if (!line->result)
		options_free(&line->options);
	free(line->words[0]);
	free(line->words);
	free(line->copy);
}

static struct line parse_good(const char *text)
{
	struct line line = parse(text);

	if (line.result)
		print_error("'%s' was refused: %s\n", text, line.error.text);
	assert_int_equal(line.result, 0);
	assert_int_equal(line.error.kind, ERROR_NONE);
	return line;
}

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
	assert_int_equal(options->sort, SORT_INUSE);
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
	{ "-p 1 --min-age 1m", FIELD(min_age_ns), 60 * SECOND },
	{ "-p 1 --min-age 0", FIELD(min_age_ns), 0 },
	{ "-p 1 --older 500ms", FIELD(min_age_ns), SECOND / 2 },
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
		{ "--wait --unit x 2", NULL, 2 * SECOND },
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
	{ "-p 1 --follow-fork --no-follow-fork", "exclude each other", NULL },
	{ "-- ''", "is empty", NULL },
	{ "-p 1 -- ls", "exclude each other", "'-- ls'" },
	{ "plan -p 1 -- ls", "exclude each other", NULL },
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
	/* sizes */
	{ "-p 1 -z big", "-z/--min-size takes a size", "64k" },
	{ "-p 1 -z -1", "-z/--min-size takes a size", NULL },
	{ "-p 1 -Z 64kb", "-Z/--max-size takes a size", "'64kb'" },
	{ "-p 1 -Z 17179869184g", "-Z/--max-size takes a size", NULL },
	{ "-p 1 -z 65 -Z 64", "at least 65 (-z)", "at most 64 (-Z)" },
	{ "-p 1 --fail-over 10%", "--fail-over takes a size", "'10%'" },
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
	{ "-p 1 -s size", "one of inuse, inuse-objects, alloc, alloc-objects", "'size'" },
	{ "-p 1 -s ''", "-s/--sort takes one of", NULL },
	{ "-p 1 -s INUSE", "-s/--sort takes one of", NULL },
	{ "-p 1 --color sometimes", "--color takes one of auto, always, never", NULL },
	{ "-p 1 --color", "--color needs an argument", NULL },
	{ "-p 1 --backend magic", "one of auto, session, multi, perf, ioctl", NULL },
	{ "-p 1 --format xml", "--format takes one of text, json, folded", "'xml'" },
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
	{ "diff", "'tracer diff' needs OLD", NULL },
	{ "diff a", "'tracer diff' needs NEW", NULL },
	{ "diff a b c", "'c' is one argument too many", "only OLD and NEW are positional" },
	{ "diff a b -p 1", "-p/--pid has no meaning for 'tracer diff'", NULL },
	{ "diff -a a b", "-a/--all has no meaning for 'tracer diff'", NULL },
};

/* What follows "--" is no program to start where the command starts none. */
static void test_no_target(void **state)
{
	static const char *const lines[] = { "diff -j -- old -new", "-j diff old -- -new" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct line line;

		compared[0] = compared[1] = NULL;
		line = parse_good(lines[i]);
		assert_ptr_equal(line.options.command, &diff);
		assert_null(line.options.arguments);
		assert_string_equal(line.options.format->name, "json");
		assert_string_equal(compared[0], "old");
		assert_string_equal(compared[1], "-new");
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

/* Every row of the table must be reachable by its name and its letter, and be listed in the help text. */
static void test_table_and_help_agree(void **state)
{
	struct buffer brief = { 0 }, verbose = { 0 };
	size_t i, j, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	help_append(&brief, commands, false);
	help_append(&verbose, commands, true);
	assert_true(count >= 40 && count <= 64); /* the parser keeps a bit for each */
	for (i = 0; i < count; i++) {
		char *name = memory_format("--%s ", rows[i]->name);
		bool testing = rows[i]->flags & OPTION_TESTING;
		bool alias = rows[i]->flags & OPTION_ALIAS;

		assert_int_equal(!strstr(brief.data, name), testing || alias);
		assert_int_equal(!strstr(verbose.data, name), alias);
		assert_non_null(rows[i]->help);
		assert_non_null(rows[i]->store);
		for (j = 0; j < i; j++) {
			assert_string_not_equal(rows[i]->name, rows[j]->name);
			assert_true(!rows[i]->letter || rows[i]->letter != rows[j]->letter);
		}
		free(name);
	}
	free(rows);
	buffer_free(&brief);
	buffer_free(&verbose);
}

/* 80 columns, as terminals have; each example must be a command line that is accepted. */
static void test_help_fits_and_is_true(void **state)
{
	struct buffer text = { 0 };
	char *line, *place;
	bool examples = false;
	int tried = 0;

	(void)state;
	help_append(&text, commands, true);
	for (line = strtok_r(text.data, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
		if (strlen(line) > 80)
			print_error("too long: %s\n", line);
		assert_true(strlen(line) <= 80);
		if (examples) {
			char *end = strstr(line + 2, "  ");
			struct line parsed;

			assert_non_null(end);
			*end = '\0';
			assert_memory_equal(line, "  tracer ", 9);
			parsed = parse_good(line + 9);
			line_free(&parsed);
			tried++;
		}
		examples |= !strcmp(line, "EXAMPLES");
	}
	assert_true(tried >= 5);
	buffer_free(&text);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_by),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_selectors),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_no_target),
		cmocka_unit_test(test_format_properties),
		cmocka_unit_test(test_lines_are_independent),
		cmocka_unit_test(test_no_arguments_at_all),
		cmocka_unit_test(test_table_and_help_agree),
		cmocka_unit_test(test_help_fits_and_is_true),
		cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
