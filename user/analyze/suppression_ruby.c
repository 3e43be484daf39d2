/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suppression_ruby.h. */
#include "analyze/suppression_ruby.h"

#include <ctype.h>
#include <string.h>

/* "/usr/lib/libruby-3.1.so.3.1.2", or a program that has all of it: "/usr/bin/ruby", "ruby3.1". */
static bool frame_is_rubys(const struct report_frame *frame)
{
	const char *base;

	if (frame->kind != FRAME_NATIVE || !frame->module)
		return false;
	base = strrchr(frame->module, '/');
	base = base ? base + 1 : frame->module;
	if (!strncmp(base, "libruby", 7))
		return true;
	return !strncmp(base, "ruby", 4) && (!base[4] || isdigit((unsigned char)base[4]));
}

/* ruby_xmalloc, ruby_xcalloc, ruby_xrealloc2, and what they are made of. */
static bool frame_allocates(const struct report_frame *frame)
{
	static const char *const beginnings[] = { "ruby_x", "rb_x", "objspace_", "rb_gc_impl_" };
	size_t i;

	for (i = 0; frame->function && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(frame->function, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

bool suppression_ruby_fits(const struct leak_group *group)
{
	size_t i = 0;

	/* The first one is what all of them call, whose name is in no stripped library. */
	if (!group->frame_count || !frame_is_rubys(&group->frames[0]))
		return false;
	for (i = 1; i < group->frame_count && frame_allocates(&group->frames[i]); i++)
		;
	return i < group->frame_count && frame_is_rubys(&group->frames[i]);
}
