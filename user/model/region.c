/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See region.h. */
#include "model/region.h"

#include <stddef.h>

struct region_text {
	const char *name, *title, *one, *several;
	bool line;
};

static const struct region_text texts[REGION_COUNT] = { [REGION_NONE] = { .line = true },
#define REGION_TEXT(SYMBOL, name, title, one, several, line) \
	[REGION_##SYMBOL] = { #name, title, one, several, line },
							REGION_LIST(REGION_TEXT)
#undef REGION_TEXT
};

const char *region_name(enum region region)
{
	return texts[region].name;
}

const char *region_title(enum region region)
{
	return texts[region].title;
}

const char *region_unit(enum region region, uint64_t count)
{
	return count == 1 ? texts[region].one : texts[region].several;
}

bool region_has_line(enum region region)
{
	return texts[region].line;
}
