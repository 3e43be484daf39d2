/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See java_heap.h. */
#include "objects/java_heap.h"

#include <string.h>

#define JAVA_FIELDS_MAX 8192
#define JAVA_CODE_MAX (2ull << 30) /* the most that -XX:ReservedCodeCacheSize can be */

static bool java_is(struct image *image, uint64_t address, const char *text)
{
	char bytes[64];
	size_t length = strlen(text) + 1;

	return image_read(image, address, bytes, length) && !memcmp(bytes, text, length);
}

bool java_find(struct image *image, uint64_t table, const char *type, const char *name,
	       struct java_field *ret_field)
{
	size_t i;

	for (i = 0; i < JAVA_FIELDS_MAX; i++) {
		struct java_field field;

		if (!image_read(image, table + i * sizeof(field), &field, sizeof(field)) ||
		    !field.type)
			return false;
		if (java_is(image, field.name, name) && java_is(image, field.type, type)) {
			*ret_field = field;
			return true;
		}
	}
	return false;
}

/* Its segments lie behind one another; what is between them is reserved for them. */
static void java_claim_code(struct image *image, uint64_t table, struct claims *claims)
{
	struct java_field low, high;
	uint64_t start, end;

	if (!java_find(image, table, "CodeCache", "_low_bound", &low) ||
	    !java_find(image, table, "CodeCache", "_high_bound", &high))
		return;
	start = image_word(image, low.address);
	end = image_word(image, high.address);
	if (start && end > start && end - start <= JAVA_CODE_MAX)
		claims_add(claims, PURPOSE_JAVA_CODE, start, end, 0);
}

static void java_claim_objects(struct image *image, uint64_t table, struct claims *claims)
{
	struct java_field heap, reserved;
	uint64_t region[2], object; /* region: its start, and its size in words of 8 bytes */

	if (!java_find(image, table, "Universe", "_collectedHeap", &heap) ||
	    !java_find(image, table, "CollectedHeap", "_reserved", &reserved))
		return;
	object = image_word(image, heap.address);
	if (!object || reserved.offset > 4096 ||
	    !image_read(image, object + reserved.offset, region, sizeof(region)) ||
	    region[1] > (1ull << 44))
		return;
	claims_add(claims, PURPOSE_JAVA_HEAP, region[0], region[0] + region[1] * 8, 0);
}

void java_heap_claim(struct image *image, uint64_t table, struct claims *claims)
{
	java_claim_code(image, table, claims);
	java_claim_objects(image, table, claims);
}
