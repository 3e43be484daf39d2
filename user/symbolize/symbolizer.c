/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache of names, and what to do about files that cannot be decoded: see symbolizer.h. */
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/table.h"
#include "decode/client.h"
#include "symbolize/module_hint.h"

/*
 * For one look-up, and for all look-ups of a report; a file that has taken longer in all is to blame. None of it is time that
 * passes because the machine is busy (patience.h). The worker itself ends after two seconds of its CPU's time.
 */
#define TIMEOUT_MS 5000
#define REPORT_MS 10000
#define MODULE_MS 10000

/* How many modules a sentence about missing debug files names. */
#define LACKING_NAMED 3

/* Files that are named in a notice; further ones are counted, and named with -v. */
#define NOTICES_MAX 64

/* A worker may be killed from outside; a file that ends two is to blame. */
#define ATTEMPTS_MAX 2

struct module_names {
	struct table by_offset; /* offset -> struct symbol_list */
	struct table unasked; /* offset -> these names: the end came before it was looked up */
	struct strings strings; /* of its symbols */
	bool bad; /* not asked about any more */
	int64_t spent_ms; /* waiting for its names */
	bool lacks; /* it has no debug information, and there is no debug file */
	bool hinted; /* what may have its names has been looked for */
	char *hint; /* owned; NULL = nothing is known */
};

struct complaint {
	char *sentence; /* owned */
	enum log_level level;
};

struct symbolizer {
	const struct module_list *modules;
	struct client client;
	bool broken; /* no worker can be started */
	int64_t spent_ms; /* waiting for names since the report was begun */
	bool in_report;
	bool warned_late; /* of this report */
	uint64_t unasked; /* addresses that are in no complaint yet */
	struct module_names *by_module; /* by index of the module */
	size_t module_count;
	uint64_t unread; /* modules without names */
	bool warned_ever_late;
	struct complaint *complaints; /* not yet taken, oldest first */
	size_t complaint_count, complaint_capacity;
	/* The names of some modules without debug files, separated by commas. */
	struct buffer lacking;
	size_t lacking_count;
	bool warned_unfit;
	struct symbol unnamed_symbol;
	struct symbol_list unnamed;
};

struct symbolizer *symbolizer_new(const struct module_list *modules,
				  const struct symbolizer_options *options)
{
	struct symbolizer *symbolizer = memory_alloc(1, sizeof(*symbolizer));
	struct debug_search search = { .directory = options->debug_directory,
				       .host_directory = "/usr/lib/debug",
				       .debuginfod = options->debuginfod };

	symbolizer->modules = modules;
	symbolizer->unnamed = (struct symbol_list){ 1, &symbolizer->unnamed_symbol };
	if (client_start(&symbolizer->client, &search,
			 options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS,
			 options->is_over))
		symbolizer->broken = true;
	return symbolizer;
}

/* Takes ownership of `sentence`. */
static void symbolizer_complain(struct symbolizer *symbolizer, enum log_level level, char *sentence)
{
	symbolizer->complaints = memory_grow(symbolizer->complaints, symbolizer->complaint_count,
					     &symbolizer->complaint_capacity,
					     sizeof(*symbolizer->complaints));
	symbolizer->complaints[symbolizer->complaint_count++] =
		(struct complaint){ sentence, level };
}

/* A list of its own in one piece. */
static struct symbol_list *symbolizer_new_list(const struct symbol *symbols, size_t count)
{
	struct symbol_list *list = memory_alloc(1, sizeof(*list) + count * sizeof(*symbols));

	list->count = count;
	list->items = (struct symbol *)(list + 1);
	memcpy(list->items, symbols, count * sizeof(*symbols));
	return list;
}

struct symbol_collection {
	struct strings *strings; /* of the module */
	struct symbol *items;
	size_t count, capacity;
};

static void symbolizer_collect(void *context, const struct message *message)
{
	struct symbol_collection *found = context;

	found->items =
		memory_grow(found->items, found->count, &found->capacity, sizeof(*found->items));
	found->items[found->count++] = (struct symbol){
		.function = strings_keep(found->strings, message->text),
		.file = strings_keep(found->strings, message->file),
		.line = message->detail,
	};
}

/* Returns 0, or a negative errno after which `module` must not be asked about again. */
static int symbolizer_ask(struct symbolizer *symbolizer, const struct module *module,
			  uint64_t offset, struct symbol_collection *found)
{
	int attempt, code = 0;

	for (attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		found->count = 0;
		code = client_lookup(&symbolizer->client, module, offset, symbolizer_collect,
				     found);
		if (code != -EPIPE)
			break;
	}
	if (code)
		found->count = 0;
	return code;
}

/* A module that is not asked about any more, and has no names but those that are known. Returns the level of a message. */
static enum log_level symbolizer_lose(struct symbolizer *symbolizer, struct module_names *names)
{
	if (names->bad)
		return LOG_VERBOSE;
	names->bad = true;
	return symbolizer->unread++ < NOTICES_MAX ? LOG_NOTICE : LOG_VERBOSE;
}

