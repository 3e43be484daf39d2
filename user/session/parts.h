/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a session share: session.c (life cycle), follow.c and select.c (who is traced), events.c (what
 * kernel and programs tell), scan.c (mappings read from /proc), collect.c (snapshots), ended.c (what ended programs held),
 * returns.c (where return probes do harm) and module_gc.c (files that nobody maps any more). Not for others.
 */
#ifndef SESSION_PARTS_H
#define SESSION_PARTS_H

#include <linux/types.h>

#include "interp/jit_names.h"
#include "kernel/attach.h"
#include "kernel/closer.h"
#include "kernel/interp_table.h"
#include "kernel/sideband.h"
#include "kernel/unwind_loader.h"
#include "model/mapping_set.h"
#include "session/session.h"
#include "session/sites.h"
#include "tracer_abi.h"

struct tracer_bpf;
struct ring_buffer;

/* A file whose allocator functions are in the plan, by its true identity: /proc/PID/maps shows another on overlays. */
struct planned_file {
	uint64_t device, inode;
	uint32_t module;
	size_t first, count; /* its probes in the plan */
	uint64_t inner_low,
		inner_high; /* file offsets of the C library's allocator; 0, 0 = it is not here */
	bool samples; /* it tells of samples */
	bool allocates; /* as in struct module */
};

/* A file that is probed in a process. */
struct probed_file {
	uint32_t module;
	struct process *process;
	bool failed; /* it could not be probed, and that was said */
};

/* Where a process has, or had, mapped the code of a file that is probed. */
struct code_place {
	uint32_t module; /* of the planned file */
	uint64_t base; /* address of the file's beginning */
	bool mapped; /* some of it still is */
	bool said_back, said_left; /* that probes were taken out */
};

/* What the session keeps beside a process, at the same position. */
struct process_slot {
	struct attachment attachment;
	struct code_place *places; /* of the program that began at places_of_ns */
	size_t place_count, place_capacity;
	uint64_t places_of_ns;
	bool root; /* it was named by the user: its end may be the end of tracing */
	bool reusable; /* it has ended and nothing of it is left: another process may take its place */
};

/* A process that has come into being or executed another program, and may have to be traced. */
struct birth {
	uint32_t pid;
	uint32_t parent; /* 0 = unknown: an exec */
	bool kin; /* a descendant of one that is traced, and to be followed */
	uint64_t time_ns;
};

/* A program that has ended, with `--keep-exited`. */
struct ended_program {
	const struct process *process; /* NULL = its place has been taken */
	uint64_t until_ns; /* sites that began before are its */
	struct target *target; /* owned */
	bool has_sites;
	/* By source, and for exact figures and estimates: index + 1 of the sum of sites that hold nothing; 0 = none. */
	size_t rest[SOURCE_COUNT][2];
};

/* A site of an ended program. The plan's functions move when new ones come, so a row in store does not point to its. */
struct ended_site {
	struct snapshot_site row; /* with its stack, which is owned; without a function */
	uint32_t function; /* its index in the plan; ENDED_SEVERAL for a sum of sites */
};

#define ENDED_SEVERAL UINT32_MAX

#define SELECT_NOW 1

