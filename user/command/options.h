/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parsed command line; made by command_line.h. */
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

/* Shells with a completion script. */
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

/* How stacks are unwound. */
enum options_call_graph {
	CALL_GRAPH_DWARF, /* by unwind tables; by frame pointers where there are none */
	CALL_GRAPH_FP, /* by frame pointers */
};

/* Assumption about seccomp filters; anything but the first is for tests. */
enum options_seccomp {
	SECCOMP_AUTO, /* test it */
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
	/* Unless this is ACTION_RUN, only `command`, `shell` and `level` are valid. */
	enum options_action action;
	enum options_shell shell; /* for ACTION_COMPLETION */
	const struct command *command;

	/* Exactly one of the following targets is given; with `kernel`, none or `pids`. */
	int *pids; /* owned; without duplicates, as typed */
	size_t pid_count, pid_capacity;
	/* A command to start, NULL-terminated, within the caller's argv; NULL = none. */
	char *const *arguments;

	bool by_pid; /* `pids` names processes, */
	bool tree; /* or process trees: with all descendants */
	bool all; /* all current and future processes */
	/* Current and future processes that match all given criteria. */
	const char *comm; /* a name */
	const char *command_line; /* a regular expression over the arguments */
	const char *cgroup, *container, *unit; /* group, container or unit that they belong to */
	const char *user; /* with `arguments`: user to run as; NULL = the caller */
	bool waits; /* wait until a selected process exists */
	const char *wait; /* its name, if it is the only criterion */

	bool follow_fork; /* implied by `arguments`, unless no_follow_fork */
	bool no_follow_fork;
	bool no_hold; /* do not hold the opens of `arguments` until their probes are in */
	bool keep_exited; /* list sites of ended programs */

	uint64_t duration_ns; /* one report after this time; 0 = no limit */
	uint64_t interval_ns; /* between two reports; 0 = only one, at the end */
	uint64_t count; /* reports until the end; 0 = no limit */

	uint64_t when_rss; /* report when this many bytes are resident; 0 = off */
	uint64_t when_growth_bytes, when_growth_ns; /* report at this growth rate; 0 = off */
	bool on_oom; /* report when a process was killed for lack of memory */
	/* Shell command to run on each triggered report, those of SIGUSR1 included; NULL = none. */
	const char *exec;

	/* Sites shown; 0 = all; OPTIONS_TOP_DEFAULT until the command has checked it. */
	uint64_t top;
	enum report_sort sort;
	enum group_by by; /* GROUP_BY_DEFAULT until the command has checked it */
	/*
	 * Frames shown of each stack in text; 0 = all; OPTIONS_FRAMES_DEFAULT = as many as fit a
	 * screen.
	 */
	uint64_t frames;
	struct frame_rules rules; /* of --hide, --only and --app */
	uint64_t budget; /* CPU time limit of tracing, in thousandths of a percent; 0 = none */
	uint64_t max_window_ns; /* with `budget`: limit of a window, in time of a single thread */
	bool light; /* do not probe frees */
	bool kernel; /* trace the kernel's own memory; with `pids`, on their behalf only */
	uint64_t min_age_ns; /* 0 = all */
	uint64_t survived; /* count only blocks that survived this many major GCs; 0 = all */
	uint64_t min_size, max_size; /* bytes, both inclusive; max_size UINT64_MAX = no limit */
	/* Entries of the kernel's tables; 0 = what memory allows. */
	uint64_t max_blocks, max_stacks;
	uint64_t stack_depth; /* frames */
	enum options_call_graph call_graph;
	enum usdt_use usdt;
	struct named_list named; /* additional allocator functions */
	/* Exit with status 1 above this many bytes in use; UINT64_MAX = never */
	uint64_t fail_over;

	bool fail_on_leak; /* exit with status 1 if a row is a leak at the end */
	/* With `arguments`: exit status for what was found; 0 = that of the command. */
	uint64_t error_exitcode;
	bool has_error_exitcode; /* it was given */

	uint64_t deadline_ns; /* time limit of a look at memory */
	uint64_t max_memory; /* memory limit of the tracer itself, bytes */
	uint64_t who; /* show holders of the block at this address; 0 = none */
	bool objects; /* count objects of runtimes by class */
	bool samples; /* show contents of memory, such as texts that are keys */
	bool huge_pages; /* read huge pages, to find out how much of them is zero */
	bool holders; /* find holders of blocks, even of a large heap */
	uint64_t wait_ns; /* how long to wait for a major garbage collection */
	const char *since; /* file with an earlier report; NULL = none */

	/*
	 * Verdicts of lost blocks, as bits by enum leak_verdict, that are shown and make the exit
	 * status 1; 0 = not given.
	 */
	unsigned int show;
	const char *only_modules[OPTIONS_MODULES_MAX]; /* only stacks through one of these files */
	size_t only_module_count; /* 0 = all */
	/* Bits by enum leak_heuristic: which pointers to the inside of a block count. */
	unsigned int heuristics;
	bool has_heuristics; /* they were given */
	const char *suppressions[OPTIONS_SUPPRESSIONS_MAX]; /* files, or presets such as "@ruby" */
	size_t suppression_count;
	bool gen_suppressions; /* print a suppression for each row */
	/* File to save the blocks in, for later comparison; NULL = none. */
	const char *save;
	bool pause; /* stop the process for a pass, if it is never at rest */
	uint64_t max_pause_ns;
	const char *leaks_since; /* such a file, to compare with; NULL = none */

	const char *recording; /* recording to read; NULL = none */
	uint64_t limit; /* size limit of a recording, bytes; 0 = none */
	const char *mark; /* name of a mark to set in it */
	/*
	 * Moments of it: what to show, NULL = the last one; and where growth begins, NULL = no
	 * growth.
	 */
	const char *at, *from;
	/* Base that is subtracted from a report: a moment, or a file; NULL = none. */
	const char *base;

	/* Names of what to compare: moments of recordings, or JSON reports. */
	const char *compared[3];
	size_t compared_count;

	const char *listen; /* address to serve reports at; NULL = none */
	const char *otlp; /* URL to push profiles to; NULL = none */
	uint64_t otlp_interval_ns; /* interval of pushes */
	const char *token_file; /* file with the token that requests must carry; NULL = none */

	const char *output; /* template for output_expand; NULL = stdout */
	const struct render_format *format; /* never NULL, once parsed */
	uint64_t schema; /* version of the JSON schema */
	bool empty; /* schema 2: include sites that hold nothing */
	enum options_color color;
	enum log_level level;
	bool paths; /* show full paths: -v was given twice */

	const char *debug_directory; /* searched first for debug files; NULL = none */
	bool debuginfod; /* fetch debug files from debuginfod servers */
	bool force; /* probe a process even if its seccomp filter may kill it */
	bool no_return_probes; /* read results at functions' exit instructions only */
	enum options_seccomp seccomp;
	bool probe_at_entry; /* for tests: probe functions at their entry */
	enum options_backend backend;
};

/* Set the defaults. Free with options_free. */
void options_set_defaults(struct options *options);
void options_free(struct options *options);

/* The chosen back end; NULL = the best that works. */
const enum backend *options_find_backend(const struct options *options);

/* Does any trigger besides time request reports? */
bool options_have_triggers(const struct options *options);

/*
 * Should output be coloured? `terminal`: the report goes to one; `no_color` and `term` are the
 * values of NO_COLOR and TERM, or NULL.
 */
bool options_use_color(enum options_color color, bool terminal, const char *no_color,
		       const char *term);

#endif
