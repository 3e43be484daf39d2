/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of functions that allocate on behalf of others, whatever their names, such as an own
 * malloc or a constructor of strings. Found in the stacks of a snapshot: such a function is
 * innermost in many of them, and has many callers.
 */
#ifndef ANALYZE_WRAPPERS_H
#define ANALYZE_WRAPPERS_H

#include "analyze/frame_view.h"
#include "base/table.h"
#include "model/snapshot.h"

/* {0} = none. Free with wrappers_free. */
struct wrappers {
	struct table frames; /* by module and offset */
};

/*
 * Find the wrappers of a snapshot: native frames that are innermost in stacks in which at least
 * eight different native functions have called them. Then likewise the frames that have called
 * only wrappers, three deep. Sites count whether or not they still hold anything, so during a run
 * a frame only becomes one. Requests the names of callers.
 */
void wrappers_find(struct wrappers *wrappers, const struct snapshot *snapshot,
		   const struct report_names *names);
bool wrappers_have(const struct wrappers *wrappers, const struct frame *frame);
void wrappers_free(struct wrappers *wrappers);

#endif
