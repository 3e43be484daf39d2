/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event loop over descriptors, with signals and timers as descriptors. */
#ifndef SYSTEM_LOOP_H
#define SYSTEM_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A watched descriptor. Must not move until the loop ends. */
struct watch {
	int fd; /* not owned */
	void (*handle)(void *context, struct watch *watch);
	void *context;
};

struct loop {
	int epoll;
	bool stopped;
};

/* Returns 0 or a negative errno with `error` filled. Close with loop_close. */
int loop_open(struct loop *loop, struct error *error);
void loop_close(struct loop *loop);

/* Call watch->handle whenever the descriptor is readable, or broken. Returns 0 or a negative errno. */
int loop_add(struct loop *loop, struct watch *watch);
/* The same, but only on an error or hang-up, as when the reader of a pipe is gone. */
int loop_add_broken(struct loop *loop, struct watch *watch);

/* No longer, also from its own handler. */
void loop_remove(struct loop *loop, struct watch *watch);

/* Run until loop_stop. Returns 0 or a negative errno. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/*
 * Block `signals` (terminated by 0), and return a descriptor that becomes readable when one
 * arrives, or a negative errno. loop_take_signal takes the next one; 0 = none.
 */
int loop_open_signals(const int *signals);
int loop_take_signal(int fd);

/*
 * A descriptor that becomes readable `first_ns` from now, and then every `interval_ns` (0 = only
 * once), or a negative errno. loop_take_ticks takes the number of expirations.
 */
int loop_open_timer(uint64_t first_ns, uint64_t interval_ns);
uint64_t loop_take_ticks(int fd);
/* Rearm such a descriptor to become readable once, `ns` from now; 0 = never. */
void loop_set_timer(int fd, uint64_t ns);

#endif
