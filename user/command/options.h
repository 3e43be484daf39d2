/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as a value. command_line.h makes it.
 */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group.h"
#include "analyze/report.h"
#include "base/error.h"
#include "base/log.h"
#include "kernel/features.h"
#include "probe/named.h"
#include "probe/plan.h"

struct command;
struct render_format;

enum options_action {
	ACTION_RUN,
	ACTION_HELP,
	ACTION_VERSION,
	ACTION_COMPLETION,
};

/* What completes command lines. */
enum options_shell {
	SHELL_BASH,
	SHELL_FISH,
	SHELL_ZSH,
};

enum options_color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

/* How probes are attached; anything but the first is for tests. */
enum options_backend {
	BACKEND_AUTO,
	BACKEND_SESSION,
	BACKEND_MULTI,
	BACKEND_PERF,
	BACKEND_IOCTL,
};

/* How stacks are followed. */
enum options_call_graph {
	CALL_GRAPH_DWARF, /* by unwind tables; by frame pointers in processes and machines that have none */
	CALL_GRAPH_FP, /* by frame pointers */
};

/* What probes do to processes that have a seccomp filter; anything but the first is for tests. */
enum options_seccomp {
	SECCOMP_AUTO, /* find out */
	SECCOMP_SAFE,
	SECCOMP_FATAL,
};

/* --frames was not given. */
#define OPTIONS_FRAMES_DEFAULT UINT64_MAX
/* -n was not given. */
#define OPTIONS_TOP_DEFAULT UINT64_MAX

/* Files of --suppressions. */
#define OPTIONS_SUPPRESSIONS_MAX 16
#define OPTIONS_MODULES_MAX 16

struct options {
	/* Unless ACTION_RUN, only `command`, `shell` and `level` have a meaning beside it. */
	enum options_action action;
	enum options_shell shell; /* of ACTION_COMPLETION */
	const struct command *command;

	/* Exactly one of these is given; with `kernel`, none or `pids`. */
	int *pids; /* owned; each once, in the order they were typed */
	size_t pid_count, pid_capacity;
	/* A command to start, NULL-terminated, in the caller's argv; NULL = none. */
	char *const *arguments;

	bool by_pid; /* `pids` are processes, */
	bool tree; /* or those and all of their descendants */
	bool all; /* all processes, now and later */
	/* Processes that meet all of these that are given, now and later. */
	const char *comm; /* a name */
	const char *command_line; /* a regular expression for the arguments */
	const char *cgroup, *container, *unit; /* one that they are in */
	const char *user; /* with `arguments`, whom they run as; NULL = whoever runs the tracer */
	bool waits; /* until there is a process that is selected */
	const char *wait; /* its name, if that is all that selects it */

	bool follow_fork; /* always with `arguments`, unless no_follow_fork */
	bool no_follow_fork;
	bool no_hold; /* opens of `arguments` do not wait for probes */
	bool keep_exited; /* sites of programs that have ended are listed */

	uint64_t duration_ns; /* one report after this time; 0 = no limit */
	uint64_t interval_ns; /* between two reports; 0 = only one, at the end */
	uint64_t count; /* reports until the end; 0 = no limit */

	uint64_t when_rss; /* bytes: a report is made when so much is resident; 0 = none */
	uint64_t when_growth_bytes, when_growth_ns; /* or has grown so fast; 0 = none */
	bool on_oom; /* or a process was killed because memory has run out */
	/* For a shell, on each of these reports, and those of SIGUSR1; NULL = none. */
	const char *exec;

	/* Sites shown; 0 = all; OPTIONS_TOP_DEFAULT until the command has checked it. */
	uint64_t top;
	enum report_sort sort;
	enum group_by by; /* GROUP_BY_DEFAULT until the command has checked it */
	/* Of each stack in a text; 0 = all; OPTIONS_FRAMES_DEFAULT = as many as fit a screen. */
	uint64_t frames;
	struct frame_rules rules; /* of --hide, --only and --app */
	uint64_t budget; /* thousandths of a percent of CPU time that tracing may take; 0 = any */
	uint64_t max_window_ns; /* with it: that a window may take of a thread's time */
	bool light; /* frees are not probed */
	bool kernel; /* the kernel's own memory is traced; with `pids`, what it allocates for these */
	uint64_t min_age_ns; /* 0 = all */
	uint64_t survived; /* major garbage collections outlived at least; 0 = all */
	uint64_t min_size, max_size; /* bytes, both inclusive; max_size UINT64_MAX = no limit */
	/* Entries of the kernel's tables; 0 = what memory allows. */
	uint64_t max_blocks, max_stacks;
	uint64_t stack_depth; /* frames */
	enum options_call_graph call_graph;
	enum usdt_use usdt;
	struct named_list named; /* functions that allocate or free, beyond those that are known */
	uint64_t fail_over; /* bytes in use above which the exit status is 1; UINT64_MAX = never */

