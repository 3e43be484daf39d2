/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes snapshots to a recording, each in one transaction, so that a recording interrupted in the
 * middle of one keeps all before. Unchanged values are not written again.
 */
#ifndef RECORDING_WRITER_H
#define RECORDING_WRITER_H

#include "recording/born_writer.h"
#include "recording/budget_writer.h"
#include "recording/interner.h"
#include "recording/thinner.h"

/* Supplies verdicts; {0} = none. */
struct writer_judge {
	/* The word for a site of a snapshot, a static string. NULL = none. */
	const char *(*word)(void *context, const struct snapshot *snapshot,
			    const struct snapshot_site *site);
	/* The estimates for a site of a snapshot; false if there are none. NULL = never any. */
	bool (*estimate)(void *context, const struct snapshot_site *site,
			 struct site_estimate *ret_estimate);
	void *context;
};

struct writer {
	struct database database;
	struct interner interner;
	struct thinner thinner;
	uint64_t interval; /* the last one written; 0 = none */
	uint64_t last_whole; /* the last one with all figures */
	uint64_t site_count;
	uint64_t asked; /* id of the last requested mark; 0 = none */
	struct table sites; /* struct written_site by key, chained */
	struct table processes; /* struct written_process by the id of the target */
	uint64_t loss[LOSS_COUNT];
	struct query begin, commit;
	struct born_writer born;
	struct budget_writer budget;
	struct query add_interval, add_site, add_figures, add_process, add_late, add_loss, add_mark,
		find_marks, set_marks, add_value, add_verdict;
	struct writer_judge judge;
};

/* Properties of the run. */
struct writer_options {
	struct interner_names names; /* names of frames */
	struct writer_judge judge;
	uint64_t min_age_ns, survived; /* limits by which blocks were counted */
	uint64_t interval_ns; /* planned distance of intervals; 0 = none */
	const char *host; /* name of the machine */
	bool budget; /* snapshots come from --budget */
	uint64_t limit; /* size limit of the file, bytes; 0 = none */
};

/* Make a recording. Returns 0 or a negative errno with `error` filled. Close with writer_close. */
int writer_open(struct writer *writer, const char *path, const struct writer_options *options,
		struct error *error);

/*
 * Write an interval, with the mark `mark` unless NULL. After 0, the interval survives whatever
 * happens to this process; otherwise returns a negative errno with `error` filled, and nothing of
 * the interval was written.
 */
int writer_add(struct writer *writer, const struct snapshot *snapshot, const char *mark,
	       struct error *error);

/*
 * Has another program requested a mark? The next interval gets it, and all requested before. The
 * next writer_add reports errors.
 */
bool writer_sees_mark(struct writer *writer);

/*
 * Move everything into the main file, and close. Returns 0 or a negative errno with `error` filled.
 * Accepts {0}.
 */
int writer_close(struct writer *writer, struct error *error);

#endif
