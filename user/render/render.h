/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports to bytes: one table of formats, one file per format. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>

#include "analyze/report.h"
#include "base/buffer.h"

/* What text is made for where the size of the terminal is not known, or there is none. */
#define RENDER_COLUMNS 80
#define RENDER_LINES 50

#define RENDER_FRAMES_ALL SIZE_MAX

struct render_options {
	int schema; /* JSON: 2 = strings and stacks in tables; 1, or 0, = where they are used */
	bool color;
	/* The rest is for text. */
	size_t columns, lines; /* of the terminal; 0 = not known */
	size_t frames; /* of each stack; 0 = as many as leave the report a screen, with `verbose` all */
	bool verbose; /* the stacks of all rows */
	bool paths; /* any width, with the modules' paths and build IDs */
	/*
	 * Takes what is in `out` and leaves it empty: called between two sites, since a whole report may be more than there is
	 * memory for. False = nobody wants more: the rest may be left out. NULL = all stays in `out`.
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
	const char *description; /* a line of the help text */
	bool by_line; /* of interpreted processes, the rows are lines of the application unless --by asks for others */
	bool leaks_first; /* unless --sort asks for another order, what is a leak or grows comes first once it is known */
	bool classes; /* rows of a runtime's heap have the classes that have grown in it */
	/* A page for people: rows have their line of the application and their history; those that hold nothing are left out. */
	bool page;
	bool timeline; /* of a recording, what was in use at all intervals is read as well */
	bool all_sites; /* a part of the sites is of no use: all are written unless -n limits them */
	const char *separator; /* between two reports in a file; NULL = a file holds one report */
	bool binary; /* no text: not for terminals */
	/* Append the whole report to `out`. */
	void (*render)(const struct report *report, const struct render_options *options,
		       struct buffer *out);
	/* The same of a watch (report.options.settled); NULL = the format has none. */
	void (*render_watch)(const struct report *report, const struct render_options *options,
			     struct buffer *out);
	/* The same of a report on memory (memory.h); NULL = the format has none. */
	void (*render_memory)(const struct memory_report *report,
			      const struct render_memory_options *options, struct buffer *out);
	/* The same of lost blocks (leaks.h); NULL = they are shown as sites of a report, by `render`. */
	void (*render_leaks)(const struct leak_report *report,
			     const struct render_leaks_options *options, struct buffer *out);
	/* The same of a difference (difference.h); NULL = the format has none. */
	void (*render_difference)(const struct difference *difference,
				  const struct render_difference_options *options,
				  struct buffer *out);
};

/* The format of a name, or NULL. */
const struct render_format *render_format_find(const char *name);
/* The table, ended by an entry whose name is NULL. */
const struct render_format *render_format_list(void);

#endif
