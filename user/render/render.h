/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders reports: one table of formats, one file per format. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>

#include "analyze/report.h"
#include "base/buffer.h"

/* Size assumed for text if that of the terminal is unknown, or there is none. */
#define RENDER_COLUMNS 80
#define RENDER_LINES 50

#define RENDER_FRAMES_ALL SIZE_MAX

struct render_options {
	int schema; /* JSON: 2 = strings and stacks in tables; 1 or 0 = in place */
	bool color;
	/* The remaining fields are for text. */
	size_t columns, lines; /* size of the terminal; 0 = unknown */
	/* Frames per stack; 0 = as many as let the report fit a screen, all with `verbose` */
	size_t frames;
	bool verbose; /* show the stacks of all rows */
	bool paths; /* no width limit; show modules' paths and build IDs */
	/*
	 * Consumes and empties `out`: called between two sites, since a whole report may not fit
	 * into memory. False = stop: the rest may be left out. NULL = keep everything in `out`.
	 */
	bool (*drain)(void *context, struct buffer *out);
	void *context;
};

struct memory_report;
struct render_memory_options;
struct leak_report;
struct render_leaks_options;
struct difference;
struct render_difference_options;

struct render_format {
	const char *name; /* as in --format */
	const char *ending; /* of names of files that have this format; NULL = none */
	const char *description; /* a line of the help text */
	bool by_line; /* default rows of interpreted processes are lines of the application */
	bool leaks_first; /* unless --sort asks for another order, what is a leak or grows comes first once it is known */
	bool classes; /* rows of a runtime's heap list the classes that have grown */
	/*
	 * A page for people: rows have their application line and history; rows that hold nothing
	 * are omitted.
	 */
	bool page;
	bool timeline; /* for a recording, also read memory in use at all intervals */
	bool all_sites; /* a part of the sites is useless: write all unless -n limits them */
	const char *separator; /* between two reports in a file; NULL = one report per file */
	bool binary; /* not text: refused on terminals */
	/* Append the whole report to `out`. */
	void (*render)(const struct report *report, const struct render_options *options,
		       struct buffer *out);
	/* The same for a watch (report.options.settled); NULL = unsupported. */
	void (*render_watch)(const struct report *report, const struct render_options *options,
			     struct buffer *out);
	/* The same for a report on memory (memory.h); NULL = unsupported. */
	void (*render_memory)(const struct memory_report *report,
			      const struct render_memory_options *options, struct buffer *out);
	/* The same for lost blocks (leaks.h); NULL = shown as sites of a report, by `render`. */
	void (*render_leaks)(const struct leak_report *report,
			     const struct render_leaks_options *options, struct buffer *out);
	/* The same for a difference (difference.h); NULL = unsupported. */
	void (*render_difference)(const struct difference *difference,
				  const struct render_difference_options *options,
				  struct buffer *out);
};

/* The format with a name, or NULL. */
const struct render_format *render_format_find(const char *name);
/* The format that a file name selects by its ending, or NULL. */
const struct render_format *render_format_of_file(const char *path);
/* The table; the last entry has a NULL name. */
const struct render_format *render_format_list(void);

#endif
