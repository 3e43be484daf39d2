/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The key that sets a mark while `tracer record` runs on a terminal: Enter, or a name and Enter for
 * a named mark. Does not change the terminal's settings, so nothing must be restored however the
 * program ends. Not used in the background, where the terminal belongs to another job.
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
	MARK_KEY_GONE, /* end of input: stop waiting for the descriptor */
};

/*
 * The terminal on standard input, if the program is in its foreground; else -1. Close with close().
 */
int mark_key_open(void);

/* Call when it is readable: reads one line. For MARK_KEY_NAMED, fills `name`. */
enum mark_key_press mark_key_take(int fd, char name[MARKER_NAME_MAX + 1]);

#endif
