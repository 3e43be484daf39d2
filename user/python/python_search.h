/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches for holders of objects of a CPython process: level by level, jumping over chains. */
#ifndef PYTHON_PYTHON_SEARCH_H
#define PYTHON_PYTHON_SEARCH_H

#include "python/python_graph.h"

/*
 * Search until all added objects have an end that is a class or a module, or nothing new is found;
 * at most `levels` passes, and until `until_ns` (CLOCK_MONOTONIC; 0 = no limit).
 */
void python_search(struct python_graph *graph, unsigned int levels, uint64_t until_ns);

#endif
