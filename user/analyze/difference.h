/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between profiles, site by site. A site is the same one in another process, after a restart or on another machine, if
 * its program, its allocator function and each frame are: native code by build ID and offset, or by module and offset without a
 * build ID; code of interpreters by function, file and line. Sites of a profile that are the same so are added up.
 */
#ifndef ANALYZE_DIFFERENCE_H
#define ANALYZE_DIFFERENCE_H

#include "analyze/retained.h"
#include "model/profile.h"

#define DIFFERENCE_PROFILES_MAX 3

enum difference_word {
	DIFFERENCE_NEW, /* it held nothing at first */
	DIFFERENCE_GROWN,
	DIFFERENCE_SAME,
	DIFFERENCE_SHRUNK,
	DIFFERENCE_GONE, /* it holds nothing any more */
	DIFFERENCE_UNKNOWN, /* a profile that is a part lacks it, or its heap was not counted */
	DIFFERENCE_UNCERTAIN, /* estimated, and either may be */
	DIFFERENCE_WORDS,
};

struct difference_site {
	const struct profile_row *row; /* of the last profile that has it */
	bool is_rebuilt; /* its files have other build IDs: known by the names of its functions */
	bool listed[DIFFERENCE_PROFILES_MAX]; /* does the profile have it? */
	bool known[DIFFERENCE_PROFILES_MAX]; /* is it known what it held? */
	struct profile_figures figures[DIFFERENCE_PROFILES_MAX];
	/* From the first profile to the last one. */
	enum difference_word word;
	int64_t growth_bytes, growth_objects;
	/* With windows: the same with its limits; growth_bytes is its value. */
	bool estimated;
	struct estimate since;
	struct retained retained; /* of three profiles */
	size_t order; /* in which rows have come */
};

struct difference {
	const struct profile *const *profiles; /* not owned */
	size_t profile_count; /* 2 or 3 */
	/* What has grown most first, of three what has retained most; none that never held anything. */
	struct difference_site *sites;
	size_t site_count;
	size_t words[DIFFERENCE_WORDS]; /* so many sites */
	size_t rebuilt; /* sites that are */
	int64_t growth_bytes, growth_objects; /* of all */
	bool windows; /* growth is estimated, of all sites of which it is known: */
	struct estimate since;
	bool births_known; /* of three profiles: what is retained is exact */
	struct retained retained; /* of all sites of which it is known */
};

/* "new", "grown", "same", "shrunk", "gone", "unknown", "uncertain" */
const char *difference_word(enum difference_word word);

/* Compare profiles, the earliest first; they must outlive the result. Free with difference_free. */
struct difference *difference_new(const struct profile *const *profiles, size_t count);
void difference_free(struct difference *difference);

#endif
