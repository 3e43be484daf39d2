/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats paths from an object to its root: "[3] of list of 20 <- .items of shop.Cart <- global
 * ['cart'] of module shop".
 */
#ifndef PYTHON_PYTHON_PATH_H
#define PYTHON_PYTHON_PATH_H

#include "base/buffer.h"
#include "python/python_graph.h"

/*
 * Append the path of `count` edges, without the object's own class. Text from the process is made
 * safe for a terminal. `samples`: show all keys that are texts; otherwise only names of variables
 * and attributes.
 */
void python_path_append(struct python_graph *graph, const struct python_edge *edges, size_t count,
			bool samples, struct buffer *text);

#endif
