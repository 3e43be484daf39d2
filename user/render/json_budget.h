/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a JSON report is there only with --budget, and survival curves. */
#ifndef RENDER_JSON_BUDGET_H
#define RENDER_JSON_BUDGET_H

#include "analyze/report.h"
#include "render/json_writer.h"

/* The member "estimate" of a site: its growth, blocks, ages and survival curve. */
void json_budget_site(struct json_writer *json, const struct budget_estimates *estimates,
		      const struct report_site *site);

/* The member "tail": how a curve ends, what outlives the last age, and whether that is never freed. */
void json_budget_tail(struct json_writer *json, const struct survival_tail *tail);
/* The member "survival": the points of a curve. */
void json_budget_survival(struct json_writer *json, const struct survival *survival);

/* A whole number, since no estimate is good to a fraction of a byte; null if it is not finite. */
void json_budget_number(struct json_writer *json, const char *key, double number);
/* An estimate by such numbers. */
void json_budget_bytes(struct json_writer *json, const char *key, const struct estimate *estimate);
/* A share from 0 to 1, to four digits. */
void json_budget_share(struct json_writer *json, const char *key, double share);
/* A share with its limits; `known` false gives null. */
void json_budget_limits(struct json_writer *json, const char *key, const struct estimate *share,
			bool known);

/* The member "budget" of a report: what tracing has cost, and growth that no site has. */
void json_budget(struct json_writer *json, const struct budget_estimates *estimates);

#endif
