/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callbacks that name frames: a session has frames named before it closes their files. */
#ifndef FOLLOW_FRAME_NAMER_H
#define FOLLOW_FRAME_NAMER_H

#include <stdint.h>

#include "model/stack.h"

/* Any function may be NULL. */
struct frame_namer {
	/* name it now; the name is read later */
	void (*look_up)(void *context, const struct frame *frame);
	void (*forget)(void *context, uint32_t module); /* the module is about to be removed */
	void *context;
};

#endif
