/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See option_row.h. */
#include "command/option_row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

const char *option_row_label(const struct option_row *row, char text[OPTION_LABEL_MAX])
{
	if (row->letter)
		snprintf(text, OPTION_LABEL_MAX, "-%c/--%s", row->letter, row->name);
	else
		snprintf(text, OPTION_LABEL_MAX, "--%s", row->name);
	return text;
}

int option_row_refuse(const struct option_row *row, const char *text, const char *wanted,
		      struct error *error)
{
	char label[OPTION_LABEL_MAX];

	return error_set(error, ERROR_USAGE, -EINVAL, "%s takes %s, not '%s'",
			 option_row_label(row, label), wanted, text);
}

static void option_row_put(const struct option_row *row, struct options *options, uint64_t number)
{
	memcpy((char *)options + row->field, &number, sizeof(number));
}

static void option_row_put_enum(const struct option_row *row, struct options *options,
				unsigned int value)
{
	_Static_assert(sizeof(enum report_sort) == sizeof(value), "enums are stored as unsigned");
	memcpy((char *)options + row->field, &value, sizeof(value));
}

int option_row_store_number(const struct option_row *row, const char *text, struct options *options,
			    struct error *error)
{
	char wanted[96];
	uint64_t number;

	if (!units_parse_number(text, row->max, &number) || number < row->min) {
		snprintf(wanted, sizeof(wanted), "a whole number from %llu to %llu",
			 (unsigned long long)row->min, (unsigned long long)row->max);
		return option_row_refuse(row, text, wanted, error);
	}
	option_row_put(row, options, number);
	return 0;
}

int option_row_store_size(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	uint64_t bytes;

	if (!units_parse_size(text, &bytes))
		return option_row_refuse(row, text, "a size such as 64, 64k, 1m or 2g", error);
	option_row_put(row, options, bytes);
	return 0;
}

int option_row_store_time(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	char label[OPTION_LABEL_MAX];
	uint64_t ns;

	if (!units_parse_time(text, &ns) || ns > row->max)
		return option_row_refuse(row, text, "a time such as 500ms, 10s, 5m or 2h", error);
	if (ns < row->min)
		return error_set(error, ERROR_USAGE, -EINVAL, "%s must be longer than '%s'",
				 option_row_label(row, label), text);
	option_row_put(row, options, ns);
	return 0;
}

int option_row_store_word(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	char wanted[128] = "one of";
	unsigned int i;

	for (i = 0; row->words[i]; i++)
		if (!strcmp(text, row->words[i])) {
			option_row_put_enum(row, options, i);
			return 0;
		}
	for (i = 0; row->words[i]; i++)
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s %s",
			 i ? "," : "", row->words[i]);
	return option_row_refuse(row, text, wanted, error);
}

int option_row_store_value(const struct option_row *row, const char *text, struct options *options,
			   struct error *error)
{
	(void)text;
	(void)error;
	option_row_put_enum(row, options, row->value);
	return 0;
}

int option_row_store_true(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	(void)text;
	(void)error;
	*(bool *)((char *)options + row->field) = true;
	return 0;
}

int option_row_store_text(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	if (!*text)
		return option_row_refuse(row, text, "a name", error);
	memcpy((char *)options + row->field, &text, sizeof(text));
	return 0;
}
