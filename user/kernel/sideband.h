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
 * Open rings on the online CPUs, for all processes of the tracer's pid namespace. Open before
 * reading /proc, to miss nothing. Returns 0 or a negative errno with `error` filled; -EACCES or
 * -EPERM: no permission. Free with sideband_close.
 */
int sideband_open(struct sideband **ret_sideband, struct error *error);
void sideband_close(struct sideband *sideband);

/*
 * Open rings on CPUs that are online now; call sideband_drain first. Returns 1 if the set has
 * changed: events of new CPUs were not recorded until now, so read /proc; 0 if it is unchanged; a
 * negative errno if a ring could not be opened. A CPU that went offline and back between two calls
 * is not noticed.
 */
int sideband_update_cpus(struct sideband *sideband);

/* A descriptor that becomes readable when there are events; owned by the sideband. */
int sideband_fd(const struct sideband *sideband);

/*
 * Pass all events, those of all CPUs in order of time, to `handle`, and return their number. The
 * event and its strings are valid during the call only. Order may be violated only on a machine
 * that is never idle. SIDEBAND_LOST: events before this one are missing, so read /proc. Most events
 * concern unrelated processes: check the pid first.
 */
size_t sideband_drain(struct sideband *sideband,
		      void (*handle)(void *context, const struct sideband_event *event),
		      void *context);

#endif
