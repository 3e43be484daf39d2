/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that are newer than a pass's list of blocks: their memory was free when the list was made,
 * so the pass takes their words for old ones. A list that grows at its head is led to by such a
 * block only.
 */
#ifndef REACH_REACH_NEWER_H
#define REACH_REACH_NEWER_H

#include "image/image.h"
#include "reach/reach_graph.h"
#include "reach/reach_index.h"

/*
 * Look again at the verdicts of a graph that is marked, with a later list of blocks. What words in
 * newer blocks lead to is reachable, with all that it leads to; what they lead into was not judged,
 * unless it is possibly lost. `index` is that of the pass's blocks. False if there was no time to
 * read all newer blocks: what was not read has held nothing.
 */
bool reach_newer_hold(struct reach_graph *graph, const struct reach_index *index,
		      const struct reach_blocks *now, struct image *image);

#endif
