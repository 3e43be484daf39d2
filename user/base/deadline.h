/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deadlines: times of clock_now_ns(); 0 = never. */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* The deadline `time_ms` milliseconds from now; never 0. */
uint64_t deadline_in_ms(int time_ms);

/* Make `*deadline_ns` the sooner of itself and `other_ns`. */
void deadline_add(uint64_t *deadline_ns, uint64_t other_ns);

/* Has the deadline passed? Not if it is never. */
bool deadline_has_passed(uint64_t deadline_ns);

/*
 * The timeout of a poll() that ends no sooner than the deadline: milliseconds, 0 = it has passed, -1 = never. A wait of more
 * than INT_MAX ms ends early.
 */
int deadline_poll_ms(uint64_t deadline_ns);

#endif