static void symbolizer_give_up(struct symbolizer *symbolizer, uint32_t index,
			       const struct module *module, int code)
{
	struct module_names *names = &symbolizer->by_module[index];

	if (code == -EPERM || code == -ESRCH) {
		symbolizer->broken = true;
		symbolizer_lose(symbolizer, names);
		symbolizer_complain(
			symbolizer, LOG_NOTICE,
			memory_copy_string(code == -EPERM
						   ? "no function names: the process that reads "
						     "debug information cannot be confined"
						   : "no more function names: the process that "
						     "reads debug information has ended"));
		return;
	}
	symbolizer_complain(symbolizer, symbolizer_lose(symbolizer, names),
			    memory_format("no function names for %s: reading its debug "
					  "information %s",
					  module->path,
					  code == -ETIMEDOUT ? "took too long" : "failed"));
}

static void symbolizer_spend(struct symbolizer *symbolizer, uint32_t index, int64_t ms, int *code)
{
	struct module_names *names = &symbolizer->by_module[index];

	symbolizer->spent_ms += ms;
	names->spent_ms += ms;
	if (!*code && names->spent_ms > MODULE_MS)
		*code = -ETIMEDOUT;
}

void symbolizer_begin_report(struct symbolizer *symbolizer)
{
	symbolizer->spent_ms = 0;
	symbolizer->warned_late = false;
	symbolizer->in_report = true;
}

void symbolizer_end_report(struct symbolizer *symbolizer)
{
	symbolizer->in_report = false;
}

/* Has the report taken too long already? What is not named now may be in the next one. */
static bool symbolizer_is_late(struct symbolizer *symbolizer)
{
	if (!symbolizer->in_report || symbolizer->spent_ms < REPORT_MS)
		return false;
	if (!symbolizer->warned_late)
		symbolizer_complain(symbolizer,
				    symbolizer->warned_ever_late ? LOG_VERBOSE : LOG_NOTICE,
				    memory_format("names took longer than %d seconds: the rest of "
						  "the report has none",
						  REPORT_MS / 1000));
	symbolizer->warned_ever_late = symbolizer->warned_late = true;
	return true;
}

static bool symbolizer_is_over(const struct symbolizer *symbolizer)
{
	const struct patience *patience = &symbolizer->client.patience;

	return patience->is_over && patience->is_over();
}

/* It has to do with its module and its offset; each is counted once. */
static void symbolizer_leave_unasked(struct symbolizer *symbolizer, struct module_names *names,
				     uint64_t offset)
{
	if (table_get(&names->unasked, offset))
		return;
	table_put(&names->unasked, offset, names);
	symbolizer->unasked++;
}

/* Note that a module lacks a debug file, where a directory was named in which it might have been. */
static void symbolizer_note_lack(struct symbolizer *symbolizer, uint32_t index,
				 const struct module *module)
{
	const struct client *client = &symbolizer->client;
	struct module_names *names = &symbolizer->by_module[index];
	const char *slash = strrchr(module->path, '/');

	if (!client->search.directory || names->lacks || client->lacking != module->number)
		return;
	names->lacks = true;
	if (symbolizer->lacking_count++ < LACKING_NAMED)
		buffer_printf(&symbolizer->lacking, "%s%s", symbolizer->lacking.length ? ", " : "",
			      slash ? slash + 1 : module->path);
	symbolizer_complain(symbolizer, LOG_VERBOSE,
			    memory_format("no file in %s has the build ID of %s",
					  client->search.directory, module->path));
}

static struct symbol_list *symbolizer_name(struct symbolizer *symbolizer, uint32_t index,
					   const struct module *module, uint64_t offset)
{
	struct symbol_collection found = { .strings = &symbolizer->by_module[index].strings };
	struct symbol_list *list;
	int64_t begin_ms;
	size_t i;
	int code;

	client_index(&symbolizer->client);
	begin_ms = patience_now_ms(&symbolizer->client.patience);
	code = symbolizer_ask(symbolizer, module, offset, &found);
	symbolizer_spend(symbolizer, index,
			 patience_now_ms(&symbolizer->client.patience) - begin_ms, &code);
	if (code == -ECANCELED)
		symbolizer_leave_unasked(symbolizer, &symbolizer->by_module[index], offset + 1);
	else if (code)
		symbolizer_give_up(symbolizer, index, module, code);
	symbolizer_note_lack(symbolizer, index, module);
	for (i = 0; i + 1 < found.count; i++)
		found.items[i].inlined = true;
	list = found.count ? symbolizer_new_list(found.items, found.count)
			   : symbolizer_new_list(&symbolizer->unnamed_symbol, 1);
	free(found.items);
	return list;
}

static struct module_names *symbolizer_of_module(struct symbolizer *symbolizer, uint32_t index)
{
	size_t count = symbolizer->module_count;

	if (index >= count) {
		symbolizer->module_count = symbolizer->modules->count;
		symbolizer->by_module = memory_resize(symbolizer->by_module,
						      symbolizer->module_count,
						      sizeof(*symbolizer->by_module));
		memset(symbolizer->by_module + count, 0,
		       (symbolizer->module_count - count) * sizeof(*symbolizer->by_module));
	}
	return &symbolizer->by_module[index];
}

