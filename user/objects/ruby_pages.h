/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of Ruby's heap by their form alone, for releases and builds whose object space cannot be looked into. */
#ifndef OBJECTS_RUBY_PAGES_H
#define OBJECTS_RUBY_PAGES_H

#include "heap/claims.h"
#include "heap/image.h"

/* Claim what looks like a page; returns how many there were. Reads a word of each place where a page may begin. */
size_t ruby_pages_claim(struct image *image, struct claims *claims);

#endif
