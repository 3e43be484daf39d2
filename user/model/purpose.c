/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See purpose.h. */
#include "model/purpose.h"

#include <stddef.h>

static const struct {
	const char *name, *title;
} purposes[PURPOSE_COUNT] = {
#define PURPOSE_ROW(SYMBOL, name, title) [PURPOSE_##SYMBOL] = { #name, title },
	PURPOSE_LIST(PURPOSE_ROW)
#undef PURPOSE_ROW
};

const char *purpose_name(enum purpose purpose)
{
	return purposes[purpose].name;
}

const char *purpose_title(enum purpose purpose)
{
	return purposes[purpose].title;
}

void purpose_sum_add(struct purpose_sum *sum, const struct purpose_sum *other)
{
	sum->rss += other->rss;
	sum->pss += other->pss;
	sum->swap += other->swap;
	sum->mapped += other->mapped;
	sum->count += other->count;
}
