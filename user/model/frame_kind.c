/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_kind.h. */
#include "model/frame_kind.h"

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_NATIVE] = "native", [FRAME_JIT] = "jit",	      [FRAME_KERNEL] = "kernel",
		[FRAME_ERROR] = "error",   [FRAME_THREAD] = "thread",
#define FRAME_WORD(NAME, word, title) [FRAME_##NAME] = #word,
		INTERP_LIST(FRAME_WORD)
#undef FRAME_WORD
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}
