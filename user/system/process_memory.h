/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of another process, read while it runs: what comes back may be torn, and is untrusted. */
#ifndef SYSTEM_PROCESS_MEMORY_H
#define SYSTEM_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copy up to `size` bytes at `address`. Returns how many could be read from its start, up to the first page that
 * is not there, or a negative errno: -EFAULT (not a byte), -ESRCH, -EPERM. The process is not stopped.
 */
ssize_t process_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size);

#endif
