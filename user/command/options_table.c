/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options, and how each kind of argument is read and stored: see options_table.h. */
#include "command/options_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "command/output.h"
#include "render/render.h"

#define BLOCKS_MAX (1ULL << 26)
#define STACKS_MAX (1ULL << 20)

static const char *const sort_words[] = { "inuse", "inuse-objects", "alloc", "alloc-objects",
					  NULL };
static const char *const by_words[] = { "stack",  "ruby-line", "python-line", "function",
					"module", "process",   NULL };
static const char *const color_words[] = { "auto", "always", "never", NULL };
static const char *const call_graph_words[] = { "dwarf", "fp", NULL };
static const char *const usdt_words[] = { "auto", "only", "off", NULL };
static const char *const seccomp_words[] = { "auto", "safe", "fatal", NULL };
static const char *const backend_words[] = { "auto", "session", "multi", "perf", "ioctl", NULL };

/* The error of an argument that is not what the option takes. */
static int option_refuse(const struct option_row *row, const char *text, const char *wanted,
			 struct error *error)
{
	char label[OPTION_LABEL_MAX];

	return error_set(error, ERROR_USAGE, -EINVAL, "%s takes %s, not '%s'",
			 option_label(row, label), wanted, text);
}

static void option_put(const struct option_row *row, struct options *options, uint64_t number)
{
	memcpy((char *)options + row->field, &number, sizeof(number));
}

static void option_put_enum(const struct option_row *row, struct options *options,
			    unsigned int value)
{
	_Static_assert(sizeof(enum report_sort) == sizeof(value), "enums are stored as unsigned");
	memcpy((char *)options + row->field, &value, sizeof(value));
}

static int store_number(const struct option_row *row, const char *text, struct options *options,
			struct error *error)
{
	char wanted[96];
	uint64_t number;

	if (!units_parse_number(text, row->max, &number) || number < row->min) {
		snprintf(wanted, sizeof(wanted), "a whole number from %llu to %llu",
			 (unsigned long long)row->min, (unsigned long long)row->max);
		return option_refuse(row, text, wanted, error);
	}
	option_put(row, options, number);
	return 0;
}

static int store_size(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	uint64_t bytes;

	if (!units_parse_size(text, &bytes))
		return option_refuse(row, text, "a size such as 64, 64k, 1m or 2g", error);
	option_put(row, options, bytes);
	return 0;
}

static int store_time(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	char label[OPTION_LABEL_MAX];
	uint64_t ns;

	if (!units_parse_time(text, &ns) || ns > row->max)
		return option_refuse(row, text, "a time such as 500ms, 10s, 5m or 2h", error);
	if (ns < row->min)
		return error_set(error, ERROR_USAGE, -EINVAL, "%s must be longer than '%s'",
				 option_label(row, label), text);
	option_put(row, options, ns);
	return 0;
}

static int store_word(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	char wanted[128] = "one of";
	unsigned int i;

	for (i = 0; row->words[i]; i++)
		if (!strcmp(text, row->words[i])) {
			option_put_enum(row, options, i);
			return 0;
		}
	for (i = 0; row->words[i]; i++)
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s %s",
			 i ? "," : "", row->words[i]);
	return option_refuse(row, text, wanted, error);
}

static int store_value(const struct option_row *row, const char *text, struct options *options,
		       struct error *error)
{
	(void)text;
	(void)error;
	option_put_enum(row, options, row->value);
	return 0;
}

static int store_true(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	(void)text;
	(void)error;
	*(bool *)((char *)options + row->field) = true;
	return 0;
}

static int store_text(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	if (!*text)
		return option_refuse(row, text, "a name", error);
	memcpy((char *)options + row->field, &text, sizeof(text));
	return 0;
}

static int store_format(const struct option_row *row, const char *text, struct options *options,
			struct error *error)
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
	option_refuse(row, text ? text : row->name, wanted.data, error);
	buffer_free(&wanted);
	return -EINVAL;
}

static int store_output(const struct option_row *row, const char *text, struct options *options,
			struct error *error)
{
	(void)row;
	if (!output_check_template(text, error))
		return -EINVAL;
	options->output = text;
	return 0;
}

