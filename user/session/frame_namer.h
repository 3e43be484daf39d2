/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who names frames, for a session that asks before it closes their files. */
#ifndef SESSION_FRAME_NAMER_H
#define SESSION_FRAME_NAMER_H

#include <stdint.h>

#include "model/stack.h"

/* Any function may be NULL. */
struct frame_namer {
	void (*look_up)(void *context, const struct frame *frame); /* it is asked for again later */
	void (*forget)(void *context, uint32_t module); /* it is going to be removed */
	void *context;
};

#endif
