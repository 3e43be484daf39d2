/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages of a server, each a report in a format. Without its format a page does not exist. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "render/render.h"

enum page_kind {
	PAGE_REPORT, /* a report in `format` */
	PAGE_HEALTH, /* "ok": the server answers */
	PAGE_INDEX, /* links to the others */
};

struct page {
	enum page_kind kind;
	const char *path;
	const char *format; /* as in --format; NULL = of no format */
	const char *type; /* Content-Type */
	const char *title;
	bool takes_seconds; /* supports ?seconds=N: changes in the next N seconds */
};

#define PAGE_MAX 16

/* The page of a path, or NULL. */
const struct page *page_find(const char *path);

/* The pages, in the order of the index; NULL after the last one. */
const struct page *page_at(size_t index);

/* The number of a page, below PAGE_MAX. */
size_t page_number(const struct page *page);

/* Append the index. */
void page_append_index(struct buffer *out);

#endif
