/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of LOSS_LIST as the outputs show them. */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include <linux/types.h>
#include <stdbool.h>

#include "tracer_abi.h"

/* "free_untracked" */
const char *loss_name(enum loss loss);

/* What the counter counts, to be printed after the number: "frees of unknown blocks: ..." */
const char *loss_sentence(enum loss loss);

enum loss_kind loss_kind(enum loss loss);

/* Does it make a figure of the report too small? */
bool loss_is_defect(enum loss loss);

#endif
