/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of Ruby over several censuses: which of them were born after the first one and were there in the one before. An object is known by its
 * slot and a hash of its first words; so one that changes in place, as a counter or a container does, is taken for another one.
 */
#ifndef OBJECTS_RUBY_KEEP_H
#define OBJECTS_RUBY_KEEP_H

#include "objects/ruby_slots.h"

struct ruby_keep;

/* What is kept takes four bytes for each slot. Free with ruby_keep_free. */
struct ruby_keep *ruby_keep_new(void);
void ruby_keep_free(struct ruby_keep *keep);

/* A census begins. */
void ruby_keep_begin(struct ruby_keep *keep);
/* A page of it; the slots that follow are of it. */
void ruby_keep_page(struct ruby_keep *keep, const struct ruby_page *page);
/* Put a live object of that page, by its index. True if it is retained: born after the first census, and there in the last one. */
bool ruby_keep_put(struct ruby_keep *keep, uint32_t index, const struct ruby_slot *slot);

/* Is the object at the address retained, as of the census that began last? */
bool ruby_keep_has(const struct ruby_keep *keep, uint64_t address);

#endif
