/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolves addresses to function, file, line and inlined functions. Results are cached until their
 * module is forgotten, so a file may be closed once its frames have been looked up. Files of
 * targets are decoded in a sandboxed process; a file that makes it crash or hang costs its own
 * names and nothing else.
 */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H

#include <sys/types.h>

#include "base/log.h"
#include "model/module.h"
#include "model/stack.h"
#include "model/symbols.h"

struct symbolizer;

struct symbolizer_options {
	const char *debug_directory; /* searched before /usr/lib/debug; NULL = none */
	bool debuginfod; /* ask debuginfod servers */
	bool (*is_over)(void); /* stop waiting for names; NULL = never */
	int timeout_ms; /* limit of one look-up, by the clock of patience.h; 0 = 5 seconds */
};

/*
 * Never fails; free with symbolizer_free. `modules` must outlive it, and `options->debug_directory` too. Forks: call it
 * from the main thread, before there are other threads and before anything is opened that must end with the tracer.
 */
struct symbolizer *symbolizer_new(const struct module_list *modules,
				  const struct symbolizer_options *options);

/*
 * The names of `frame`: at least one symbol, valid until symbolizer_free or until its module is forgotten. A frame without
 * a name, or that is not FRAME_NATIVE, has `function` NULL in its only symbol.
 */
const struct symbol_list *symbolizer_lookup(struct symbolizer *symbolizer,
					    const struct frame *frame);

/*
 * A sentence on where the name of a frame might be found after symbolizer_lookup has failed; valid
 * like those names. NULL if unknown, or if the module's names could not be read.
 */
const char *symbolizer_hint(struct symbolizer *symbolizer, const struct frame *frame);

/*
 * The names of a report are looked up in between, for ten seconds in total, by the clock of
 * patience.h.
 */
void symbolizer_begin_report(struct symbolizer *symbolizer);
void symbolizer_end_report(struct symbolizer *symbolizer);

/* The module is about to be removed from the list: its index may be reused. */
void symbolizer_forget(struct symbolizer *symbolizer, uint32_t module);

/*
 * Problems since the last call, as a sentence without a full stop: at most one per module. NULL =
 * none. Free with free(). `ret_level`: a notice, unless there were many or the tracer has to end.
 */
char *symbolizer_take_complaint(struct symbolizer *symbolizer, enum log_level *ret_level);

/* Number of modules without names because reading them failed or took too long. */
uint64_t symbolizer_unread(const struct symbolizer *symbolizer);

/*
 * Once, if modules lack debug files and the chosen directory had none for any of them: a sentence
 * that names some modules. Otherwise NULL. Free with free().
 */
char *symbolizer_take_unfit(struct symbolizer *symbolizer);

/* The fork server of the workers, for tests; 0 = none. */
pid_t symbolizer_server_pid(const struct symbolizer *symbolizer);

void symbolizer_free(struct symbolizer *symbolizer);

#endif
