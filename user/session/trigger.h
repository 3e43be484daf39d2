/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions under which processes trigger a report, evaluated over readings of their memory that
 * the caller takes. A condition fires when it becomes true, also at the first reading, and again
 * only after it was false, that is, below three quarters of its limit. Pure.
 */
#ifndef SESSION_TRIGGER_H
#define SESSION_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_RSS, /* resident memory has reached a size */
	TRIGGER_GROWTH, /* resident memory has grown by a size within a time */
	TRIGGER_OOM, /* a process was killed for lack of memory */
	TRIGGER_SIGNAL, /* the user has asked for it */
	TRIGGER_KINDS,
};

/* The names of the options: "when-rss" ... */
extern const char *const trigger_words[TRIGGER_KINDS];

/* 0 = no such condition. */
struct trigger_limits {
	uint64_t rss_bytes;
	uint64_t growth_bytes, growth_ns;
};

/* Readings kept for the growth condition: its time span is divided into this many steps. */
#define TRIGGER_STEPS 64

struct trigger_reading {
	uint64_t time_ns, rss_bytes;
};

/* Initialize with the limits and zeroes. */
struct trigger {
	struct trigger_limits limits;
	uint64_t rss_bytes, grown_bytes; /* from the last reading */
	bool holds[TRIGGER_KINDS]; /* the condition is true and was not false since */
	bool fires[TRIGGER_KINDS];
	uint64_t fired[TRIGGER_KINDS]; /* how often trigger_take returned it */
	/*
	 * A ring, oldest first: one reading that is growth_ns old or older, if any, and all since.
	 */
	struct trigger_reading past[TRIGGER_STEPS + 2];
	size_t first, count;
};

/*
 * Pass in the resident memory of all processes together. `now_ns` is CLOCK_MONOTONIC. A condition
 * that fires but is not taken while it is true stops firing.
 */
void trigger_read(struct trigger *trigger, uint64_t now_ns, uint64_t rss_bytes);

/*
 * Pass in the number of processes killed since the last call. It fires until it is taken, and again
 * only after a call with 0.
 */
void trigger_see_kills(struct trigger *trigger, uint64_t kills);

/* The user asks for a report. */
void trigger_ask(struct trigger *trigger);

/* Take the next condition that fires. False if none does. */
bool trigger_take(struct trigger *trigger, enum trigger_kind *ret_kind);

#endif
