/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The price of tracing, as text. */
#ifndef COMMAND_PRICE_NOTICE_H
#define COMMAND_PRICE_NOTICE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/log.h"
#include "model/budget_report.h"
#include "model/price.h"
#include "model/trap_costs.h"

/*
 * Append the cost of tracing, as a line without newline. `reason`: the negative errno for which
 * traps could not be measured, else 0. Calls must have been counted.
 */
void price_notice(const struct price *price, int reason, struct buffer *out);

/*
 * Append a warning if a thread spends most of its time in traps; with `light`, of allocations only.
 * False if none does.
 */
bool price_notice_warning(const struct price *price, bool light, struct buffer *out);

/* Log both. */
void price_notice_log(const struct price *price, int reason, bool light, const struct log *log);

/* Log what --budget has cost so far. */
void price_notice_budget(const struct budget_report *report, const struct log *log);

/*
 * Append a paragraph on what a call of a probed function costs on this host, by instruction class.
 */
void price_notice_traps(const struct trap_costs *costs, const char *backend, struct buffer *out);

#endif
