/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets for hashes of what others choose: who does not know them cannot make keys collide. */
#ifndef BASE_SEED_H
#define BASE_SEED_H

#include <stdint.h>

/* 64 random bits, others at each call; never 0. */
uint64_t seed_new(void);

#endif
