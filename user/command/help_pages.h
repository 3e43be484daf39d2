/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the help text of a command has that does not follow from the tables. */
#ifndef COMMAND_HELP_PAGES_H
#define COMMAND_HELP_PAGES_H

struct help_page {
	const char *command; /* its name */
	const char *usage; /* lines */
	const char *about; /* sentences, in lines */
	/* Lines: a command line, two blanks at least, what it does. The overview has the first one, too. */
	const char *examples;
};

/* The page of a command, or NULL. */
const struct help_page *help_pages_find(const char *command);

#endif
