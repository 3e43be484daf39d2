/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sites have gained from one moment of a trace in windows to a later one. Pure.
 *
 * It is not the difference of what they had gained since tracing began at each: these two are made of the same windows and divide growth by what is of
 * all the time, so their errors are far greater than what may have changed between. What each heap's class of sizes has grown by is the
 * difference of two censuses, which is counted; and each site's share of it is that of how many more of its blocks, of all that windows have
 * seen until then, are in use. Blocks that are in use at both moments fall out of this, and with them their error: the two counts are
 * anything but independent, and what is left of chance is that of births and deaths between the moments. These are independent of each other, so
 * their variances add up. Blocks of younger age count by the share that comes to one sixteenth of the time between.
 */
#ifndef VERDICT_BUDGET_SINCE_H
#define VERDICT_BUDGET_SINCE_H

#include "verdict/budget_estimate.h"

/* Are both of one trace, `before` the earlier one? Others have nothing that could be subtracted. */
bool budget_since_is_of_one(const struct budget_report *before, const struct budget_report *after);

/*
 * Of a later moment, give all estimates of rows their `since`: it is not known of sites whose heap was not counted at both moments. One whose process was
 * not there has gained all that it has. A cache's blocks may have taken the place of others that are older than tracing, so its limits have none as well.
 */
void budget_since_begin(struct budget_estimates *estimates, const struct budget_report *before);

#endif