	bool fail_on_leak; /* the exit status is 1 if a row is a leak at the end */

	uint64_t deadline_ns; /* of a look at a process's memory */
	uint64_t max_memory; /* of the tracer itself, in bytes */
	uint64_t who; /* an address in a block whose holders are wanted; 0 = none */
	bool objects; /* of runtimes, by class */
	bool samples; /* contents of memory are shown, such as texts that are keys */
	bool huge_pages; /* are read, for how much of them is zeroes */
	bool holders; /* of blocks, also where these are large */
	uint64_t wait_ns; /* for a major collection */
	const char *since; /* a file with an earlier report; NULL = none */

	/* Of lost blocks: bits by enum leak_verdict of those that are shown, and make the exit status 1; 0 = not given. */
	unsigned int show;
	const char *only_modules[OPTIONS_MODULES_MAX]; /* only stacks through one of these files */
	size_t only_module_count; /* 0 = all */
	/* Bits by enum leak_heuristic: which pointers to the inside of a block count. */
	unsigned int heuristics;
	bool has_heuristics; /* they were given */
	const char *suppressions[OPTIONS_SUPPRESSIONS_MAX]; /* files, or presets such as "@ruby" */
	size_t suppression_count;
	bool gen_suppressions; /* one is printed for each row */
	/* A file for the blocks, with which a later look is compared; NULL = none. */
	const char *save;
	bool pause; /* stop the process for a pass that is not quiet */
	uint64_t max_pause_ns;
	const char *leaks_since; /* such a file; NULL = none */

	const char *recording; /* a file to read; NULL = none */
	uint64_t limit; /* bytes that a recording should not exceed; 0 = none */
	const char *mark; /* the name of one to be set in it */
	/* Moments of it; NULL = the last one; the one before which nothing is growth, or NULL = none */
	const char *at, *from;
	/* What is subtracted from a report: a moment of it, or a file; NULL = nothing. */
	const char *base;

	/* What is compared: moments of recordings, or JSON reports, as they are named. */
	const char *compared[3];
	size_t compared_count;

	const char *listen; /* where reports are served; NULL = nowhere */
	const char *otlp; /* a URL to push profiles to; NULL = nowhere */
	uint64_t otlp_interval_ns; /* how often */
	const char *token_file; /* what who asks for them must know is there; NULL = nothing */

	const char *output; /* template for output_expand; NULL = stdout */
	const struct render_format *format; /* never NULL */
	uint64_t schema; /* of JSON */
	bool empty; /* in schema 2, sites that hold nothing are listed, too */
	enum options_color color;
	enum log_level level;
	bool paths; /* -v was given twice */

	const char *debug_directory; /* searched first for separate debug files; NULL = none */
	bool debuginfod; /* ask debuginfod's servers for debug files */
	bool force; /* probe processes that it may kill, too */
	bool no_return_probes; /* read results at functions' exits, or not at all */
	enum options_seccomp seccomp;
	bool probe_at_entry; /* for tests: no search for a cheaper instruction */
	enum options_backend backend;
};

/* The options as they are before the first argument is read. Free with options_free. */
void options_set_defaults(struct options *options);
void options_free(struct options *options);

/* The back end that is chosen; NULL = the best that works. */
const enum backend *options_find_backend(const struct options *options);

/* Does anything but time ask for reports? */
bool options_have_triggers(const struct options *options);

/*
 * Are colours to be used? `terminal`: the report goes to one; `no_color` and `term` are the values
 * of NO_COLOR and TERM, or NULL.
 */
bool options_use_color(enum options_color color, bool terminal, const char *no_color,
		       const char *term);

#endif
