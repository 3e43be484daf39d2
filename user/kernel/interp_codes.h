/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the copies, made by BPF programs, of the data that names frames' code, keyed by its
 * content. The latest are kept, here and in the BPF map: stacks not announced yet may refer to
 * them.
 */
#ifndef KERNEL_INTERP_CODES_H
#define KERNEL_INTERP_CODES_H

#include <linux/types.h>
#include <stdint.h>

#include "interp_abi.h"

struct interp_codes;

/* `map` is that of interp_codes. Free with interp_codes_free. */
struct interp_codes *interp_codes_new(int map);
void interp_codes_free(struct interp_codes *codes);

/* The copy of the code with this content, until the next call; NULL if there is none. */
const struct interp_code *interp_codes_get(struct interp_codes *codes, uint64_t content);

#endif
