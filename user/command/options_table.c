/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options: see options_table.h. How the simple kinds of arguments are read is in option_row.c. */
#include "command/options_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pattern.h"
#include "base/units.h"
#include "command/options_store.h"
#include "command/output.h"
#include "model/gc_clock.h"
#include "render/render.h"

#define BLOCKS_MAX (1ULL << 26)
#define STACKS_MAX (1ULL << 20)

#define WORDS(name) static const char *const name##_words[]

WORDS(sort) = {
	[SORT_INUSE] = "inuse", [SORT_INUSE_OBJECTS] = "inuse-objects",
	[SORT_ALLOC] = "alloc", [SORT_ALLOC_OBJECTS] = "alloc-objects",
	[SORT_AGE] = "age",	[SORT_GROWTH] = "growth",
	[SORT_CHURN] = "churn", [SORT_TEMPORARY] = "temporary",
	[SORT_LEAK] = "leak",	NULL,
};
WORDS(by) = { [GROUP_BY_STACK] = "stack",
	      [GROUP_BY_FUNCTION] = "function",
	      [GROUP_BY_MODULE] = "module",
	      [GROUP_BY_PROCESS] = "process",
	      [GROUP_BY_APP_LINE] = "app-line",
	      [GROUP_BY_THREAD] = "thread",
	      [GROUP_BY_SHOWN] = NULL, /* not for the command line */
#define BY_WORD(NAME, word, title) [GROUP_BY_##NAME##_LINE] = #word "-line",
	      INTERP_LIST(BY_WORD)
#undef BY_WORD
};
WORDS(color) = { [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL };
WORDS(call_graph) = { [CALL_GRAPH_DWARF] = "dwarf", [CALL_GRAPH_FP] = "fp", NULL };
WORDS(usdt) = { [USDT_AUTO] = "auto", [USDT_ONLY] = "only", [USDT_OFF] = "off", NULL };
WORDS(shell) = { [SHELL_BASH] = "bash", [SHELL_FISH] = "fish", [SHELL_ZSH] = "zsh", NULL };
WORDS(seccomp) = {
	[SECCOMP_AUTO] = "auto", [SECCOMP_SAFE] = "safe", [SECCOMP_FATAL] = "fatal", NULL
};
WORDS(backend) = {
	[BACKEND_AUTO] = "auto", [BACKEND_SESSION] = "session", [BACKEND_MULTI] = "multi",
	[BACKEND_PERF] = "perf", [BACKEND_IOCTL] = "ioctl",	NULL,
};

static int options_table_store_format(const struct option_row *row, const char *text,
				      struct options *options, struct error *error)
{
	/* -j and -f are formats of their own: their name is the format's. */
	const struct render_format *format = render_format_find(text ? text : row->name);
	const struct render_format *known;
	struct buffer wanted = { 0 };

	if (format) {
		options->format = format;
		return 0;
	}
	buffer_append_string(&wanted, "one of");
	for (known = render_format_list(); known->name; known++)
		buffer_printf(&wanted, "%s %s", known == render_format_list() ? "" : ",",
			      known->name);
	option_row_refuse(row, text ? text : row->name, wanted.data, error);
	buffer_free(&wanted);
	return -EINVAL;
}

/* Once and twice. */
static int options_table_store_verbose(const struct option_row *row, const char *text,
				       struct options *options, struct error *error)
{
	(void)row, (void)text, (void)error;
	options->paths = options->level == LOG_VERBOSE;
	options->level = LOG_VERBOSE;
	return 0;
}

static int options_table_store_completion(const struct option_row *row, const char *text,
					  struct options *options, struct error *error)
{
	options->action = ACTION_COMPLETION;
	return option_row_store_word(row, text, options, error);
}

static int options_table_store_output(const struct option_row *row, const char *text,
				      struct options *options, struct error *error)
{
	(void)row;
	if (!output_check_template(text, error))
		return -EINVAL;
	options->output = text;
	return 0;
}

static int options_table_add_named(const struct option_row *row, const char *text,
				   struct options *options, bool frees, struct error *error)
{
	char label[OPTION_LABEL_MAX];
	struct error problem = { 0 };

	if (!named_add(&options->named, text, frees, &problem))
		return 0;
	return error_set(error, ERROR_USAGE, -EINVAL, "%s '%s': %s", option_row_label(row, label),
			 text, problem.text);
}

static int options_table_store_alloc(const struct option_row *row, const char *text,
				     struct options *options, struct error *error)
{
	return options_table_add_named(row, text, options, false, error);
}

static int options_table_store_free(const struct option_row *row, const char *text,
				    struct options *options, struct error *error)
{
	return options_table_add_named(row, text, options, true, error);
}

static int options_table_add_rule(const struct option_row *row, const char *text,
				  struct frame_rule_list *list, struct error *error)
{
	char label[OPTION_LABEL_MAX];
	struct error problem = { 0 };

	if (!frame_rules_add(list, text, &problem))
		return 0;
	return error_set(error, ERROR_USAGE, -EINVAL, "%s: %s", option_row_label(row, label),
			 problem.text);
}

static int options_table_store_hide(const struct option_row *row, const char *text,
				    struct options *options, struct error *error)
{
	return options_table_add_rule(row, text, &options->rules.hide, error);
}

static int options_table_store_only(const struct option_row *row, const char *text,
				    struct options *options, struct error *error)
{
	return options_table_add_rule(row, text, &options->rules.only, error);
}

static int options_table_store_app(const struct option_row *row, const char *text,
				   struct options *options, struct error *error)
{
	if (!*text)
		return option_row_refuse(row, text, "a directory or a module", error);
	frame_rules_add_app(&options->rules, text);
	return 0;
}

/* "2gc", or "2". */
static int options_table_store_survived(const struct option_row *row, const char *text,
					struct options *options, struct error *error)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || count > GC_CLOCK_MAX || (*end && strcmp(end, "gc") != 0))
		return option_row_refuse(row, text, "a number from 1gc to 64gc", error);
	options->survived = count;
	return 0;
}

