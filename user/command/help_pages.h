/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of help texts that do not follow from the tables. */
#ifndef COMMAND_HELP_PAGES_H
#define COMMAND_HELP_PAGES_H

struct help_page {
	const char *command; /* its name */
	const char *usage; /* lines */
	const char *about; /* sentences, in lines */
	/*
	 * Lines, each a command line, at least two blanks, and what it does. The overview includes
	 * the first one.
	 */
	const char *examples;
};

/* The page of a command, or NULL. */
const struct help_page *help_pages_find(const char *command);

#endif
