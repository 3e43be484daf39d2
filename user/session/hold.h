/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that processes are held at while they open them: probes and unwind tables are there before the first instruction runs.
 * What is known already, of the file or of the process, costs nothing here.
 */
#ifndef SESSION_HOLD_H
#define SESSION_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/follow.h"

/*
 * Process `pid` opens a module and waits; with `exec` it executes it: probe what is going to be mapped. The process may have been
 * unknown. False if nothing in the module is ever probed.
 */
bool hold_see_open(struct follow *follow, pid_t pid, uint32_t module, bool exec);

#endif