/* "1%", "0.5", to a thousandth; without a text 1 %. */
static int options_table_store_budget(const struct option_row *row, const char *text,
				      struct options *options, struct error *error)
{
	char *end;
	double percent = text ? strtod(text, &end) : 1;

	if (text && (*text < '0' || *text > '9' || (*end && strcmp(end, "%") != 0) ||
		     !(percent >= 0.01 && percent <= 50)))
		return option_row_refuse(row, text, "a share of CPU time from 0.01% to 50%", error);
	options->budget = (uint64_t)(percent * 1000 + 0.5);
	return 0;
}

static int options_table_store_exitcode(const struct option_row *row, const char *text,
					struct options *options, struct error *error)
{
	options->has_error_exitcode = true;
	return option_row_store_number(row, text, options, error);
}

#define FIELD(name) .field = offsetof(struct options, name)

/* Which processes. */
static const struct option_row target_rows[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .argument = "PID[,PID...]",
	  .help = "processes to trace",
	  .store = options_store_pids },
	{ .name = "tree",
	  .argument = "PID",
	  .help = "a process and all its descendants, also future ones",
	  .store = options_store_tree },
	{ .name = "comm",
	  .argument = "NAME",
	  .help = "all processes of this name, current and future",
	  .store = option_row_store_text,
	  FIELD(comm) },
	{ .name = "cmdline",
	  .argument = "REGEX",
	  .help = "all with arguments that match, as ps shows them",
	  .store = options_store_pattern,
	  FIELD(command_line) },
	{ .name = "user",
	  .letter = 'u',
	  .argument = "USER",
	  .help = "all of this user; with '-- CMD': run it as USER",
	  .store = option_row_store_text,
	  FIELD(user) },
	{ .name = "unit",
	  .argument = "UNIT",
	  .help = "all processes of a systemd unit",
	  .store = option_row_store_text,
	  FIELD(unit) },
	{ .name = "cgroup",
	  .argument = "PATH",
	  .help = "all processes in a cgroup, current and future",
	  .store = option_row_store_text,
	  FIELD(cgroup) },
	{ .name = "container",
	  .argument = "ID",
	  .help = "all processes of a container",
	  .store = option_row_store_text,
	  FIELD(container) },
	{ .name = "all",
	  .letter = 'a',
	  .help = "all processes of the machine",
	  .store = option_row_store_true,
	  FIELD(all) },
};

