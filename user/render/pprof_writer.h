/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a profile as pprof reads it. Each is written as soon as it is first needed: a profile is the sum of what follows each
 * other in its file. So only the keys of what is written are kept.
 */
#ifndef RENDER_PPROF_WRITER_H
#define RENDER_PPROF_WRITER_H

#include "analyze/report.h"
#include "base/strings.h"
#include "base/table.h"
#include "render/gzip.h"
#include "render/ranges.h"

/* The values of a sample: X(type, unit), the order that readers of Go's heap profiles expect. */
#define PPROF_VALUE_LIST(X)       \
	X(alloc_objects, "count") \
	X(alloc_space, "bytes")   \
	X(inuse_objects, "count") \
	X(inuse_space, "bytes")

enum pprof_value {
#define X(type, unit) PPROF_##type,
	PPROF_VALUE_LIST(X)
#undef X
		PPROF_VALUES,
};

/* So many labels may a sample have. */
#define PPROF_LABELS_MAX 16

/* A text; or, with `unit` or without `text`, a number. */
struct pprof_label {
	const char *key, *text, *unit;
	int64_t number;
};

struct pprof_sample {
	const struct report_frame *frames; /* innermost first */
	size_t frame_count;
	const char *leaf; /* inside of the innermost frame; NULL = nothing */
	int64_t values[PPROF_VALUES];
	struct pprof_label labels[PPROF_LABELS_MAX];
	size_t label_count;
};

struct pprof_writer {
	struct gzip gzip;
	struct strings texts, keys;
	struct table text_ids, key_ids; /* by address: position or id */
	uint64_t text_count, function_count, location_count;
	struct ranges ranges; /* of files, which are written at the end */
	bool *named; /* of each range: there are names of functions in it; owned */
	size_t named_count, named_capacity;
	uint64_t *locations; /* of a sample; owned */
	size_t location_capacity;
	struct buffer text;
};

/* Begin to append a profile to `out`, which may be emptied meanwhile. The writer must not move until pprof_writer_end. */
void pprof_writer_begin(struct pprof_writer *writer, struct buffer *out);
/* Untrusted text is escaped, here and below. */
void pprof_writer_add_comment(struct pprof_writer *writer, const char *text);
void pprof_writer_set_time(struct pprof_writer *writer, int64_t wall_time, uint64_t duration_ns);
/* A label; without room for another one nothing happens. Texts must live until the sample is added. */
void pprof_sample_label(struct pprof_sample *sample, const char *key, const char *text);
void pprof_sample_number(struct pprof_sample *sample, const char *key, uint64_t number,
			 const char *unit);
void pprof_writer_add(struct pprof_writer *writer, const struct pprof_sample *sample);
/* Write the files; that of `main_path`, or NULL, is the first one. Frees what the writer has. */
void pprof_writer_end(struct pprof_writer *writer, const char *main_path);

#endif
