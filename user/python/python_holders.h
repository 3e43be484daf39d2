/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds holders of the objects of a CPython process's largest classes: paths to a global variable,
 * a class, or another end.
 */
#ifndef PYTHON_PYTHON_HOLDERS_H
#define PYTHON_PYTHON_HOLDERS_H

#include "base/strings.h"
#include "model/memory_report.h"
#include "python/python_heap.h"

/*
 * Fill in the holders of the longest objects of `runtime`, and of its classes, as counted in the
 * last walk of `heap`: the `max_classes` largest, and as many of the program's own. Passes stop at
 * `until_ns` (CLOCK_MONOTONIC; 0 = no limit). `samples`: show keys that are texts; names of
 * variables and attributes are always shown. Strings belong to the runtime.
 */
void python_holders_find(struct python_heap *heap, size_t max_classes, uint64_t until_ns,
			 bool samples, struct strings *names, struct memory_runtime *runtime);

#endif
