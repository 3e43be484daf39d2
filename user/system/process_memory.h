/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of another process, read while it runs: what comes back may be torn, and is untrusted. A page that is not
 * there can make its reader wait for as long as the process likes (userfaultfd, a file of a FUSE server), without a way to
 * interrupt it.
 */
#ifndef SYSTEM_PROCESS_MEMORY_H
#define SYSTEM_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timed_call.h"

/*
 * Copy up to `size` bytes at `address`, of pages that are present or swapped out only: it does not wait for the process,
 * brings nothing into its memory, and copies no page that it shares since a fork. Returns how many could be read from the start, or a negative errno: -ENODATA (the
 * first page is not present), -EFAULT (there is no such memory), -ESRCH, -EPERM. The process is not stopped.
 */
ssize_t process_memory_read_present(pid_t pid, uint64_t address, void *bytes, size_t size);

/*
 * The same, and of pages that are not present, too, which are waited for no longer than `patience`. Returns how many bytes
 * could be read from the start, or a negative errno: -EFAULT (not a byte), -ETIMEDOUT, -ESRCH, -EPERM. A process that was
 * late once should not be read in this way again.
 */
ssize_t process_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size,
			    struct call_patience *patience);

#endif
