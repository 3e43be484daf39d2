/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads memory of another process while it runs: the result may be torn, and is untrusted. The
 * process can make the read of an absent page block indefinitely and uninterruptibly (userfaultfd,
 * a file of a FUSE server).
 */
#ifndef SYSTEM_PROCESS_MEMORY_H
#define SYSTEM_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timed_call.h"

/*
 * Copy up to `size` bytes at `address`, from pages that are present or swapped out. Never waits for
 * the process, faults nothing in, and copies no page that it shares since a fork. Returns the
 * number of bytes read from the start, or a negative errno: -ENODATA (first page absent), -EFAULT
 * (unmapped), -ESRCH, -EPERM. The process is not stopped.
 */
ssize_t process_memory_read_present(pid_t pid, uint64_t address, void *bytes, size_t size);

/*
 * The same, including absent pages, for which it waits no longer than `patience`. Returns the
 * number of bytes read from the start, or a negative errno: -EFAULT (not a byte), -ETIMEDOUT,
 * -ESRCH, -EPERM. After a timeout, do not read from the process in this way again.
 */
ssize_t process_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size,
			    struct call_patience *patience);

#endif
