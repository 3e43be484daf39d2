/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See name_jobs.h. */
#include "decode/name_jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/demangle.h"
#include "decode/dwarf_image.h"
#include "decode/wire.h"

int name_job_demangle(const struct buffer *question, struct buffer *answer)
{
	struct wire wire = wire_begin(question);
	uint32_t count = wire_get_count(&wire, NAME_JOB_ITEMS_MAX), i;
	char mangled[WIRE_TEXT_MAX];

	for (i = 0; i < count && !wire.bad; i++) {
		char *name;

		wire_get_text(&wire, mangled);
		name = wire.bad ? NULL : demangle_type(mangled);
		wire_put_text(answer, name);
		free(name);
	}
	return wire_is_whole(&wire) ? 0 : -EPROTO;
}

static int name_job_compare(const void *left, const void *right)
{
	const struct dwarf_image_place *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int name_job_compare_index(const void *left, const void *right)
{
	const struct dwarf_image_place *a = left, *b = right;

	return (a->index > b->index) - (a->index < b->index);
}

static void name_job_find(struct dwarf_image *image, struct dwarf_image_place *places,
			  uint32_t count, struct buffer *answer)
{
	uint32_t i;

	if (!count)
		return;
	qsort(places, count, sizeof(*places), name_job_compare);
	dwarf_image_name_places(image, places, count);
	qsort(places, count, sizeof(*places), name_job_compare_index);
	for (i = 0; i < count; i++) {
		char *name = places[i].symbol ? demangle_symbol(places[i].symbol) : NULL;
		uint64_t into = name ? places[i].address - places[i].start : 0;

		wire_put(answer, &into, sizeof(into));
		wire_put_text(answer, name);
		free(name);
	}
}

/* The image closes its descriptor, so it has one of its own; the sandbox has no dup(). */
static struct dwarf_image *name_job_open(const struct debug_source *source)
{
	const struct debug_want want = { .kind = WANT_MODULE, .name = "" };
	uint32_t candidate = 0;
	int fd = source->open(source->context, &want, &candidate);

	return fd < 0 ? NULL : dwarf_image_open(fd, source);
}

int name_job_places(const struct debug_source *source, const struct buffer *question,
		    struct buffer *answer)
{
	struct wire wire = wire_begin(question);
	uint32_t count = wire_get_count(&wire, NAME_JOB_ITEMS_MAX), i;
	struct dwarf_image_place places[NAME_JOB_ITEMS_MAX];
	struct dwarf_image *image;

	for (i = 0; i < count; i++) {
		places[i] = (struct dwarf_image_place){ .index = i };
		wire_get(&wire, &places[i].address, sizeof(places[i].address));
	}
	if (!wire_is_whole(&wire))
		return -EPROTO;
	image = name_job_open(source);
	if (!image)
		return -ENOEXEC;
	name_job_find(image, places, count, answer);
	dwarf_image_free(image);
	return 0;
}
