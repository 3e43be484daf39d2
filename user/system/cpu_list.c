/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/cpu_list.h"

#include <stdio.h>

bool cpu_list_next(const char **list, int *ret_first, int *ret_last)
{
	const char *text = *list;
	int first, last, length;

	if (sscanf(text, "%d%n", &first, &length) != 1)
		return false;
	text += length;
	last = first;
	if (sscanf(text, "-%d%n", &last, &length) == 1)
		text += length;
	if (first < 0 || last < first || last >= CPU_LIST_MAX)
		return false;
	*list = text + (*text == ',');
	*ret_first = first;
	*ret_last = last;
	return true;
}

bool cpu_list_has(const char *list, int cpu)
{
	int first, last;

	while (cpu_list_next(&list, &first, &last))
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}
