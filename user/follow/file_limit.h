/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of open files: files of processes and probes stay open while they are traced. */
#ifndef FOLLOW_FILE_LIMIT_H
#define FOLLOW_FILE_LIMIT_H

#include <stdbool.h>

#include "base/error.h"
#include "model/module.h"

/*
 * Raise RLIMIT_NOFILE as far as permitted, and assign `modules` its share; `is_shared`: the modules
 * belong to several processes. Returns 0, or -EMFILE with `error` filled if the limit is too low to
 * trace any process.
 */
int file_limit_raise(struct module_list *modules, bool is_shared, struct error *error);

#endif
