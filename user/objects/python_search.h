/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for what holds objects of a CPython process: level by level, and over chains in one step. */
#ifndef OBJECTS_PYTHON_SEARCH_H
#define OBJECTS_PYTHON_SEARCH_H

#include "objects/python_graph.h"

/*
 * Search, until all that were added have an end that is a class or a module, or nothing new is found, up to `levels` passes, or
 * `until_ns` (CLOCK_MONOTONIC; 0 = no limit).
 */
void python_search(struct python_graph *graph, unsigned int levels, uint64_t until_ns);

#endif
