/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a run's frames, for reports and recordings, and messages about frames without a name. */
#ifndef COMMAND_NAMING_H
#define COMMAND_NAMING_H

#include "analyze/report.h"
#include "base/log.h"
#include "command/options.h"
#include "symbolize/symbolizer.h"

/* A symbolizer for frames in `modules`, which must outlive it. Free with symbolizer_free. */
struct symbolizer *naming_start(const struct options *options, const struct module_list *modules);

struct report_names naming_of(struct symbolizer *symbolizer);

/* Log the symbolizer's problems since the last call. */
void naming_complain(struct symbolizer *symbolizer, const struct log *log);

#endif
