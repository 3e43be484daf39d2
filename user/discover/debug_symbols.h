/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the symbols that were stripped from a file, from a separate debug file of the distribution
 * or the developer. Uses only a file that certainly matches.
 */
#ifndef DISCOVER_DEBUG_SYMBOLS_H
#define DISCOVER_DEBUG_SYMBOLS_H

#include <stdbool.h>

#include "discover/debug_want.h"
#include "elf/elf_file.h"

/*
 * Add the functions of `file`'s debug file, which `source` opens. False if the file was not
 * stripped, or there is no debug file.
 */
bool debug_symbols_add(const struct debug_source *source, struct elf_file *file);

#endif
