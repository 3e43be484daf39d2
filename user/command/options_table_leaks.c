/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of lost blocks: which of them a report is about. */
#include <string.h>

#include "command/options_table.h"
#include "model/leak_report.h"

static int options_table_store_show(const struct option_row *row, const char *text,
				    struct options *options, struct error *error)
{
	static const struct {
		const char *word;
		unsigned int kinds;
	} words[] = { { "definite", 1u << LEAK_DEFINITE },
		      { "possible", 1u << LEAK_POSSIBLE },
		      { "all", 1u << LEAK_DEFINITE | 1u << LEAK_POSSIBLE } };
	const char *at;
	size_t i, length;

	options->show = 0;
	for (at = text; *at; at += length + (at[length] == ',')) {
		length = strcspn(at, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == length && !strncmp(at, words[i].word, length))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			break;
		options->show |= words[i].kinds;
	}
	if (*at || !options->show)
		return option_row_refuse(row, text, "definite, possible, both or all", error);
	return 0;
}

static int options_table_store_heuristics(const struct option_row *row, const char *text,
					  struct options *options, struct error *error)
{
	static const char choices[] =
		"all, none, or some of stdstring, length64, newarray, multipleinheritance";
	const unsigned int all = (1u << LEAK_HEURISTICS) - 1;
	const char *at;
	size_t i, length;

	options->has_heuristics = true;
	options->heuristics = !strcmp(text, "all") ? all : 0;
	if (!strcmp(text, "all") || !strcmp(text, "none"))
		return 0;
	for (at = text; *at; at += length + (at[length] == ',' && at[length + 1])) {
		length = strcspn(at, ",");
		for (i = 0; i < LEAK_HEURISTICS; i++)
			if (strlen(leak_heuristic_name(i)) == length &&
			    !strncmp(at, leak_heuristic_name(i), length))
				break;
		if (i == LEAK_HEURISTICS)
			break;
		options->heuristics |= 1u << i;
	}
	return *at || !options->heuristics ? option_row_refuse(row, text, choices, error) : 0;
}

static int options_table_store_suppressions(const struct option_row *row, const char *text,
					    struct options *options, struct error *error)
{
	if (!*text)
		return option_row_refuse(row, text, "a file, or @ruby, @python or @glibc", error);
	if (options->suppression_count == OPTIONS_SUPPRESSIONS_MAX)
		return option_row_refuse(row, text, "one of 16 files at most", error);
	options->suppressions[options->suppression_count++] = text;
	return 0;
}

static int options_table_store_module(const struct option_row *row, const char *text,
				      struct options *options, struct error *error)
{
	if (!*text)
		return option_row_refuse(row, text, "the name of a library or program", error);
	if (options->only_module_count == OPTIONS_MODULES_MAX)
		return option_row_refuse(row, text, "one of 16 files at most", error);
	options->only_modules[options->only_module_count++] = text;
	return 0;
}

static const struct option_row leaks_rows[] = {
	{ .name = "show",
	  .argument = "KINDS",
	  .help = "definite, possible, all; these make the status 1",
	  .store = options_table_store_show },
	{ .name = "only-module",
	  .argument = "FILE",
	  .help = "only stacks through FILE, such as foo.so",
	  .store = options_table_store_module },
	{ .name = "heuristics",
	  .argument = "LIST",
	  .help = "insides that count as starts (all), none",
	  .store = options_table_store_heuristics },
	{ .name = "suppressions",
	  .argument = "FILE",
	  .help = "leave out what FILE, or @ruby, @glibc, has",
	  .store = options_table_store_suppressions },
	{ .name = "save",
	  .argument = "FILE",
	  .help = "write the blocks to FILE, for --since",
	  .store = option_row_store_text,
	  .field = offsetof(struct options, save) },
	{ .name = "since",
	  .argument = "FILE",
	  .help = "what has become lost since --save FILE",
	  .store = option_row_store_text,
	  .field = offsetof(struct options, leaks_since) },
	{ .name = "pause",
	  .help = "stop the process for the last pass, as a proof",
	  .store = option_row_store_true,
	  .field = offsetof(struct options, pause) },
	{ .name = "max-pause",
	  .argument = "TIME",
	  .help = "stop it for at most TIME (200ms)",
	  .store = option_row_store_time,
	  .field = offsetof(struct options, max_pause_ns),
	  .min = 1000000,
	  .max = 60000000000 },
	{ .name = "gen-suppressions",
	  .help = "print a suppression for each row",
	  .store = option_row_store_true,
	  .field = offsetof(struct options, gen_suppressions) },
};

const struct option_list options_table_leaks = { leaks_rows,
						 sizeof(leaks_rows) / sizeof(leaks_rows[0]) };
