/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many files the tracer may have open: those of processes and probes stay open. */
#ifndef SESSION_FILE_LIMIT_H
#define SESSION_FILE_LIMIT_H

#include <stdbool.h>

#include "base/error.h"
#include "model/module.h"

/*
 * Raise the limit of this process as far as it may, and give `modules` its part; `is_shared`: they are of several processes. Returns 0, or
 * -EMFILE with `error` filled if that is too few for any process.
 */
int file_limit_raise(struct module_list *modules, bool is_shared, struct error *error);

#endif
