/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The languages whose frames are known, one row each: the only place that lists them. */
#ifndef FRAMES_FRAMES_TABLE_H
#define FRAMES_FRAMES_TABLE_H

#include "interp/frames_ops.h"

/* NULL for an invalid kind. */
const struct frames_ops *frames_table_get(enum interp_kind kind);

/*
 * Does the file contain an interpreter? `path` may help to find its version. Returns 0; -ENOENT: it
 * contains none; -ENOTSUP: its version is unknown (`kind` and `version` are set).
 */
int frames_table_read_file(struct elf_file *file, const char *path, struct interp_file *ret_file);

/*
 * Validate a result from another process. False if frames_table_read_file cannot have returned it;
 * otherwise that function's return value is in `*ret_code`.
 */
bool frames_table_check_file(const struct interp_file *file, int *ret_code);

#endif
