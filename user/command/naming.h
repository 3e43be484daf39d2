/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a run's frames, for reports and recordings, and messages about frames without a name. */
#ifndef COMMAND_NAMING_H
#define COMMAND_NAMING_H

#include "analyze/report.h"
#include "base/log.h"
#include "symbolize/symbolizer.h"

struct report_names naming_of(struct symbolizer *symbolizer);

/* Log the symbolizer's problems since the last call. */
void naming_complain(struct symbolizer *symbolizer, const struct log *log);

#endif