static void options_add_pid(struct options *options, int pid)
{
	size_t i;

	for (i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return;
	options->pids = memory_grow(options->pids, options->pid_count, &options->pid_capacity,
				    sizeof(*options->pids));
	options->pids[options->pid_count++] = pid;
}

static int store_pids(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	const char *const all = text;
	const char *end;
	char item[16];
	uint64_t pid;

	for (;; text = end + 1) {
		end = strchrnul(text, ',');
		snprintf(item, sizeof(item), "%.*s", (int)(end - text), text);
		if ((size_t)(end - text) >= sizeof(item) ||
		    !units_parse_number(item, INT_MAX, &pid) || !pid)
			return option_refuse(row, all, "process IDs such as 4242 or 4242,4243",
					     error);
		options_add_pid(options, (int)pid);
		if (!*end)
			return 0;
	}
}

static int option_add_named(const struct option_row *row, const char *text, struct options *options,
			    bool frees, struct error *error)
{
	char label[OPTION_LABEL_MAX];
	struct error problem = { 0 };

	if (!named_add(&options->named, text, frees, &problem))
		return 0;
	return error_set(error, ERROR_USAGE, -EINVAL, "%s '%s': %s", option_label(row, label), text,
			 problem.text);
}

static int store_alloc(const struct option_row *row, const char *text, struct options *options,
		       struct error *error)
{
	return option_add_named(row, text, options, false, error);
}

static int store_free(const struct option_row *row, const char *text, struct options *options,
		      struct error *error)
{
	return option_add_named(row, text, options, true, error);
}

#define FIELD(name) .field = offsetof(struct options, name)

static const struct option_row rows[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .argument = "PID[,PID...]",
	  .help = "processes to trace",
	  .store = store_pids,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "comm",
	  .argument = "NAME",
	  .help = "all processes of this name, now and later",
	  .store = store_text,
	  FIELD(comm) },
	{ .name = "cgroup",
	  .argument = "PATH",
	  .help = "all processes in a cgroup, now and later",
	  .store = store_text,
	  FIELD(cgroup) },
	{ .name = "container",
	  .argument = "ID",
	  .help = "all processes of a container",
	  .store = store_text,
	  FIELD(container) },
	{ .name = "wait",
	  .letter = 'w',
	  .argument = "NAME",
	  .help = "wait for a process of this name",
	  .store = store_text,
	  FIELD(wait) },
	{ .name = "all",
	  .letter = 'a',
	  .help = "all processes of the machine",
	  .store = store_true,
	  FIELD(all) },
	{ .name = "follow-fork",
	  .help = "trace children, too; the default for '-- CMD'",
	  .store = store_true,
	  FIELD(follow_fork) },
	{ .name = "no-follow-fork",
	  .help = "with '-- CMD': do not trace its children",
	  .store = store_true,
	  FIELD(no_follow_fork) },
	{ .name = "user",
	  .letter = 'u',
	  .argument = "USER",
	  .help = "with '-- CMD': run it as this user",
	  .store = store_text,
	  FIELD(user),
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "no-hold",
	  .help = "do not hold programs of CMD until they are probed",
	  .store = store_true,
	  FIELD(no_hold) },
	{ .name = "keep-exited",
	  .help = "list what ended programs held as well",
	  .store = store_true,
	  FIELD(keep_exited) },
	{ .name = "duration",
	  .letter = 'd',
	  .argument = "TIME",
	  .help = "trace for TIME, print one report, exit",
	  .store = store_time,
	  FIELD(duration_ns),
	  .min = 1,
	  .max = OPTIONS_TIME_MAX_NS },
	{ .name = "top",
	  .letter = 'n',
	  .argument = "N",
	  .help = "call sites shown (10); 0 = all",
	  .store = store_number,
	  FIELD(top),
	  .max = UINT32_MAX },
	{ .name = "sort",
	  .letter = 's',
	  .argument = "KEY",
	  .help = "inuse (default), inuse-objects, alloc, alloc-objects",
	  .store = store_word,
	  FIELD(sort),
	  .words = sort_words },
	{ .name = "by",
	  .argument = "WHAT",
	  .help = "rows by stack (default), function, process, ...",
	  .store = store_word,
	  FIELD(by),
	  .words = by_words },
	{ .name = "min-age",
	  .argument = "TIME",
	  .help = "count only blocks at least this old as in use",
	  .store = store_time,
	  FIELD(min_age_ns),
	  .max = OPTIONS_TIME_MAX_NS },
	{ .name = "older",
	  .argument = "TIME",
	  .help = "the same as --min-age",
	  .store = store_time,
	  FIELD(min_age_ns),
	  .max = OPTIONS_TIME_MAX_NS,
	  .flags = OPTION_ALIAS },
	{ .name = "min-size",
	  .letter = 'z',
	  .argument = "SIZE",
	  .help = "only blocks of at least SIZE bytes",
	  .store = store_size,
	  FIELD(min_size) },
	{ .name = "max-size",
	  .letter = 'Z',
	  .argument = "SIZE",
	  .help = "only blocks of at most SIZE bytes",
	  .store = store_size,
	  FIELD(max_size) },
	{ .name = "alloc",
	  .argument = "SPEC",
	  .help = "a function that allocates: FILE:FUNCTION:size=arg1",
	  .store = store_alloc,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "free",
	  .argument = "SPEC",
	  .help = "a function that frees: FILE:FUNCTION:ptr=arg1",
	  .store = store_free,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "usdt",
	  .argument = "WHEN",
	  .help = "use programs' own samples: auto (default), only, off",
	  .store = store_word,
	  FIELD(usdt),
	  .words = usdt_words,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "max-blocks",
	  .argument = "N",
	  .help = "live blocks the kernel can hold (1048576)",
	  .store = store_number,
	  FIELD(max_blocks),
	  .min = 1,
	  .max = BLOCKS_MAX },
	{ .name = "max-stacks",
	  .argument = "N",
	  .help = "stacks the kernel can hold (65536)",
	  .store = store_number,
	  FIELD(max_stacks),
	  .min = 16,
	  .max = STACKS_MAX },
	{ .name = "stack-depth",
	  .argument = "N",
	  .help = "frames kept of a stack (127)",
	  .store = store_number,
	  FIELD(stack_depth),
	  .min = 1,
	  .max = STACK_FRAMES_MAX },
	{ .name = "call-graph",
	  .argument = "HOW",
	  .help = "how to follow stacks: dwarf (unwind tables), fp",
	  .store = store_word,
	  FIELD(call_graph),
	  .words = call_graph_words },
	{ .name = "debug-dir",
	  .argument = "DIR",
	  .help = "separate debug files are looked for here first",
	  .store = store_text,
	  FIELD(debug_directory) },
	{ .name = "debuginfod",
	  .help = "ask the servers of $DEBUGINFOD_URLS for debug files",
	  .store = store_true,
	  FIELD(debuginfod) },
	{ .name = "no-return-probes",
	  .help = "change no return address of the traced; slower",
	  .store = store_true,
	  FIELD(no_return_probes),
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "force",
	  .help = "trace processes that the probes may kill, too",
	  .store = store_true,
	  FIELD(force) },
	{ .name = "fail-over",
	  .argument = "SIZE",
	  .help = "exit status 1 if more than SIZE is in use at the end",
	  .store = store_size,
	  FIELD(fail_over) },
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FILE",
	  .help = "reports go to FILE; %p = PID, %t = time, %h = host",
	  .store = store_output },
	{ .name = "format",
	  .argument = "FORMAT",
	  .help = "how a report is written, see Formats",
	  .store = store_format },
	{ .name = "json",
	  .letter = 'j',
	  .help = "the same as --format json",
	  .store = store_format },
	{ .name = "folded",
	  .letter = 'f',
	  .help = "the same as --format folded",
	  .store = store_format },
	{ .name = "color",
	  .argument = "WHEN",
	  .help = "auto (default), always, never",
	  .store = store_word,
	  FIELD(color),
	  .words = color_words,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "quiet",
	  .letter = 'q',
	  .help = "no messages but errors and the line that says ready",
	  .store = store_value,
	  FIELD(level),
	  .value = LOG_ERROR,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "verbose",
	  .letter = 'v',
	  .help = "more messages, longer reports; with -h, more options",
	  .store = store_value,
	  FIELD(level),
	  .value = LOG_VERBOSE,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "version",
	  .letter = 'V',
	  .help = "print the version",
	  .store = store_value,
	  FIELD(action),
	  .value = ACTION_VERSION,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "help",
	  .letter = 'h',
	  .help = "print this text",
	  .store = store_value,
	  FIELD(action),
	  .value = ACTION_HELP,
	  .flags = OPTION_ANY_COMMAND },
	{ .name = "seccomp",
	  .argument = "WHAT",
	  .help = "what filters do to the probed: auto, safe, fatal",
	  .store = store_word,
	  FIELD(seccomp),
	  .words = seccomp_words,
	  .flags = OPTION_ANY_COMMAND | OPTION_TESTING },
	{ .name = "probe-at-entry",
	  .help = "probe first instructions, however slow they are",
	  .store = store_true,
	  FIELD(probe_at_entry),
	  .flags = OPTION_ANY_COMMAND | OPTION_TESTING },
	{ .name = "backend",
	  .argument = "NAME",
	  .help = "how to attach: auto, session, multi, perf, ioctl",
	  .store = store_word,
	  FIELD(backend),
	  .words = backend_words,
	  .flags = OPTION_ANY_COMMAND | OPTION_TESTING },
};

const struct option_row *options_table(size_t *ret_count)
{
	*ret_count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

void options_set_defaults(struct options *options)
{
	*options = (struct options){
		.top = 10,
		.max_size = UINT64_MAX,
		.stack_depth = STACK_FRAMES_MAX,
		.fail_over = UINT64_MAX,
		.format = render_format_find("text"),
		.level = LOG_NOTICE,
	};
}
