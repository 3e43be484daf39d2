/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds processes while they open a file, so that its probes and unwind tables are in place before
 * its first instruction runs. Files and processes that are known already are not delayed.
 */
#ifndef FOLLOW_HOLD_H
#define FOLLOW_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "follow/follow.h"

/*
 * Process `pid` is opening a module and waits; `exec`: it executes it. Probe what it is going to
 * map. The process need not be known yet. Returns false if nothing in the module is ever probed.
 */
bool hold_see_open(struct follow *follow, pid_t pid, uint32_t module, bool exec);

#endif
