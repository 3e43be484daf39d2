/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors 0 to 2, which whoever starts a program may have closed. */
#ifndef SYSTEM_STDIO_H
#define SYSTEM_STDIO_H

#include <stdbool.h>

/*
 * Occupy those that are closed, before anything else is opened: what is written to standard output must not go to
 * another file. Reading and writing them fails with EBADF as before, and a program that is executed finds them closed.
 * Returns 0 or a negative errno.
 */
int stdio_occupy(void);

/* Can a descriptor be written to? It cannot if it was occupied. */
bool stdio_is_writable(int fd);

#endif
