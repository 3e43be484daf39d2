/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of memory sources in outputs. */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include <linux/types.h>

#include "tracer_abi.h"

/* "heap", "mmap", and of the kernel "kmalloc", "kmem_cache", "pages", "percpu" */
const char *source_name(enum memory_source source);

#endif
