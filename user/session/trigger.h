/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When what processes do asks for a report: conditions over readings of their memory, which are the caller's to take. A
 * condition fires when it becomes true, at the first reading too, and again only after it was false: below three quarters of its
 * limit. Pure.
 */
#ifndef SESSION_TRIGGER_H
#define SESSION_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_RSS, /* the resident memory has reached a size */
	TRIGGER_GROWTH, /* it is so much more than it was some time ago */
	TRIGGER_OOM, /* a process was killed, because memory has run out */
	TRIGGER_SIGNAL, /* the user has asked for it */
	TRIGGER_KINDS,
};

/* "when-rss", as the options are called. */
extern const char *const trigger_words[TRIGGER_KINDS];

/* 0 = no such condition. */
struct trigger_limits {
	uint64_t rss_bytes;
	uint64_t growth_bytes, growth_ns;
};

/* Readings that are kept of the time over which growth is counted: so many steps of it. */
#define TRIGGER_STEPS 64

struct trigger_reading {
	uint64_t time_ns, rss_bytes;
};

/* Start with the limits, and zeroes. */
struct trigger {
	struct trigger_limits limits;
	uint64_t rss_bytes, grown_bytes; /* of the last reading */
	bool holds[TRIGGER_KINDS]; /* it is true, and not yet false again */
	bool fires[TRIGGER_KINDS];
	uint64_t fired[TRIGGER_KINDS]; /* how often it was taken */
	/* A ring, oldest first: one that is growth_ns old or older, if there is any, and those since. */
	struct trigger_reading past[TRIGGER_STEPS + 2];
	size_t first, count;
};

/*
 * A reading of the resident memory of all processes together. `now_ns` is CLOCK_MONOTONIC. One that fires and is not taken
 * while it is true does not fire any more.
 */
void trigger_read(struct trigger *trigger, uint64_t now_ns, uint64_t rss_bytes);

/* So many processes were killed since the last call. It fires until it is taken; again after a call with 0. */
void trigger_see_kills(struct trigger *trigger, uint64_t kills);

/* The user asks for a report. */
void trigger_ask(struct trigger *trigger);

/* Take the next one that fires. False if none does. */
bool trigger_take(struct trigger *trigger, enum trigger_kind *ret_kind);

#endif
