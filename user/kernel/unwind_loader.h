/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the maps for stack walks in BPF (bpf/unwind_maps.bpf.h) in step with the mappings of traced
 * processes. A file is compiled once, when it is first seen, and forgotten when no process maps it.
 * A process's list of mappings is written beside the current one and then replaces it by a single
 * store.
 */
#ifndef KERNEL_UNWIND_LOADER_H
#define KERNEL_UNWIND_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "model/address_space.h"
#include "model/module.h"

struct decoder;
struct tracer_bpf;
struct unwind_loader;

/*
 * Size the maps of programs not loaded yet, for `processes` at a time; further ones are walked by
 * frame pointers. `by_tables` false: all are.
 */
void unwind_loader_prepare(struct tracer_bpf *bpf, bool by_tables, uint32_t processes);

/*
 * Open for the loaded BPF programs, which must outlive the loader, like the modules and the log.
 * Returns 0 or a negative errno with `error` filled. Free with unwind_loader_close.
 */
int unwind_loader_open(struct tracer_bpf *bpf, const struct module_list *modules,
		       struct decoder *decoder, const struct log *log,
		       struct unwind_loader **ret_loader, struct error *error);
void unwind_loader_close(struct unwind_loader *loader);

/* Compile a module that a process maps. */
void unwind_loader_add_module(struct unwind_loader *loader, uint32_t module);

/*
 * The same for a module that a process opens, so that its table is ready if it is mapped. Such
 * files have a share of the tables until they are forgotten like other unmapped ones; beyond the
 * share, does nothing.
 */
void unwind_loader_expect(struct unwind_loader *loader, uint32_t module);

/* Publish to BPF programs that a module has functions that allocate or free (struct module). */
void unwind_loader_mark_allocator(const struct unwind_loader *loader, uint32_t module);

/* A process without known mappings yet: a command about to be executed. */
void unwind_loader_begin(struct unwind_loader *loader, uint32_t target_id);

/*
 * Publish the mappings of process `pid`, with this target_id. Cheap if nothing has changed. All
 * functions accept a NULL loader and do nothing.
 */
void unwind_loader_update(struct unwind_loader *loader, uint32_t target_id, pid_t pid,
			  const struct address_space *space);

/* The process has ended. */
void unwind_loader_forget(struct unwind_loader *loader, uint32_t target_id);

/*
 * Was there no room for the table of a file, mapped or only open, since modules were last
 * forgotten?
 */
bool unwind_loader_is_full(const struct unwind_loader *loader);

/*
 * Free the space of these modules, which no process maps, after unwind_loader_update. Returns the
 * number of modules that found no space before and may find it now: call unwind_loader_update for
 * the processes that map them.
 */
size_t unwind_loader_forget_modules(struct unwind_loader *loader, const uint32_t *modules,
				    size_t count);

/* Number of files whose rows found no room, in the tables or in the share of their process. */
uint64_t unwind_loader_refused(const struct unwind_loader *loader);

#endif
