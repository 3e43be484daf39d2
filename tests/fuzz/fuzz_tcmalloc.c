/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of tcmalloc: see recorded_fuzz.h. */
#define FUZZ_ALLOCATOR "tcmalloc"
#include "recorded_fuzz.h"
