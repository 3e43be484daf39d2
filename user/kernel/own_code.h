/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracer's own code, for probes on functions of its own. */
#ifndef KERNEL_OWN_CODE_H
#define KERNEL_OWN_CODE_H

#include <stdint.h>

/* The file offset of the code at `address`. Returns 0 or a negative errno. */
int own_code_offset(uint64_t address, uint64_t *ret_offset);

#endif
