/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes untrusted text (names in files, /proc, the target) safe for a terminal or a format. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Is the character a control (also DEL and U+0080..U+009F), a line separator (U+2028, U+2029), a
 * bidirectional control (U+061C, U+200E, U+200F, U+202A..U+202E, U+2066..U+2069) or one that is not seen at all (zero width
 * characters, fillers, selectors, tags)? Names that differ must look different.
 */
bool text_rune_is_unsafe(unsigned int rune);

/*
 * Append `text`; every unsafe character, every byte that is not valid UTF-8, and combining marks
 * stacked on one character become \xNN. The result is valid UTF-8 on one line.
 */
void text_append_safe(struct buffer *buffer, const char *text);

/*
 * The length in bytes of the valid UTF-8 sequence at `text` (1 to 4), or 0 where there is none.
 * `ret_rune` gets its code point. Never reads past a NUL.
 */
size_t text_decode_utf8(const char *text, unsigned int *ret_rune);

/*
 * Columns of a character, or of a text, on a terminal: an upper bound. A character whose width
 * differs between terminals, or that is rare in names, counts as two columns.
 */
size_t text_rune_width(unsigned int rune);
size_t text_width(const char *text);

#endif
