/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of jemalloc: see recorded_fuzz.h. */
#define FUZZ_ALLOCATOR "jemalloc"
#include "recorded_fuzz.h"
