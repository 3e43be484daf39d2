/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a census in a report: see kind.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "kinds/kind_copies.h"
#include "kinds/kind_names.h"
#include "kinds/kind_private.h"

#define KIND_SHOWN 256 /* rows of a report; what is left is one more */
#define FILL_DEVIATIONS 1.96 /* 95 % of estimates are not farther off */
#define FILL_SAMPLE 64 /* bytes of a text */
#define FILL_SHARE 64 /* of blocks, bytes and growth, up to which a row is little of all */

static uint64_t fill_growth(const struct kind_row *row)
{
	return row->bytes > row->bytes_before ? row->bytes - row->bytes_before : 0;
}

/* What has grown, then what there is. */
static int fill_compare(const void *a, const void *b)
{
	const struct kind_row *left = *(struct kind_row *const *)a;
	const struct kind_row *right = *(struct kind_row *const *)b;
	uint64_t growth = fill_growth(left), other = fill_growth(right);

	if (growth != other)
		return compare_numbers(other, growth);
	if (left->bytes != right->bytes)
		return compare_numbers(right->bytes, left->bytes);
	if (left->blocks != right->blocks)
		return compare_numbers(right->blocks, left->blocks);
	return left->name != right->name ? compare_texts(left->name, right->name)
					 : compare_texts(left->holder, right->holder);
}

static void fill_changes(const struct kind_census *census, const struct kind_row *row,
			 struct memory_kind *kind)
{
	kind->born = kind->gone = kind->unchanged = kind->written = kind->retained = HEAP_UNKNOWN;
	if (!census->is_followed)
		return;
	kind->born = row->born;
	kind->gone = row->gone;
	kind->unchanged = row->unchanged;
	kind->written = row->written;
	if (census->number > 2)
		kind->retained = row->retained;
	kind->growth_blocks = (int64_t)(row->blocks - row->blocks_before);
	kind->growth_bytes = (int64_t)(row->bytes - row->bytes_before);
}

/* "" for NULL. */
static const char *fill_text(const struct kind_names *names, const char *text,
			     struct memory_report *report)
{
	struct buffer expanded = { 0 };
	const char *kept;

	if (!text)
		return "";
	kind_names_expand(names, text, &expanded);
	kept = strings_keep(&report->names, expanded.data);
	buffer_free(&expanded);
	return kept;
}

static const char *fill_kind(const struct kind_names *names, const struct kind_row *row)
{
	return row->name && kind_names_is_class(names, row->name) ? "class" : row->kind;
}

/* How a text begins that is there now. */
static const char *fill_sample(const struct kind_shown *shown, const struct kind_row *row,
			       uint64_t address, struct memory_report *report)
{
	char text[FILL_SAMPLE + 1];
	const char *kept;
	size_t got;

	if (!shown->samples || !address || strcmp(row->kind, "text") != 0)
		return "";
	got = image_read_part(shown->image, address, text, FILL_SAMPLE);
	text[got] = 0;
	kept = strings_keep(&report->names, text);
	return kept ? kept : "";
}

static void fill_row(const struct kind_census *census, const struct kind_shown *shown,
		     const struct kind_names *names, const struct kind_row *row,
		     struct memory_report *report)
{
	struct memory_kind *kind;

	if (!row->blocks && !row->blocks_before)
		return;
	kind = memory_report_add_kind(report);
	kind->kind = fill_kind(names, row);
	kind->name = fill_text(names, row->name, report);
	kind->holder = fill_text(names, row->holder, report);
	kind->sample = fill_sample(shown, row, row->address, report);
	kind->size = row->size;
	kind->blocks = row->blocks;
	kind->bytes = row->bytes;
	kind->blocks_error = (uint64_t)(FILL_DEVIATIONS * sqrt(row->blocks_variance));
	kind->bytes_error = (uint64_t)(FILL_DEVIATIONS * sqrt(row->bytes_variance));
	fill_changes(census, row, kind);
}

static void fill_add(struct kind_row *sum, const struct kind_row *row)
{
	sum->blocks_variance += row->blocks_variance;
	sum->bytes_variance += row->bytes_variance;
	sum->address = sum->address ? sum->address : row->address;
	sum->blocks += row->blocks;
	sum->bytes += row->bytes;
	sum->blocks_before += row->blocks_before;
	sum->bytes_before += row->bytes_before;
	sum->born += row->born;
	sum->gone += row->gone;
	sum->unchanged += row->unchanged;
	sum->written += row->written;
	sum->retained += row->retained;
}

/* "65 to 128 B": up to the next power of two. */
static const char *fill_class(struct kind_census *sum, uint64_t size)
{
	unsigned int power = size > 16 ? 64 - (unsigned int)__builtin_clzll(size - 1) : 4;
	const char *kept;
	char *name;

	if (power == 4 || power == 64)
		return power == 4 ? "up to 16 B" : "huge";
	name = memory_format("%llu to %llu B", (1ull << (power - 1)) + 1, 1ull << power);
	kept = strings_keep(&sum->names, name);
	free(name);
	return kept;
}

