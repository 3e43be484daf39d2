/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents lost blocks as sites of a snapshot, so that all report formats can show them. */
#ifndef ANALYZE_LEAK_ROWS_H
#define ANALYZE_LEAK_ROWS_H

#include "model/leak_report.h"
#include "model/snapshot.h"

/*
 * Make a snapshot with a site for each group of `report`; its in-use figures are the lost blocks,
 * including those lost through them. Stacks come from `traced`, the snapshot of the trace, or NULL;
 * a group without a stack gets one descriptive frame. Free with snapshot_free.
 */
struct snapshot *leak_rows_build(const struct leak_report *report, const struct snapshot *traced);

/* Append a description of a group without a stack: "lost: 12 of class Parser". */
void leak_rows_describe(const struct leak_group *group, struct buffer *out);

#endif
