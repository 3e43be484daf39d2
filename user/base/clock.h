/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time, as the kernel's records and BPF programs have it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds, the clock of bpf_ktime_get_ns(), and in milliseconds. */
uint64_t clock_now_ns(void);
int64_t clock_now_ms(void);

/* CLOCK_BOOTTIME in nanoseconds: the clock of /proc/PID/stat, which goes on during suspend. */
uint64_t clock_boot_ns(void);

/* CPU time of the calling thread in nanoseconds. */
uint64_t clock_thread_ns(void);

/* A time or a duration in the form of system calls. */
struct timespec clock_timespec(uint64_t ns);

#endif
