/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks objects of Ruby over several censuses: which of them were born after the first and existed
 * in the previous one. An object is identified by its slot and a hash of its first words; so one
 * that changes in place, such as a counter or a container, looks like a new one.
 */
#ifndef RUBY_RUBY_KEEP_H
#define RUBY_RUBY_KEEP_H

#include "ruby/ruby_slots.h"

struct ruby_keep;

/* Takes four bytes per slot. Free with ruby_keep_free. */
struct ruby_keep *ruby_keep_new(void);
void ruby_keep_free(struct ruby_keep *keep);

/* Begin a census. */
void ruby_keep_begin(struct ruby_keep *keep);
/* Begin a page of it. */
void ruby_keep_page(struct ruby_keep *keep, const struct ruby_page *page);
/*
 * Add a live object of that page, by its index. True if it is retained: born after the first
 * census, and present in the previous one.
 */
bool ruby_keep_put(struct ruby_keep *keep, uint32_t index, const struct ruby_slot *slot);

/* Is the object at the address retained, as of the census that began last? */
bool ruby_keep_has(const struct ruby_keep *keep, uint64_t address);

#endif
