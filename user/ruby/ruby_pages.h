/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes pages of Ruby's heap by their shape alone, for releases and builds whose object space
 * is not supported.
 */
#ifndef RUBY_RUBY_PAGES_H
#define RUBY_RUBY_PAGES_H

#include "image/claims.h"
#include "image/image.h"

/*
 * Claim all that look like pages; returns their number. Reads one word at each possible start of a
 * page.
 */
size_t ruby_pages_claim(struct image *image, struct claims *claims);

#endif
