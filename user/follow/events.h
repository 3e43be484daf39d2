/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a session: the kernel's records of mappings, forks, execs and exits (task events),
 * and the BPF programs' records of new sites and mapping calls. Dispatches each to the parts that
 * handle it.
 */
#ifndef FOLLOW_EVENTS_H
#define FOLLOW_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/bpf_programs.h"
#include "kernel/event_ring.h"
#include "kernel/maps.h"
#include "kernel/sideband.h"
#include "model/mapping_set.h"
#include "follow/follow.h"
#include "follow/site_reader.h"

/* A mapping change of a process that is yet to be handled; MODULE_NONE = no module. */
struct seen_mapping {
	struct process *process;
	uint32_t module;
};

struct events {
	struct follow *follow;
	struct site_reader *reader;
	struct mapping_set *mappings;
	struct event_ring *ring;
	struct sideband *sideband; /* NULL = the kernel grants no task events */
	int epoll; /* over all event sources */
	int timer; /* readable when something is due */
	uint64_t read_until_ns; /* all task events before this time have been read */
	uint64_t fork_ns; /* time of the latest fork record */
	/*
	 * Next poll of /proc for children and mappings; with task events, next check for CPUs that
	 * came online.
	 */
	uint64_t look_ns;
	uint64_t records_lost; /* task events */
	bool is_stopped; /* the command has been stopped at its end */
	uint64_t late_execs; /* as the loss execs_late */
	struct seen_mapping *seen; /* not handled yet */
	size_t seen_count, seen_capacity;
};

/*
 * Open the event sources. All pointers but ring and sideband must be set. Returns 0 or a negative
 * errno with `error` filled.
 */
int events_open(struct events *events, const struct bpf_programs *programs, struct error *error);
/* Accepts a struct that events_open has failed on, and a zeroed one whose descriptors are -1. */
void events_close(struct events *events);

/* Read and handle task events up to now. */
void events_catch_up(struct events *events);

/*
 * If due: poll all processes if there are no task events; otherwise open the rings of CPUs that
 * have come online.
 */
void events_look(struct events *events);

/* Read and handle the records of the BPF programs. */
void events_drain_ring(struct events *events);

/* Have all task events before `time_ns` been read? */
bool events_cover(const struct events *events, uint64_t time_ns);

/*
 * Are there events that were read but not handled? Task events are signalled once, so nothing else
 * would wake the session for them.
 */
bool events_are_unhandled(const struct events *events);

/* Make the descriptor readable at `time_ns`; 0 = never. */
void events_set_timer(const struct events *events, uint64_t time_ns);

#endif
