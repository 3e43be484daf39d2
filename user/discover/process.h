/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process to trace: finds it, distinguishes it from a later process with the same pid, and
 * follows its mappings and execs. Only reads /proc; does nothing to the process.
 */
#ifndef DISCOVER_PROCESS_H
#define DISCOVER_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/timed_call.h"
#include "model/address_space.h"
#include "model/module.h"
#include "model/target.h"
#include "system/perf_ring.h"

struct process {
	struct target target;
	uint32_t target_id; /* its number in BPF programs; 0 = not traced yet */
	struct address_space *space;
	uint64_t start_ticks; /* identifies the process together with the pid */
	uint64_t opened_ns; /* CLOCK_MONOTONIC: when it was found */
	/* Since when its children are followed: the time of its own record, or opened_ns. */
	uint64_t follow_ns;
	uint32_t exec_id; /* newest exec_id of a known site */
	uint64_t exec_first_ns; /* time of its first site; 0 = none */
	bool exec_missed; /* there was no record of its exec */
	struct call_patience maps_patience; /* for reading its mappings */
	struct call_patience pss_patience;
	bool is_cut; /* it has more mappings than the limit */
	bool warned_cut;
	uint64_t scan_ns; /* time spent on rereading its mappings */
	bool needs_scan; /* changes of its mappings were missed */
	bool first_thread_ended; /* its other threads run on */
	bool warned_first_thread; /* warned of that */
	bool warned_unprobed; /* warned that nothing in its program can be probed */
	bool is_replaced; /* it has ended, and another process has its pid */
	bool frees_unseen; /* some of its frees are not seen */
	bool probed; /* everything mapped when it was found is probed */
	const char *translator; /* that it executes (translator.h); NULL = none */
	/* It has ended: its remains no longer count, and must be removed from the maps */
	bool to_reap;
};

/*
 * Find a process. Returns 0, or a negative errno with `error` filled: ERROR_TARGET if there is none, ERROR_USAGE for
 * the tracer itself and for kernel threads, ERROR_PERMISSION if it may not be read. Free with process_free.
 */
int process_open(pid_t pid, struct process **ret_process, struct error *error);
void process_free(struct process *process);

/* Returns 0, or -ENOTSUP with `error` filled (ERROR_NOTHING) if a translator runs the program: it may not be probed. */
int process_check_translator(const struct process *process, struct error *error);

/* Count its open descriptors anew. */
void process_count_files(struct process *process);

/*
 * Read its present memory use and number of threads; unknown after its end. `with_pss`: also its
 * PSS, unless it is so large that this would delay it.
 */
void process_read_memory(struct process *process, bool with_pss);

/* Does the process still run? False also if its pid was reused. */
bool process_alive(const struct process *process);

/*
 * Read all its executable mappings into its address space; new files join `modules`. `time_ns`:
 * since when the mappings are known to exist: 0, or the moment before this call. Returns 0 or a
 * negative errno (-ESRCH: it has ended).
 */
int process_scan(struct process *process, struct module_list *modules, uint64_t time_ns);

/* Handle the kernel's record of a new executable mapping. Returns its module, or MODULE_NONE. */
uint32_t process_see_mapping(struct process *process, struct module_list *modules,
			     const struct sideband_event *event);

/* Handle the kernel's record of an exec. */
void process_see_exec(struct process *process, const struct sideband_event *event);

/* An exec without a record, at `time_ns`: leaves its mappings as they are. */
void process_see_program(struct process *process, uint64_t time_ns);

#endif