/* For how long, and what becomes of others. */
static const struct option_row follow_rows[] = {
	{ .name = "wait",
	  .letter = 'w',
	  .argument = "[NAME]",
	  .help = "wait for a process of this name, or that is selected",
	  .store = options_store_wait,
	  .flags = OPTION_OPTIONAL,
	  FIELD(wait) },
	{ .name = "follow-fork",
	  .help = "trace children, too; the default for '-- CMD'",
	  .store = option_row_store_true,
	  FIELD(follow_fork) },
	{ .name = "no-follow-fork",
	  .help = "with '-- CMD': do not trace its children",
	  .store = option_row_store_true,
	  FIELD(no_follow_fork) },
	{ .name = "no-hold",
	  .help = "do not hold programs of CMD until they are probed",
	  .store = option_row_store_true,
	  FIELD(no_hold) },
	{ .name = "keep-exited",
	  .help = "list what ended programs held as well",
	  .store = option_row_store_true,
	  FIELD(keep_exited) },
};

/* For how long. */
static const struct option_row time_rows[] = {
	{ .name = "duration",
	  .letter = 'd',
	  .argument = "TIME",
	  .help = "trace for TIME, print one report, exit",
	  .store = option_row_store_time,
	  FIELD(duration_ns),
	  .min = 1,
	  .max = OPTION_TIME_MAX_NS },
};

/* Which blocks count as in use. */
static const struct option_row count_rows[] = {
	{ .name = "min-age",
	  .argument = "TIME",
	  .help = "count only blocks at least this old as in use",
	  .store = option_row_store_time,
	  FIELD(min_age_ns),
	  .max = OPTION_TIME_MAX_NS },
	{ .name = "older",
	  .argument = "TIME",
	  .help = "the same as --min-age",
	  .store = option_row_store_time,
	  FIELD(min_age_ns),
	  .max = OPTION_TIME_MAX_NS,
	  .flags = OPTION_ALIAS },
	{ .name = "survived",
	  .argument = "Ngc",
	  .help = "count only what outlived N major garbage collections",
	  .store = options_table_store_survived },
};

/* How much of stacks. */
static const struct option_row frame_rows[] = {
	{ .name = "frames",
	  .argument = "N",
	  .help = "frames shown of each stack; 0 = all",
	  .store = option_row_store_number,
	  FIELD(frames),
	  .max = UINT32_MAX },
};

/* Which call sites are shown, and what of them. */
static const struct option_row site_rows[] = {
	{ .name = "by",
	  .argument = "WHAT",
	  .help = "rows by stack, app-line, function, thread, ...",
	  .store = option_row_store_word,
	  FIELD(by),
	  .words = by_words },
	{ .name = "app",
	  .argument = "DIR|MODULE",
	  .help = "with app-line: what the application is, too",
	  .store = options_table_store_app },
	{ .name = "hide",
	  .argument = "REGEX",
	  .help = "hide frames; @std, @ruby, @rails, @python: known ones",
	  .store = options_table_store_hide },
	{ .name = "only",
	  .argument = "REGEX",
	  .help = "only sites with such a frame",
	  .store = options_table_store_only },
};

static const struct option_row folded_rows[] = {
	{ .name = "folded",
	  .letter = 'f',
	  .help = "the same as --format folded",
	  .store = options_table_store_format },
};

