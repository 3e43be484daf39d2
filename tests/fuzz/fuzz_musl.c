/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of musl: see recorded_fuzz.h. */
#define FUZZ_ALLOCATOR "musl"
#include "recorded_fuzz.h"
