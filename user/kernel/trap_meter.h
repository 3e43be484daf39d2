/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a trap costs on this host with the session's back end, in a process of the tracer's
 * own, with empty BPF programs at its own functions. It takes some tens of milliseconds in the
 * background.
 */
#ifndef KERNEL_TRAP_METER_H
#define KERNEL_TRAP_METER_H

#include <stdint.h>
#include <sys/types.h>

#include "kernel/features.h"
#include "model/trap_costs.h"

struct trap_meter {
	pid_t pid; /* 0 = none */
	int fd; /* pipe with its results */
	int code; /* negative errno if it could not be started */
};

/* Start measuring; trap_meter_read reports failures. End with trap_meter_close. */
void trap_meter_start(struct trap_meter *meter, enum backend backend,
		      const struct probe_features *traps);

/*
 * The results, once; waits up to `timeout_ms`. Returns 0, -EINPROGRESS if it takes longer, or a
 * negative errno if measuring failed.
 */
int trap_meter_read(struct trap_meter *meter, int timeout_ms, struct trap_costs *ret_costs);

/* Reap the process if it has ended. */
void trap_meter_reap(struct trap_meter *meter);

/* Returns when the process has ended. {0} is closed already. */
void trap_meter_close(struct trap_meter *meter);

#endif
