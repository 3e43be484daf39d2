/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User-defined rules for frames: --hide, --only, and --app. Pure. */
#ifndef ANALYZE_FRAME_RULES_H
#define ANALYZE_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/pattern.h"
#include "model/stack.h"

/* The texts of a frame's function that rules match; NULL = unknown. */
struct frame_text {
	const char *function, *file, *module;
	enum frame_kind kind;
};

/* A regular expression, or a preset, which has one for each field. */
struct frame_rule {
	struct pattern function, file, module;
	struct pattern but; /* exception: files and modules that match this */
	bool any; /* match `function` against all three */
};

struct frame_rule_list {
	struct frame_rule *items;
	size_t count, capacity;
};

struct frame_rules {
	struct frame_rule_list hide, only;
	const char **apps; /* of --app; point into the command line */
	size_t app_count, app_capacity;
};

/*
 * Add a regular expression, or a preset such as "@std". Returns 0, or -EINVAL with `error` filled
 * (ERROR_USAGE). Free with frame_rules_free.
 */
int frame_rules_add(struct frame_rule_list *list, const char *text, struct error *error);
/* Add a directory or module of the application; `text` must outlive the rules. */
void frame_rules_add_app(struct frame_rules *rules, const char *text);
void frame_rules_free(struct frame_rules *rules);

/* Does any rule match? */
bool frame_rules_fit(const struct frame_rule_list *list, const struct frame_text *text);

#endif
