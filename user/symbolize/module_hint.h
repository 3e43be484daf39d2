/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests where to get the symbols of a stripped module, judging by the root of its process. */
#ifndef SYMBOLIZE_MODULE_HINT_H
#define SYMBOLIZE_MODULE_HINT_H

#include "decode/client.h"
#include "model/module.h"

/*
 * A sentence without a full stop, for a module with unnamed code, or NULL. The worker reads what is
 * in the root. If the process has ended, its root now has another file at that path, or the file
 * system has a server, no distribution is assumed. The module's name is truncated to 100 untrusted
 * bytes. Free with free().
 */
char *module_hint_new(struct client *client, const struct module *module);

#endif