static const struct symbol_list *symbolizer_lookup_native(struct symbolizer *symbolizer,
							  const struct frame *frame)
{
	const struct module *module = module_list_get(symbolizer->modules, frame->module);
	struct module_names *known;
	struct symbol_list *list;

	if (!module || !frame->offset)
		return &symbolizer->unnamed;
	known = symbolizer_of_module(symbolizer, frame->module);
	list = table_get(&known->by_offset, frame->offset);
	if (list)
		return list;
	if (symbolizer->broken)
		symbolizer_lose(symbolizer, known);
	if (module->fd < 0 || known->bad)
		return &symbolizer->unnamed;
	if (symbolizer_is_over(symbolizer)) {
		symbolizer_leave_unasked(symbolizer, known, frame->offset);
		return &symbolizer->unnamed;
	}
	if (symbolizer_is_late(symbolizer))
		return &symbolizer->unnamed;
	/* The address is where the call returns to; the call itself may belong to another line or function. */
	list = symbolizer_name(symbolizer, frame->module, module, frame->offset - 1);
	table_put(&known->by_offset, frame->offset, list);
	return list;
}

const struct symbol_list *symbolizer_lookup(struct symbolizer *symbolizer,
					    const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE ? symbolizer_lookup_native(symbolizer, frame)
					   : &symbolizer->unnamed;
}

const char *symbolizer_hint(struct symbolizer *symbolizer, const struct frame *frame)
{
	const struct module *module = module_list_get(symbolizer->modules, frame->module);
	const struct symbol_list *list;
	struct module_names *known;
	int64_t begin_ms;

	if (frame->kind != FRAME_NATIVE || !module)
		return NULL;
	known = symbolizer_of_module(symbolizer, frame->module);
	list = table_get(&known->by_offset, frame->offset);
	if (!list || list->items[0].function || known->bad)
		return NULL;
	if (known->hinted || symbolizer->broken || symbolizer_is_over(symbolizer) ||
	    symbolizer_is_late(symbolizer))
		return known->hint;
	begin_ms = patience_now_ms(&symbolizer->client.patience);
	known->hinted = true;
	known->hint = module_hint_new(&symbolizer->client, module);
	symbolizer->spent_ms += patience_now_ms(&symbolizer->client.patience) - begin_ms;
	return known->hint;
}

char *symbolizer_take_complaint(struct symbolizer *symbolizer, enum log_level *ret_level)
{
	struct complaint oldest;

	if (!symbolizer->complaint_count && symbolizer->unasked) {
		symbolizer_complain(symbolizer, LOG_NOTICE,
				    memory_format("%llu address%s without a name: the tracer had "
						  "to end before all were looked up",
						  (unsigned long long)symbolizer->unasked,
						  symbolizer->unasked == 1 ? " is" : "es are"));
		symbolizer->unasked = 0;
	}
	if (!symbolizer->complaint_count)
		return NULL;
	oldest = symbolizer->complaints[0];
	symbolizer->complaint_count--;
	memmove(symbolizer->complaints, symbolizer->complaints + 1,
		symbolizer->complaint_count * sizeof(*symbolizer->complaints));
	*ret_level = oldest.level;
	return oldest.sentence;
}

uint64_t symbolizer_unread(const struct symbolizer *symbolizer)
{
	return symbolizer->unread;
}

char *symbolizer_take_unfit(struct symbolizer *symbolizer)
{
	const struct client *client = &symbolizer->client;
	size_t count = symbolizer->lacking_count;
	char more[32] = "";

	if (!count || client->fitted || symbolizer->warned_unfit)
		return NULL;
	symbolizer->warned_unfit = true;
	if (count > LACKING_NAMED)
		snprintf(more, sizeof(more), " or %zu more", count - LACKING_NAMED);
	return memory_format("none of the %s%zu files in %s has the build ID of %s%s",
			     client->search.index.cut ? "first " : "", client->search.index.count,
			     client->search.directory, symbolizer->lacking.data, more);
}

pid_t symbolizer_server_pid(const struct symbolizer *symbolizer)
{
	return symbolizer->client.server.pid;
}

static void symbolizer_free_values(struct table *table)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(table, &cursor)))
		free(slot->value);
	table_free(table);
}

static void module_names_clear(struct module_names *names)
{
	symbolizer_free_values(&names->by_offset);
	table_free(&names->unasked);
	free(names->hint);
	strings_free(&names->strings);
	*names = (struct module_names){ 0 };
}

void symbolizer_forget(struct symbolizer *symbolizer, uint32_t module)
{
	if (module < symbolizer->module_count)
		module_names_clear(&symbolizer->by_module[module]);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	size_t i;

	if (!symbolizer)
		return;
	client_stop(&symbolizer->client);
	for (i = 0; i < symbolizer->module_count; i++)
		module_names_clear(&symbolizer->by_module[i]);
	free(symbolizer->by_module);
	for (i = 0; i < symbolizer->complaint_count; i++)
		free(symbolizer->complaints[i].sentence);
	free(symbolizer->complaints);
	buffer_free(&symbolizer->lacking);
	free(symbolizer);
}
