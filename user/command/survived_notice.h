/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explains what --survived cannot judge. */
#ifndef COMMAND_SURVIVED_NOTICE_H
#define COMMAND_SURVIVED_NOTICE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "model/snapshot.h"

/*
 * Append, as a line without newline, how much memory is in use in processes without a known garbage
 * collector: --survived leaves it out. False if there is none.
 */
bool survived_notice(const struct snapshot *snapshot, struct buffer *out);

#endif
