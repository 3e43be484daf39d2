/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the files that processes map, each once and as soon as it is seen, so that the very file
 * that was mapped is read later, even if it was replaced or its process has ended. A module that
 * the list has closed is reopened when the same unchanged file is mapped again.
 */
#ifndef DISCOVER_MODULE_FINDER_H
#define DISCOVER_MODULE_FINDER_H

#include <stdint.h>
#include <sys/types.h>

#include "model/module.h"
#include "system/proc.h"

/*
 * The index of the module behind a mapping of `pid`; a new module is added, opened, and its build
 * ID read. A file that cannot be opened becomes a module without descriptor, and so does code of
 * the kernel ("[vdso]"). One that could not be opened for lack of descriptors is tried again.
 */
uint32_t module_find_mapping(struct module_list *modules, pid_t pid,
			     const struct proc_mapping *mapping);

/*
 * The index of the module for a file that `pid` is going to map; the path is relative to its root.
 * The module is `expected` until it is mapped. MODULE_NONE if it cannot be opened or is no regular
 * file.
 */
uint32_t module_find_path(struct module_list *modules, pid_t pid, const char *path);

/*
 * The same for a file that `pid` is opening, from a descriptor, which is duplicated. The path is as
 * the process sees it. The module is not `expected`.
 */
uint32_t module_find_open(struct module_list *modules, pid_t pid, int fd);

#endif
