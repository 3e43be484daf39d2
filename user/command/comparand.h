/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison, by name: a moment of a recording, or a JSON report. */
#ifndef COMMAND_COMPARAND_H
#define COMMAND_COMPARAND_H

#include "command/options.h"
#include "model/profile.h"

struct comparand {
	const char *name; /* as the user typed it; not owned */
	char *path; /* owned */
	const char *at; /* the moment, from `name` or given; NULL = the last one */
	bool is_json;
};

/*
 * Interpret a name: a file, or "FILE@MOMENT" if there is no such file, or "@MOMENT" of the file
 * `before`, which was named before it (NULL = none). Returns 0, or -EINVAL with `error` filled.
 * Free with comparand_close.
 */
int comparand_parse(struct comparand *comparand, const char *name, const char *before,
		    struct error *error);
/* Set it to the moment `at` (NULL = the last one) of the recording `path`, called `name`. */
void comparand_set(struct comparand *comparand, const char *name, const char *path, const char *at);
/*
 * The same for --base: a file, with or without a moment, or a moment of the recording `path`, which
 * may begin with '@'.
 */
int comparand_parse_base(struct comparand *comparand, const char *name, const char *path,
			 struct error *error);
void comparand_close(struct comparand *comparand);

/*
 * Read it. Sites of a recording are grouped and filtered as `options` ask. Fills `profile`, which
 * is {0}; free it with profile_free, also after a failure. Returns 0 or a negative errno with
 * `error` filled.
 */
int comparand_read(const struct comparand *comparand, const struct comparand *first,
		   const struct options *options, struct profile *profile, struct error *error);

#endif
