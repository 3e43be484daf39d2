/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the symbols of a stripped module may be had, by what the root of its process holds. */
#ifndef SYMBOLIZE_MODULE_HINT_H
#define SYMBOLIZE_MODULE_HINT_H

#include "decode/client.h"
#include "model/module.h"

/*
 * A sentence without a full stop, for a module some of whose code has no name, or NULL. What is in the root is read by the
 * worker. If the process has ended, its root has another file at that path by now, or that file's file system asks a server, no
 * distribution is assumed. The name of the module is cut to 100 bytes, and may hold any of them. Free with free().
 */
char *module_hint_new(struct client *client, const struct module *module);

#endif
