/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line that shows a user how far something is that takes long: on standard error, if that is a terminal, rewritten each second and wiped
 * out at the end. What takes less than a second shows nothing.
 */
#ifndef COMMAND_PROGRESS_H
#define COMMAND_PROGRESS_H

#include "base/log.h"

/* For the life of the program. With -q, and where nobody would see it, nothing is ever shown, and the calls below do nothing. */
void progress_open(const struct log *log);

/* From now on, until progress_end, something is done that has this name: "looking at the process". */
void progress_begin(const char *what);
/* It has come so far. Nothing happens before progress_begin. */
void progress_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_end(void);

/* Show at once how far something is that goes on beside others; a message may follow, which wipes it out. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
