/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translators: programs that run another program's machine code without executing it. They read its instructions from
 * memory, where a probe is a breakpoint: the program that they run is ended by SIGTRAP. So no process of theirs is probed.
 */
#ifndef DISCOVER_TRANSLATOR_H
#define DISCOVER_TRANSLATOR_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The translator whose program file is `exe`, as /proc/PID/exe has it: "valgrind" or "qemu-user", a static string; NULL if
 * it is none. qemu-user is one where it runs code of this architecture: other code's files are not probed.
 */
const char *translator_find(const char *exe);

/* The same of what a process executes now; NULL also if that cannot be read. */
const char *translator_find_of(pid_t pid);

/* Does any process run one? Reads the program's name of all processes. */
bool translator_is_running(void);

#endif
