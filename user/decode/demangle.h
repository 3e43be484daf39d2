/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names of C++, Rust (both schemes) and D. */
#ifndef DECODE_DEMANGLE_H
#define DECODE_DEMANGLE_H

#include <stdbool.h>

/* Longer names are cut here and end in "...". Bytes, without the NUL. */
#define DEMANGLE_LENGTH_MAX 4000

/*
 * The name to show for the linker's name `symbol`: demangled with its parameters and without a return type, or `symbol`
 * itself without its version (after '@'). Never NULL; free with free().
 */
char *demangle_symbol(const char *symbol);

/* The same for the mangled name of a C++ type ("N3app3BoxIiEE"); NULL if it is none. Free with free(). */
char *demangle_type(const char *mangled);

/* Is `symbol` a mangled name? Only names whose scheme is certain count. */
bool demangle_is_mangled(const char *symbol);

#endif