struct session {
	struct session_options options;
	struct kernel_features features;
	enum backend backend;
	enum return_check returns;
	bool allows_all; /* probes in all processes harm none */
	struct tracer_bpf *bpf;
	struct ring_buffer *ring;
	struct unwind_loader *unwind; /* NULL = stacks are walked by frame pointers */
	struct sideband *sideband; /* NULL = the kernel does not let us listen */
	uint64_t heard_ns; /* all that it told up to then has been heard */
	int epoll; /* over ring and sideband */
	struct plan plan;
	bool gave_up_returns; /* a process has a stack walker, or may switch stacks */
	struct planned_file *files;
	size_t file_count, file_capacity;
	struct probed_file *probed;
	size_t probed_count, probed_capacity;
	struct probed_file
		*seen; /* mappings that the kernel has told of and that are to be handled */
	size_t seen_count, seen_capacity;
	struct attachment attachment; /* probes in all processes of the machine */
	struct closer *closer; /* NULL until tracing begins, or if there can be none */
	struct process **processes;
	struct process_slot *slots;
	size_t process_count, process_capacity, slot_capacity;
	size_t roots_running;
	struct birth *births; /* since the last look */
	size_t birth_count, birth_capacity;
	struct table
		kin; /* pids of descendants of traced processes, whether they are traced or not */
	struct ended_program *ended; /* with keep_exited */
	size_t ended_count, ended_capacity;
	struct ended_site *ended_sites;
	size_t ended_site_count, ended_site_capacity;
	struct interp_table *interps;
	struct jit_names *jit_names;
	int timer; /* readable when an interpreter is to be looked for again */
	struct site_table sites;
	struct mapping_set *mappings;
	bool has_selected; /* the selector has found a process */
	uint64_t select_ns; /* when it is asked again; SELECT_NOW; 0 = never */
	bool has_dead; /* a program has ended: its blocks are to be removed */
	uint64_t bury_ns; /* not before this time */
	uint64_t children_missed; /* that were to be followed */
	uint64_t records_lost; /* of the kernel's own, about processes */
	uint64_t look_ns; /* without the sideband: when children and mappings are looked for */
	bool children_unknown; /* some of them may have told of children */
	size_t recycle_met; /* files that had come when it was looked for unmapped ones */
	size_t recycle_step; /* how many come until the next time */
	uint64_t recycle_ns, recycle_wait_ns; /* not before this time, when something runs out */
	uint64_t recycle_dropped; /* events that were dropped by then */
	bool said_starved;
	uint64_t probes_missing; /* found to be taken out by others */
	size_t guard_next; /* the process whose code is looked at next */
	uint64_t late_execs; /* programs whose first calls were not seen */
	uint64_t files_late, children_late, memory_shared; /* as the losses */
	uint64_t files_unprobed; /* opened, but their servers may not answer the kernel */
	unsigned int late_said; /* files of which that was said */
	struct table sharers; /* of memory_shared: start times by pid */
	uint64_t start_ns; /* CLOCK_MONOTONIC: activation */
};

/* CLOCK_MONOTONIC. */
uint64_t session_now(void);

/* Choose how to attach, then open and load the programs. Both return 0 or a negative errno with `error` filled. */
int session_choose_backend(struct session *session, struct error *error);
int session_load(struct session *session, struct error *error);

/* Probe what a module defines in a process, if it is not probed there yet. */
int session_probe_module(struct session *session, struct process *process, uint32_t module,
			 struct error *error);

/* How probes are attached, and those of a file for a process; NULL = for all. To be freed. */
struct attach_how session_how(const struct session *session);
struct attach_point *session_points(const struct session *session, const struct planned_file *file,
				    const struct process *process);
uint32_t session_process_index(const struct session *session, const struct process *process);

/* A new file of `process` is going to be planned: are return probes a danger there? */
void session_seek_dangers(struct session *session, const struct process *process);
/* Files are going to be probed in `process`. If return probes are a danger now, there are none any more in any process. */
void session_give_up_returns(struct session *session, const struct process *process);

/* Are the probes still in the processes? Put back those that are not. */
void session_check_code(struct session *session);

/* May programs tell of samples? Are functions probed at all? */
bool session_samples(const struct session *session);
bool session_probes_functions(const struct session *session);
/* The tables for samples, before they are made. */
void session_set_up_samples(struct session *session);
/* Tell the programs where the samples of a file stand. */
void session_set_samples(struct session *session, struct planned_file *file);
/* A sample is told of from somewhere in the allocator: the frames there are no part of the stack. */
void session_drop_allocator(const struct session *session, struct known_site *site);

/* Probe where interpreters that were found end code; without, each look at their code takes longer. */
void session_probe_interpreters(struct session *session);

/* The number by which the programs know a process. */
uint32_t session_owner_number(const struct session *session, const struct process *process);

/* Is all known that happened to mappings up to then? */
bool session_has_heard(const struct session *session, uint64_t time_ns);

/* Open the ring and the sideband; handle what they bring. */
int session_watch_open(struct session *session, struct error *error);
void session_watch_close(struct session *session);
/* Probe what a module defines, saying what goes wrong. */
void session_probe_quietly(struct session *session, struct process *process, uint32_t module);
/* The process may have mapped an interpreter. */
void session_see_interpreter(struct session *session, const struct process *process);
/* When the mappings of a process may be read again. */
uint64_t session_scan_due(const struct process *process);
/* Read the mappings of a process again and probe what is new; later if it has had its time for that. */
void session_scan(struct session *session, struct process *process, uint64_t time_ns);

/* Make a site known, reading its record and its stack. NULL if there is no such site. */
struct known_site *session_learn_site(struct session *session, uint64_t key);
/* The same with its record at hand. */
struct known_site *session_learn_record(struct session *session, uint64_t key,
					const struct site *record);
/* The mappings of a process have changed: tell those who walk stacks. */
void session_update_unwind(struct session *session, const struct process *process);

/* Is nothing to be probed in the file of a module, which `process` is going to map? */
bool session_has_nothing(struct session *session, const struct process *process, uint32_t module);

