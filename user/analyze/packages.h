/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories with code that is not the application's: of distributions, of package managers, of interpreters. Pure. */
#ifndef ANALYZE_PACKAGES_H
#define ANALYZE_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/stack.h"

/* The length of the system's directory that holds `path`, which is absolute; 0 = none. `kind` is the frame's. */
size_t packages_system_length(const char *path, enum frame_kind kind);

/* Is `path`, which is seen from an application's directory or from the root, in a package's directory? */
bool packages_hold(const char *path, enum frame_kind kind);

#endif
