/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of tracing, in phases: open (programs loaded, nothing probed), add processes, activate
 * (counting starts), snapshots, deactivate, close. The session follows its processes through new
 * libraries, execs and exits. It prints only through the log that it was given.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/history.h"
#include "base/error.h"
#include "base/log.h"
#include "discover/process.h"
#include "discover/selector.h"
#include "kernel/features.h"
#include "kernel/return_check.h"
#include "model/module.h"
#include "model/snapshot.h"
#include "probe/plan.h"
#include "follow/frame_namer.h"

struct decoder;
struct session;

struct session_options {
	uint64_t max_blocks, max_stacks; /* entries of the kernel's tables */
	uint64_t stack_depth; /* frames, 1 to STACK_FRAMES_MAX */
	uint64_t min_size, max_size; /* bytes: other blocks are not recorded */
	uint64_t min_age_ns; /* younger blocks in use are counted separately */
	uint64_t survived; /* so are those that have survived fewer major garbage collections */
	bool tree; /* trace each process with all its descendants; follow_fork is set */
	bool several; /* more than one process will be added */
	bool force; /* probe a process even if its seccomp filter may kill it for that */
	/* The kernel's behaviour in that case; RETURNS_UNCHECKED = test it */
	enum return_check returns;
	bool no_return_probes; /* functions that need a return probe are not seen */
	bool probe_at_entry; /* probe functions at their entry, not at a cheaper instruction */
	bool by_thread; /* separate sites by thread name, which becomes the last frame */
	bool by_frame_pointers; /* stacks are not walked by unwind tables */
	/* Adds current and future processes; NULL = none. Must outlive the session. */
	struct selector *selector;
	bool select_once; /* take only the processes that match at the first hit */
	bool follow_fork; /* children of traced processes are traced, too */
	bool keep_exited; /* keep sites of ended programs in snapshots */
	bool backend_chosen; /* use `backend` or fail; otherwise the best one */
	enum backend backend;
	bool divided; /* probes can be attached and detached in parts */
	/*
	 * Limit of tracing in thousandths of a percent of the targets' CPU time; 0 = no limit: all
	 * calls are traced. Needs `divided`.
	 */
	uint64_t budget;
	/*
	 * With `budget`: targets count as if they used at least this fraction of the time: 4 = a
	 * quarter; 0 = their real CPU time.
	 */
	uint64_t idle_part;
	uint64_t max_window_ns; /* with `budget`: limit of a window, in time of a single thread */
	/*
	 * Do not probe frees; read the blocks in use from the heaps. Needs `divided`, and `usdt`
	 * off.
	 */
	bool light;
	enum usdt_use usdt;
	/*
	 * Stop this process, a child of the caller, by SIGSTOP when it ends itself; 0 = none. The
	 * caller must continue it, even if the caller ends first.
	 */
	pid_t stop_at_end;
	const struct named_list *named; /* functions beyond the table; must outlive the session */
	/* Births are counted between these marks; NULL = they are not. Must outlive the session. */
	const struct marks *marks;
	struct module_list *modules; /* all files are recorded here; must outlive the session */
	struct decoder *decoder; /* reads the files; must outlive the session */
	struct frame_namer names;
	const struct log *log; /* messages while tracing */
};

/* Load the BPF programs. Returns 0, or a negative errno with `error` filled. Free with session_close. */
int session_open(const struct session_options *options, struct session **ret_session,
		 struct error *error);

/* Detach all probes and free everything. Accepts NULL. */
void session_close(struct session *session);

/*
 * Probe a process that the user has named. Takes ownership, also on failure. `paths`,
 * NULL-terminated, lists files that it is going to map; NULL = none. Returns 0 or a negative errno
 * with `error` filled.
 */
int session_add_process(struct session *session, struct process *process, char *const *paths,
			struct error *error);

/*
 * Probe the running processes that the selector matches, and with `tree` the descendants of added
 * ones.
 */
void session_select(struct session *session);

/* Has the selector found a process, traced or not? */
bool session_has_matched(const struct session *session);

/*
 * Has anything been probed? If not, returns -ENOENT and lists in `error` (ERROR_NOTHING) what was
 * searched.
 */
int session_check_probes(const struct session *session, struct error *error);

/*
 * With `light`: can the blocks in use be read from the heap of each process? If not, returns
 * -ENOTSUP with `error` filled.
 */
int session_check_light(const struct session *session, struct error *error);

/* Start and stop counting. Probes stay attached. */
void session_activate(struct session *session);
void session_deactivate(struct session *session);

/*
 * Attach or detach parts of the probes (enum probe_part of probe_set.h) in all current and future
 * processes. At first all are attached. See probe_set_attach and probe_set_detach.
 */
int session_attach_probes(struct session *session, unsigned int parts, struct error *error);
int session_detach_probes(struct session *session, unsigned int parts);

/*
 * Start measuring the cost of tracing: how often probes are hit, and how long their programs run.
 * session_end_measure stops it and returns the price, which snapshots then include. It returns NULL
 * if nothing is measured, or while the cost of a trap is still unknown, unless that takes too long
 * or this is the `last` chance. `ret_reason`: 0, or a negative errno: why that cost is unknown.
 */
void session_measure(struct session *session);
const struct price *session_end_measure(struct session *session, bool last, int *ret_reason);

/*
 * Stop recording and begin to detach all probes for good; the counters stay readable. On a busy machine the rest takes
 * seconds: reports do not wait for it. session_detach returns when the probes are out, session_close does not return
 * before.
 */
void session_detach_begin(struct session *session);
void session_detach(struct session *session);

/*
 * A process is opening a file, `fd`, and waits; `exec`: it executes it. Probe what it is going to
 * map. Returns false if nothing in the file is ever probed.
 */
bool session_see_open(struct session *session, pid_t pid, int fd, bool exec);

/* A descriptor that is readable when session_drain has work; owned by the session. */
int session_fd(const struct session *session);

/* Handle all records that the BPF programs and the kernel have written since the last call. */
void session_drain(struct session *session);

/*
 * Have all named processes ended, and can no other one come? The last process to end still counts;
 * others left the totals when they ended.
 */
bool session_is_over(const struct session *session);
/*
 * Has the process of `stop_at_end` been stopped? It no longer runs, and all its memory is still
 * there.
 */
bool session_is_stopped(const struct session *session);
/* Is the running process with this pid traced? */
bool session_traces(const struct session *session, pid_t pid);
/* Does the running process with this pid map a file that is probed in it? */
bool session_covers(const struct session *session, pid_t pid);
/* The number of processes that are traced now. */
size_t session_running(const struct session *session);
/* Append their pids. */
void session_list(const struct session *session, struct pid_list *list);

/*
 * A snapshot of all counters; it may outlive the session. Free with snapshot_free. Returns 0 or a
 * negative errno.
 */
int session_snapshot(struct session *session, struct snapshot **ret_snapshot);

/* Fill `error` for a snapshot that failed with `code`, which this returns. */
int session_refuse_snapshot(int code, struct error *error);

/*
 * The key of the site that allocated the heap block at `address` of process `pid`, if the record
 * has at most `size` bytes; 0 = unknown.
 */
uint64_t session_find_site(const struct session *session, pid_t pid, uint64_t address,
			   uint64_t size);

/* Add what sites hold now to the history, for verdicts. Cheap: reads no blocks. */
void session_keep_history(struct session *session, struct history *history);

/* The plan and the attach method, for messages. */
const struct plan *session_plan(const struct session *session);
enum backend session_backend(const struct session *session);

#endif
