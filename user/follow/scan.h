/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps probes, unwind tables and interpreters of a process in step with its mappings, and reads
 * these from /proc where the kernel's records are not enough.
 */
#ifndef FOLLOW_SCAN_H
#define FOLLOW_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "discover/process.h"
#include "kernel/interp_table.h"
#include "kernel/unwind_loader.h"
#include "follow/late.h"
#include "follow/probe_set.h"
#include "follow/returns.h"

struct scan {
	struct module_list *modules;
	struct probe_set *probes;
	struct returns *returns;
	struct unwind_loader *unwind; /* NULL = stacks are walked by frame pointers */
	struct interp_table *interps;
	struct late *late;
	const struct log *log;
	bool only_samples; /* no function is probed, only USDT samples */
	/* Probes are not always attached (budget.h), or frees are not probed (light.h) */
	bool in_windows;
};

/* The file of a module that `process` maps or is about to map: see planned_files_plan. */
const struct planned_file *scan_plan(const struct scan *scan, struct process *process,
				     uint32_t module);

/*
 * Probe the functions of a module in a process, unless they are probed there already. Returns 0 or
 * a negative errno with `error` filled.
 */
int scan_probe_module(const struct scan *scan, struct process *process, uint32_t module,
		      struct error *error);

/* The same for a module that was mapped later; logs a message on failure. */
void scan_probe_new_module(const struct scan *scan, struct process *process, uint32_t module);

/* Probe all that a process has mapped. Returns 0 or a negative errno with `error` filled. */
int scan_probe_mapped(const struct scan *scan, struct process *process, struct error *error);

/*
 * The process executes a translator (translator.h) now: take its probes out before any code of the program that it runs
 * is read. Nothing can be done where files are probed for all processes at once.
 */
void scan_leave_translated(const struct scan *scan, struct process *process);

/* The mappings of a process have changed: publish them to the unwinder in BPF. */
void scan_update_unwind(const struct scan *scan, const struct process *process);

/* Check whether the process has mapped an interpreter. */
void scan_see_interpreter(const struct scan *scan, const struct process *process);

/*
 * Probe the places where interpreters free code; without these probes, each look at their code
 * takes longer.
 */
void scan_probe_interpreters(const struct scan *scan);

/* Earliest time at which the mappings of a process may be read again. */
uint64_t scan_due(const struct process *process);

/*
 * Read the mappings of a process again, which existed at `time_ns` at the latest, and handle new
 * ones. False if they were not read, so what is known of them may be old: the process has ended, or
 * has used up its share of time and is marked for later.
 */
bool scan_process(const struct scan *scan, struct process *process, uint64_t time_ns);

#endif