static bool fill_is_little(uint64_t now, uint64_t before, uint64_t total, uint64_t total_before)
{
	return now * FILL_SHARE < total + (total == 0) &&
	       before * FILL_SHARE < total_before + (total_before == 0);
}

/* Of rows that differ in their sizes only, those that are and were little of all are one. */
static bool fill_is_small(const struct kind_row *row, const struct kind_row *total)
{
	return row->size && !row->name &&
	       fill_is_little(row->blocks, row->blocks_before, total->blocks,
			      total->blocks_before) &&
	       fill_is_little(row->bytes, row->bytes_before, total->bytes, total->bytes_before) &&
	       fill_growth(row) * FILL_SHARE <= fill_growth(total);
}

/* The rows as they are shown, in a census of their own. */
static struct kind_census *fill_gather(const struct kind_census *census)
{
	struct kind_census *sum = kind_census_new(census->image, census->modules);
	struct kind_row total = census->rest;
	size_t i;

	sum->rest = census->rest;
	for (i = 0; i < census->row_count; i++)
		fill_add(&total, census->rows[i]);
	for (i = 0; i < census->row_count; i++) {
		const struct kind_row *row = census->rows[i];
		struct kind_key key = { row->kind, row->name, row->holder, row->size };

		if (fill_is_small(row, &total)) {
			key.name = fill_class(sum, row->size);
			key.size = 0;
		}
		fill_add(kind_census_row(sum, &key), row);
	}
	return sum;
}

static const struct kind_row *fill_row_of(const struct kind_census *census, uint32_t index)
{
	return index < census->row_count ? census->rows[index] : &census->rest;
}

/* What a report is made of. */
struct fill {
	const struct kind_census *census;
	struct kind_census *sum;
	struct kind_copies copies[KIND_COPIES_SHOWN];
	size_t copy_count;
	struct kind_names names;
};

static void fill_find_names(struct fill *fill, const struct kind_shown *shown)
{
	const struct kind_row *row;
	size_t i;

	if (!shown->namer)
		return;
	for (i = 0; i < fill->sum->row_count && i < KIND_SHOWN; i++) {
		kind_names_collect(&fill->names, shown->modules, fill->sum->rows[i]->name);
		kind_names_collect(&fill->names, shown->modules, fill->sum->rows[i]->holder);
	}
	for (i = 0; i < fill->copy_count; i++) {
		row = fill_row_of(fill->census, fill->copies[i].row);
		kind_names_collect(&fill->names, shown->modules, row->name);
		kind_names_collect(&fill->names, shown->modules, row->holder);
	}
	if (fill->names.count)
		shown->namer->name(shown->namer->context, shown->modules, fill->names.items,
				   fill->names.count);
}

static void fill_rows(struct fill *fill, const struct kind_shown *shown,
		      struct memory_report *report)
{
	size_t i;

	for (i = 0; i < fill->sum->row_count; i++)
		if (i < KIND_SHOWN)
			fill_row(fill->census, shown, &fill->names, fill->sum->rows[i], report);
		else
			fill_add(&fill->sum->rest, fill->sum->rows[i]);
	fill_row(fill->census, shown, &fill->names, &fill->sum->rest, report);
}

/* Of a sample each counts for as many as any block. */
static void fill_copies(const struct fill *fill, const struct kind_shown *shown,
			struct memory_report *report)
{
	size_t i;

	for (i = 0; i < fill->copy_count; i++) {
		const struct kind_copies *found = &fill->copies[i];
		const struct kind_row *row = fill_row_of(fill->census, found->row);
		struct memory_copies *copies = memory_report_add_copies(report);

		copies->kind = fill_kind(&fill->names, row);
		copies->name = fill_text(&fill->names, row->name, report);
		copies->holder =
			fill_text(&fill->names, found->is_mixed ? NULL : row->holder, report);
		copies->size = found->size;
		copies->same_bytes = kind_copies_seen(found->size);
		copies->blocks = found->blocks * fill->census->every;
		copies->bytes = copies->blocks * found->size;
		copies->address = found->address;
		copies->sample = fill_sample(shown, row, found->address, report);
	}
}

void kind_census_fill(const struct kind_census *census, const struct kind_shown *shown,
		      struct memory_report *report)
{
	struct fill fill = { .census = census, .sum = fill_gather(census) };

	if (fill.sum->row_count)
		qsort(fill.sum->rows, fill.sum->row_count, sizeof(*fill.sum->rows), fill_compare);
	if (census->is_kept)
		fill.copy_count = kind_copies_find(census, fill.copies);
	fill_find_names(&fill, shown);
	fill_rows(&fill, shown, report);
	fill_copies(&fill, shown, report);
	kind_names_free(&fill.names);
	kind_census_free(fill.sum);
	if (census->every > 1)
		memory_report_remark(report,
				     "Kinds of blocks are estimates, from a sample of %llu of %llu "
				     "blocks; how far "
				     "off they may be is in JSON.",
				     (unsigned long long)census->looked,
				     (unsigned long long)census->blocks);
}
