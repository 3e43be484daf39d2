/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal that standard input and output are: the only file that knows ncurses. Whatever way the program ends, but for SIGKILL, the
 * terminal is as it was before.
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
 * Take the terminal over, once for the life of the program: from now on it shows screens. What it takes of files is read now.
 * Returns 0 or a negative errno with `error` filled.
 */
int terminal_open(bool color, struct error *error);

/* Give it back. Does nothing if it is not open. */
void terminal_close(void);

/* The same from a signal handler or another thread, just before the end of the program: by system calls alone. */
void terminal_restore(void);

/* Has it no characters but those of ASCII? */
bool terminal_is_ascii(void);

/* Its size now. */
void terminal_size(size_t *ret_columns, size_t *ret_rows);

void terminal_draw(const struct screen *screen);

/* The next key that was pressed, as view.h has them; VIEW_KEY_NONE if there is none. False if the terminal is gone. */
bool terminal_take_key(uint32_t *ret_key);

/* Stop the program, as Ctrl-Z does, with the terminal as it was before; returns when it goes on. */
void terminal_suspend(void);

#endif
