/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal on standard input and output: the only file that uses ncurses. However the program
 * ends, except by SIGKILL, the terminal is restored.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "top/screen.h"

/* Can a screen be shown at all? Returns 0 or -ENOTTY with `error` filled (ERROR_USAGE). Changes nothing. */
int terminal_check(struct error *error);

/*
 * Take over the terminal, once for the life of the program, to show screens. Reads all files that
 * it needs now. Returns 0 or a negative errno with `error` filled.
 */
int terminal_open(bool color, struct error *error);

/* Restore the terminal. Does nothing if it is not open. */
void terminal_close(void);

/*
 * The same from a signal handler or another thread, just before the program ends: by system calls
 * only.
 */
void terminal_restore(void);

/* Does it support ASCII only? */
bool terminal_is_ascii(void);

/* Its size now. */
void terminal_size(size_t *ret_columns, size_t *ret_rows);

void terminal_draw(const struct screen *screen);

/* Take the next key (see view.h); VIEW_KEY_NONE if there is none. False if the terminal is gone. */
bool terminal_take_key(uint32_t *ret_key);

/* Stop the program as Ctrl-Z does, with the terminal restored; returns when it continues. */
void terminal_suspend(void);

#endif
