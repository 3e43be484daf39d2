/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles standard descriptors that were closed at program start. */
#ifndef SYSTEM_STDIO_H
#define SYSTEM_STDIO_H

#include <stdbool.h>

/*
 * Occupy closed standard descriptors before anything else is opened, so that standard output cannot
 * go to another file. Reads and writes still fail with EBADF, and executed programs find them
 * closed. Returns 0 or a negative errno.
 */
int stdio_occupy(void);

/* Is a descriptor writable? An occupied one is not. */
bool stdio_is_writable(int fd);

#endif
