/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests a mark from the program that is writing a recording. The request goes through the
 * recording itself: whoever may write to it may mark it, from any namespace, and no process gets an
 * unexpected signal.
 */
#ifndef RECORDING_MARKER_H
#define RECORDING_MARKER_H

#include "recording/database.h"

#define MARKER_NAME_MAX 64 /* bytes of a name */

/* Is it the name of a mark? It is no time, and looks as it is. */
bool marker_is_name(const char *text);

struct marker {
	struct database database;
	uint64_t id; /* id of the mark */
};

/*
 * Request the mark `name`. Returns 0 or a negative errno with `error` filled. Close with
 * marker_close.
 */
int marker_open(struct marker *marker, const char *path, const char *name, struct error *error);

/*
 * Is it set? Returns 1, or 0 if not yet, or a negative errno with `error` filled: -ESRCH if the
 * recording has ended before. `ret_after_ns`: its time after the beginning.
 */
int marker_look(struct marker *marker, uint64_t *ret_after_ns, struct error *error);

/* Accepts {0}. */
void marker_close(struct marker *marker);

#endif
