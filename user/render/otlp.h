/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as it is pushed by OTLP. */
#ifndef RENDER_OTLP_H
#define RENDER_OTLP_H

#include "render/render.h"

/* A request of the signal "profiles". Not in the table of formats: what takes it listens for it, and reads no files. */
extern const struct render_format otlp_format;

#endif
