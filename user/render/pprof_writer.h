/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes profiles for pprof. Each part is written when first needed, since a profile is the
 * concatenation of its parts; so only the keys of written parts are kept.
 */
#ifndef RENDER_PPROF_WRITER_H
#define RENDER_PPROF_WRITER_H

#include "analyze/report.h"
#include "base/strings.h"
#include "base/table.h"
#include "render/gzip.h"
#include "render/ranges.h"

/* The values of a sample: X(type, unit), in the order that readers of Go's heap profiles expect. */
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

/* Limit of labels per sample. */
#define PPROF_LABELS_MAX 16

/* A text; or, with `unit` or without `text`, a number. */
struct pprof_label {
	const char *key, *text, *unit;
	int64_t number;
};

struct pprof_sample {
	const struct report_frame *frames; /* innermost first */
	size_t frame_count;
	const char *leaf; /* pseudo-frame inside the innermost frame; NULL = none */
	int64_t values[PPROF_VALUES];
	struct pprof_label labels[PPROF_LABELS_MAX];
	size_t label_count;
};

struct pprof_writer {
	struct gzip gzip;
	struct strings texts, keys;
	struct table text_ids, key_ids; /* by address: position or id of a text */
	uint64_t text_count, function_count, location_count;
	struct ranges ranges; /* ranges of files, which are written at the end */
	bool *named; /* by range: it has named functions; owned */
	size_t named_count, named_capacity;
	uint64_t *locations; /* of the current sample; owned */
	size_t location_capacity;
	struct buffer text;
};

/*
 * Start appending a profile to `out`, which may be emptied meanwhile. The writer must not be moved
 * until pprof_writer_end.
 */
void pprof_writer_begin(struct pprof_writer *writer, struct buffer *out);
/* Untrusted text is escaped, here and below. */
void pprof_writer_add_comment(struct pprof_writer *writer, const char *text);
void pprof_writer_set_time(struct pprof_writer *writer, int64_t wall_time, uint64_t duration_ns);
/* Add a label; ignored when full. Texts must live until the sample is added. */
void pprof_sample_label(struct pprof_sample *sample, const char *key, const char *text);
void pprof_sample_number(struct pprof_sample *sample, const char *key, uint64_t number,
			 const char *unit);
void pprof_writer_add(struct pprof_writer *writer, const struct pprof_sample *sample);
/* Write the files, that of `main_path` (may be NULL) first. Frees the writer. */
void pprof_writer_end(struct pprof_writer *writer, const char *main_path);

#endif