/* A file has got its probes in a process, which may have used it before. */
void session_late_file(struct session *session, struct process *process, uint32_t module);
/* A new process has got its probes; it, or its program, had begun at `since_ns`. */
void session_late_child(struct session *session, struct process *process, uint64_t since_ns);
/* `process` runs in the memory of `parent`: can its calls be seen? */
void session_late_sharer(struct session *session, const struct process *process, uint32_t parent);

/* Read and handle the kernel's records of mappings, forks, execs and exits up to now. */
void session_catch_up(struct session *session);
/* A child of vfork runs in the memory of its parent until it executes a program. False if `parent` is 0. */
bool process_shares_memory(const struct process *process, uint32_t parent);

/* The running process of this pid that is traced, or NULL. */
struct process *session_find_process(const struct session *session, uint32_t pid);
/* Is it traced, or a descendant of one that is? */
bool session_is_kin(const struct session *session, uint32_t pid);
/* Note that a process may have to be traced; do so. */
void session_note_birth(struct session *session, const struct birth *birth);
void session_handle_births(struct session *session);
/* The kernel's telling was lost: note the children that are there. Those that have ended meanwhile are missed. */
void session_find_children(struct session *session);
/*
 * Trace a process, as far as it still is there; its program began at `time_ns`. Takes it over. False if it is not
 * traced.
 */
bool session_follow(struct session *session, struct process *process, uint64_t time_ns, bool root);
/* Are processes to be traced that the selector means? */
bool session_selects(const struct session *session);
/* Are files probed for all processes at once? */
bool session_is_machine_wide(const struct session *session);
/* Files of processes and probes stay open: have as many as may be. An error if that is too few for any process. */
int session_raise_limit(struct session *session, struct error *error);
/* May probes do no harm to processes that have a seccomp filter? */
bool session_filters_allow(struct session *session);
/* Leave the whole machine to probes in each process where the kernel does not let session_tell_owner work. */
void session_check_owners(struct session *session);
/* Tell the programs whose the calls of a process are. */
void session_tell_owner(const struct session *session, const struct process *process);
/* Do what is due, and have session_drain called for what is due next. */
void session_poll(struct session *session);
/* Which processes have ended, at most `limit`: their positions. */
size_t session_find_ended(const struct session *session, uint32_t *positions, size_t limit);
/* They have ended, and all that they have told has been handled. */
void session_end_processes(struct session *session, const uint32_t *positions, size_t count);
/* Nothing is probed in the process; its links are the caller's business. */
void session_forget_probes(struct session *session, const struct process *process);
/* Free all processes, and what is kept of them. */
void session_free_processes(struct session *session);
/* The kernel holds nothing of ended processes any more: their places may be taken. */
void session_reuse_slots(struct session *session);

/* A program of `process` has ended at `time_ns`; remember it if that is wanted. */
void session_keep_program(struct session *session, struct process *process, uint64_t time_ns);
/*
 * Keep a site of an ended program if that is wanted: as it is, taking the stack of `site`, or in the program's sum if it
 * holds nothing.
 */
void session_keep_site(struct session *session, struct known_site *site,
		       const struct snapshot_site *row);
/* The row of a kept site; valid until functions are planned or sites are kept. */
struct snapshot_site session_ended_row(const struct session *session, size_t index);
/* `process` is going to be freed. */
void session_forget_programs(struct session *session, const struct process *process);
void session_free_ended(struct session *session);

/* Close and forget files that no process maps any more, if it is time. Events have been read, and handled, since `now`. */
void session_poll_recycling(struct session *session, uint64_t now);
/* When that has to be done though nothing happens; 0 = need not. */
uint64_t session_recycle_due(struct session *session);
/* What the programs have counted of a loss. */
uint64_t session_loss(const struct session *session, enum loss loss);

/* A report without a site is no news of a process in which nothing can be seen: say so, once. */
void session_tell_unprobed(const struct session *session, size_t position, uint64_t time_ns);

/* Remove the sites and blocks of programs that their processes run no more. */
void session_bury(struct session *session);
/* Does the site belong to the program that its process runs now? */
bool session_site_is_current(const struct known_site *site);

/* remote.c */

/* Say of a module, once, that its file was not opened because of its file system. */
void session_note_unopened(struct session *session, struct module *module);
/*
 * To be called before probes are put in: the kernel reads the file then, while no process of the machine can fork. Returns 0,
 * or a negative errno if the file's server must not be asked or does not answer, which has been said and counted.
 */
int session_warm(struct session *session, const struct module *module,
		 const struct attach_point *points, size_t count);

#endif
