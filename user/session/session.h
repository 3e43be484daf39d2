/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of tracing, in phases: open (programs loaded, nothing probed), add processes, activate (from here on
 * everything is counted), snapshots, deactivate, close. The session follows its processes through new libraries,
 * execs and their end. It prints nothing except through the log it was given.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/history.h"
#include "base/error.h"
#include "base/log.h"
#include "discover/process.h"
#include "discover/selector.h"
#include "kernel/features.h"
#include "kernel/return_check.h"
#include "model/module.h"
#include "model/snapshot.h"
#include "probe/plan.h"
#include "session/frame_namer.h"

struct decoder;
struct session;

struct session_options {
	uint64_t max_blocks, max_stacks; /* entries of the kernel's tables */
	uint64_t stack_depth; /* frames, 1 to STACK_FRAMES_MAX */
	uint64_t min_size, max_size; /* bytes: other blocks are not recorded */
	uint64_t min_age_ns; /* snapshots list younger blocks in use separately */
	uint64_t survived; /* and those that have outlived fewer major garbage collections */
	bool tree; /* with each process all its descendants are traced; follow_fork is set */
	bool several; /* more than one process is going to be added */
	bool force; /* probe processes whose seccomp filter may kill them for it, too */
	enum return_check returns; /* what is known of that; RETURNS_UNCHECKED = find out */
	bool no_return_probes; /* of a function that cannot be probed without, nothing is seen */
	bool probe_at_entry; /* no search for a cheaper instruction */
	bool by_thread; /* sites are of threads of one name, which ends their stacks */
	bool by_frame_pointers; /* stacks are not walked by unwind tables */
	/* Adds current and future processes; NULL = none. Must outlive the session. */
	struct selector *selector;
	bool select_once; /* those that are there when the first is found, and no others */
	bool follow_fork; /* children of traced processes are traced, too */
	bool keep_exited; /* what ended programs held stays in snapshots, as ended sites */
	bool backend_chosen; /* use `backend` or fail; otherwise the best one */
	enum backend backend;
	bool divided; /* probes can be attached and detached in parts */
	/* Thousandths of a percent of the targets' CPU time that tracing may take; 0 = any: all calls are traced. With it, `divided`. */
	uint64_t budget;
	/* With `budget`: targets count as if they took this part of the time at least: 4 = a quarter; 0 = as they are. */
	uint64_t idle_part;
	uint64_t max_window_ns; /* with `budget`: that a window may take of a thread's time */
	/* Frees are not probed: what is in use is read from the heaps, which `divided` probes and `usdt` off go with. */
	bool light;
	enum usdt_use usdt;
	/*
	 * This process, which the caller has started, is stopped where it ends itself, by SIGSTOP; 0 = none. Who lets it go on is the caller, also
	 * if it ends first.
	 */
	pid_t stop_at_end;
	const struct named_list *named; /* functions beyond the table; must outlive the session */
	/* By which snapshots have births, as of each; NULL = they have none. Must outlive the session. */
	const struct marks *marks;
	struct module_list *modules; /* where files are collected; must outlive the session */
	struct decoder *decoder; /* reads them; must outlive the session */
	struct frame_namer names;
	const struct log *log; /* for what is noticed while tracing */
};

/* Load the BPF programs. Returns 0, or a negative errno with `error` filled. Free with session_close. */
int session_open(const struct session_options *options, struct session **ret_session,
		 struct error *error);

/* Take out every probe and free everything. Accepts NULL. */
void session_close(struct session *session);

/*
 * Probe a process that the user has named. The session takes it over, whatever is returned. `paths`, ended by NULL, are
 * files that it is going to map; NULL = none. Returns 0 or a negative errno with `error` filled.
 */
int session_add_process(struct session *session, struct process *process, char *const *paths,
			struct error *error);

/* Probe the processes that the selector means, and with `tree` descendants of those that were added, that run now. */
void session_select(struct session *session);

/* Has the selector found a process, traced or not? */
bool session_has_matched(const struct session *session);

/* Has anything been probed? If not, returns -ENOENT with what was searched in `error` (ERROR_NOTHING). */
int session_check_probes(const struct session *session, struct error *error);

/* With `light`: can what is in use be read from the heap of each process? If not, returns -ENOTSUP with `error` filled. */
int session_check_light(const struct session *session, struct error *error);

/* Begin to count; end it. Probes stay in place. */
void session_activate(struct session *session);
void session_deactivate(struct session *session);

/*
 * Attach or detach parts of the probes (enum probe_part of probe_set.h), of all processes, those that come later included. At
 * first all are attached. See probe_set_attach and probe_set_detach.
 */
int session_attach_probes(struct session *session, unsigned int parts, struct error *error);
int session_detach_probes(struct session *session, unsigned int parts);

/*
 * Measure from now on what tracing costs: how often probes are hit, and how long their programs run. session_end_measure ends
 * this and returns the price, which snapshots have from then on. NULL if nothing is measured, or while the cost of a trap is not
 * known yet, unless that takes too long or this is the `last` chance. `ret_reason`: 0, or why that cost is not known: a negative
 * errno.
 */
void session_measure(struct session *session);
const struct price *session_end_measure(struct session *session, bool last, int *ret_reason);

/* Take out every probe, for good; what was counted stays readable. */
void session_detach(struct session *session);

/*
 * A process opens a file, `fd`, and waits: probe there what is going to be mapped. With `exec` it executes the file.
 * False if nothing in the file is ever probed.
 */
bool session_see_open(struct session *session, pid_t pid, int fd, bool exec);

/* Descriptor that is readable when session_drain has work; it stays the session's. */
int session_fd(const struct session *session);

/* Handle all records of the BPF programs and the kernel since the last call. */
void session_drain(struct session *session);

/*
 * Have all processes ended that the user has named, and can there be no others? What the last of
 * them held still counts; what others held that ended before left the totals when they did.
 */
bool session_is_over(const struct session *session);
/* Has the process that is to be stopped at its end been? Nothing of it runs any more, and all of its memory is there. */
bool session_is_stopped(const struct session *session);
/* Is the running process with this pid traced? */
bool session_traces(const struct session *session, pid_t pid);
/* Processes that are traced now. */
size_t session_running(const struct session *session);
/* Append their pids. */
void session_list(const struct session *session, struct pid_list *list);

/* The state of all counters now; it may outlive the session. Free with snapshot_free. Returns 0 or a negative errno. */
int session_snapshot(struct session *session, struct snapshot **ret_snapshot);

/*
 * The key of the site that holds the block of the heap at `address` of process `pid`, where that is recorded with no more than `size` bytes;
 * 0 = nobody has seen who allocated it.
 */
uint64_t session_find_site(const struct session *session, pid_t pid, uint64_t address,
			   uint64_t size);

/* Keep what sites hold now, for verdicts: cheap, since no block is read. */
void session_keep_history(struct session *session, struct history *history);

/* What is probed, for messages; and how. */
const struct plan *session_plan(const struct session *session);
enum backend session_backend(const struct session *session);

#endif
