/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that were stripped from a file: in a separate debug file, where the distribution or the developer has left
 * it. Only one that certainly belongs to the file is taken.
 */
#ifndef DISCOVER_DEBUG_SYMBOLS_H
#define DISCOVER_DEBUG_SYMBOLS_H

#include <stdbool.h>

#include "discover/debug_want.h"
#include "system/elf_file.h"

/*
 * Add the functions of the debug file of `file`, which `source` opens. False if the file was not stripped, or there
 * is no debug file.
 */
bool debug_symbols_add(const struct debug_source *source, struct elf_file *file);

#endif
