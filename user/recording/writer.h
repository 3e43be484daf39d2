/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes snapshots to a recording: one transaction for each, so that a recording which ends in the middle of one, whatever ends it,
 * has all those before. Of what is as it was in the snapshot before, nothing is written.
 */
#ifndef RECORDING_WRITER_H
#define RECORDING_WRITER_H

#include "recording/born_writer.h"
#include "recording/budget_writer.h"
#include "recording/interner.h"
#include "recording/thinner.h"

/* Gives verdicts; {0} = nobody does. */
struct writer_judge {
	/* The word for a site of a snapshot; it is never freed. NULL = none. */
	const char *(*word)(void *context, const struct snapshot *snapshot,
			    const struct snapshot_site *site);
	/* The estimates for a site of a snapshot; false if there are none. NULL = of no site. */
	bool (*estimate)(void *context, const struct snapshot_site *site,
			 struct site_estimate *ret_estimate);
	void *context;
};

struct writer {
	struct database database;
	struct interner interner;
	struct thinner thinner;
	uint64_t interval; /* the last one that was written; 0 = none */
	uint64_t last_whole; /* the last one with all figures */
	uint64_t site_count;
	uint64_t asked; /* the last mark that was asked for, by its id; 0 = none */
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

/* What a recording has of its run, beside intervals. */
struct writer_options {
	struct interner_names names; /* of frames */
	struct writer_judge judge;
	uint64_t min_age_ns, survived; /* as blocks were counted */
	const char *host; /* the name of the machine */
	bool budget; /* snapshots are of --budget */
	uint64_t limit; /* bytes that the file should not exceed; 0 = none */
};

/* Make a recording. Returns 0 or a negative errno with `error` filled. Close with writer_close. */
int writer_open(struct writer *writer, const char *path, const struct writer_options *options,
		struct error *error);

/*
 * Write an interval, which `mark` names unless it is NULL. When it returns 0, the interval stays whatever becomes of this process. Or a negative errno with `error`
 * filled: nothing of the interval was written.
 */
int writer_add(struct writer *writer, const struct snapshot *snapshot, const char *mark,
	       struct error *error);

/*
 * Has another program asked for a mark? The next interval has it, and those that were asked for before. Errors are those of the next
 * writer_add.
 */
bool writer_sees_mark(struct writer *writer);

/* Put everything into the file itself. Returns 0 or a negative errno with `error` filled. Accepts {0}. */
int writer_close(struct writer *writer, struct error *error);

#endif