/* What a report of them shows. */
static const struct option_row report_rows[] = {
	{ .name = "sort",
	  .letter = 's',
	  .argument = "KEY",
	  .help = "inuse, alloc, -objects, leak, age, growth, churn, ...",
	  .store = option_row_store_word,
	  FIELD(sort),
	  .words = sort_words },
	{ .name = "fail-over",
	  .argument = "SIZE",
	  .help = "exit status 1 if more than SIZE is in use at the end",
	  .store = option_row_store_size,
	  FIELD(fail_over) },
	{ .name = "fail-on-leak",
	  .help = "exit status 1 if a row is a leak at the end",
	  .store = option_row_store_true,
	  FIELD(fail_on_leak) },
	{ .name = "schema",
	  .argument = "N",
	  .help = "of JSON: 1 (default), or 2, which is small",
	  .store = option_row_store_number,
	  FIELD(schema),
	  .min = 1,
	  .max = 2 },
	{ .name = "empty",
	  .help = "with --schema 2 -n 0: also sites that hold nothing",
	  .store = option_row_store_true,
	  FIELD(empty) },
};

/* The exit status for findings in a command. */
static const struct option_row found_rows[] = {
	{ .name = "error-exitcode",
	  .argument = "N",
	  .help = "with '-- CMD': status for what is found (1); 0 = CMD's",
	  .store = options_table_store_exitcode,
	  FIELD(error_exitcode),
	  .max = 255 },
};

/* Where it goes. */
static const struct option_row file_rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FILE",
	  .help = "reports go to FILE; %p = PID, %t = time, %h = host",
	  .store = options_table_store_output },
};

/* How much of it. */
static const struct option_row top_rows[] = {
	{ .name = "top",
	  .letter = 'n',
	  .argument = "N",
	  .help = "rows shown (10); 0 = all",
	  .store = option_row_store_number,
	  FIELD(top),
	  .max = UINT32_MAX },
};

/* How a report is written. */
static const struct option_row output_rows[] = {
	{ .name = "format",
	  .argument = "FORMAT",
	  .help = "see Formats; else the ending of FILE chooses it",
	  .store = options_table_store_format },
	{ .name = "json",
	  .letter = 'j',
	  .help = "the same as --format json",
	  .store = options_table_store_format },
};

/* How a process's memory is looked at. */
static const struct option_row look_rows[] = {
	{ .name = "objects",
	  .help = "objects of Ruby and Python by class",
	  .store = option_row_store_true,
	  FIELD(objects) },
	{ .name = "samples",
	  .help = "show contents, such as texts that are keys",
	  .store = option_row_store_true,
	  FIELD(samples) },
	{ .name = "holders",
	  .help = "what holds blocks, however large they are",
	  .store = option_row_store_true,
	  FIELD(holders) },
	{ .name = "thp",
	  .help = "how much of huge pages is zeroes",
	  .store = option_row_store_true,
	  FIELD(huge_pages) },
	{ .name = "wait",
	  .argument = "TIME",
	  .help = "with --objects: wait up to TIME for a major GC",
	  .store = option_row_store_time,
	  FIELD(wait_ns),
	  .max = OPTION_TIME_MAX_NS },
	{ .name = "wait-gc",
	  .argument = "TIME",
	  .help = "the same as --wait of memory",
	  .store = option_row_store_time,
	  FIELD(wait_ns),
	  .max = OPTION_TIME_MAX_NS,
	  .flags = OPTION_ALIAS },
	{ .name = "since",
	  .argument = "FILE",
	  .help = "growth since the JSON report in FILE",
	  .store = option_row_store_text,
	  FIELD(since) },
};

/* What a look may take. */
static const struct option_row limit_rows[] = {
	{ .name = "deadline",
	  .argument = "TIME",
	  .help = "look for at most TIME (10s)",
	  .store = option_row_store_time,
	  FIELD(deadline_ns),
	  .min = 1,
	  .max = OPTION_TIME_MAX_NS },
	{ .name = "max-memory",
	  .argument = "SIZE",
	  .help = "the tracer takes at most SIZE (1g)",
	  .store = option_row_store_size,
	  FIELD(max_memory) },
};

