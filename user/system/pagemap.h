/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an entry of /proc/PID/pagemap has of a page, as bits. */
#ifndef SYSTEM_PAGEMAP_H
#define SYSTEM_PAGEMAP_H

#define PAGEMAP_PRESENT (1ull << 63)
/* Also where there is no page: it was never there, and the entry only has one of the two marks below. */
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_FILE (1ull << 61) /* of a file, or of shared memory */
#define PAGEMAP_GUARD (1ull << 58) /* of a guard page */
#define PAGEMAP_MARKED (1ull << 57) /* of userfaultfd, which watches writes to it */
#define PAGEMAP_EXCLUSIVE (1ull << 56) /* no other process maps it */
#define PAGEMAP_NUMBER ((1ull << 55) - 1) /* 0 where that is not permitted */

#endif
