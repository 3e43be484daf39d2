/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling by libiberty, with limits on what goes in and what comes out: see demangle.h. */
#include "decode/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Fedora's binutils-devel has it among the other headers. */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "base/buffer.h"
#include "base/memory.h"

/* Mangled names can describe names that are exponentially longer; these limits keep the work small. */
#define MANGLED_LENGTH_MAX 16384

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP)

static void demangle_collect(const char *text, size_t length, void *opaque)
{
	struct buffer *out = opaque;

	/* One byte beyond the limit marks a longer name. */
	if (out->length + length > DEMANGLE_LENGTH_MAX + 1)
		length = DEMANGLE_LENGTH_MAX + 1 - out->length;
	buffer_append(out, text, length);
}

static char *demangle_finish(struct buffer *out)
{
	if (out->length > DEMANGLE_LENGTH_MAX)
		memcpy(out->data + DEMANGLE_LENGTH_MAX - 3, "...", 4);
	return out->data;
}

static bool demangle_is_d(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'D' &&
	       (isdigit((unsigned char)symbol[2]) || !strcmp(symbol, "_Dmain"));
}

bool demangle_is_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) || demangle_is_d(symbol);
}

/* Appends the demangled name. False, perhaps with half a name in `out`, if it is none. */
static bool demangle_append(const char *symbol, struct buffer *out)
{
	char *text;

	if (rust_demangle_callback(symbol, OPTIONS, demangle_collect, out))
		return true;
	buffer_clear(out);
	if (!strncmp(symbol, "_Z", 2))
		return cplus_demangle_v3_callback(symbol, OPTIONS, demangle_collect, out);
	if (!demangle_is_d(symbol))
		return false;
	text = dlang_demangle(symbol, OPTIONS);
	if (text)
		demangle_collect(text, strlen(text), out);
	free(text);
	return text != NULL;
}

char *demangle_symbol(const char *symbol)
{
	size_t length = strcspn(symbol, "@");
	struct buffer out = { 0 };
	char *plain;

	/* A name that is nothing but a version stays as it is. */
	if (!length)
		length = strlen(symbol);
	buffer_append(&out, symbol, length);
	if (!demangle_is_mangled(symbol) || length > MANGLED_LENGTH_MAX) {
		out.length = 0;
		demangle_collect(symbol, length, &out);
		return demangle_finish(&out);
	}
	plain = memory_copy_string(out.data);
	buffer_clear(&out);
	if (!demangle_append(plain, &out) || !out.length) {
		buffer_clear(&out);
		demangle_collect(plain, length, &out);
	}
	free(plain);
	return demangle_finish(&out);
}

char *demangle_type(const char *mangled)
{
	struct buffer out = { 0 };

	if (strlen(mangled) > MANGLED_LENGTH_MAX ||
	    !cplus_demangle_v3_callback(mangled, OPTIONS | DMGL_TYPES, demangle_collect, &out) ||
	    !out.length) {
		buffer_free(&out);
		return NULL;
	}
	return demangle_finish(&out);
}
