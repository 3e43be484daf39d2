/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a process, or the title that it has written over it, as ps shows it. */
#ifndef SYSTEM_COMMAND_TEXT_H
#define SYSTEM_COMMAND_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Limit of bytes read. */
#define COMMAND_TEXT_MAX 32768

/*
 * The arguments of a process, separated by blanks. Untrusted bytes. NULL if there are none, or they
 * cannot be read. Unlike a read of /proc/PID/cmdline, never waits for the process. Free with
 * free().
 */
char *command_text_read(pid_t pid);

/*
 * The same from `size` bytes of a process's memory; the first `arguments` bytes originally held its
 * arguments.
 */
char *command_text_parse(const char *bytes, size_t size, size_t arguments);

#endif
