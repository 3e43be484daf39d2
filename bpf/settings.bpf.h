/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings: user space writes them before the load, and the verifier takes them for constants. */
#ifndef SETTINGS_BPF_H
#define SETTINGS_BPF_H

#include "kernel_types.h"
#include "tracer_abi.h"

/* Tests on the host change them. */
#ifndef SETTING
#define SETTING const volatile
#endif

SETTING __u64 setting_min_size = 0;
SETTING __u64 setting_max_size = ~0ULL;
SETTING __u32 setting_stack_depth = STACK_FRAMES_MAX;
SETTING __u32 setting_max_stacks = 1;
SETTING bool setting_task_storage = true;
SETTING bool setting_machine_wide = false; /* probes without a target are in all processes */
SETTING bool setting_unwind = true; /* by tables; otherwise by frame pointers */
SETTING bool setting_cookies = true;
SETTING bool setting_named = false; /* functions were named on the command line */
/* Frees are not probed: a block stays until its address is handed out again, or user space finds that it is gone. */
SETTING bool setting_light = false;
/* Global functions take memory. */
SETTING bool setting_functions = true;
SETTING bool setting_by_thread = false; /* a site is of threads of one name, too */
SETTING __u64 setting_seed = 0; /* of the keys of sites: a secret */
SETTING bool setting_tail_calls = false; /* see avoid_cpu_stack */
/* The process that is stopped where it ends itself, as the pid namespace of these numbers has it; 0 = none is. */
SETTING __u32 setting_stop_process = 0;
SETTING __u64 setting_namespace_device = 0;
SETTING __u64 setting_namespace_inode = 0;
/* A program at an entry can have its return not probed. */
SETTING bool setting_declines = false;

#endif
