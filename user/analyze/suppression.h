/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: rules that recognize known leaks by their stacks, in the formats of LeakSanitizer
 * ("leak:PATTERN", one per line) and memcheck ("{ ... }"), which can be mixed in a file. Pure.
 */
#ifndef ANALYZE_SUPPRESSION_H
#define ANALYZE_SUPPRESSION_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/leak_report.h"

#define SUPPRESSIONS_MAX (1u << 20) /* bytes of a file */

enum suppression_line_kind {
	SUPPRESSION_ANYWHERE, /* LeakSanitizer: function, source file or module of any frame */
	SUPPRESSION_FUNCTION, /* "fun:", the next frame; * and ? are wildcards */
	SUPPRESSION_MODULE, /* "obj:" */
	SUPPRESSION_SOURCE, /* "src:", with or without a line number */
	SUPPRESSION_REST, /* "...": any frames, or none */
};

struct suppression_line {
	enum suppression_line_kind kind;
	char *pattern; /* owned; NULL for SUPPRESSION_REST */
};

struct suppression {
	char *name; /* owned */
	unsigned int verdicts; /* bits by enum leak_verdict */
	struct suppression_line *lines; /* the allocator's function first; owned */
	size_t line_count, line_capacity;
	bool is_of_ruby; /* preset: allocations of Ruby itself; has no lines */
	struct leak_sum sum; /* of the blocks that it removed */
};

/* {0} is empty. */
struct suppressions {
	struct suppression *items; /* owned */
	size_t count, capacity;
};

/*
 * Parse and add the suppressions of a text, which messages call `what`; skips memcheck's
 * suppressions of errors other than leaks. Returns 0, or -EINVAL with `error` filled (ERROR_USAGE).
 * Free with suppressions_free in either case.
 */
int suppressions_parse(struct suppressions *suppressions, const char *text, const char *what,
		       struct error *error);
/* Likewise for a preset: "ruby", "python", "glibc". */
int suppressions_add_preset(struct suppressions *suppressions, const char *name,
			    struct error *error);
/* Does it match a group? Never matches a group without a stack. */
bool suppression_fits(const struct suppression *suppression, const struct leak_group *group);
/*
 * Append a suppression in memcheck's format that matches just this group; nothing if it has no
 * stack.
 */
void suppression_describe(const struct leak_group *group, size_t number, struct buffer *out);
void suppressions_free(struct suppressions *suppressions);

#endif
