/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of frame kinds in outputs. */
#ifndef MODEL_FRAME_KIND_H
#define MODEL_FRAME_KIND_H

#include "model/stack.h"

/* "native", "ruby", ... */
const char *frame_kind_name(enum frame_kind kind);

#endif
