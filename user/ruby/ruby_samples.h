/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples some objects of each class, and shows the most frequent paths to their holders. */
#ifndef RUBY_RUBY_SAMPLES_H
#define RUBY_RUBY_SAMPLES_H

#include "model/memory_report.h"
#include "ruby/ruby_holders.h"
#include "ruby/ruby_keep.h"

struct ruby_rows {
	/* The position of an object's class among the runtime's classes; SIZE_MAX = skip it. */
	size_t (*find)(void *context, const struct ruby_slot *slot);
	void *context;
	size_t count; /* upper bound of positions */
	/* Classes with retained objects use only those as samples; NULL = no such information. */
	const struct ruby_keep *keep;
};

/* Fill in the holders of the first rows->count classes. `samples`: show strings that are keys. */
void ruby_samples_hold(const struct ruby_holders *holders, const struct ruby_rows *rows,
		       bool samples, struct memory_runtime *runtime);

#endif
