/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report for pushing by OTLP. */
#ifndef RENDER_OTLP_H
#define RENDER_OTLP_H

#include "render/render.h"

/*
 * A request of the "profiles" signal. Not in the table of formats, since its consumers are servers
 * and read no files.
 */
extern const struct render_format otlp_format;

#endif
