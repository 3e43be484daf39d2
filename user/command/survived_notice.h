/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --survived cannot judge, in words. */
#ifndef COMMAND_SURVIVED_NOTICE_H
#define COMMAND_SURVIVED_NOTICE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "model/snapshot.h"

/*
 * Append how much is in use in processes without a garbage collector that is known, as a line without its end: --survived
 * leaves all of it out. False if there is nothing of that.
 */
bool survived_notice(const struct snapshot *snapshot, struct buffer *out);

#endif
