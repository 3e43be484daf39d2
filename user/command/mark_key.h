/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The key that sets a mark while `tracer record` is on a terminal: Enter; with a name before it, a mark of that name. The terminal stays as
 * it is, so nothing has to be undone however the program ends. In the background the terminal is somebody else's.
 */
#ifndef COMMAND_MARK_KEY_H
#define COMMAND_MARK_KEY_H

#include <stddef.h>

#include "recording/marker.h"

enum mark_key_press {
	MARK_KEY_NONE,
	MARK_KEY_NAMELESS, /* Enter alone */
	MARK_KEY_NAMED,
	MARK_KEY_BAD_NAME,
	MARK_KEY_GONE, /* there is no more to come: the descriptor is to be waited for no longer */
};

/* The terminal that standard input is, if the program is in its foreground; else -1. To be closed with close(). */
int mark_key_open(void);

/* To be called when it is readable: one line of it. With MARK_KEY_NAMED, `name` is filled. */
enum mark_key_press mark_key_take(int fd, char name[MARKER_NAME_MAX + 1]);

#endif
