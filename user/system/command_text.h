/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments that a process was started with, or the title that it has written over them: what ps shows. */
#ifndef SYSTEM_COMMAND_TEXT_H
#define SYSTEM_COMMAND_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Bytes that are read of it. */
#define COMMAND_TEXT_MAX 32768

/*
 * The arguments of a process with blanks between them: any bytes, which are the process's to choose. NULL if there are none, or
 * they may not be read. Does not wait for the process, as reading /proc/PID/cmdline may. Free with free().
 */
char *command_text_read(pid_t pid);

/* The same from `size` bytes of a process's memory, the first `arguments` of which were its arguments once. */
char *command_text_parse(const char *bytes, size_t size, size_t arguments);

#endif
