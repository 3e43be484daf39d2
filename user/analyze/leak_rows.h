/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost blocks as sites of a snapshot, for the formats of reports: their figures are what is lost. */
#ifndef ANALYZE_LEAK_ROWS_H
#define ANALYZE_LEAK_ROWS_H

#include "model/leak_report.h"
#include "model/snapshot.h"

/*
 * A snapshot with a site for each group of `report`: in use is what is lost, with what is lost only through it. Stacks are those of
 * `traced`, the snapshot of the trace, or NULL; groups without one have a frame with what they are. Free with snapshot_free.
 */
struct snapshot *leak_rows_build(const struct leak_report *report, const struct snapshot *traced);

/* "lost: 12 of class Parser", of a group without a stack. */
void leak_rows_describe(const struct leak_group *group, struct buffer *out);

#endif
