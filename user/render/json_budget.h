/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a JSON report specific to --budget, and survival curves. */
#ifndef RENDER_JSON_BUDGET_H
#define RENDER_JSON_BUDGET_H

#include "analyze/report.h"
#include "render/json_writer.h"

/* The member "estimate" of a site: its growth, blocks, ages and survival curve. */
void json_budget_site(struct json_writer *json, const struct budget_estimates *estimates,
		      const struct report_site *site);

/*
 * The member "tail": how a curve ends, the share that outlives the last age, and whether it is
 * never freed.
 */
void json_budget_tail(struct json_writer *json, const struct survival_tail *tail);
/* The member "survival": the points of a curve. */
void json_budget_survival(struct json_writer *json, const struct survival *survival);

/* A whole number, since no estimate is exact to a fraction of a byte; null if it is not finite. */
void json_budget_number(struct json_writer *json, const char *key, double number);
/* An estimate in such numbers. */
void json_budget_bytes(struct json_writer *json, const char *key, const struct estimate *estimate);
/* A share from 0 to 1, with four digits. */
void json_budget_share(struct json_writer *json, const char *key, double share);
/* A share with its limits; `known` false gives null. */
void json_budget_limits(struct json_writer *json, const char *key, const struct estimate *share,
			bool known);

/* The member "budget" of a report: the cost of tracing, and growth without a site. */
void json_budget(struct json_writer *json, const struct budget_estimates *estimates);

#endif
