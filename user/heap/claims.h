/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the memory of a process is for: ranges with a purpose. The first claim wins; what nobody claims falls to its mapping. */
#ifndef HEAP_CLAIMS_H
#define HEAP_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "heap/image.h"
#include "model/purpose.h"

struct claims;

struct claims *claims_new(void);
void claims_free(struct claims *claims);
/*
 * Claim what is free of [start, end). `detail` distinguishes several of a purpose: a thread, an arena, a module. Ranges of a
 * test or of a process may be anything: empty ones are left out.
 */
void claims_add(struct claims *claims, enum purpose purpose, uint64_t start, uint64_t end,
		uint32_t detail);
/*
 * The purpose of an address; PURPOSE_UNKNOWN if nobody claims it. Sorts all claims after one was added: not to be called
 * between claims of many ranges.
 */
enum purpose claims_find(struct claims *claims, uint64_t address, uint32_t *ret_detail);

struct page_share; /* system/page_share.h */

/*
 * Divide all mappings of the image by purpose, without a remainder: claims first, then by what the mapping is. A page counts for
 * the purpose that its first byte has. `share` NULL: PSS is RSS.
 */
void claims_sum(struct claims *claims, struct image *image, struct page_share *share,
		struct purpose_sum sums[PURPOSE_COUNT]);

#endif
