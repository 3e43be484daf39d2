/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes blocks that Ruby allocates for itself, such as the bytes of a string that an extension
 * has made. Pure.
 */
#ifndef ANALYZE_SUPPRESSION_RUBY_H
#define ANALYZE_SUPPRESSION_RUBY_H

#include "model/leak_report.h"

/*
 * Did a function of Ruby itself request the block? Functions that allocate on behalf of their
 * caller, such as ruby_xmalloc, do not count. False if the group's stack lacks the interpreter's
 * own frames.
 */
bool suppression_ruby_fits(const struct leak_group *group);

#endif
