/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of mimalloc: see recorded_fuzz.h. */
#define FUZZ_ALLOCATOR "mimalloc"
#include "recorded_fuzz.h"
