/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference between profiles, site by site. Sites match across processes, restarts and
 * machines if their program, allocator function and every frame match: native code by build ID and
 * offset, or by module and offset without a build ID; interpreted code by function, file and line.
 * Matching sites within one profile are added up.
 */
#ifndef ANALYZE_DIFFERENCE_H
#define ANALYZE_DIFFERENCE_H

#include "verdict/retained.h"
#include "model/profile.h"

#define DIFFERENCE_PROFILES_MAX 3

enum difference_word {
	DIFFERENCE_NEW, /* it held nothing in the first profile */
	DIFFERENCE_GROWN,
	DIFFERENCE_SAME,
	DIFFERENCE_SHRUNK,
	DIFFERENCE_GONE, /* it holds nothing in the last one */
	DIFFERENCE_UNKNOWN, /* a partial profile lacks it */
	DIFFERENCE_UNCERTAIN, /* estimated, and either may be */
	DIFFERENCE_WORDS,
};

struct difference_site {
	const struct profile_row *row; /* from the last profile that has it */
	bool is_rebuilt; /* its files have other build IDs: matched by function names */
	bool listed[DIFFERENCE_PROFILES_MAX]; /* the profile has it */
	bool known[DIFFERENCE_PROFILES_MAX]; /* its figures in that profile are known */
	struct profile_figures figures[DIFFERENCE_PROFILES_MAX];
	/* From the first profile to the last one. */
	enum difference_word word;
	int64_t growth_bytes, growth_objects;
	/* With windows: the same with its limits; growth_bytes is its value. */
	bool estimated;
	struct estimate since;
	struct retained retained; /* with three profiles */
	size_t order; /* order of arrival */
};

struct difference {
	const struct profile *const *profiles; /* not owned */
	size_t profile_count; /* 2 or 3 */
	/*
	 * Ordered by growth; with three profiles by what was retained. Without sites that never
	 * held anything.
	 */
	struct difference_site *sites;
	size_t site_count;
	size_t words[DIFFERENCE_WORDS]; /* number of sites by word */
	size_t rebuilt; /* number of rebuilt sites */
	int64_t growth_bytes, growth_objects; /* sum of all sites */
	bool windows; /* growth is estimated, of all sites of which it is known: */
	struct estimate since;
	bool births_known; /* with three profiles: retained is exact */
	struct retained retained; /* sum of the sites for which it is known */
};

/* "new", "grown", "same", "shrunk", "gone", "unknown", "uncertain" */
const char *difference_word(enum difference_word word);

/* Compare profiles, the earliest first; they must outlive the result. Free with difference_free. */
struct difference *difference_new(const struct profile *const *profiles, size_t count);
void difference_free(struct difference *difference);

#endif
