/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of file systems that ask a server, which may not answer. */
#ifndef SESSION_REMOTE_H
#define SESSION_REMOTE_H

#include <stddef.h>

#include "base/log.h"
#include "kernel/attach.h"
#include "model/module.h"

/*
 * To be called before probes are put in: the kernel reads the file then, while no process of the machine can fork. Returns 0,
 * or a negative errno, with a message, if the file's server must not be asked or does not answer.
 */
int remote_warm(const struct module *module, const struct attach_point *points, size_t count,
		const struct log *log);

#endif
