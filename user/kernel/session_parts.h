/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a session share: session.c (life cycle), session_watch.c (what kernel and programs tell) and
 * session_collect.c (snapshots). Not for others.
 */
#ifndef KERNEL_SESSION_PARTS_H
#define KERNEL_SESSION_PARTS_H

#include <linux/types.h>

#include "kernel/attach.h"
#include "kernel/interp_table.h"
#include "kernel/session.h"
#include "kernel/sideband.h"
#include "kernel/site_table.h"
#include "kernel/unwind_loader.h"
#include "model/mapping_set.h"
#include "tracer_abi.h"

struct tracer_bpf;
struct ring_buffer;

/* A file whose allocator functions are in the plan, by its true identity: /proc/PID/maps shows another on overlays. */
struct planned_file {
	uint64_t device, inode;
	uint32_t module;
	size_t first, count; /* its probes in the plan */
};

/* A file that is probed in a process. */
struct probed_file {
	uint32_t module;
	struct process *process;
};

struct session {
	struct session_options options;
	struct kernel_features features;
	enum backend backend;
	struct tracer_bpf *bpf;
	struct ring_buffer *ring;
	struct unwind_loader *unwind; /* NULL = stacks are walked by frame pointers */
	struct sideband *sideband; /* NULL = the kernel does not let us listen */
	uint64_t heard_ns; /* all that it told up to then has been heard */
	int epoll; /* over ring and sideband */
	struct plan plan;
	struct planned_file *files;
	size_t file_count, file_capacity;
	struct probed_file *probed;
	size_t probed_count, probed_capacity;
	struct probed_file
		*seen; /* mappings that the kernel has told of and that are to be handled */
	size_t seen_count, seen_capacity;
	struct attachment attachment;
	struct process **processes;
	size_t process_count, process_capacity;
	const struct target **targets; /* of the processes, for snapshots */
	struct interp_table *interps;
	int timer; /* readable when an interpreter is to be looked for again */
	struct site_table sites;
	struct mapping_set *mappings;
	bool has_dead; /* a process has executed another program: blocks of the old one are to be removed */
	uint64_t filtered_bytes; /* of mappings that --min-size and --max-size leave out */
	uint64_t start_ns; /* CLOCK_MONOTONIC: activation */
};

/* CLOCK_MONOTONIC. */
uint64_t session_now(void);

/* Probe what a module defines in a process, if it is not probed there yet. */
int session_probe_module(struct session *session, struct process *process, uint32_t module,
			 struct error *error);

/* The number by which the programs know a process. */
uint32_t session_owner_number(const struct session *session, const struct process *process);

/* Is all known that happened to mappings up to then? */
bool session_has_heard(const struct session *session, uint64_t time_ns);

/* Open the ring and the sideband; handle what they bring. */
int session_watch_open(struct session *session, struct error *error);
void session_watch_close(struct session *session);
/* Read the mappings of a process again and probe what is new. */
void session_scan(struct session *session, struct process *process, uint64_t time_ns);

/* Make a site known, reading its record and its stack. NULL if there is no such site. */
struct known_site *session_learn_site(struct session *session, uint64_t key);
/* The same with its record at hand. */
struct known_site *session_learn_record(struct session *session, uint64_t key,
					const struct site *record);
/* Remove the sites and blocks of programs that their processes run no more. */
void session_bury(struct session *session);
/* Does the site belong to the program that its process runs now? */
bool session_site_is_current(const struct known_site *site);

#endif
