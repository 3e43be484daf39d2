/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_rules.h. */
#include "analyze/frame_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cxx_name.h"
#include "base/buffer.h"
#include "base/memory.h"

/* Functions that allocate for others: of C libraries, and by the names that programs give their own. */
#define ALLOCATES                                                                             \
	"malloc|calloc|realloc|reallocarray|zalloc|strdup|strndup|memdup2?|malloc0|malloc_n|" \
	"malloc0_n|realloc_n"
#define WRAPPERS                                                                       \
	"^(x|z|s|g_|my_|safe_|checked_|must_|__libc_)?(" ALLOCATES ")(\\(|$)|"         \
	"^(x|g_|__)?v?asprintf(_chk|_internal)?(\\(|$)|^__(strdup|strndup|getdelim)$|" \
	"^(getdelim|getline|open_memstream)$|^operator new"

#define RAILS_ACTION "action(cable|mailbox|mailer|pack|text|view)"
#define RAILS_ACTIVE "active(job|model|record|storage|support)"
#define RAILS_OTHERS                                                                         \
	"bootsnap|bundler|globalid|i18n|importmap-rails|puma|rack(-[a-z]+)*|rails|railties|" \
	"sprockets(-rails)?|zeitwerk"

static const struct frame_preset {
	const char *name;
	const char *function; /* native ones; NULL = none, as below */
	const char *file, *module;
	const char *but;
} presets[] = {
	{ .name = "std",
	  .function = "^(std|__gnu_cxx|__gnu_debug|__cxxabiv1|__cxx[0-9]+)::|" WRAPPERS,
	  .file = "/include/c\\+\\+/",
	  .module = "/lib(std)?c\\+\\+(abi)?\\.so" },
	{ .name = "ruby",
	  .file = "^<internal:|/ruby/([0-9]+\\.[0-9.]+|[a-z]+_ruby)/",
	  .module = "/libruby[^/]*\\.so|/bin/ruby[0-9.]*$|/ruby/([0-9]+\\.[0-9.]+|[a-z]+_ruby)/",
	  .but = "/gems/[^/]+-[0-9]|/extensions/" },
	{ .name = "rails",
	  .file = "/gems/(" RAILS_ACTION "|" RAILS_ACTIVE "|" RAILS_OTHERS ")-[0-9][^/]*/" },
	{ .name = "python",
	  .file = "^<frozen |/lib(64)?/python[0-9.]+/",
	  .module = "/libpython[^/]*\\.so|/bin/python[0-9.]*$|/lib(64)?/python[0-9.]+/",
	  .but = "/(site|dist)-packages/" },
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

static void frame_rule_free(struct frame_rule *rule)
{
	pattern_free(&rule->function);
	pattern_free(&rule->file);
	pattern_free(&rule->module);
	pattern_free(&rule->but);
}

static int frame_rule_compile(const char *text, struct pattern *pattern, struct error *error)
{
	return text ? pattern_compile(text, pattern, error) : 0;
}

static int frame_rule_of_preset(const struct frame_preset *preset, struct frame_rule *rule,
				struct error *error)
{
	int code = frame_rule_compile(preset->function, &rule->function, error);

	if (!code)
		code = frame_rule_compile(preset->file, &rule->file, error);
	if (!code)
		code = frame_rule_compile(preset->module, &rule->module, error);
	if (!code)
		code = frame_rule_compile(preset->but, &rule->but, error);
	return code;
}

static int frame_rules_find_preset(const char *name, struct frame_rule *rule, struct error *error)
{
	struct buffer known = { 0 };
	size_t i;

	for (i = 0; i < PRESETS; i++)
		if (!strcmp(presets[i].name, name))
			return frame_rule_of_preset(&presets[i], rule, error);
	for (i = 0; i < PRESETS; i++)
		buffer_printf(&known, "%s@%s", i ? ", " : "", presets[i].name);
	error_set(error, ERROR_USAGE, -EINVAL, "there is no preset '@%s': known are %s", name,
		  known.data);
	buffer_free(&known);
	return -EINVAL;
}

int frame_rules_add(struct frame_rule_list *list, const char *text, struct error *error)
{
	struct frame_rule rule = { .any = *text != '@' };
	int code = rule.any ? pattern_compile(text, &rule.function, error)
			    : frame_rules_find_preset(text + 1, &rule, error);

	if (code) {
		frame_rule_free(&rule);
		return code;
	}
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = rule;
	return 0;
}

void frame_rules_add_app(struct frame_rules *rules, const char *text)
{
	rules->apps = memory_grow(rules->apps, rules->app_count, &rules->app_capacity,
				  sizeof(*rules->apps));
	rules->apps[rules->app_count++] = text;
}

static void frame_rules_free_list(struct frame_rule_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		frame_rule_free(&list->items[i]);
	free(list->items);
	*list = (struct frame_rule_list){ 0 };
}

void frame_rules_free(struct frame_rules *rules)
{
	frame_rules_free_list(&rules->hide);
	frame_rules_free_list(&rules->only);
	free(rules->apps);
	*rules = (struct frame_rules){ 0 };
}

static bool frame_rule_fits_text(const struct pattern *pattern, const char *text)
{
	return text && pattern_matches(pattern, text);
}

/* Without the type that it returns; one of the user's may also look for that. */
static bool frame_rule_fits_function(const struct frame_rule *rule, const struct frame_text *text)
{
	if (!text->function)
		return false;
	if (text->kind == FRAME_NATIVE &&
	    pattern_matches(&rule->function, cxx_name_begin(text->function)))
		return true;
	return rule->any && pattern_matches(&rule->function, text->function);
}

static bool frame_rule_fits(const struct frame_rule *rule, const struct frame_text *text)
{
	if (frame_rule_fits_text(&rule->but, text->file) ||
	    frame_rule_fits_text(&rule->but, text->module))
		return false;
	if (rule->any && (frame_rule_fits_text(&rule->function, text->file) ||
			  frame_rule_fits_text(&rule->function, text->module)))
		return true;
	return frame_rule_fits_function(rule, text) ||
	       frame_rule_fits_text(&rule->file, text->file) ||
	       frame_rule_fits_text(&rule->module, text->module);
}

bool frame_rules_fit(const struct frame_rule_list *list, const struct frame_text *text)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (frame_rule_fits(&list->items[i], text))
			return true;
	return false;
}
