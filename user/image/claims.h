/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The purpose of a process's memory: ranges with a purpose. The first claim wins; unclaimed memory
 * is classified by its mapping.
 */
#ifndef IMAGE_CLAIMS_H
#define IMAGE_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "model/purpose.h"

struct claims;

struct claims *claims_new(void);
void claims_free(struct claims *claims);
/*
 * Claim the unclaimed part of [start, end). `detail` distinguishes several claims of one purpose: a
 * thread, an arena, a module. Ranges are untrusted: empty ones are ignored.
 */
void claims_add(struct claims *claims, enum purpose purpose, uint64_t start, uint64_t end,
		uint32_t detail);
/*
 * The purpose of an address; PURPOSE_UNKNOWN if unclaimed. Sorts all claims if one was added since,
 * so do not alternate it with many claims.
 */
enum purpose claims_find(struct claims *claims, uint64_t address, uint32_t *ret_detail);

struct page_share; /* system/page_share.h */

/*
 * Divide all mappings of the image by purpose, without a remainder: by claims, then by the kind of
 * mapping. A page counts for the purpose of its first byte. `share` NULL: PSS equals RSS.
 */
void claims_sum(struct claims *claims, struct image *image, struct page_share *share,
		struct purpose_sum sums[PURPOSE_COUNT]);

#endif
