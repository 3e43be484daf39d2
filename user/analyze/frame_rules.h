/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules that the tracer's user has given for frames: --hide, --only, and --app. Pure. */
#ifndef ANALYZE_FRAME_RULES_H
#define ANALYZE_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/pattern.h"
#include "model/stack.h"

/* What of a function of a frame rules may match; NULL = unknown. */
struct frame_text {
	const char *function, *file, *module;
	enum frame_kind kind;
};

/* A regular expression, or a preset, which has one for each of these. */
struct frame_rule {
	struct pattern function, file, module;
	struct pattern but; /* not files and modules that match this */
	bool any; /* `function` is for all three */
};

struct frame_rule_list {
	struct frame_rule *items;
	size_t count, capacity;
};

struct frame_rules {
	struct frame_rule_list hide, only;
	const char **apps; /* of --app, in the command line */
	size_t app_count, app_capacity;
};

/*
 * Add a regular expression, or a preset such as "@std". Returns 0, or -EINVAL with `error` filled (ERROR_USAGE). What was
 * added is freed by frame_rules_free.
 */
int frame_rules_add(struct frame_rule_list *list, const char *text, struct error *error);
/* Add a directory or module of the application; `text` must outlive the rules. */
void frame_rules_add_app(struct frame_rules *rules, const char *text);
void frame_rules_free(struct frame_rules *rules);

/* Does one of the rules fit? */
bool frame_rules_fit(const struct frame_rule_list *list, const struct frame_text *text);

#endif
