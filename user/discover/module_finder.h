/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that processes have mapped, opened once each as soon as they are seen, so that what is read later is the
 * very file that was mapped, even when it has been replaced or its process has ended. One that the list has closed since is
 * opened again when it is mapped again, if it still is what it was.
 */
#ifndef DISCOVER_MODULE_FINDER_H
#define DISCOVER_MODULE_FINDER_H

#include <stdint.h>
#include <sys/types.h>

#include "model/module.h"
#include "system/proc.h"

/*
 * Index of the module behind a mapping of `pid`; the module is added, opened and its build ID read if it is new. A file
 * that cannot be opened is a module without a descriptor, and so is code of the kernel ("[vdso]"). One that could not be opened
 * because there were too many open files is tried again.
 */
uint32_t module_find_mapping(struct module_list *modules, pid_t pid,
			     const struct proc_mapping *mapping);

/*
 * Index of the module of a file that is going to be mapped by `pid`, whose root it is seen from. It is expected until
 * it is mapped. MODULE_NONE if it cannot be opened or is no regular file.
 */
uint32_t module_find_path(struct module_list *modules, pid_t pid, const char *path);

/*
 * The same for a file that `pid` is opening, by a descriptor of it, which is copied. Its path is as the process sees it. It
 * is not expected.
 */
uint32_t module_find_open(struct module_list *modules, pid_t pid, int fd);

#endif
