/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process to trace: finds it, distinguishes it from a later process with the same pid, and follows its mappings and
 * execs. Only reads /proc; nothing is done to the process.
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
	uint32_t target_id; /* what the BPF programs know it by; 0 = it is not traced yet */
	struct address_space *space;
	uint64_t start_ticks; /* with the pid, the process's identity */
	uint64_t opened_ns; /* it was found then, CLOCK_MONOTONIC */
	/* Its children are followed since then: the time of its own record, or of opened_ns. */
	uint64_t follow_ns;
	uint32_t exec_id; /* of the newest program that a site is known of */
	uint64_t exec_first_ns; /* its first site; 0 = none is known */
	bool exec_missed; /* there was no record of its exec */
	struct call_patience maps_patience; /* for reading its mappings */
	struct call_patience pss_patience;
	bool is_cut; /* it had more mappings than are read */
	bool warned_cut;
	uint64_t scan_ns; /* time that reading its mappings again has taken */
	bool needs_scan; /* something of its mappings was missed */
	bool first_thread_ended; /* its other threads run on */
	bool warned_first_thread; /* of that */
	bool warned_unprobed; /* that nothing in its program can be probed */
	bool is_replaced; /* it has ended, and another process has its pid */
	bool frees_unseen; /* not all that it frees is seen */
	bool probed; /* all that it had mapped when it was found has its probes */
	const char *translator; /* that it executes (translator.h); NULL = none */
	bool to_reap; /* it has ended: what it held counts no more, and is to be removed from the maps */
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
 * Read what memory and threads it has now; nothing is known of one that has ended. `with_pss`: also its PSS, unless it is so large
 * that this would hold it up.
 */
void process_read_memory(struct process *process, bool with_pss);

/* Does the process still run? False also where its pid means another process now. */
bool process_alive(const struct process *process);

/*
 * Read all its executable mappings into its address space; new files join `modules`. `time_ns` is when the mappings
 * are known to exist since: 0, or the moment before this call. Returns 0 or a negative errno (-ESRCH: it has ended).
 */
int process_scan(struct process *process, struct module_list *modules, uint64_t time_ns);

/* A record of the kernel of a new executable mapping. Returns its module, or MODULE_NONE. */
uint32_t process_see_mapping(struct process *process, struct module_list *modules,
			     const struct sideband_event *event);

/* It runs another program since `time_ns`. */
void process_see_exec(struct process *process, const struct sideband_event *event);

/* The same without a record of the kernel: its mappings are left as they are. */
void process_see_program(struct process *process, uint64_t time_ns);

#endif
