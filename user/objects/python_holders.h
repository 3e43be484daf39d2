/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds the objects of the largest classes of a CPython process: ways to a global variable, a class, or what else keeps them. */
#ifndef OBJECTS_PYTHON_HOLDERS_H
#define OBJECTS_PYTHON_HOLDERS_H

#include "base/strings.h"
#include "model/memory_report.h"
#include "objects/python_heap.h"

/*
 * Fill in the holders of the longest objects of `runtime`, and of its classes, which are those of `heap` as it was walked last: of the `max_classes` largest, and as
 * many of a program's own. Passes over the memory end at `until_ns` (CLOCK_MONOTONIC; 0 = no limit). With `samples` keys that are texts are
 * shown; names of variables and attributes always are. Strings are the runtime's.
 */
void python_holders_find(struct python_heap *heap, size_t max_classes, uint64_t until_ns,
			 bool samples, struct strings *names, struct memory_runtime *runtime);

#endif
