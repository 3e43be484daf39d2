/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories of code that is not the application's: distributions, package managers, interpreters.
 * Pure.
 */
#ifndef ANALYZE_PACKAGES_H
#define ANALYZE_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/stack.h"

/*
 * The length of the system directory at the start of the absolute `path`; 0 = none. `kind` is that
 * of the frame.
 */
size_t packages_system_length(const char *path, enum frame_kind kind);

/* Is `path`, relative to an application directory or absolute, in a package directory? */
bool packages_hold(const char *path, enum frame_kind kind);

#endif
