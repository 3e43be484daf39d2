/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides who owns a file of code: the application, a package, or nobody. By its path as the target
 * sees it.
 */
#ifndef ANALYZE_OWNER_H
#define ANALYZE_OWNER_H

#include "analyze/frame_rules.h"
#include "base/strings.h"
#include "base/table.h"
#include "model/snapshot.h"

/* The greater the value, the more it is the application's. */
enum owner {
	OWNER_UNKNOWN, /* no known file */
	OWNER_PACKAGE, /* a package or the interpreter */
	OWNER_NOBODY, /* evaluated from text, without a file */
	OWNER_OUTSIDE, /* in no directory of a package or of the application */
	OWNER_APP, /* below the working directory, or named by --app */
};

/* The application directories of a target, and a cache of its files. */
struct owner_place {
	const struct target *target;
	char **directories; /* resolved, without the root; each owned */
	size_t directory_count, directory_capacity;
	char **names; /* of --app, for path_has_parts; each owned */
	size_t name_count, name_capacity;
	struct table by_file, by_module; /* struct owned_file */
	struct strings *paths; /* shared by all places */
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

/*
 * The owner of a file of interpreted code, named by its interpreter; the same pointer is the same
 * file.
 */
const struct owned_file *owner_of_file(struct owner_place *place, enum frame_kind kind,
				       const char *file);
/* The owner of a frame's module. */
const struct owned_file *owner_of_module(struct owner_place *place, uint32_t index,
					 const struct module *module);
/* The owner of a native source file, in a module of `owner`, which is not a package. */
enum owner owner_of_source(struct owner_place *place, enum owner owner, const char *file);

#endif
