/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads snapshots from an untrusted recording: contents are checked where they are used, and
 * damage, accidental or malicious, is an error. Writes nothing.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include "base/strings.h"
#include "model/snapshot.h"
#include "model/symbols.h"
#include "recording/database.h"

/* The most sites of an interval: as many stacks as --max-stacks allows. Others are made to take memory. */
#define READER_SITES_MAX (1 << 20)

struct reader {
	struct database database;
	struct module_list modules; /* modules of all frames, by index */
	uint64_t *module_ids; /* their ids in the recording; owned */
	struct table module_indexes; /* the inverse: index + 1 */
	struct table *symbols; /* by module, then by offset: struct symbol_list; owned */
	struct strings strings; /* strings of symbols */
	uint64_t id_seed;
	uint64_t min_age_ns, survived; /* limits by which blocks were counted */
	uint64_t interval_ns; /* INTERVAL; 0 = not known */
	struct query find_symbol;
	struct symbol unnamed_symbol;
	struct symbol_list unnamed;
};

/* A moment of a recording. */
struct moment {
	enum {
		MOMENT_LAST, /* the last interval */
		MOMENT_AFTER, /* a time after the beginning */
		MOMENT_TIME, /* a wall-clock time */
		MOMENT_MARK, /* a mark */
	} kind;
	uint64_t after_ns;
	int64_t time; /* seconds since the epoch */
	const char *mark;
};

/*
 * Parse a moment: "90s" or "5m" after the beginning, "2026-01-31T12:00:00" in local time, or with a
 * trailing Z in UTC, or the name of a mark. `text` must outlive the moment.
 */
struct moment reader_parse_moment(const char *text);

/* Open a recording. Returns 0 or a negative errno with `error` filled (ERROR_USAGE); then `reader` is {0}. Close with reader_close. */
int reader_open(struct reader *reader, const char *path, struct error *error);
/* Accepts {0}, and leaves it. */
void reader_close(struct reader *reader);

/*
 * The interval of a mark, or the one nearest to a time. Returns 0 or a negative errno with `error`
 * filled: -ENOENT if there is none, -ERANGE if the time is after the last interval by more than
 * INTERVAL and a second.
 */
int reader_find(struct reader *reader, const struct moment *moment, uint64_t *ret_interval,
		struct error *error);

/* The snapshot of an interval; free with snapshot_free. Returns 0 or a negative errno with `error` filled. */
int reader_load(struct reader *reader, uint64_t interval, struct snapshot **ret_snapshot,
		struct error *error);

/*
 * The names of a frame of a snapshot of this recording, as of its creation; valid until
 * reader_close. At least one symbol; the first has a hint instead of a name if only that is known.
 */
const struct symbol_list *reader_lookup(struct reader *reader, const struct frame *frame);
/* A hint where to find the name of a frame without one; NULL = unknown. */
const char *reader_hint(struct reader *reader, const struct frame *frame);

#endif
