/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose code a file is: the application's, a package's, or nobody's. By its path as the target sees it. */
#ifndef ANALYZE_OWNER_H
#define ANALYZE_OWNER_H

#include "analyze/frame_rules.h"
#include "base/strings.h"
#include "base/table.h"
#include "model/snapshot.h"

/* The greater, the more it is the application's. */
enum owner {
	OWNER_UNKNOWN, /* of no file that was asked about */
	OWNER_PACKAGE, /* or the interpreter */
	OWNER_NOBODY, /* code that was made of a text, without a file */
	OWNER_OUTSIDE, /* in no package's directory, and in no known one of the application */
	OWNER_APP, /* below the working directory, or named by --app */
};

/* Of a target: the directories of its application, and the files that were asked about. */
struct owner_place {
	const struct target *target;
	char **directories; /* resolved, without the root; each owned */
	size_t directory_count, directory_capacity;
	char **names; /* of --app, as path_has_parts has them; each owned */
	size_t name_count, name_capacity;
	struct table by_file, by_module; /* struct owned_file */
	struct strings *paths; /* of all places */
};

/* A file of a target. */
struct owned_file {
	enum owner owner;
	const char *path; /* resolved; one of `paths`, or NULL */
};

/* `paths` must outlive the place, and so must `target`. */
void owner_place_open(struct owner_place *place, const struct target *target,
		      const struct frame_rules *rules, struct strings *paths);
void owner_place_close(struct owner_place *place);

/* A file of interpreted code, as its interpreter names it; the same address is the same file. */
const struct owned_file *owner_of_file(struct owner_place *place, enum frame_kind kind,
				       const char *file);
/* A module of a frame. */
const struct owned_file *owner_of_module(struct owner_place *place, uint32_t index,
					 const struct module *module);
/* A source file of native code in a module of `owner`, which is not a package's. */
enum owner owner_of_source(struct owner_place *place, enum owner owner, const char *file);

#endif
