/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes call frame instructions: their rules for each pc of a function become rows. */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "unwind/cfi_rows.h"
#include "unwind/eh_frame.h"

/* Run the program of a CIE: it sets what all its functions start with. */
void cfi_program_start(struct eh_cie *cie);

/*
 * Add the rows of one function, from its start to its end marker. A part whose instructions cannot be understood
 * gets a row for that. Functions must come in the order of their starts and end below 4 GB.
 */
void cfi_program_run(const struct eh_cie *cie, const struct eh_fde *fde, struct cfi_rows *rows);

#endif