/* What a recording takes. */
static const struct option_row recording_rows[] = {
	{ .name = "limit",
	  .argument = "SIZE",
	  .help = "thin old intervals where FILE is larger",
	  .store = option_row_store_size,
	  FIELD(limit) },
};

/* Which moments of a recording. */
static const struct option_row moment_rows[] = {
	{ .name = "at",
	  .argument = "MOMENT",
	  .help = "5m after the beginning, a time, a mark",
	  .store = option_row_store_text,
	  FIELD(at) },
	{ .name = "from",
	  .argument = "MOMENT",
	  .help = "growth is counted from here",
	  .store = option_row_store_text,
	  FIELD(from) },
	{ .name = "base",
	  .argument = "MOMENT|FILE",
	  .help = "only what differs from that",
	  .store = option_row_store_text,
	  FIELD(base) },
	{ .name = "to",
	  .argument = "MOMENT",
	  .help = "with --from: the same as --at",
	  .store = option_row_store_text,
	  FIELD(at) },
};

/* What is recorded of a block, and how much. */
static const struct option_row record_rows[] = {
	{ .name = "budget",
	  .argument = "PERCENT",
	  .help = "trace in short windows, for PERCENT (1) of CPU time",
	  .store = options_table_store_budget,
	  .flags = OPTION_OPTIONAL },
	{ .name = "max-window",
	  .argument = "TIME",
	  .help = "of a thread's time that a window takes at most (20ms)",
	  .store = option_row_store_time,
	  FIELD(max_window_ns),
	  .min = 1000000,
	  .max = 1000000000 },
	{ .name = "min-size",
	  .letter = 'z',
	  .argument = "SIZE",
	  .help = "only blocks of at least SIZE bytes",
	  .store = option_row_store_size,
	  FIELD(min_size) },
	{ .name = "max-size",
	  .letter = 'Z',
	  .argument = "SIZE",
	  .help = "only blocks of at most SIZE bytes",
	  .store = option_row_store_size,
	  FIELD(max_size) },
	{ .name = "max-blocks",
	  .argument = "N",
	  .help = "live blocks the kernel can hold (1048576)",
	  .store = option_row_store_number,
	  FIELD(max_blocks),
	  .min = 1,
	  .max = BLOCKS_MAX },
	{ .name = "max-stacks",
	  .argument = "N",
	  .help = "stacks the kernel can hold (65536)",
	  .store = option_row_store_number,
	  FIELD(max_stacks),
	  .min = 16,
	  .max = STACKS_MAX },
	{ .name = "stack-depth",
	  .argument = "N",
	  .help = "frames kept of a stack (127)",
	  .store = option_row_store_number,
	  FIELD(stack_depth),
	  .min = 1,
	  .max = STACK_FRAMES_MAX },
	{ .name = "call-graph",
	  .argument = "HOW",
	  .help = "how to follow stacks: dwarf (unwind tables), fp",
	  .store = option_row_store_word,
	  FIELD(call_graph),
	  .words = call_graph_words },
	{ .name = "debug-dir",
	  .argument = "DIR",
	  .help = "look here first for debug files, in any layout",
	  .store = option_row_store_text,
	  FIELD(debug_directory) },
	{ .name = "debuginfod",
	  .help = "ask the servers of $DEBUGINFOD_URLS for debug files",
	  .store = option_row_store_true,
	  FIELD(debuginfod) },
	{ .name = "force",
	  .help = "trace even if a seccomp filter may kill the process",
	  .store = option_row_store_true,
	  FIELD(force) },
};

