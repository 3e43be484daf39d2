/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that Ruby allocates for itself, such as the bytes of a string that an extension has made. Pure. */
#ifndef ANALYZE_SUPPRESSION_RUBY_H
#define ANALYZE_SUPPRESSION_RUBY_H

#include "model/leak_report.h"

/*
 * Is it a function of Ruby's that wanted the block? Those that only allocate for their caller, as ruby_xmalloc does, are none. False where frames of the
 * interpreter's own functions are not in the group's stack.
 */
bool suppression_ruby_fits(const struct leak_group *group);

#endif
