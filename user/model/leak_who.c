/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_who.h. */
#include "model/leak_who.h"

#include <stdlib.h>

#include "base/memory.h"

struct leak_link *leak_who_add(struct leak_links *links)
{
	struct leak_link *link;

	links->items =
		memory_grow(links->items, links->count, &links->capacity, sizeof(*links->items));
	link = &links->items[links->count++];
	*link = (struct leak_link){ .kind = "", .name = "" };
	return link;
}

void leak_who_free(struct leak_who *who)
{
	free(who->holders.items);
	free(who->way.items);
	strings_free(&who->names);
	*who = (struct leak_who){ 0 };
}