/* What is probed, and how. */
static const struct option_row probe_rows[] = {
	{ .name = "light",
	  .help = "no probes on frees: what is in use is read from heaps",
	  .store = option_row_store_true,
	  FIELD(light) },
	{ .name = "alloc",
	  .argument = "SPEC",
	  .help = "a function that allocates: FILE:FUNCTION:size=arg1",
	  .store = options_table_store_alloc },
	{ .name = "free",
	  .argument = "SPEC",
	  .help = "a function that frees: FILE:FUNCTION:ptr=arg1",
	  .store = options_table_store_free },
	{ .name = "usdt",
	  .argument = "WHEN",
	  .help = "use samples of programs: auto (default), only, off",
	  .store = option_row_store_word,
	  FIELD(usdt),
	  .words = usdt_words },
	{ .name = "no-return-probes",
	  .help = "change no return address in targets; slower",
	  .store = option_row_store_true,
	  FIELD(no_return_probes) },
	{ .name = "seccomp",
	  .argument = "WHAT",
	  .help = "assume seccomp filters are: auto, safe, fatal",
	  .store = option_row_store_word,
	  FIELD(seccomp),
	  .words = seccomp_words,
	  .flags = OPTION_TESTING },
	{ .name = "probe-at-entry",
	  .help = "probe first instructions, however slow they are",
	  .store = option_row_store_true,
	  FIELD(probe_at_entry),
	  .flags = OPTION_TESTING },
	{ .name = "backend",
	  .argument = "NAME",
	  .help = "how to attach: auto, session, multi, perf, ioctl",
	  .store = option_row_store_word,
	  FIELD(backend),
	  .words = backend_words,
	  .flags = OPTION_TESTING },
};

/* Of all commands. */
static const struct option_row general_rows[] = {
	{ .name = "color",
	  .argument = "WHEN",
	  .help = "auto (default), always, never",
	  .store = option_row_store_word,
	  FIELD(color),
	  .words = color_words },
	{ .name = "quiet",
	  .letter = 'q',
	  .help = "print only errors and the line 'ready'",
	  .store = option_row_store_value,
	  FIELD(level),
	  .value = LOG_ERROR },
	{ .name = "verbose",
	  .letter = 'v',
	  .help = "more messages, whole stacks; twice: paths, build IDs",
	  .store = options_table_store_verbose },
	{ .name = "completion",
	  .argument = "SHELL",
	  .help = "print what completes lines in bash, fish or zsh",
	  .store = options_table_store_completion,
	  FIELD(shell),
	  .words = shell_words },
	{ .name = "version",
	  .letter = 'V',
	  .help = "print the version",
	  .store = option_row_store_value,
	  FIELD(action),
	  .value = ACTION_VERSION },
	{ .name = "help",
	  .letter = 'h',
	  .help = "print this text",
	  .store = option_row_store_value,
	  FIELD(action),
	  .value = ACTION_HELP },
};

#define LIST(rows)                                     \
	{                                              \
		rows, sizeof(rows) / sizeof((rows)[0]) \
	}

const struct option_list options_table_target = LIST(target_rows);
const struct option_list options_table_follow = LIST(follow_rows);
const struct option_list options_table_time = LIST(time_rows);
const struct option_list options_table_count = LIST(count_rows);
const struct option_list options_table_frames = LIST(frame_rows);
const struct option_list options_table_sites = LIST(site_rows);
const struct option_list options_table_folded = LIST(folded_rows);
const struct option_list options_table_report = LIST(report_rows);
const struct option_list options_table_found = LIST(found_rows);
const struct option_list options_table_file = LIST(file_rows);
const struct option_list options_table_top = LIST(top_rows);
const struct option_list options_table_output = LIST(output_rows);
const struct option_list options_table_recording = LIST(recording_rows);
const struct option_list options_table_moment = LIST(moment_rows);
const struct option_list options_table_look = LIST(look_rows);
const struct option_list options_table_limits = LIST(limit_rows);
const struct option_list options_table_record = LIST(record_rows);
const struct option_list options_table_probe = LIST(probe_rows);
const struct option_list options_table_general = LIST(general_rows);
