/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See os_release.h. */
#include "system/os_release.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *word;
	enum distribution distribution;
} words[] = {
	{ "debian", DISTRIBUTION_DEBIAN }, { "raspbian", DISTRIBUTION_DEBIAN },
	{ "ubuntu", DISTRIBUTION_UBUNTU }, { "fedora", DISTRIBUTION_FEDORA },
	{ "rhel", DISTRIBUTION_FEDORA },   { "centos", DISTRIBUTION_FEDORA },
	{ "rocky", DISTRIBUTION_FEDORA },  { "amzn", DISTRIBUTION_FEDORA },
	{ "suse", DISTRIBUTION_SUSE },	   { "sles", DISTRIBUTION_SUSE },
	{ "opensuse", DISTRIBUTION_SUSE }, { "opensuse-leap", DISTRIBUTION_SUSE },
	{ "arch", DISTRIBUTION_ARCH },	   { "archarm", DISTRIBUTION_ARCH },
	{ "manjaro", DISTRIBUTION_ARCH },  { "alpine", DISTRIBUTION_ALPINE },
};

static enum distribution os_release_word(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length && !memcmp(words[i].word, word, length))
			return words[i].distribution;
	return DISTRIBUTION_UNKNOWN;
}

/* The first known word of a value, which may stand in quotes. */
static enum distribution os_release_value(const char *value, const char *end)
{
	static const char between[] = " \t\r\"'";
	enum distribution found = DISTRIBUTION_UNKNOWN;
	const char *word;

	while (value < end && !found) {
		for (word = value; value < end && *value && !strchr(between, *value); value++)
			;
		found = os_release_word(word, (size_t)(value - word));
		value++;
	}
	return found;
}

static bool os_release_begins(const char *line, const char *end, const char *key)
{
	return (size_t)(end - line) >= strlen(key) && !memcmp(line, key, strlen(key));
}

enum distribution os_release_parse(const char *text, size_t size)
{
	static const char id[] = "ID=", like[] = "ID_LIKE=";
	enum distribution by_id = DISTRIBUTION_UNKNOWN, by_like = DISTRIBUTION_UNKNOWN;
	const char *end = text + size, *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			line_end = end;
		if (os_release_begins(text, line_end, id))
			by_id = os_release_value(text + strlen(id), line_end);
		if (os_release_begins(text, line_end, like))
			by_like = os_release_value(text + strlen(like), line_end);
		if (line_end == end)
			break;
	}
	return by_id ? by_id : by_like;
}
