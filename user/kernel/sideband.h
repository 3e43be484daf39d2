/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's records of executable mappings, execs, forks and exits of all processes, from one perf event per CPU.
 * /proc is read for earlier ones, and where the kernel refuses the event.
 */
#ifndef KERNEL_SIDEBAND_H
#define KERNEL_SIDEBAND_H

#include "base/error.h"
#include "system/perf_ring.h"

struct sideband;

/*
 * Listen on the CPUs that are online, to all processes that the tracer's pid namespace has. To miss nothing,
 * open first and read /proc afterwards. Returns 0 or a negative errno with `error` filled; -EACCES or
 * -EPERM: no permission. Free with sideband_close.
 */
int sideband_open(struct sideband **ret_sideband, struct error *error);
void sideband_close(struct sideband *sideband);

/*
 * Listen on the CPUs that are online now; sideband_drain comes before. Returns 1 if they are others than before: what happened
 * on new ones until now was not reported, so that only /proc knows the state. 0 if they are the same; a negative errno if
 * one of them cannot be listened on. A CPU that went offline and came back between two calls is not noticed.
 */
int sideband_update_cpus(struct sideband *sideband);

/* A descriptor that becomes readable when there is something to drain; it stays the sideband's. */
int sideband_fd(const struct sideband *sideband);

/*
 * Hand over all events there are, those of all CPUs in the order of their times, to `handle`, and return
 * their number. The event and its strings are valid during the call only. Only on a machine that never
 * rests may an event come after one that is younger.
 * SIDEBAND_LOST: events are missing somewhere before this one, so that only /proc knows the state. Most
 * events are of strangers: a handler looks at the pid first.
 */
size_t sideband_drain(struct sideband *sideband,
		      void (*handle)(void *context, const struct sideband_event *event),
		      void *context);

#endif
