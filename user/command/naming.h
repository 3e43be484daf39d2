/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a run's frames, for outputs and recordings, and messages about those without one. */
#ifndef COMMAND_NAMING_H
#define COMMAND_NAMING_H

#include "analyze/report.h"
#include "base/log.h"
#include "symbolize/symbolizer.h"

struct report_names naming_of(struct symbolizer *symbolizer);

/* Write to `log` what went wrong since the last call. */
void naming_complain(struct symbolizer *symbolizer, const struct log *log);

#endif
