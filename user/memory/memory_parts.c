/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_parts.h. */
#include "memory/memory_parts.h"

#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/deadline.h"
#include "base/table.h"
#include "image/mapping_purpose.h"
#include "image/module_ranges.h"
#include "system/mount_list.h"
#include "system/page_share.h"
#include "system/proc_text.h"

/* Anonymous pages of a sample that shows whether other processes have any of them. */
#define SHARE_SAMPLE 512

void memory_parts_claim_modules(struct image *image, struct claims *claims)
{
	static const enum purpose purposes[] = { [MODULE_CODE] = PURPOSE_CODE,
						 [MODULE_CONSTANTS] = PURPOSE_CONSTANTS,
						 [MODULE_RELRO] = PURPOSE_CONSTANTS,
						 [MODULE_DATA] = PURPOSE_DATA,
						 [MODULE_BSS] = PURPOSE_BSS };
	struct module_ranges ranges;
	size_t i;

	module_ranges_find(image, &ranges);
	for (i = 0; i < ranges.count; i++)
		claims_add(claims, purposes[ranges.items[i].kind], ranges.items[i].start,
			   ranges.items[i].end, ranges.items[i].module);
	module_ranges_free(&ranges);
}

/* Are files of a device memory? `known`: answers by device, + 1; both the mappings and the mounts may be very many. */
static bool parts_is_tmpfs(const char *mounts, uint64_t device, struct table *known)
{
	static const char *const types[] = { "tmpfs", "devtmpfs", "ramfs" };
	uintptr_t answer = (uintptr_t)table_get(known, device);
	size_t i;

	for (i = 0; !answer && i < sizeof(types) / sizeof(types[0]); i++)
		if (mount_list_has_type(mounts, types[i], major(device), minor(device)))
			answer = 2;
	if (!answer)
		answer = 1;
	table_put(known, device, (void *)answer);
	return answer == 2;
}

/* Files of tmpfs: modules and shared memory that lie there are what they are. */
void memory_parts_claim_files(struct image *image, struct claims *claims)
{
	struct buffer mounts = { 0 };
	struct table known = { 0 };
	size_t i;

	if (!image->pid || proc_read_text("/proc", image->pid, "mountinfo", &mounts) ||
	    !mounts.data) {
		buffer_free(&mounts);
		return;
	}
	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (mapping_purpose_find(image, mapping) == PURPOSE_FILE &&
		    parts_is_tmpfs(mounts.data, mapping->device, &known))
			claims_add(claims, PURPOSE_TMPFS, mapping->start, mapping->end,
				   (uint32_t)mapping->inode);
	}
	table_free(&known);
	buffer_free(&mounts);
}

/* Does a sample of the anonymous pages show that no other process has them? */
static bool parts_are_alone(const struct image *image, const struct page_share *share)
{
	uint64_t pages = 0, step, next = 0, seen = 0;
	size_t i;

	for (i = 0; i < image->run_count; i++)
		if (!(image->runs[i].bits & (IMAGE_FILE | IMAGE_SWAPPED)))
			pages += (image->runs[i].end - image->runs[i].start) / image->page_size;
	step = pages / SHARE_SAMPLE + 1;
	for (i = 0; i < image->run_count; i++) {
		const struct image_run *run = &image->runs[i];

		if (run->bits & (IMAGE_FILE | IMAGE_SWAPPED))
			continue;
		pages = (run->end - run->start) / image->page_size;
		for (; next < seen + pages; next += step)
			if (page_share_has_other(share,
						 run->start + (next - seen) * image->page_size))
				return false;
		seen += pages;
	}
	return true;
}

static void parts_remark_pss(struct memory_report *report, const struct page_share *share)
{
	report->pss_unknown = share->unknown_bytes > 0;
	if (!share->unknown_bytes)
		return;
	memory_report_remark(report, "PSS is not known: %s.",
			     deadline_has_passed(share->until_ns)
				     ? "there was no time to look how often pages are mapped"
				     : "how often pages are mapped is shown to who has "
				       "CAP_SYS_ADMIN");
}

void memory_parts_sum(struct image *image, uint64_t until_ns, struct claims *claims,
		      struct memory_report *report)
{
	struct page_share share;
	size_t i;

	if (!image->pid || page_share_open(&share, image->pid)) {
		report->pss_unknown = true;
		memory_report_remark(report, "PSS is not known: its pages cannot be listed.");
		claims_sum(claims, image, NULL, report->parts);
	} else {
		share.until_ns = until_ns;
		share.anonymous_alone = parts_are_alone(image, &share);
		claims_sum(claims, image, &share, report->parts);
		parts_remark_pss(report, &share);
		page_share_close(&share);
	}
	for (i = 0; i < PURPOSE_COUNT; i++)
		report->process.pss_bytes += report->parts[i].pss;
	report->pages_unknown = image->pages_unknown;
	report->pss_unknown |= report->pages_unknown;
	if (report->pages_unknown)
		memory_report_remark(report, "Of some mappings it is not known what is in memory.");
}
