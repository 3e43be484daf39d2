/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of mallocng: see recorded_fuzz.h. */
#define FUZZ_ALLOCATOR "mallocng"
#include "recorded_fuzz.h"
