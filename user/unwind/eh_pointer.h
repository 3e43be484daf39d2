/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers as .eh_frame and .eh_frame_hdr write them (DW_EH_PE_*). */
#ifndef UNWIND_EH_POINTER_H
#define UNWIND_EH_POINTER_H

#include <stdint.h>

#include "unwind/cursor.h"

/*
 * The pointer under the cursor. `data_base` is what DW_EH_PE_datarel is relative to, 0 = unknown. A form that
 * needs the running program (indirect, text or function relative, aligned) makes the cursor bad.
 */
uint64_t eh_pointer_read(struct cursor *cursor, uint8_t encoding, uint64_t data_base);

/* Step over a pointer whose value does not matter, of any form but DW_EH_PE_aligned. */
void eh_pointer_skip(struct cursor *cursor, uint8_t encoding);

#endif
