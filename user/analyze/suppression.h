/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: lost blocks that are known, by their stacks, in the formats of LeakSanitizer ("leak:PATTERN", a line each) and of memcheck
 * ("{ ... }"), which may stand in one file. Pure.
 */
#ifndef ANALYZE_SUPPRESSION_H
#define ANALYZE_SUPPRESSION_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/leak_report.h"

#define SUPPRESSIONS_MAX (1u << 20) /* bytes of a file */

enum suppression_line_kind {
	SUPPRESSION_ANYWHERE, /* of LeakSanitizer: function, source file or module of any frame */
	SUPPRESSION_FUNCTION, /* "fun:", of the next frame; * and ? are wild */
	SUPPRESSION_MODULE, /* "obj:" */
	SUPPRESSION_SOURCE, /* "src:", with or without a line */
	SUPPRESSION_REST, /* "...": any frames, or none */
};

struct suppression_line {
	enum suppression_line_kind kind;
	char *pattern; /* owned; NULL of SUPPRESSION_REST */
};

struct suppression {
	char *name; /* owned */
	unsigned int verdicts; /* bits by enum leak_verdict */
	struct suppression_line *lines; /* the allocator's function first; owned */
	size_t line_count, line_capacity;
	bool is_of_ruby; /* of the preset: what Ruby allocates for itself; it has no lines */
	struct leak_sum sum; /* of what it has taken out */
};

/* {0} is empty. */
struct suppressions {
	struct suppression *items; /* owned */
	size_t count, capacity;
};

/*
 * Add those of a text, which messages call `what`; those of memcheck that are of other errors than leaks are left out. Returns 0, or -EINVAL
 * with `error` filled (ERROR_USAGE). Free with suppressions_free in any case.
 */
int suppressions_parse(struct suppressions *suppressions, const char *text, const char *what,
		       struct error *error);
/* Add those of a preset: "ruby", "python", "glibc". The same. */
int suppressions_add_preset(struct suppressions *suppressions, const char *name,
			    struct error *error);
/* Does it fit a group with frames? What nobody has seen the stack of, none fits. */
bool suppression_fits(const struct suppression *suppression, const struct leak_group *group);
/* Append one in memcheck's format that fits the group alone, or nothing if it has no stack. */
void suppression_describe(const struct leak_group *group, size_t number, struct buffer *out);
void suppressions_free(struct suppressions *suppressions);

#endif
