/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets for hashes of untrusted keys, so that nobody can cause collisions. */
#ifndef BASE_SEED_H
#define BASE_SEED_H

#include <stdint.h>

/* 64 random bits, different at each call; never 0. */
uint64_t seed_new(void);

#endif
