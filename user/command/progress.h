/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress line for long operations: on stderr, if that is a terminal, updated each second and
 * erased at the end. Operations shorter than a second show nothing.
 */
#ifndef COMMAND_PROGRESS_H
#define COMMAND_PROGRESS_H

#include "base/log.h"

/*
 * Set up for the life of the program. With -q, or without a terminal, all functions below do
 * nothing.
 */
void progress_open(const struct log *log);

/* An operation begins; `what` names it: "looking at the process". */
void progress_begin(const char *what);
/* Set the progress text. Ignored outside progress_begin and progress_end. */
void progress_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_end(void);

/* Show progress at once, for an operation in the background. A later message erases it. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
