/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is compared, by its name: a moment of a recording, or a report in JSON. */
#ifndef COMMAND_COMPARAND_H
#define COMMAND_COMPARAND_H

#include "command/options.h"
#include "model/profile.h"

struct comparand {
	const char *name; /* as the user has it; not owned */
	char *path; /* owned */
	const char *at; /* the moment, in `name` or given; NULL = the last one */
	bool is_json;
};

/*
 * Find out what a name means: a file, or "FILE@MOMENT" where there is no such file, or "@MOMENT" of the file `before`, the one
 * named before it (NULL = none). Returns 0, or -EINVAL with `error` filled. Free with comparand_close.
 */
int comparand_parse(struct comparand *comparand, const char *name, const char *before,
		    struct error *error);
/* The same of what a moment `at` of the recording `path` (NULL = its last one) is called `name`. */
void comparand_set(struct comparand *comparand, const char *name, const char *path, const char *at);
/* The same of --base: a file, with or without a moment, or a moment of the recording `path`, which may begin with '@'. */
int comparand_parse_base(struct comparand *comparand, const char *name, const char *path,
			 struct error *error);
void comparand_close(struct comparand *comparand);

/*
 * Read it: sites of a recording are added up and left out as `options` ask. With estimates of windows, rows have what they have grown by since `first`
 * (NULL = it is the first one), which is a moment of the same recording, or an error. Fills `profile`, which is {0}; free it with profile_free, also
 * after a failure. Returns 0 or a negative errno with `error` filled.
 */
int comparand_read(const struct comparand *comparand, const struct comparand *first,
		   const struct options *options, struct profile *profile, struct error *error);

#endif
