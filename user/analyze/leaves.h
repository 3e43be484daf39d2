/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that allocated on behalf of a line of the application. */
#ifndef ANALYZE_LEAVES_H
#define ANALYZE_LEAVES_H

#include "analyze/report.h"

/*
 * Fill in the leaves of a row by line, except for lines that allocate themselves. `options` has a
 * judge.
 */
void leaves_fill(struct report_site *to, const struct snapshot_site *site,
		 const struct module_list *modules, const struct report_options *options);

/* Free them. */
void leaves_free(struct report_site *site);

#endif
