/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens while a session runs: the kernel's records of mappings, forks, execs and exits (task
 * events), and the BPF programs' records of new sites and mapping calls. They are handed to the
 * parts that they concern.
 */
#ifndef SESSION_EVENTS_H
#define SESSION_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/bpf_programs.h"
#include "kernel/event_ring.h"
#include "kernel/maps.h"
#include "kernel/sideband.h"
#include "model/mapping_set.h"
#include "session/follow.h"
#include "session/site_reader.h"

/* A process has mapped a module, MODULE_NONE for none: its mappings have changed. */
struct seen_mapping {
	struct process *process;
	uint32_t module;
};

struct events {
	struct follow *follow;
	struct site_reader *reader;
	struct mapping_set *mappings;
	struct event_ring *ring;
	struct sideband *sideband; /* NULL = the kernel lets us have no task events of a CPU */
	int epoll; /* over all that brings events */
	int timer; /* readable when something is due */
	uint64_t read_until_ns; /* task events of before have been read */
	uint64_t fork_ns; /* time of the youngest record of a fork */
	/* The next poll of /proc for children and mappings; with task events, of the CPUs that are online. */
	uint64_t look_ns;
	uint64_t records_lost; /* task events */
	bool is_stopped; /* the process that is stopped at its end has been */
	uint64_t late_execs; /* programs whose first calls were not seen */
	struct seen_mapping *seen; /* that are yet to be handled */
	size_t seen_count, seen_capacity;
};

/* Open what brings events; all pointers but ring and sideband are set. Returns 0 or a negative errno with `error` filled. */
int events_open(struct events *events, const struct bpf_programs *programs, struct error *error);
/* Accepts what events_open has failed for, and a zeroed one with -1 for the descriptors. */
void events_close(struct events *events);

/* Read and handle task events up to now. */
void events_catch_up(struct events *events);

/* When it is time: look at all processes again if there are no task events, and for CPUs that have come online if there are. */
void events_look(struct events *events);

/* Read and handle the records of the BPF programs. */
void events_drain_ring(struct events *events);

/* Have all task events of before this time been read? */
bool events_cover(const struct events *events, uint64_t time_ns);

/* Is there something that was read and not handled? Task events are reported once: nothing else would wake the session for it. */
bool events_are_unhandled(const struct events *events);

/* Have the descriptor readable at `time_ns`, 0 = never. */
void events_set_timer(const struct events *events, uint64_t time_ns);

#endif
