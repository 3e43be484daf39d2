/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bits of an entry of /proc/PID/pagemap. */
#ifndef SYSTEM_PAGEMAP_H
#define SYSTEM_PAGEMAP_H

#define PAGEMAP_PRESENT (1ull << 63)
/* Also set without a page: the page never existed, and the entry has one of the two marks below. */
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_FILE (1ull << 61) /* file-backed or shared memory */
#define PAGEMAP_GUARD (1ull << 58) /* guard page */
#define PAGEMAP_MARKED (1ull << 57) /* write-protected by userfaultfd */
#define PAGEMAP_EXCLUSIVE (1ull << 56) /* no other process maps it */
#define PAGEMAP_NUMBER ((1ull << 55) - 1) /* page frame number; 0 without permission */

#endif
