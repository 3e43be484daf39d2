/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some objects of each class, and who holds them: the ways that most of them have. */
#ifndef OBJECTS_RUBY_SAMPLES_H
#define OBJECTS_RUBY_SAMPLES_H

#include "model/memory_report.h"
#include "objects/ruby_holders.h"
#include "objects/ruby_keep.h"

struct ruby_rows {
	/* The position in the runtime's classes of an object's class; SIZE_MAX = it is not wanted. */
	size_t (*find)(void *context, const struct ruby_slot *slot);
	void *context;
	size_t count; /* positions are below */
	/* Of classes of which objects are retained, only those are samples; NULL = of none. */
	const struct ruby_keep *keep;
};

/* Fill in the holders of the first rows->count classes. With `samples` strings that are keys are shown. */
void ruby_samples_hold(const struct ruby_holders *holders, const struct ruby_rows *rows,
		       bool samples, struct memory_runtime *runtime);

#endif
