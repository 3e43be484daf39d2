/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trap costs on this host, in the way in which probes are attached: measured in a process of the tracer's own, with empty
 * BPF programs at functions of its own. It lives for some tens of milliseconds and nobody waits for it.
 */
#ifndef KERNEL_TRAP_METER_H
#define KERNEL_TRAP_METER_H

#include <stdint.h>
#include <sys/types.h>

#include "kernel/features.h"
#include "model/trap_costs.h"

struct trap_meter {
	pid_t pid; /* 0 = there is none */
	int fd; /* where it writes what it has measured */
	int code; /* why it could not be started, a negative errno */
};

/* Start to measure; that it cannot is what trap_meter_read returns. End with trap_meter_close. */
void trap_meter_start(struct trap_meter *meter, enum backend backend,
		      const struct probe_features *traps);

/*
 * What was measured, as soon as it is there; wait for up to `timeout_ms`. Once. Returns 0, -EINPROGRESS if it takes
 * longer, or a negative errno if it could not be measured.
 */
int trap_meter_read(struct trap_meter *meter, int timeout_ms, struct trap_costs *ret_costs);

/* Reap the process if it has ended. */
void trap_meter_reap(struct trap_meter *meter);

/* Returns when the process has ended. {0} is closed already. */
void trap_meter_close(struct trap_meter *meter);

#endif
