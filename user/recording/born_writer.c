/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See born_writer.h. */
#include "recording/born_writer.h"

void born_writer_open(struct born_writer *writer, struct database *database)
{
	query_open(&writer->add, database, "INSERT INTO born VALUES(?, ?, ?, ?, ?)");
}

void born_writer_close(struct born_writer *writer)
{
	query_close(&writer->add);
}

static void born_writer_add(struct born_writer *writer, struct born_place place,
			    const struct generation *born)
{
	query_number(&writer->add, place.interval);
	query_number(&writer->add, place.site);
	query_number(&writer->add, born->since_ns);
	query_number(&writer->add, born->bytes);
	query_number(&writer->add, born->objects);
	query_run(&writer->add);
}

void born_writer_write(struct born_writer *writer, struct born_place place,
		       const struct generations *births, bool whole, struct generations *written)
{
	const struct generation *before;
	size_t i;

	for (i = 0; i < births->count; i++) {
		const struct generation *now = &births->items[i];

		before = generations_find(written, now->since_ns);
		if (whole || !before || before->bytes != now->bytes ||
		    before->objects != now->objects)
			born_writer_add(writer, place, now);
	}
	/* Of what has gone, that nothing is left. */
	for (i = 0; i < written->count; i++) {
		const struct generation none = { .since_ns = written->items[i].since_ns };

		if (!generations_find(births, none.since_ns))
			born_writer_add(writer, place, &none);
	}
	generations_free(written);
	generations_copy(written, births);
}
