/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of file systems that depend on a server, which may not answer. */
#ifndef FOLLOW_REMOTE_H
#define FOLLOW_REMOTE_H

#include <stddef.h>

#include "base/log.h"
#include "kernel/attach.h"
#include "model/module.h"

/*
 * Call before attaching probes: when the kernel reads the file for a probe, no process of the
 * machine can fork until it is done. Returns 0, or a negative errno, with a message, if the file's
 * server must not be asked or does not answer.
 */
int remote_warm(const struct module *module, const struct attach_point *points, size_t count,
		const struct log *log);

#endif
