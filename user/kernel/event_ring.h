/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring buffer in which the BPF programs report new sites and mapping calls. */
#ifndef KERNEL_EVENT_RING_H
#define KERNEL_EVENT_RING_H

#include <stddef.h>

struct event_ring;

/*
 * `map`: descriptor of the ring buffer's map. `handle` gets each record and its size. Returns 0 or a negative errno. Free with
 * event_ring_close.
 */
int event_ring_open(int map, void (*handle)(void *context, const void *record, size_t size),
		    void *context, struct event_ring **ret_ring);
/* Accepts NULL. */
void event_ring_close(struct event_ring *ring);

/* A descriptor that is readable when there are records; it stays the ring's. */
int event_ring_fd(const struct event_ring *ring);

/* Handle all records that are there, in the order in which they were written. */
void event_ring_drain(struct event_ring *ring);

#endif
